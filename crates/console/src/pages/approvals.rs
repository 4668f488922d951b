//! Transfers, refunds, wallet movements and changes of the configuration that wait for people: what is to be approved, by whom it was, and the decision.

use std::sync::Arc;

use askama::Template;
use axum::response::Response;
use tollgate_domain::{
    approval::{Approval, ApprovalState},
    id::{ApprovalId, EnvironmentId},
    ledger::Cause,
    people::Permission,
};
use tollgate_engine::{ApprovalSubject, DecideError, ports::ApprovalQuery};

use crate::{
    layout::{
        format::{minor, second},
        frame::Frame,
        page::{self, Page, PageError},
        review::{Choice, Review},
    },
    pages::config,
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

/// What a decision would do.
pub(crate) async fn show(signed_in: SignedIn) -> Page {
    let id = signed_in.path("approval")?;
    review(&signed_in, id).await
}

async fn review(signed_in: &SignedIn, id: ApprovalId) -> Page {
    let environment = signed_in.environment()?;
    let engine = &signed_in.console.engine;
    let subject = engine.approval(environment, id).await?.ok_or(PageError::Missing)?;
    let approval = subject.approval().cloned().ok_or(PageError::Missing)?;
    signed_in.record_view("approval.view", environment, id).await?;
    let list = format!("/console/{environment}/approvals");
    if !approval.is_open() {
        let said = format!("It is {} already.", approval.state.as_str());
        return Ok(signed_in.back(&format!("{list}?all=1"), &said));
    }
    let mut review = described(&subject, &approval);
    review.action.clone_from(&list);
    review.fields = vec![("approval".to_owned(), id.to_string())];
    review.back = ("Back to approvals".to_owned(), list);
    offer_decisions(signed_in, environment, &approval, &mut review).await?;
    let ApprovalSubject::Configuration(proposal) = subject else {
        return review.page(signed_in.frame("Approval", "approvals").await?);
    };
    let _turn = signed_in.config_read_turn().await?;
    let change = engine.proposed_change(&proposal).await?.ok_or(PageError::Missing)?;
    // Only what is current can be replaced.
    if change.version != proposal.change.from_version {
        review.choices.retain(|choice| choice.value == "deny");
        review.obstacle.get_or_insert_with(|| {
            "The configuration has changed since. It can only be denied; make the change again.".to_owned()
        });
    }
    config::show_proposal(signed_in, environment, change, review).await
}

/// The decisions that would count, or why none would.
async fn offer_decisions(
    signed_in: &SignedIn,
    environment: EnvironmentId,
    approval: &Approval,
    review: &mut Review,
) -> Result<(), PageError> {
    if !signed_in.identity.may(Permission::Approve) {
        review.obstacle = Some("Your role does not approve: an approver or an admin decides.".to_owned());
        return Ok(());
    }
    let origin = signed_in.origin();
    for (approves, choice) in [
        (true, Choice { title: "Approve".to_owned(), value: "approve", class: "primary" }),
        (false, Choice { title: "Deny".to_owned(), value: "deny", class: "danger" }),
    ] {
        match signed_in.console.engine.check_decision(environment, approval, approves, &origin).await {
            Ok(()) => review.choices.push(choice),
            Err(DecideError::Store(error)) => return Err(error.into()),
            Err(DecideError::NotAPerson) => {
                review.obstacle = Some(
                    "You signed in with the admin token, and an approval is a person's: sign in with a personal token \
                     or single sign-on."
                        .to_owned(),
                );
            }
            Err(error) => review.obstacle = Some(format!("You cannot approve this: {error}.")),
        }
    }
    Ok(())
}

/// What is to be decided, what it comes to, and for whom.
fn described(subject: &ApprovalSubject, approval: &Approval) -> Review {
    let mut review = Review::default();
    match subject {
        ApprovalSubject::Transfer(transfer) => {
            let order = &transfer.order;
            let text = |amount| minor(amount, order.currency);
            review.effect = format!("Approved, {} will be sent", text(order.fee.principal.into())).into();
            review.facts = vec![
                ("Transfer", order.id.to_string()),
                ("Amount", text(order.fee.principal.into())),
                ("Total debit", text(order.fee.total_debit)),
            ];
            review.facts.extend(order.description.clone().map(|text| ("Description", text)));
            review.affected =
                format!("{}, {}, ····{}", order.account_name, order.bank_name, order.last_four).into();
            review.permanent =
                "A transfer that was sent can be canceled only while the provider can stop it. One that is \
                                denied is canceled, and its funds are available again."
                    .into();
        }
        ApprovalSubject::Refund(waiting) => {
            let (refund, currency) = (&waiting.refund, waiting.currency);
            review.effect = format!("Approved, {} will be refunded", minor(refund.total(), currency)).into();
            review.facts = vec![
                ("Payment", waiting.payment.to_string()),
                ("Principal", minor(refund.principal, currency)),
                ("Total", minor(refund.total(), currency)),
                ("Requested by", refund.origin.as_str().to_owned()),
            ];
            review.facts.extend(refund.terms.description.clone().map(|text| ("Description", text)));
            review.affected = "The customer of the payment".into();
            review.permanent =
                "A refund that was sent cannot be taken back. One that is denied can be made again.".into();
        }
        ApprovalSubject::Funds(request) => {
            let order = &request.order;
            let amount = minor(order.amount, order.currency);
            review.effect = match order.cause {
                Cause::Fund => format!("Approved, {amount} will be added to the wallet").into(),
                Cause::Withdraw => format!("Approved, {amount} will leave the wallet").into(),
            };
            review.facts =
                vec![("Reference", order.reference.clone()), ("Requested by", request.actor.clone())];
            review.affected = format!("Bank transfers out of the {} wallet", order.currency).into();
            review.permanent =
                "The posting stays in the ledger; the opposite movement balances it. Denied, no funds move."
                    .into();
        }
        ApprovalSubject::Configuration(proposal) => {
            let change = &proposal.change;
            review.effect = "Approved, the change will be in force at once".into();
            review.facts = vec![("Proposed by", format!("{}, {} UTC", change.actor, second(change.at)))];
            review.affected = "Payments that are prepared or sent from then on".into();
            review.permanent =
                "Nothing: earlier versions can be restored. A denial is final for this proposal.".into();
        }
    }
    if !approval.reasons.is_empty() {
        review.facts.push(("Reason", approval.reasons.join(", ")));
    }
    review.facts.push(("Approvals", format!("{} of {}", approval.approvals(), approval.count)));
    review
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
    if !form.is_confirmed() {
        return review(signed_in, id).await;
    }
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
    Ok(signed_in.done(&format!("/console/{environment}/approvals"), &said).await)
}
