//! `/admin/v1/environments/<id>/wallets`: the operator's side of the wallets.

use std::str::FromStr;

use tollgate_domain::{
    Currency,
    id::PostingId,
    ledger::{Balances, Cause},
};
use tollgate_engine::{MoveError, MoveOrder, MoveOutcome, ports::LedgerLine};

use crate::{prelude::*, response::transaction::TransferApprovalResponse};

const MAX_REFERENCE_LENGTH: usize = 160;

type ReferenceText = scalars::CallerId<MAX_REFERENCE_LENGTH>;

/// A currency as it stands in a path.
struct PathCurrency(Currency);

impl FromStr for PathCurrency {
    type Err = ();

    fn from_str(code: &str) -> Result<Self, ()> {
        Currency::parse(code).map(Self).ok_or(())
    }
}

requests! {
    MoveBody as WalletMovementRequest {
        amount_minor: scalars::AmountInput,
        /// Makes the movement idempotent: the same reference moves the same amount once.
        reference: ReferenceText,
    }
}

responses! {
    /// What a wallet holds.
    WalletResponse as Wallet {
        currency: CurrencyCode,
        available_minor: MinorUnits,
        reserved_minor: MinorUnits,
        settled_out_minor: MinorUnits,
        platform_fees_minor: MinorUnits,
        organization_fees_minor: MinorUnits,
    }

    MovedResponse as WalletMovement {
        posting_id: String,
        replayed: bool,
        #[serde(flatten)]
        wallet: WalletResponse,
    }

    /// A movement that others have to approve, or have denied. Nothing was moved.
    MovementWaitsResponse<'a> as WalletMovementRequested {
        approval_id: String,
        approval: TransferApprovalResponse,
        requested_by: &'a str,
        replayed: bool,
    }

    /// A posting with its balanced entries.
    PostingResponse as LedgerPosting {
        posting_id: String,
        cause: words::PostingCause,
        reference: String,
        actor: String,
        at: Moment,
        entries: Vec<EntryResponse>,
    }

    EntryResponse as LedgerEntry {
        account: words::LedgerAccount,
        /// Signed: negative was taken from the account.
        amount_minor: SignedMinorUnits,
    }
}

impl WalletResponse {
    fn of(currency: Currency, balances: &Balances) -> Self {
        Self {
            currency: currency.into(),
            available_minor: balances.available.into(),
            reserved_minor: balances.reserved.into(),
            settled_out_minor: balances.settled_out.into(),
            platform_fees_minor: balances.platform_fees.into(),
            organization_fees_minor: balances.organization_fees.into(),
        }
    }
}

/// A wallet as it is shown.
pub(crate) fn answer(currency: Currency, balances: &Balances) -> WalletResponse {
    WalletResponse::of(currency, balances)
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<WalletResponse>> {
    let wallets = operator.app.engine.wallets(operator.path("environment")?).await?;
    let items = wallets.iter().map(|(currency, balances)| WalletResponse::of(*currency, balances)).collect();
    respond::ok(&ListResponse::whole(items))
}

pub(crate) async fn read(operator: Operator) -> Done<WalletResponse> {
    let PathCurrency(currency) = operator.path("currency")?;
    let balances = operator.app.engine.balances(operator.path("environment")?, currency).await?;
    respond::ok(&WalletResponse::of(currency, &balances))
}

/// Moved now or by an earlier request, or waiting for approval.
type Moved = OneOf<(
    (kind::Created<MovedResponse>, kind::Done<MovedResponse>),
    kind::Accepted<MovementWaitsResponse<'static>>,
)>;

pub(crate) async fn fund(operator: Operator, body: JsonBody<MoveBody>) -> Moved {
    post(operator, body, Cause::Fund).await
}

pub(crate) async fn withdraw(operator: Operator, body: JsonBody<MoveBody>) -> Moved {
    post(operator, body, Cause::Withdraw).await
}

async fn post(operator: Operator, body: JsonBody<MoveBody>, cause: Cause) -> Moved {
    let environment = operator.path("environment")?;
    let PathCurrency(currency) = operator.path("currency")?;
    let MoveBody { amount_minor, reference } = body.read(&operator).await?;
    let order = MoveOrder { currency, cause, amount: amount_minor.into(), reference };
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
            return if approval.is_open() {
                respond::accepted(&waits).map(Answer::one_of)
            } else {
                respond::ok(&waits).map(Answer::one_of)
            };
        }
    };
    let moved = MovedResponse {
        posting_id: applied.posting.to_string(),
        replayed: applied.replayed,
        wallet: WalletResponse::of(currency, &applied.balances),
    };
    if applied.replayed {
        respond::ok(&moved).map(Answer::one_of)
    } else {
        respond::created(&moved).map(Answer::one_of)
    }
}

pub(crate) async fn ledger(operator: Operator) -> Done<ListResponse<PostingResponse>> {
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
        account: line.account.as_str().into(),
        amount_minor: line.amount_minor.into(),
    });
    Some(PostingResponse {
        posting_id: first.posting.to_string(),
        cause: first.cause.as_str().into(),
        reference: first.reference.clone(),
        actor: first.actor.clone(),
        at: Moment(first.at),
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
