//! `/v1/checkout/sessions`, and what the hosted page does with them.

use serde_json::{Map, Value};

use super::amount::{check_amount, money};
use super::attempt::{attempt, complete, keep};
use super::call::{Call, Stripe};
use super::error::StripeError;
use super::form::Params;
use super::intents::{cancel_intent, new_intent};
use super::method_types::{self, Timing};
use super::objects::{Intent, Session, Status};
use super::state::{Context, StripeState};
use super::{list, methods};
use crate::api::Api;
use crate::calendar;
use crate::card::{Behavior, Card, Typed};
use crate::config::Wire;

const CREATE: &str = "mode success_url cancel_url client_reference_id customer_email customer \
    customer_creation currency expires_at line_items[#][quantity] line_items[#][price_data][currency] \
    line_items[#][price_data][unit_amount] line_items[#][price_data][product_data][name] \
    line_items[#][price_data][product_data][description] \
    line_items[#][price_data][product_data][metadata][*] locale metadata metadata[*] \
    payment_intent_data[metadata][*] payment_intent_data[description] payment_intent_data[receipt_email] \
    payment_intent_data[statement_descriptor_suffix] payment_intent_data[capture_method] \
    payment_method_types[#] allowed_payment_method_types[#] submit_type expand[#]";

pub(super) fn create(state: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    let (params, context) = (&call.params, &call.context);
    params.allow(&[CREATE])?;
    if params.required("mode")? != "payment" {
        return Err(StripeError::invalid("The simulator supports only mode=payment.").param("mode"));
    }
    let success_url =
        web_address(params, "success_url")?.ok_or_else(|| StripeError::missing("success_url"))?;
    let (amount, currency, items) = total(params)?;
    let expires_at = params.integer("expires_at")?.unwrap_or(context.now + 86_400);
    if !(context.now + 1_790..=context.now + 86_410).contains(&expires_at) {
        let message = "The `expires_at` timestamp must be between 30 minutes and 24 hours from now.";
        return Err(StripeError::invalid(message).param("expires_at"));
    }
    let id = format!("cs_test_{}", context.services.ids.letters(58));
    let mut session = Session {
        url: format!("{}/pay/{id}", context.services.base_url(Wire::Stripe)),
        id,
        amount,
        currency,
        status: "open",
        intent: None,
        metadata: Map::new(),
        idempotency_key: context.idempotency_key.clone(),
        cancel_url: web_address(params, "cancel_url")?,
        success_url,
        items,
        client_reference_id: params.owned("client_reference_id"),
        created: context.now,
        customer_email: params.owned("customer_email"),
        expires_at,
        intent_params: params.inside("payment_intent_data"),
        paid: false,
        method_types: Vec::new(),
        allowed_types: params.owned_list("allowed_payment_method_types"),
        presentment: None,
        account: context.account.clone(),
    };
    params.merge_metadata("metadata", &mut session.metadata)?;
    // Read now, so that what cannot become an intent is refused here rather than at the page.
    new_intent(state, context, &session.intent_params, amount, session.currency.clone())?;
    let is_manual = session.intent_params.text("capture_method") == Some("manual");
    session.method_types = method_types::taken(state, params, (amount, &session.currency), is_manual)?;
    state.remember_expiry(expires_at, &session.id);
    state.sessions.put(&session.id, session.clone());
    Ok(session.json())
}

/// The sum of the line items, their common currency, and what they are called.
fn total(params: &Params) -> Result<(i64, String, Vec<String>), StripeError> {
    let (mut sum, mut common, mut names) = (0_i64, None, Vec::new());
    for index in params.indexes("line_items") {
        let data = format!("line_items[{index}][price_data]");
        let (unit, currency) = money_of_item(params, &data)?;
        let quantity = params.integer(&format!("line_items[{index}][quantity]"))?.unwrap_or(1);
        let line = unit.checked_mul(quantity).filter(|line| *line > 0);
        let line = line.ok_or_else(|| StripeError::invalid("Invalid quantity.").param("line_items"))?;
        sum = sum.saturating_add(line);
        if common.get_or_insert_with(|| currency.clone()) != &currency {
            return Err(
                StripeError::invalid("All line items must have the same currency.").param("line_items")
            );
        }
        names.push(params.required(&format!("{data}[product_data][name]"))?.to_owned());
    }
    let currency = common.ok_or_else(|| StripeError::missing("line_items"))?;
    check_amount(sum, &currency, "line_items")?;
    Ok((sum, currency, names))
}

fn money_of_item(params: &Params, data: &str) -> Result<(i64, String), StripeError> {
    let amount = format!("{data}[unit_amount]");
    match money(params, &amount, &format!("{data}[currency]")) {
        // Only the total has a least amount.
        Err(error) if error.fields.get("code").is_some_and(|code| code == "amount_too_small") => {
            let currency = params.required(&format!("{data}[currency]"))?.to_ascii_lowercase();
            Ok((params.integer(&amount)?.unwrap_or_default(), currency))
        }
        other => other,
    }
}

fn web_address(params: &Params, name: &str) -> Result<Option<String>, StripeError> {
    match params.text(name) {
        Some(url) if !url.starts_with("https://") && !url.starts_with("http://") => {
            Err(StripeError::invalid("Not a valid URL").code("url_invalid").param(name))
        }
        url => Ok(url.map(str::to_owned)),
    }
}

pub(super) fn retrieve(state: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&["expand[#]"])?;
    find_for(state, call).map(|session| session.json())
}

/// The session in the path, if it belongs to the account the call is for.
fn find_for(state: &StripeState, call: &Call) -> Result<Session, StripeError> {
    let session = find(state, &call.id)?;
    if session.account == call.context.account {
        return Ok(session);
    }
    Err(StripeError::not_found("checkout.session", &call.id, "session"))
}

pub(super) fn list(state: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&list::with(&["payment_intent", "status", "created", "created[*]", "customer"]))?;
    let (intent, status) = (call.params.text("payment_intent"), call.params.text("status"));
    list::page(&state.sessions, &call.params, "/v1/checkout/sessions", Session::json, |session| {
        intent.is_none_or(|intent| session.intent.as_deref() == Some(intent))
            && status.is_none_or(|status| session.status == status)
            && list::created_fits(&call.params, session.created)
            && session.account == call.context.account
    })
}

pub(super) fn expire(state: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&["expand[#]"])?;
    let session = find_for(state, call)?;
    if !session.is_open() {
        let message = format!(
            "Only Checkout Sessions with a status in [\"open\"] can be expired. This one has a status of {}.",
            session.status
        );
        return Err(StripeError::invalid(message).begun());
    }
    Ok(expire_open(state, &call.context, session).json())
}

fn expire_open(state: &mut StripeState, context: &Context, mut session: Session) -> Session {
    session.status = "expired";
    state.expiries.remove(&(session.expires_at, session.id.clone()));
    state.sessions.put(&session.id, session.clone());
    if let Some(intent) = session.intent.as_ref().and_then(|id| state.intents.get_owned(id)) {
        cancel_intent(state, context, intent, Some("automatic".to_owned()));
    }
    state.emit(context, "checkout.session.expired", session.json());
    session
}

/// Expires sessions when their time comes, until the simulator stops.
pub(crate) async fn expire_sessions_forever(api: Api<Stripe>) {
    loop {
        tokio::select! {
            () = api.services().stopped() => return,
            () = tokio::time::sleep(std::time::Duration::from_secs(1)) => {}
        }
        let context = Context::without_call(api.services());
        api.change_and_announce(|state| {
            while let Some((_, id)) = state.expiries.first().filter(|(at, _)| *at <= context.now).cloned() {
                state.expiries.pop_first();
                if let Some(session) = state.sessions.get_owned(&id).filter(Session::is_open) {
                    expire_open(state, &context, session);
                }
            }
        })
        .await;
    }
}

/// What a customer pays with on the page.
pub(super) enum PaidWith<'a> {
    Card(&'a Typed),
    /// Another kind of method, by its name.
    Other(&'a str),
}

/// The customer presses "Pay". The first time makes the session's intent; a decline leaves it for another try.
pub(super) fn pay(
    state: &mut StripeState,
    context: &Context,
    id: &str,
    with: &PaidWith<'_>,
) -> Result<Intent, StripeError> {
    let session = find(state, id)?;
    let context = &Context { account: session.account.clone(), ..context.clone() };
    if !session.is_open() || session.expires_at <= calendar::unix_seconds() {
        return Err(StripeError::invalid(format!("This checkout is {}.", session.status)));
    }
    let (kind, card) = match with {
        PaidWith::Card(typed) => (method_types::CARD, Card::read(typed).map_err(StripeError::mistake)?),
        PaidWith::Other(name) => {
            let offered = session.method_types.iter().any(|offered| offered == name);
            let kind = method_types::played(name).filter(|kind| offered && kind.timing != Timing::Now);
            let kind = kind.ok_or_else(|| StripeError::invalid(format!("{name} is not offered here.")))?;
            (kind, Card::named("0000", Behavior::Approve))
        }
    };
    let begun = session.intent.as_ref().and_then(|id| state.intents.get_owned(id));
    let intent = match begun {
        Some(intent) => intent,
        None => begin(state, context, session)?,
    };
    if !matches!(intent.status, Status::RequiresPaymentMethod | Status::RequiresAction) {
        return Ok(intent);
    }
    let method = methods::add(state, context, kind, card);
    let intent = attempt(state, context, intent, &method)?;
    if intent.status == Status::RequiresCapture {
        complete(state, context, &intent);
    }
    Ok(intent)
}

/// Makes the session's intent.
fn begin(state: &mut StripeState, context: &Context, mut session: Session) -> Result<Intent, StripeError> {
    let mut intent =
        new_intent(state, context, &session.intent_params, session.amount, session.currency.clone())?;
    session.intent_params.merge_metadata("metadata", &mut intent.metadata)?;
    intent.session = Some(session.id.clone());
    intent.method_types.clone_from(&session.method_types);
    intent.allowed_types.clone_from(&session.allowed_types);
    let intent = keep(state, context, intent, "payment_intent.created");
    session.intent = Some(intent.id.clone());
    state.sessions.put(&session.id.clone(), session);
    Ok(intent)
}

pub(super) fn find(state: &StripeState, id: &str) -> Result<Session, StripeError> {
    state.sessions.get_owned(id).ok_or_else(|| StripeError::not_found("checkout.session", id, "session"))
}
