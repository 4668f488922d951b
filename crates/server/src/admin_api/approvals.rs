//! `/admin/v1/environments/<id>/approvals`: transfers, refunds, wallet movements and changes of the configuration that wait for
//! people, and what people decide.

use serde_json::Value;
use tollgate_configuration::{Change, Difference};
use tollgate_domain::{
    approval::{Approval, ApprovalState},
    id::{ApprovalId, KeyId},
};
use tollgate_engine::{
    ApprovalSubject, DecideError, MoveOrder, ProposedChange, Replay,
    ports::{ApprovalQuery, ConfigProposal, FundRequest, RefundToApprove, Transfer},
};

use crate::{
    admin_api::config::{self, WarningResponse},
    prelude::*,
    response::refund::RefundResponse,
};

/// How many payments of the past a proposed change is tried on.
const REPLAYED: u32 = 1_000;

responses! {
    ApprovalResponse as Approval {
        id: String,
        kind: words::ApprovalKind,
        state: words::ApprovalState,
        /// How many people have to approve.
        count: u32,
        /// The IDs of the rules that ask for it, and the limits that it exceeds.
        reasons: Vec<String>,
        votes: Vec<VoteResponse>,
        created_at: Moment,
        transfer: Option<TransferToApprove>,
        refund: Option<RefundResponse>,
        funds: Option<FundsToApprove>,
        configuration: Option<ConfigurationToApprove>,
    }

    TransferToApprove as TransferToApprove {
        service_reference: String,
        status: words::TransactionStatus,
        /// The key that made the transfer.
        maker_key_id: Option<String>,
        amount_minor: MinorUnits,
        total_debit_minor: MinorUnits,
        currency: CurrencyCode,
        provider: String,
        account_name: String,
        bank_name: String,
        account_last_four: String,
        description: Option<String>,
    }

    /// A movement of money into or out of a wallet.
    FundsToApprove as FundsToApprove {
        cause: words::MovementCause,
        amount_minor: MinorUnits,
        currency: CurrencyCode,
        reference: String,
        requested_by: String,
        /// The posting that it became.
        posting_id: Option<String>,
    }

    ConfigurationToApprove as ConfigurationToApprove {
        proposed_by: String,
        request_id: String,
        /// The version that the change was made from. Where another is current, it cannot be approved anymore.
        from_version: u64,
        /// The version that it became.
        version: Option<u64>,
        /// What it would change in the current version. Null in lists, and once it is decided.
        proposal: Option<ProposalResponse>,
    }

    ProposalResponse as ProposedConfiguration {
        current_version: u64,
        changes: Vec<ChangeResponse>,
        /// What is allowed and probably not meant.
        warnings: Vec<WarningResponse>,
        effect: EffectResponse,
    }

    /// A place of the document that would differ. Secrets are masked.
    ChangeResponse as ConfigurationDifference {
        path: String,
        kind: words::DifferenceKind,
        /// What stands there now; null where nothing does.
        #[schema(required)]
        before: Option<Value>,
        /// What would stand there; null where nothing would.
        #[schema(required)]
        after: Option<Value>,
    }

    /// What the change would have done to the latest payments.
    EffectResponse as ConfigurationEffect {
        /// How many payments were looked at.
        examined: u64,
        /// How many would have gone elsewhere.
        rerouted: u64,
        /// How many would have had no route.
        refused: u64,
        /// How many would have had a different fee.
        repriced: u64,
    }

    VoteResponse as ApprovalVote {
        user_id: String,
        name: String,
        /// False for a denial.
        approves: bool,
        at: Moment,
    }
}

impl ApprovalResponse {
    /// `None` for a transfer or refund that never had to wait.
    fn of(subject: &ApprovalSubject) -> Option<Self> {
        let Approval { id, state, count, reasons, maker, votes, .. } = subject.approval()?;
        let votes = votes.iter().map(|vote| VoteResponse {
            user_id: vote.user.to_string(),
            name: vote.name.clone(),
            approves: vote.approves,
            at: Moment(vote.at),
        });
        let created_at = match subject {
            ApprovalSubject::Transfer(transfer) => transfer.order.created_at,
            ApprovalSubject::Refund(waiting) => waiting.refund.created_at,
            ApprovalSubject::Funds(request) => request.at,
            ApprovalSubject::Configuration(proposal) => proposal.change.at,
        };
        let mut response = Self {
            id: id.to_string(),
            kind: "".into(),
            state: state.as_str().into(),
            count: *count,
            reasons: reasons.clone(),
            votes: votes.collect(),
            created_at: Moment(created_at),
            transfer: None,
            refund: None,
            funds: None,
            configuration: None,
        };
        match subject {
            ApprovalSubject::Transfer(transfer) => {
                response.kind = "transfer".into();
                response.transfer = Some(TransferToApprove::of(transfer, *maker));
            }
            ApprovalSubject::Refund(waiting) => {
                let RefundToApprove { payment, provider, currency, refund } = &**waiting;
                response.kind = "refund".into();
                response.refund = Some(RefundResponse::new(payment.to_string(), provider, *currency, refund));
            }
            ApprovalSubject::Funds(request) => {
                response.kind = "funds".into();
                response.funds = Some(FundsToApprove::of(request));
            }
            ApprovalSubject::Configuration(proposal) => {
                response.kind = "configuration".into();
                response.configuration = Some(ConfigurationToApprove::of(proposal));
            }
        }
        Some(response)
    }
}

impl FundsToApprove {
    fn of(request: &FundRequest) -> Self {
        let MoveOrder { currency, cause, amount, reference } = &request.order;
        Self {
            cause: cause.as_str().into(),
            amount_minor: (*amount).into(),
            currency: (*currency).into(),
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
            status: transfer.state.status.as_str().into(),
            maker_key_id: maker.map(|key| key.to_string()),
            amount_minor: order.fee.principal.into(),
            total_debit_minor: order.fee.total_debit.into(),
            currency: order.currency.into(),
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
        Self { path, kind: kind.into(), before, after }
    }
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<ApprovalResponse>> {
    let environment = operator.known_environment()?;
    let mut query = operator.query();
    let rule = "must be one of: required, approved, denied, canceled";
    let state = query.value_as("state", rule, ApprovalState::parse);
    let (before, limit) = (query.value("before"), query.limit());
    query.finish()?;
    let query = ApprovalQuery { state, before, limit: limit.to_read() };
    operator.record_list("approval.list", environment).await?;
    let approvals = operator.app.engine.approvals(environment, query).await?;
    let approvals: Vec<_> = approvals.iter().filter_map(ApprovalResponse::of).collect();
    respond::ok(&ListResponse::slice(approvals, limit, |it| it, |it| it.id.clone()))
}

pub(crate) async fn read(operator: Operator) -> Done<ApprovalResponse> {
    let environment = operator.known_environment()?;
    let engine = &operator.app.engine;
    let approval =
        engine.approval(environment, operator.path("approval")?).await?.ok_or_else(not_found_here)?;
    let mut response = ApprovalResponse::of(&approval).ok_or_else(not_found_here)?;
    operator.record_view("approval.view", environment, &response.id).await?;
    let is_proposal = matches!(approval, ApprovalSubject::Configuration(_));
    let _turn = if is_proposal { Some(config::read_turn(&operator).await?) } else { None };
    if let (ApprovalSubject::Configuration(proposal), Some(shown)) = (&approval, &mut response.configuration)
        && let Some(change) = engine.proposed_change(proposal).await?
    {
        let effect = engine.replay_history(environment, &change.configuration, REPLAYED).await?;
        shown.proposal = Some(ProposalResponse::of(change, &effect));
    }
    respond::ok(&response)
}

pub(crate) async fn approve(operator: Operator) -> Done<ApprovalResponse> {
    decide(operator, true).await
}

pub(crate) async fn deny(operator: Operator) -> Done<ApprovalResponse> {
    decide(operator, false).await
}

async fn decide(operator: Operator, approves: bool) -> Done<ApprovalResponse> {
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
