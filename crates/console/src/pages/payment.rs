//! One payment, whole: what was asked, why it went where it went, what it cost, and everything that happened since.

use askama::Template;
use axum::response::Response;
use tollgate_domain::{
    Channel, Currency, Minor, PaymentMethod, ServiceReference, Timestamp,
    card_fee::{FeeKind, PaymentFacts},
    fee::{Bound, FeeSnapshot, LayerFee},
    id::{EnvironmentId, PaymentId, RequestId, TransferId},
    payment_card::PaymentCard,
    refund::{Refund, Refundable},
    routing::{Matched, RouteProgress},
    transaction::{Status, TransactionState},
};
use tollgate_engine::{
    MAX_NOTE_LENGTH, QuoteRequest, explain_routing, metadata_pairs, notifications_of_change,
    ports::{Entry, LedgerLine, NewCardPosting, StoredException},
};
use tollgate_vault::Secret;

use crate::{
    layout::{
        format::{minor, moment, money},
        frame::Frame,
        page::{self, Page, PageError},
    },
    pages::{
        customer,
        disputes::DisputeView,
        exceptions::Exception,
        payment_rows::{Mark, brand_words, marks_beside, tone},
        refund::{RefundRow, dispute_obstacle},
        routing::RuleView,
        timeline::{self, Line, corrections},
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

/// What an erased transfer has in place of names.
const ERASED: &str = "erased";

/// A layer of the fee, step by step.
pub(crate) struct Layer {
    pub(crate) scope: &'static str,
    pub(crate) rule: String,
    pub(crate) steps: String,
    pub(crate) fee: String,
}

/// A posting with its entries.
pub(crate) struct Posting {
    pub(crate) at: String,
    pub(crate) cause: &'static str,
    pub(crate) reference: String,
    pub(crate) actor: String,
    pub(crate) entries: Vec<(&'static str, String)>,
}

/// An event, and whether it was delivered.
pub(crate) struct EventRow {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    pub(crate) at: String,
    pub(crate) deliveries: Vec<(String, &'static str)>,
}

/// Something to know of a payment, which may lead elsewhere.
struct Fact {
    name: &'static str,
    value: String,
    link: Option<String>,
}

impl Fact {
    fn plain((name, value): (&'static str, String)) -> Self {
        Self { name, value, link: None }
    }

    fn linked(name: &'static str, value: impl Into<String>, link: Option<String>) -> Self {
        Self { name, value: value.into(), link }
    }
}

#[derive(Template)]
#[template(path = "payment.html")]
struct PaymentPage {
    frame: Frame,
    reference: String,
    /// The customer, by name or else by e-mail address.
    who: String,
    /// The customer's own page.
    customer: Option<String>,
    description: Option<String>,
    status: &'static str,
    tone: &'static str,
    /// What else is to be known at a glance, each with its tone.
    badges: Vec<Mark>,
    failure: Option<(String, String)>,
    waiting: Option<String>,
    facts: Vec<Fact>,
    can_reveal: bool,
    metadata: String,
    principal: String,
    layers: Vec<Layer>,
    /// What the fee is called.
    fee_name: &'static str,
    fee: String,
    total: String,
    refunded: Option<String>,
    dispute: Option<DisputeView>,
    refunds: Vec<RefundRow>,
    actions: Actions,
    decision: String,
    config_version: u64,
    rules: Option<Vec<RuleView>>,
    postings: Vec<Posting>,
    exceptions: Vec<Exception>,
    told: Vec<EventRow>,
    lines: Vec<Line>,
}

/// What can be done with a payment now.
struct Actions {
    can_refund: bool,
    /// Why it cannot be refunded, where it could be otherwise.
    refund_obstacle: Option<&'static str>,
    /// Whether it can be captured or voided.
    is_held: bool,
    /// Whether it is a transfer that may still be canceled.
    can_cancel: bool,
}

impl Actions {
    fn any(&self, frame: &Frame) -> bool {
        ((self.is_held || self.can_cancel) && frame.may_manage_payments())
            || ((self.can_refund || self.refund_obstacle.is_some()) && frame.may_refund())
    }
}

/// What both kinds of payment have in common.
struct PaymentView<'a> {
    reference: ServiceReference,
    who: String,
    /// What their page is found by.
    customer: Option<&'a str>,
    state: Option<&'a TransactionState>,
    standing: &'static str,
    waiting: Option<&'a str>,
    next_check: Option<Timestamp>,
    created_at: Timestamp,
    request: &'a str,
    provider: &'a str,
    channel: Channel,
    matched: Option<&'a Matched>,
    route: &'a RouteProgress,
    config_version: u64,
    currency: Currency,
    fee: &'a FeeSnapshot,
    description: Option<&'a str>,
    metadata: &'a str,
    quote: Option<QuoteRequest>,
    facts: Vec<(&'static str, String)>,
    timeline: &'a [Entry],
    exceptions: &'a [StoredException],
    postings: Vec<Posting>,
    refunds: &'a [Refund],
    /// Whether there is a corrected account number that is not shown yet.
    can_reveal: bool,
    can_cancel: bool,
}

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let reference: ServiceReference = signed_in.path("reference")?;
    match reference {
        ServiceReference::Card(id) => card(&signed_in, environment, id).await,
        ServiceReference::Ach(id) => transfer(&signed_in, environment, id, &[]).await,
    }
}

async fn card(signed_in: &SignedIn, environment: EnvironmentId, id: PaymentId) -> Page {
    let read = signed_in.console.engine.payment_with_timeline(environment, id).await?;
    signed_in.record_view("payment.view", environment, id).await?;
    let (order, progress) = (&read.payment.order, &read.payment.progress);
    let transaction = read.payment.transaction.as_ref();
    let optional = |name, value: &Option<String>| value.clone().map(|value| (name, value));
    let mut facts = vec![("Flow", order.flow.as_str().to_owned())];
    facts.extend(optional("Customer", &order.customer_name));
    facts.extend(optional("E-mail", &order.customer_email));
    facts.push(("Preparation", progress.preparation.as_str().to_owned()));
    facts.push(("Expires", format!("{} UTC", moment(order.expires_at))));
    facts.extend(optional("Provider session ID", &progress.object));
    facts.extend(optional("Checkout page", &progress.checkout_url));
    if !read.payment.attempts.is_empty() {
        let attempts = read.payment.attempts.iter();
        let attempts: Vec<_> = attempts.map(|one| format!("{} {}", one.number, one.state.as_str())).collect();
        facts.push(("Attempts", attempts.join(", ")));
    }
    let details = PaymentView {
        reference: ServiceReference::Card(id),
        who: order.customer_name.clone().or_else(|| order.customer_email.clone()).unwrap_or_default(),
        customer: order.customer_email.as_deref(),
        state: transaction.map(|transaction| &transaction.state),
        standing: progress.preparation.as_str(),
        waiting: progress.waiting.as_deref(),
        next_check: progress.due,
        created_at: order.created_at,
        request: &order.request,
        provider: &order.provider,
        channel: order.channel,
        matched: order.matched.as_ref(),
        route: &order.route,
        config_version: order.config_version,
        currency: order.currency,
        fee: &order.fee,
        description: order.description.as_deref(),
        metadata: &order.metadata,
        quote: metadata_pairs(&order.metadata).map(|metadata| QuoteRequest {
            principal: order.fee.principal,
            currency: order.currency,
            method: PaymentMethod::WebCard,
            flow: Some(order.flow),
            metadata,
            card_fee: PaymentFacts::default(),
        }),
        facts,
        timeline: &read.timeline,
        exceptions: &read.exceptions,
        postings: card_postings(&read.postings, order.currency),
        refunds: &read.payment.refunds,
        can_reveal: false,
        can_cancel: false,
    };
    render(signed_in, environment, details).await
}

/// Shows the account numbers that receiving banks asked to be used from now on; that they were shown is recorded.
pub(crate) async fn reveal(form: Submitted) -> Page {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let ServiceReference::Ach(id) = signed_in.path("reference")? else { return Err(PageError::Missing) };
    let engine = &signed_in.console.engine;
    let revealed = engine.reveal_corrected_accounts(environment, id, &signed_in.origin()).await?;
    let numbers: Vec<_> = revealed.into_iter().map(|account| account.account_number).collect();
    transfer(signed_in, environment, id, &numbers).await
}

async fn transfer(
    signed_in: &SignedIn,
    environment: EnvironmentId,
    id: TransferId,
    revealed: &[Secret],
) -> Page {
    let read = signed_in.console.engine.transfer_with_timeline(environment, id).await?;
    signed_in.record_view("payment.view", environment, id).await?;
    let (order, progress) = (&read.transfer.order, &read.transfer.progress);
    let mut facts = vec![
        ("Customer", format!("{} ({})", order.customer_name, order.external_customer_id)),
        ("E-mail", order.customer_email.clone()),
        (
            "Account",
            format!(
                "{}, {} of {}, ····{}",
                order.bank_name,
                order.account_type.as_str(),
                order.account_name,
                order.last_four
            ),
        ),
    ];
    facts.extend(progress.cancel_requested_at.map(|at| ("Cancellation requested", moment(at))));
    facts.extend(progress.expected_on.clone().map(|day| ("Expected to arrive", day)));
    facts.extend(order.remittance.clone().map(|text| ("Remittance", text)));
    facts.extend(order.rail.map(|rail| ("Rail", rail.as_str().to_owned())));
    facts.push(("Recipient", order.recipient_kind.as_str().to_owned()));
    facts.extend(order.purpose.map(|purpose| ("Purpose", purpose.as_str().to_owned())));
    facts.extend(order.statement_descriptor.clone().map(|text| ("Statement descriptor", text)));
    let notified = notifications_of_change(&read.transfer);
    let has_corrected_account = notified
        .as_array()
        .is_some_and(|all| all.iter().any(|one| one.get("corrected_account_number").is_some()));
    facts.extend(corrections(&notified).into_iter().map(|said| ("Corrections", said)));
    facts.extend(revealed.iter().map(|number| ("Corrected account number", number.expose().to_owned())));
    let details = PaymentView {
        reference: ServiceReference::Ach(id),
        who: order.customer_name.clone(),
        customer: Some(&*order.external_customer_id).filter(|id| *id != ERASED),
        state: Some(&read.transfer.state),
        standing: read.transfer.state.status.as_str(),
        waiting: progress.waiting.as_deref(),
        next_check: progress.due,
        created_at: order.created_at,
        request: &order.request,
        provider: &order.provider,
        channel: order.channel,
        matched: order.matched.as_ref(),
        route: &order.route,
        config_version: order.config_version,
        currency: order.currency,
        fee: &order.fee,
        description: order.description.as_deref(),
        metadata: &order.metadata,
        quote: metadata_pairs(&order.metadata).map(|metadata| QuoteRequest {
            principal: order.fee.principal,
            currency: order.currency,
            method: PaymentMethod::Ach,
            flow: None,
            metadata,
            card_fee: PaymentFacts::default(),
        }),
        facts,
        timeline: &read.timeline,
        exceptions: &read.exceptions,
        postings: postings(&read.postings, order.currency),
        refunds: &[],
        can_reveal: has_corrected_account && revealed.is_empty(),
        can_cancel: matches!(read.transfer.state.status, Status::Pending | Status::Processing)
            && progress.cancel_requested_at.is_none(),
    };
    render(signed_in, environment, details).await
}

/// Puts a note on the payment.
pub(crate) async fn note(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let reference: ServiceReference = signed_in.path("reference")?;
    let text = form.field("note");
    let length = text.chars().count();
    if length == 0
        || length > MAX_NOTE_LENGTH
        || text.chars().any(|letter| letter.is_control() && letter != '\n')
    {
        return Err(PageError::Refused(format!("Write a note of 1 to {MAX_NOTE_LENGTH} characters.")));
    }
    signed_in.console.engine.add_note(environment, reference, text, &signed_in.origin()).await?;
    Ok(signed_in.back(&format!("/console/{environment}/payments/{reference}"), "Note added."))
}

/// What was tried before the payment's provider, in a few words.
fn tried_before(route: &RouteProgress) -> String {
    let tried = route.attempts.iter();
    let said = tried.map(|it| format!("; {} {}: {}", it.provider, it.outcome.as_str(), it.reason));
    said.collect::<Vec<_>>().concat()
}

async fn render(signed_in: &SignedIn, environment: EnvironmentId, details: PaymentView<'_>) -> Page {
    let engine = &signed_in.console.engine;
    let frame = signed_in.frame(&details.reference.to_string(), "payments").await?;
    let configuration = engine.decided_by(environment, details.config_version).await?;
    let rules = configuration.zip(details.quote.as_ref()).map(|(configuration, request)| {
        let explained = explain_routing(&configuration, request);
        RuleView::all(&explained.rules, configuration.routing(request.method).rules())
    });
    let view = signed_in.view(environment)?;
    let provider = view.configuration.providers.get(details.provider);
    let dispute = details.state.and_then(|state| state.dispute.as_ref()).map(|dispute| {
        let link = provider.and_then(|provider| provider.dispute_page(&dispute.id));
        DisputeView::of(dispute, details.currency, engine.clock().now(), link)
    });
    let told = told(signed_in, environment, details.reference).await?;
    let decided = format!("{}, {}", details.provider, details.channel.as_str());
    let tried = tried_before(details.route);
    let state = details.state;
    let customer = details.customer.map(|name| customer::link(&frame.base, name));
    let request = Some(details.request).filter(|request| request.parse::<RequestId>().is_ok());
    let request = request.map(|id| format!("{}/requests?q={id}", frame.base));
    let mut facts = vec![
        Fact::plain(("Created", format!("{} UTC", moment(details.created_at)))),
        Fact::linked("Request", details.request, request),
    ];
    facts.extend(details.facts.into_iter().map(Fact::plain));
    facts.extend(state.and_then(|state| state.provider_reference.as_ref()).map(|id| {
        let page = provider.and_then(|provider| provider.payment_page(id));
        Fact::linked("Provider payment ID", id, page)
    }));
    let card = state.and_then(|state| state.card.as_deref()).into_iter().flat_map(card_facts);
    facts.extend(card.map(Fact::plain));
    let authorized = details.fee;
    let amounts = state.map_or(*authorized, |state| state.amounts(authorized));
    facts.extend(state.into_iter().flat_map(|state| hold_facts(state, authorized, details.currency)));
    facts.extend(details.next_check.map(|at| Fact::plain(("Next check", format!("{} UTC", moment(at))))));
    let mut lines = vec![Line::new(
        details.created_at,
        "",
        "Requested",
        vec![format!(
            "{} by {}.",
            minor(details.fee.principal.into(), details.currency),
            if details.reference.method() == PaymentMethod::WebCard { "card" } else { "bank transfer" }
        )],
    )];
    lines.extend(timeline::lines(details.timeline, details.currency));
    let is_refundable = details.reference.method() == PaymentMethod::WebCard
        && state.is_some_and(|state| state.status == Status::Succeeded)
        && Refundable::after(&amounts, details.refunds).total() > Minor::ZERO;
    let refund_obstacle = state.filter(|_| is_refundable).and_then(dispute_obstacle);
    page::render(&PaymentPage {
        reference: details.reference.to_string(),
        who: details.who,
        customer,
        description: details.description.map(str::to_owned),
        badges: state.map(|state| marks_beside(state, authorized)).unwrap_or_default(),
        status: state.map_or(details.standing, |state| state.status.as_str()),
        tone: state.map_or("", |state| tone(state.status)),
        failure: state
            .and_then(|state| state.failure.as_ref())
            .map(|failure| (failure.code.clone(), failure.message.clone())),
        waiting: details.waiting.map(str::to_owned),
        facts,
        can_reveal: details.can_reveal,
        metadata: pretty(details.metadata),
        principal: minor(amounts.principal.into(), details.currency),
        layers: vec![
            layer("Platform", &amounts.platform, details.currency),
            layer("Organization", &amounts.organization, details.currency),
        ],
        fee_name: state.and_then(|state| state.charged.as_ref()?.kind).map_or("Fee", FeeKind::label),
        fee: minor(amounts.fee, details.currency),
        total: minor(amounts.total_debit, details.currency),
        refunded: state
            .filter(|state| state.refunded.get() > 0)
            .map(|state| minor(state.refunded, details.currency)),
        dispute,
        actions: Actions {
            can_refund: is_refundable && refund_obstacle.is_none(),
            refund_obstacle,
            is_held: state.is_some_and(|state| {
                state.status == Status::Authorized && state.hold.is_none_or(|hold| hold.pending.is_none())
            }),
            can_cancel: details.can_cancel,
        },
        refunds: details.refunds.iter().map(|refund| RefundRow::of(refund, details.currency)).collect(),
        decision: match details.matched {
            Some(matched) => format!("{decided} (rule {}){tried}", matched.rule),
            None => format!("{decided}, default: no rule matched{tried}"),
        },
        config_version: details.config_version,
        rules,
        postings: details.postings,
        exceptions: details.exceptions.iter().map(|one| Exception::of(one, &frame.base)).collect(),
        told,
        lines,
        frame,
    })
}

/// What is or was held of it.
fn hold_facts(state: &TransactionState, authorized: &FeeSnapshot, currency: Currency) -> Vec<Fact> {
    let Some(hold) = state.hold else { return Vec::new() };
    let mut facts = vec![("Authorized", minor(state.charged(authorized).total_debit, currency))];
    let end = hold.capture_before.filter(|_| state.status == Status::Authorized);
    facts.extend(end.map(|at| ("Capture before", format!("{} UTC", moment(at)))));
    facts.extend(hold.pending.map(|kind| ("In progress", kind.as_str().to_owned())));
    facts.into_iter().map(Fact::plain).collect()
}

/// The card in words: what it is, what its bank checked, and whether its holder was authenticated.
fn card_facts(card: &PaymentCard) -> Vec<(&'static str, String)> {
    let brand = card.brand.as_deref().map(brand_words);
    let kind = [brand, card.funding.clone()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let described = [
        Some(kind).filter(|kind| !kind.is_empty()),
        card.last_four.as_ref().map(|digits| format!("····{digits}")),
        card.expiry_month.zip(card.expiry_year).map(|(month, year)| format!("expires {month:02}/{year}")),
        card.country.as_ref().map(|country| format!("issued in {country}")),
    ];
    let checked = [
        ("security code", card.checks.cvc),
        ("postal code", card.checks.postal_code),
        ("address", card.checks.address),
    ];
    let checked =
        checked.into_iter().filter_map(|(what, result)| Some(format!("{what}: {}", result?.as_str())));
    let checked = checked.collect::<Vec<_>>().join(", ");
    let described = described.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let proof = card.three_d_secure.clone().map(|result| ("3D Secure", result));
    let said =
        [("Card", described), ("Card checks", checked)].into_iter().filter(|(_, text)| !text.is_empty());
    said.chain(proof).collect()
}

async fn told(
    signed_in: &SignedIn,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Vec<EventRow>, PageError> {
    let mut all = Vec::new();
    for (event, deliveries) in signed_in.console.engine.events_about(environment, reference).await? {
        all.push(EventRow {
            id: event.id.to_string(),
            kind: event.kind.as_str(),
            at: moment(event.at),
            deliveries: deliveries
                .iter()
                .map(|delivery| (delivery.endpoint.to_string(), delivery.state.as_str()))
                .collect(),
        });
    }
    Ok(all)
}

/// How a layer came to its fee.
pub(crate) fn layer(scope: &'static str, fee: &LayerFee, currency: Currency) -> Layer {
    let layer = &fee.layer;
    if !layer.enabled {
        return Layer {
            scope,
            rule: "disabled".to_owned(),
            steps: String::new(),
            fee: minor(fee.fee, currency),
        };
    }
    let bps = layer.percent.get();
    let mut rule = format!("{}.{:02} % + {}", bps / 100, bps % 100, minor(layer.fixed, currency));
    if let Some(minimum) = layer.minimum {
        rule = format!("{rule}, min {}", minor(minimum, currency));
    }
    if let Some(cap) = layer.cap {
        rule = format!("{rule}, max {}", minor(cap, currency));
    }
    let mut steps = format!(
        "{} + {} = {}",
        minor(fee.percent_part, currency),
        minor(layer.fixed, currency),
        minor(fee.before_bounds, currency)
    );
    match fee.bound {
        Some(Bound::Minimum) => steps.push_str(", raised to the minimum"),
        Some(Bound::Cap) => steps.push_str(", lowered to the cap"),
        None => {}
    }
    Layer { scope, rule, steps, fee: minor(fee.fee, currency) }
}

/// Ledger lines, by posting.
pub(crate) fn postings(lines: &[LedgerLine], currency: Currency) -> Vec<Posting> {
    let posting = |lines: &[LedgerLine]| {
        let first = lines.first()?;
        Some(Posting {
            at: moment(first.at),
            cause: first.cause.as_str(),
            reference: first.reference.clone(),
            actor: first.actor.clone(),
            entries: lines
                .iter()
                .map(|line| (line.account.as_str(), money(line.amount_minor, currency)))
                .collect(),
        })
    };
    lines.chunk_by(|line, next| line.posting == next.posting).filter_map(posting).collect()
}

/// What a card payment has in the books, the newest first.
fn card_postings(postings: &[NewCardPosting], currency: Currency) -> Vec<Posting> {
    let posting = |new: &NewCardPosting| {
        let entries = new.posting.amounts.accounts().into_iter().filter(|(_, amount)| *amount != 0);
        Posting {
            at: moment(new.at),
            cause: new.posting.kind.as_str(),
            reference: new.posting.subject.clone().unwrap_or_default(),
            actor: String::new(),
            entries: entries.map(|(account, amount)| (account, money(amount, currency))).collect(),
        }
    };
    postings.iter().rev().map(posting).collect()
}

fn pretty(json: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    match value.as_object() {
        Some(object) if object.is_empty() => String::new(),
        _ => serde_json::to_string_pretty(&value).unwrap_or_default(),
    }
}
