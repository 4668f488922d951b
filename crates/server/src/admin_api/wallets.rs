//! `/admin/v1/environments/<id>/wallets`: the operator's side of the wallets.

use std::str::FromStr;

use axum::body::Body;
use serde::{Deserialize, Serialize};
use tollgate_domain::{
    Currency, Minor,
    id::PostingId,
    ledger::{Balances, Cause},
};
use tollgate_engine::{MoveError, MoveOrder, MoveOutcome, ports::LedgerLine};
use utoipa::ToSchema;

use crate::{
    admin_api::{
        operator::{Operator, not_found_here},
        paging::ListResponse,
    },
    json::{minor::digits, timestamp::rfc3339},
    reference::{scalars, words},
    request::{
        body,
        fields::{self, FieldErrors, Raw},
    },
    response::{
        error::ApiError,
        error_code::ErrorCode,
        respond::{self, ApiResult},
        transaction::TransferApprovalResponse,
    },
};

const MAX_REFERENCE_LENGTH: usize = 160;

type ReferenceText = scalars::Line<MAX_REFERENCE_LENGTH>;

/// A currency as it stands in a path.
struct PathCurrency(Currency);

impl FromStr for PathCurrency {
    type Err = ();

    fn from_str(code: &str) -> Result<Self, ()> {
        Currency::parse(code).map(Self).ok_or(())
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WalletMovementRequest)]
pub(crate) struct MoveBody<'a> {
    #[serde(borrow)]
    #[schema(value_type = scalars::AmountInput, required)]
    amount_minor: Raw<'a>,
    /// Makes the movement idempotent: the same reference moves the same amount once.
    #[serde(borrow)]
    #[schema(value_type = ReferenceText, required, inline)]
    reference: Raw<'a>,
}

/// What a wallet holds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Wallet)]
pub(crate) struct WalletResponse {
    #[schema(value_type = scalars::CurrencyCode)]
    currency: String,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    available_minor: Minor,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    reserved_minor: Minor,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    settled_out_minor: Minor,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    platform_fees_minor: Minor,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    organization_fees_minor: Minor,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WalletMovement)]
pub(crate) struct MovedResponse {
    posting_id: String,
    replayed: bool,
    #[serde(flatten)]
    wallet: WalletResponse,
}

/// A movement that others have to approve, or have denied. Nothing was moved.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WalletMovementRequested)]
pub(crate) struct MovementWaitsResponse<'a> {
    approval_id: String,
    approval: TransferApprovalResponse,
    requested_by: &'a str,
    replayed: bool,
}

/// A posting with its balanced entries.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LedgerPosting)]
pub(crate) struct PostingResponse {
    posting_id: String,
    #[schema(value_type = words::PostingCause)]
    cause: &'static str,
    reference: String,
    actor: String,
    #[schema(value_type = scalars::Moment)]
    at: String,
    entries: Vec<EntryResponse>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LedgerEntry)]
pub(crate) struct EntryResponse {
    #[schema(value_type = words::LedgerAccount)]
    account: &'static str,
    /// Signed: negative was taken from the account.
    #[schema(value_type = scalars::SignedMinorUnits)]
    amount_minor: String,
}

impl WalletResponse {
    fn of(currency: Currency, balances: &Balances) -> Self {
        Self {
            currency: currency.to_string(),
            available_minor: balances.available,
            reserved_minor: balances.reserved,
            settled_out_minor: balances.settled_out,
            platform_fees_minor: balances.platform_fees,
            organization_fees_minor: balances.organization_fees,
        }
    }
}

/// A wallet as it is shown.
pub(crate) fn answer(currency: Currency, balances: &Balances) -> WalletResponse {
    WalletResponse::of(currency, balances)
}

pub(crate) async fn list(operator: Operator) -> ApiResult {
    let wallets = operator.app.engine.wallets(operator.path("environment")?).await?;
    let items = wallets.iter().map(|(currency, balances)| WalletResponse::of(*currency, balances)).collect();
    respond::ok(&ListResponse::whole(items))
}

pub(crate) async fn read(operator: Operator) -> ApiResult {
    let PathCurrency(currency) = operator.path("currency")?;
    let balances = operator.app.engine.balances(operator.path("environment")?, currency).await?;
    respond::ok(&WalletResponse::of(currency, &balances))
}

pub(crate) async fn fund(operator: Operator, body: Body) -> ApiResult {
    post(operator, body, Cause::Fund).await
}

pub(crate) async fn withdraw(operator: Operator, body: Body) -> ApiResult {
    post(operator, body, Cause::Withdraw).await
}

async fn post(operator: Operator, body: Body, cause: Cause) -> ApiResult {
    let environment = operator.path("environment")?;
    let PathCurrency(currency) = operator.path("currency")?;
    let body = body::read_json(&operator.headers, body, body::CLIENT_LIMIT).await?;
    let (amount, reference) = read_move(&body)?;
    let order = MoveOrder { currency, cause, amount, reference };
    let applied = match operator.app.engine.move_or_request(environment, order, &operator.origin).await? {
        MoveOutcome::Moved(applied) => applied,
        MoveOutcome::Waits { request, replayed } => {
            let approval = &request.approval;
            let waits = MovementWaitsResponse {
                approval_id: approval.id.to_string(),
                approval: TransferApprovalResponse::of(approval),
                requested_by: &request.actor,
                replayed,
            };
            return if approval.is_open() { respond::accepted(&waits) } else { respond::ok(&waits) };
        }
    };
    let moved = MovedResponse {
        posting_id: applied.posting.to_string(),
        replayed: applied.replayed,
        wallet: WalletResponse::of(currency, &applied.balances),
    };
    if applied.replayed { respond::ok(&moved) } else { respond::created(&moved) }
}

fn read_move(body: &[u8]) -> Result<(Minor, String), ApiError> {
    let body: MoveBody<'_> = body::parse_object(body)?;
    let mut errors = FieldErrors::default();
    let amount = fields::amount("amountMinor", body.amount_minor, &mut errors);
    let reference = fields::required_id("reference", body.reference, MAX_REFERENCE_LENGTH, &mut errors);
    fields::complete(errors, amount.map(Minor::from).zip(reference))
}

pub(crate) async fn ledger(operator: Operator) -> ApiResult {
    let PathCurrency(currency) = operator.path("currency")?;
    let mut query = operator.query();
    let (before, limit) = (query.value::<PostingId>("before"), query.limit());
    query.finish()?;
    let environment = operator.path("environment")?;
    let lines = operator.app.engine.ledger(environment, currency, before, limit.to_read()).await?;
    respond::ok(&ListResponse::slice(postings(&lines), limit, |it| it, |it| it.posting_id.clone()))
}

/// Lines by their postings, in the same order.
pub(crate) fn postings(lines: &[LedgerLine]) -> Vec<PostingResponse> {
    lines.chunk_by(|line, next| line.posting == next.posting).filter_map(posting).collect()
}

fn posting(lines: &[LedgerLine]) -> Option<PostingResponse> {
    let first = lines.first()?;
    let entries = lines.iter().map(|line| EntryResponse {
        account: line.account.as_str(),
        amount_minor: line.amount_minor.to_string(),
    });
    Some(PostingResponse {
        posting_id: first.posting.to_string(),
        cause: first.cause.as_str(),
        reference: first.reference.clone(),
        actor: first.actor.clone(),
        at: rfc3339(first.at),
        entries: entries.collect(),
    })
}

impl From<MoveError> for ApiError {
    fn from(error: MoveError) -> Self {
        match error {
            MoveError::Missing => not_found_here(),
            MoveError::ReferenceReused { amount } => Self::new(
                ErrorCode::IdempotencyConflict,
                format!("This reference was already used for {amount}; use a new reference."),
            ),
            MoveError::Insufficient { available } => Self::new(
                ErrorCode::InsufficientWalletBalance,
                format!("Only {available} is available in this wallet; nothing was withdrawn."),
            ),
            MoveError::TooMuch => {
                Self::new(ErrorCode::WalletFull, "The balance would exceed the maximum; nothing was added.")
            }
            MoveError::TooManyRequests => Self::new(
                ErrorCode::TooManyProposals,
                "As many movements of this wallet as may wait for approval; approve or deny one first.",
            ),
            MoveError::Store(error) => error.into(),
            MoveError::Randomness(error) => Self::internal(error.to_string()),
        }
    }
}
