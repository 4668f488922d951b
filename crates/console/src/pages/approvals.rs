//! Transfers, refunds, wallet movements and changes of the configuration that wait for people: what is to be approved, by whom it was, and the decision.

use std::sync::Arc;

use askama::Template;
use axum::response::Response;
use tollgate_domain::{
    approval::{Approval, ApprovalState},
    id::ApprovalId,
    ledger::Cause,
};
use tollgate_engine::{ApprovalSubject, DecideError, ports::ApprovalQuery};

use crate::{
    layout::{
        format::{minor, second},
        frame::Frame,
        page::{self, Page, PageError},
    },
    pages::config::{self, ProposalView},
    request::{signed_in::SignedIn, submitted::Submitted},
};

const SLICE: u32 = 50;

struct Row {
    id: String,
    at: String,
    state: &'static str,
    is_open: bool,
    progress: String,
    reasons: String,
    votes: Vec<String>,
    subject: Subject,
}

enum Subject {
    Transfer {
        reference: String,
        amount: String,
        total: String,
        receiver: String,
        description: Option<String>,
    },
    Refund {
        payment: String,
        reference: String,
        amount: String,
        total: String,
        by: &'static str,
        description: Option<String>,
    },
    Funds {
        currency: String,
        what: String,
        reference: String,
        by: String,
    },
    Configuration {
        by: String,
        from_version: u64,
        version: Option<u64>,
    },
}

impl Row {
    /// Decided from the list: everything about it is there.
    fn is_whole(&self) -> bool {
        !matches!(self.subject, Subject::Configuration { .. })
    }

    fn of(subject: &ApprovalSubject) -> Option<Self> {
        let approval: &Approval = subject.approval()?;
        let votes = approval.votes.iter().map(|vote| {
            let what = if vote.approves { "Approved" } else { "Denied" };
            format!("{what} by {}, {}", vote.name, second(vote.at))
        });
        let (at, subject) = match subject {
            ApprovalSubject::Transfer(transfer) => {
                let order = &transfer.order;
                let subject = Subject::Transfer {
                    reference: order.id.to_string(),
                    amount: minor(order.fee.principal.into(), order.currency),
                    total: minor(order.fee.total_debit, order.currency),
                    receiver: format!("{}, {}, ····{}", order.account_name, order.bank_name, order.last_four),
                    description: order.description.clone(),
                };
                (order.created_at, subject)
            }
            ApprovalSubject::Refund(waiting) => {
                let (refund, currency) = (&waiting.refund, waiting.currency);
                let subject = Subject::Refund {
                    payment: waiting.payment.to_string(),
                    reference: refund.id.to_string(),
                    amount: minor(refund.principal, currency),
                    total: minor(refund.total(), currency),
                    by: refund.origin.as_str(),
                    description: refund.terms.description.clone(),
                };
                (refund.created_at, subject)
            }
            ApprovalSubject::Funds(request) => {
                let order = &request.order;
                let verb = match order.cause {
                    Cause::Fund => "Fund the wallet with",
                    Cause::Withdraw => "Withdraw",
                };
                let subject = Subject::Funds {
                    currency: order.currency.to_string(),
                    what: format!("{verb} {}", minor(order.amount, order.currency)),
                    reference: order.reference.clone(),
                    by: request.actor.clone(),
                };
                (request.at, subject)
            }
            ApprovalSubject::Configuration(proposal) => {
                let change = &proposal.change;
                let (by, from_version) = (change.actor.clone(), change.from_version);
                (change.at, Subject::Configuration { by, from_version, version: proposal.version })
            }
        };
        Some(Self {
            id: approval.id.to_string(),
            at: second(at),
            state: approval.state.as_str(),
            is_open: approval.is_open(),
            progress: format!("{} of {}", approval.approvals(), approval.count),
            reasons: approval.reasons.join(", "),
            votes: votes.collect(),
            subject,
        })
    }
}

#[derive(Template)]
#[template(path = "approvals.html")]
struct ApprovalsPage {
    frame: Frame,
    rows: Vec<Row>,
    shows_all: bool,
    next: Option<String>,
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Approvals", "approvals").await?;
    let shows_all = signed_in.query("all").is_some();
    let before = signed_in.query("before").and_then(|text| text.parse::<ApprovalId>().ok());
    signed_in.record_list("approval.list", environment).await?;
    let state = (!shows_all).then_some(ApprovalState::Required);
    let found = signed_in
        .console
        .engine
        .approvals(environment, ApprovalQuery { state, before, limit: SLICE })
        .await?;
    let is_full = u32::try_from(found.len()).is_ok_and(|count| count == SLICE);
    let rows: Vec<_> = found.iter().filter_map(Row::of).collect();
    let next = rows.last().filter(|_| is_full).map(|last| {
        let rest = signed_in.query_without("before");
        let joint = if rest.is_empty() { "" } else { "&" };
        format!("?{rest}{joint}before={}", last.id)
    });
    page::render(&ApprovalsPage { frame, rows, shows_all, next })
}

/// What a proposed change of the configuration would do.
pub(crate) async fn review(signed_in: SignedIn) -> Page {
    let (environment, id): (_, ApprovalId) = (signed_in.environment()?, signed_in.path("approval")?);
    let engine = &signed_in.console.engine;
    let found = engine.approval(environment, id).await?.ok_or(PageError::Missing)?;
    let ApprovalSubject::Configuration(proposal) = found else { return Err(PageError::Missing) };
    signed_in.record_view("approval.view", environment, id).await?;
    let _turn = signed_in.config_read_turn().await?;
    let Some(change) = engine.proposed_change(&proposal).await? else {
        let said = format!("It is {} already.", proposal.approval.state.as_str());
        return Ok(signed_in.back(&format!("/console/{environment}/approvals?all=1"), &said));
    };
    let shown = ProposalView {
        id,
        by: proposal.change.actor.clone(),
        at: second(proposal.change.at),
        is_late: change.version != proposal.change.from_version,
    };
    config::show_proposal(&signed_in, environment, change, shown).await
}

pub(crate) async fn decide(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let id: ApprovalId = form.field("approval").parse().map_err(|_| PageError::Missing)?;
    let approves = match form.field("do") {
        "approve" => true,
        "deny" => false,
        _ => return Err(PageError::Refused("Unknown action.".to_owned())),
    };
    let (engine, origin) = (Arc::clone(&signed_in.console.engine), signed_in.origin());
    // A browser that goes away does not stop it half way.
    let deciding = async move { Box::pin(engine.decide_approval(environment, id, approves, &origin)).await };
    let host = signed_in.console.engine.host();
    let decided = host.run(deciding).await.map_err(|error| PageError::Broken(error.to_string()))?;
    let decided = decided.map_err(|error| match error {
        DecideError::Missing => PageError::Missing,
        DecideError::Store(error) => error.into(),
        DecideError::Configure(error) => error.into(),
        DecideError::Move(error) => error.into(),
        DecideError::NotAPerson | DecideError::Vote(_) => {
            PageError::Refused(format!("Nothing was changed: {error}."))
        }
        DecideError::Stale { .. } => PageError::Refused(format!("The change was not applied: {error}.")),
    })?;
    let state = decided.approval().map(|approval| approval.state);
    let (what, sent, canceled) = match &decided {
        ApprovalSubject::Configuration(_) => ("change", "in force", "the configuration stays as it is"),
        ApprovalSubject::Transfer(_) => (
            "transfer",
            "the transfer is being sent",
            "the transfer is canceled and its funds are available again",
        ),
        ApprovalSubject::Refund(_) => {
            ("refund", "the refund is being sent", "the refund is canceled and can be made again")
        }
        ApprovalSubject::Funds(_) => ("movement", "the funds have moved", "no funds moved"),
    };
    let said = match (&decided, state) {
        (ApprovalSubject::Configuration(proposal), Some(ApprovalState::Approved)) => {
            format!("Approved; in force as version {}.", proposal.version.unwrap_or_default())
        }
        (_, Some(ApprovalState::Approved)) => format!("Approved; {sent}."),
        (_, Some(ApprovalState::Denied)) => format!("Denied; {canceled}."),
        _ => format!("Approved by you; the {what} waits for more people."),
    };
    Ok(signed_in.back(&format!("/console/{environment}/approvals"), &said))
}
