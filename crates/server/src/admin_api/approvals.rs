//! `/admin/v1/environments/<id>/approvals`: transfers, refunds, wallet movements and changes of the configuration that wait for
//! people, and what people decide.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use tollgate_configuration::{Change, Difference};
use tollgate_domain::{
    Minor,
    approval::{Approval, ApprovalState},
    id::{ApprovalId, KeyId},
};
use tollgate_engine::{
    ApprovalSubject, DecideError, MoveOrder, ProposedChange, Replay,
    ports::{ApprovalQuery, ConfigProposal, FundRequest, RefundToApprove, Transfer},
};
use utoipa::ToSchema;

use crate::{
    admin_api::{
        config::{self, WarningResponse},
        operator::{Operator, not_found_here},
        paging::ListResponse,
    },
    client_api::caller::run_to_completion,
    json::{minor::digits, timestamp::rfc3339},
    reference::{scalars, words},
    response::{
        error::ApiError,
        error_code::ErrorCode,
        refund::RefundResponse,
        respond::{self, ApiResult},
    },
};

/// How many payments of the past a proposed change is tried on.
const REPLAYED: u32 = 1_000;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Approval)]
pub(crate) struct ApprovalResponse {
    id: String,
    #[schema(value_type = words::ApprovalKind)]
    kind: &'static str,
    #[schema(value_type = words::ApprovalState)]
    state: &'static str,
    /// How many people have to approve.
    count: u32,
    /// The IDs of the rules that ask for it, and the limits that it exceeds.
    reasons: Vec<String>,
    votes: Vec<VoteResponse>,
    #[schema(value_type = scalars::Moment)]
    created_at: String,
    #[schema(required)]
    transfer: Option<TransferToApprove>,
    #[schema(required)]
    refund: Option<RefundResponse>,
    #[schema(required)]
    funds: Option<FundsToApprove>,
    #[schema(required)]
    configuration: Option<ConfigurationToApprove>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TransferToApprove {
    service_reference: String,
    #[schema(value_type = words::TransactionStatus)]
    status: &'static str,
    /// The key that made the transfer.
    #[schema(required)]
    maker_key_id: Option<String>,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    amount_minor: Minor,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    total_debit_minor: Minor,
    #[schema(value_type = scalars::CurrencyCode)]
    currency: String,
    provider: String,
    account_name: String,
    bank_name: String,
    account_last_four: String,
    #[schema(required)]
    description: Option<String>,
}

/// A movement of money into or out of a wallet.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FundsToApprove {
    #[schema(value_type = words::MovementCause)]
    cause: &'static str,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    amount_minor: Minor,
    #[schema(value_type = scalars::CurrencyCode)]
    currency: String,
    reference: String,
    requested_by: String,
    /// The posting that it became.
    #[schema(required)]
    posting_id: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfigurationToApprove {
    proposed_by: String,
    request_id: String,
    /// The version that the change was made from. Where another is current, it cannot be approved anymore.
    from_version: u64,
    /// The version that it became.
    #[schema(required)]
    version: Option<u64>,
    /// What it would change in the current version. Null in lists, and once it is decided.
    #[schema(required)]
    proposal: Option<ProposalResponse>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProposedConfiguration)]
pub(crate) struct ProposalResponse {
    current_version: u64,
    changes: Vec<ChangeResponse>,
    /// What is allowed and probably not meant.
    warnings: Vec<WarningResponse>,
    effect: EffectResponse,
}

/// A place of the document that would differ. Secrets are masked.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConfigurationDifference)]
pub(crate) struct ChangeResponse {
    path: String,
    #[schema(value_type = words::DifferenceKind)]
    kind: &'static str,
    /// What stands there now; null where nothing does.
    #[schema(required)]
    before: Option<Value>,
    /// What would stand there; null where nothing would.
    #[schema(required)]
    after: Option<Value>,
}

/// What the change would have done to the latest payments.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConfigurationEffect)]
pub(crate) struct EffectResponse {
    /// How many payments were looked at.
    examined: u64,
    /// How many would have gone elsewhere.
    rerouted: u64,
    /// How many would have had no route.
    refused: u64,
    /// How many would have had a different fee.
    repriced: u64,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApprovalVote)]
pub(crate) struct VoteResponse {
    user_id: String,
    name: String,
    /// False for a denial.
    approves: bool,
    #[schema(value_type = scalars::Moment)]
    at: String,
}

impl ApprovalResponse {
    /// `None` for a transfer or refund that never had to wait.
    fn of(subject: &ApprovalSubject) -> Option<Self> {
        let Approval { id, state, count, reasons, maker, votes, .. } = subject.approval()?;
        let votes = votes.iter().map(|vote| VoteResponse {
            user_id: vote.user.to_string(),
            name: vote.name.clone(),
            approves: vote.approves,
            at: rfc3339(vote.at),
        });
        let mut response = Self {
            id: id.to_string(),
            kind: "",
            state: state.as_str(),
            count: *count,
            reasons: reasons.clone(),
            votes: votes.collect(),
            created_at: String::new(),
            transfer: None,
            refund: None,
            funds: None,
            configuration: None,
        };
        let created_at = match subject {
            ApprovalSubject::Transfer(transfer) => {
                response.kind = "transfer";
                response.transfer = Some(TransferToApprove::of(transfer, *maker));
                transfer.order.created_at
            }
            ApprovalSubject::Refund(waiting) => {
                let RefundToApprove { payment, provider, currency, refund } = &**waiting;
                response.kind = "refund";
                response.refund = Some(RefundResponse::new(payment.to_string(), provider, *currency, refund));
                refund.created_at
            }
            ApprovalSubject::Funds(request) => {
                response.kind = "funds";
                response.funds = Some(FundsToApprove::of(request));
                request.at
            }
            ApprovalSubject::Configuration(proposal) => {
                response.kind = "configuration";
                response.configuration = Some(ConfigurationToApprove::of(proposal));
                proposal.change.at
            }
        };
        response.created_at = rfc3339(created_at);
        Some(response)
    }
}

impl FundsToApprove {
    fn of(request: &FundRequest) -> Self {
        let MoveOrder { currency, cause, amount, reference } = &request.order;
        Self {
            cause: cause.as_str(),
            amount_minor: *amount,
            currency: currency.to_string(),
            reference: reference.clone(),
            requested_by: request.actor.clone(),
            posting_id: request.posting.map(|posting| posting.to_string()),
        }
    }
}

impl TransferToApprove {
    fn of(transfer: &Transfer, maker: Option<KeyId>) -> Self {
        let order = &transfer.order;
        Self {
            service_reference: order.id.to_string(),
            status: transfer.state.status.as_str(),
            maker_key_id: maker.map(|key| key.to_string()),
            amount_minor: order.fee.principal.into(),
            total_debit_minor: order.fee.total_debit,
            currency: order.currency.to_string(),
            provider: order.provider.clone(),
            account_name: order.account_name.clone(),
            bank_name: order.bank_name.clone(),
            account_last_four: order.last_four.clone(),
            description: order.description.clone(),
        }
    }
}

impl ConfigurationToApprove {
    fn of(proposal: &ConfigProposal) -> Self {
        Self {
            proposed_by: proposal.change.actor.clone(),
            request_id: proposal.change.request.clone(),
            from_version: proposal.change.from_version,
            version: proposal.version,
            proposal: None,
        }
    }
}

impl ProposalResponse {
    fn of(change: ProposedChange, effect: &Replay) -> Self {
        Self {
            current_version: change.version,
            changes: change.changes.into_iter().map(ChangeResponse::of).collect(),
            warnings: change.warnings.into_iter().map(WarningResponse::from).collect(),
            effect: EffectResponse {
                examined: effect.examined,
                rerouted: effect.rerouted.iter().map(|moved| moved.count).sum(),
                refused: effect.refused,
                repriced: effect.repriced,
            },
        }
    }
}

impl ChangeResponse {
    fn of(Change { path, what }: Change) -> Self {
        let (kind, before, after) = match what {
            Difference::Added(after) => ("added", None, Some(after)),
            Difference::Removed(before) => ("removed", Some(before), None),
            Difference::Changed(before, after) => ("changed", Some(before), Some(after)),
            Difference::Reordered(order) => ("reordered", None, Some(order.into())),
            Difference::OtherSecret => ("secret", None, None),
        };
        Self { path, kind, before, after }
    }
}

pub(crate) async fn list(operator: Operator) -> ApiResult {
    let environment = operator.known_environment()?;
    let mut query = operator.query();
    let rule = "must be one of: required, approved, denied, canceled";
    let state = query.value_as("state", rule, ApprovalState::parse);
    let (before, limit) = (query.value("before"), query.limit());
    query.finish()?;
    let query = ApprovalQuery { state, before, limit: limit.to_read() };
    operator.record_list("approval.list", environment).await?;
    let found = operator.app.engine.approvals(environment, query).await?;
    let found: Vec<_> = found.iter().filter_map(ApprovalResponse::of).collect();
    respond::ok(&ListResponse::slice(found, limit, |it| it, |it| it.id.clone()))
}

pub(crate) async fn read(operator: Operator) -> ApiResult {
    let environment = operator.known_environment()?;
    let engine = &operator.app.engine;
    let found = engine.approval(environment, operator.path("approval")?).await?.ok_or_else(not_found_here)?;
    let mut response = ApprovalResponse::of(&found).ok_or_else(not_found_here)?;
    operator.record_view("approval.view", environment, &response.id).await?;
    let is_proposal = matches!(found, ApprovalSubject::Configuration(_));
    let _turn = if is_proposal { Some(config::read_turn(&operator).await?) } else { None };
    if let (ApprovalSubject::Configuration(proposal), Some(shown)) = (&found, &mut response.configuration)
        && let Some(change) = engine.proposed_change(proposal).await?
    {
        let effect = engine.replay_history(environment, &change.configuration, REPLAYED).await?;
        shown.proposal = Some(ProposalResponse::of(change, &effect));
    }
    respond::ok(&response)
}

pub(crate) async fn approve(operator: Operator) -> ApiResult {
    decide(operator, true).await
}

pub(crate) async fn deny(operator: Operator) -> ApiResult {
    decide(operator, false).await
}

async fn decide(operator: Operator, approves: bool) -> ApiResult {
    let environment = operator.known_environment()?;
    let id: ApprovalId = operator.path("approval")?;
    let (engine, origin) = (Arc::clone(&operator.app.engine), operator.origin.clone());
    let deciding = async move { Box::pin(engine.decide_approval(environment, id, approves, &origin)).await };
    let decided = run_to_completion(&operator.app.engine, deciding).await??;
    respond::ok(&ApprovalResponse::of(&decided).ok_or_else(not_found_here)?)
}

impl From<DecideError> for ApiError {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::Missing => not_found_here(),
            DecideError::NotAPerson => Self::new(
                ErrorCode::Forbidden,
                "An approval is a person's decision: use a personal token instead of the admin token.",
            ),
            DecideError::Vote(why) => Self::new(
                ErrorCode::NotApprovable,
                format!("Nothing was changed: {why}. Read the approval to see where it stands."),
            ),
            DecideError::Stale { current } => Self::new(
                ErrorCode::NotApprovable,
                format!(
                    "The configuration has changed since this was proposed: version {current} is current. The \
                     proposal was canceled; make the change again."
                ),
            ),
            DecideError::Configure(error) => error.into(),
            DecideError::Move(error) => error.into(),
            DecideError::Store(error) => error.into(),
        }
    }
}
