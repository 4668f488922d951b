//! `/admin/v1/environments/<id>/config`: the configuration document and its history.
//!
//! The document travels bare as `data`, so that what was read can be sent back; its version is the `ETag`, and an
//! `If-Match` makes a change conditional on it.

use bytes::Bytes;
use http::{HeaderMap, header};
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tollgate_configuration::ConfigWarning;
use tollgate_engine::{
    ConfigDocument, ConfigureError, Configured, TooManyReads, ports::ConfigVersionSummary,
};

use crate::{prelude::*, types::configuration::Configuration};

responses! {
    ReplacedResponse<'a> as ConfigurationChange {
        version: u64,
        changed_by: &'a str,
        /// What is allowed and probably not meant.
        warnings: Vec<WarningResponse>,
    }

    /// A change that somebody else has to approve.
    ProposedResponse<'a> as ConfigurationProposal {
        approval_id: String,
        proposed_by: &'a str,
        /// What is allowed and probably not meant.
        warnings: Vec<WarningResponse>,
    }

    WarningResponse as ConfigurationWarning {
        path: String,
        message: String,
    }
}

impl From<ConfigWarning> for WarningResponse {
    fn from(warning: ConfigWarning) -> Self {
        Self { path: warning.path, message: warning.message }
    }
}

responses! {
    CheckedResponse as CheckedConfiguration {
        /// The current version, which the document was checked against.
        version: u64,
        /// As it would be read back, secrets masked.
        #[schema(value_type = Object)]
        document: Value,
        /// Where another secret would stand than now; masks need not tell, since two secrets can end alike.
        replaced_secrets: Vec<String>,
        /// What is allowed and probably not meant.
        warnings: Vec<WarningResponse>,
    }

    VersionResponse as ConfigurationVersion {
        version: u64,
        changed_by: String,
        changed_at: Moment,
        request_id: String,
    }
}

impl From<ConfigVersionSummary> for VersionResponse {
    fn from(summary: ConfigVersionSummary) -> Self {
        let ConfigVersionSummary { version, actor, request, at } = summary;
        Self { version, changed_by: actor, changed_at: Moment(at), request_id: request }
    }
}

pub(crate) async fn read(operator: Operator) -> Versioned<Configuration> {
    let _turn = read_turn(&operator).await?;
    document(&operator.app.engine.config_document(operator.path("environment")?, None).await?)
}

pub(crate) async fn read_version(operator: Operator) -> Versioned<Configuration> {
    let (environment, version) = (operator.path("environment")?, operator.path("version")?);
    let _turn = read_turn(&operator).await?;
    document(&operator.app.engine.config_document(environment, Some(version)).await?)
}

pub(crate) async fn history(operator: Operator) -> Done<ListResponse<VersionResponse>> {
    let mut query = operator.query();
    let (before, limit) = (query.value("before"), query.limit());
    query.finish()?;
    let environment = operator.path("environment")?;
    let history = operator.app.engine.config_history(environment, before, limit.to_read()).await?;
    respond::ok(&ListResponse::slice(history, limit, VersionResponse::from, |it| it.version))
}

/// In force, or waiting for approval.
type Replaced =
    OneOf<(kind::Versioned<ReplacedResponse<'static>>, kind::Accepted<ProposedResponse<'static>>)>;

pub(crate) async fn replace(operator: Operator, body: JsonBody<Configuration>) -> Replaced {
    let environment = operator.path("environment")?;
    let expected = expected_version(&operator.headers)?;
    let body = sent_document(&operator, body).await?;
    let _turn = turn(&operator).await?;
    let document = parsed(&operator, body).await?;
    let applied =
        operator.app.engine.put_config(environment, document, expected, operator.origin.clone()).await?;
    let (actor, warnings) =
        (&operator.origin.actor, applied.warnings.into_iter().map(WarningResponse::from).collect());
    match applied.outcome {
        Configured::InForce { version } => {
            let replaced = ReplacedResponse { version, changed_by: actor, warnings };
            respond::versioned(&replaced, version).map(Answer::one_of)
        }
        Configured::Proposed { approval } => {
            let approval_id = approval.to_string();
            let proposed = ProposedResponse { approval_id, proposed_by: actor, warnings };
            respond::accepted(&proposed).map(Answer::one_of)
        }
    }
}

/// Says what a `PUT` of the same body would say of its faults, and changes nothing.
pub(crate) async fn validate(
    operator: Operator,
    body: JsonBody<Configuration>,
) -> Versioned<CheckedResponse> {
    let environment = operator.path("environment")?;
    let body = sent_document(&operator, body).await?;
    let _turn = turn(&operator).await?;
    let document = parsed(&operator, body).await?;
    let checked = operator.app.engine.check_config(environment, document).await?;
    let answer = CheckedResponse {
        version: checked.version,
        document: checked.document,
        replaced_secrets: checked.replaced_secrets,
        warnings: checked.warnings.into_iter().map(WarningResponse::from).collect(),
    };
    respond::versioned(&answer, checked.version)
}

/// The limit for operators whose role holds in some organizations only.
async fn sent_document(operator: &Operator, body: JsonBody<Configuration>) -> Result<Bytes, ApiError> {
    let is_limited = operator.identity.organizations().is_some();
    let most = if is_limited { body::LIMITED_ADMIN_LIMIT } else { body::ADMIN_LIMIT };
    body::read_json(&operator.headers, body.0, most).await
}

/// Taken once the document has arrived, so that no request waits for a slow sender.
async fn turn(operator: &Operator) -> Result<OwnedSemaphorePermit, ApiError> {
    operator.app.engine.config_turn().await.ok_or_else(ApiError::busy)
}

impl From<TooManyReads> for ApiError {
    fn from(_: TooManyReads) -> Self {
        Self::busy()
    }
}

/// A turn at reading a stored document, until the answer is made.
pub(super) async fn read_turn(operator: &Operator) -> Result<OwnedSemaphorePermit, ApiError> {
    operator.app.engine.config_read_turn().await.ok_or_else(ApiError::busy)
}

async fn parsed(operator: &Operator, body: Bytes) -> Result<Value, ApiError> {
    // A document of many thousand rules takes milliseconds to parse, which belong on a thread of their own.
    let host = operator.app.engine.host();
    let parsing = host.compute(move || tollgate_configuration::parse_document(&body));
    let document = parsing.await.map_err(|error| ApiError::internal(error.to_string()))?;
    document.map_err(|fault| ApiError::malformed(format!("{fault}.")))
}

fn document(read: &ConfigDocument) -> Versioned<Configuration> {
    respond::versioned_document(&read.document, read.version)
}

/// The version an `If-Match` names; `*` is any.
fn expected_version(headers: &HeaderMap) -> Result<Option<u64>, ApiError> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let version =
        text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).and_then(|digits| digits.parse().ok());
    version.map(Some).ok_or_else(|| {
        ApiError::malformed("If-Match must be the ETag of the version you read, such as \"3\", or *.")
    })
}

impl From<ConfigureError> for ApiError {
    fn from(error: ConfigureError) -> Self {
        match error {
            ConfigureError::Missing => not_found_here(),
            ConfigureError::Faulty(errors) => {
                let count = errors.count();
                let noun = if count == 1 { "fault" } else { "faults" };
                let message =
                    format!("The configuration has {count} {noun}; nothing was changed. See error.details.");
                let details = errors
                    .into_iter()
                    .map(|fault| Detail { field: fault.field.into(), message: fault.message.into() });
                Self::malformed(message).with_details(details.collect())
            }
            ConfigureError::Stale { current } => Self::new(
                ErrorCode::VersionConflict,
                format!(
                    "Version {current} is current, not the one you read; read it and make your change again."
                ),
            ),
            ConfigureError::TooManyProposals => Self::new(
                ErrorCode::TooManyProposals,
                "Nothing was changed: too many changes of this configuration wait for approval. Approve or deny one first.",
            ),
            ConfigureError::Store(error) => error.into(),
            ConfigureError::Stored(error) => Self::internal(error.to_string()),
            ConfigureError::Seal(error) => Self::internal(error.to_string()),
            ConfigureError::Randomness(error) => Self::internal(error.to_string()),
            ConfigureError::CutOff => Self::internal("the task was interrupted"),
        }
    }
}
