//! `/v1/checkout/sessions`, and what the hosted page does with them.

use super::attempt::{complete, keep};
use super::intents::{cancel_intent, new_intent};
use super::prelude::*;
use crate::due::EndsByItself;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) status: Word,
    pub(crate) intent: Option<String>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) cancel_url: Option<String>,
    pub(crate) success_url: String,
    pub(crate) items: Vec<String>,
    pub(crate) client_reference_id: Option<String>,
    pub(crate) created: i64,
    pub(crate) customer_email: Option<String>,
    pub(crate) expires_at: i64,
    pub(crate) intent_params: Params,
    pub(crate) paid: bool,
    pub(crate) url: String,
    pub(crate) method_types: Vec<String>,
    pub(crate) allowed_types: Option<Vec<String>>,
    /// What the buyer is shown in a currency of their own: amount and currency.
    pub(crate) presentment: Option<(i64, String)>,
    pub(crate) account: Option<String>,
}

impl Kept for Session {
    fn class(&self) -> Class {
        if self.is_open() { Class::Open } else { Class::Closed }
    }
}

impl Session {
    pub(crate) fn is_open(&self) -> bool {
        self.status == "open"
    }

    pub(crate) fn json(&self) -> Value {
        let session = object!(self: id cancel_url client_reference_id created currency customer_email expires_at
            metadata status success_url;
            "object": "checkout.session",
            "adaptive_pricing": { "enabled": self.presentment.is_some() },
            "amount_subtotal": self.amount, "amount_total": self.amount,
            "automatic_tax": { "enabled": false, "liability": null, "provider": null, "status": null },
            "custom_fields": [],
            "custom_text": {
                "after_submit": null, "shipping_address": null, "submit": null,
                "terms_of_service_acceptance": null,
            },
            "customer_creation": "if_required",
            "customer_details": {
                "address": null, "business_name": null, "email": self.customer_email,
                "individual_name": null, "name": null, "phone": null, "tax_exempt": "none",
                "tax_ids": [],
            },
            "livemode": false, "mode": "payment", "payment_intent": self.intent,
            "payment_method_collection": "if_required", "payment_method_options": {},
            "allowed_payment_method_types": self.allowed_types,
            "payment_method_types": self.method_types,
            "payment_status": if self.paid { "paid" } else { "unpaid" },
            "phone_number_collection": { "enabled": false }, "shipping_options": [],
            "total_details": { "amount_discount": 0, "amount_shipping": 0, "amount_tax": 0 },
            "ui_mode": "hosted_page", "url": self.is_open().then_some(&self.url),
        );
        let session = with_unset(
            session,
            "after_expiration allow_promotion_codes billing_address_collection \
             client_secret collected_information consent consent_collection currency_conversion customer \
             customer_account discounts integration_identifier invoice invoice_creation locale \
             managed_payments origin_context payment_link payment_method_configuration_details permissions \
             recovered_from saved_payment_method_options setup_intent shipping_address_collection \
             shipping_cost submit_type subscription wallet_options",
        );
        let shown = |(amount, currency): &(i64, String)| json!({ "presentment_amount": amount, "presentment_currency": currency });
        with_given(session, [("presentment_details", json!(self.presentment.as_ref().map(shown)))])
    }
}

const CREATE: &str = "mode success_url cancel_url client_reference_id customer_email customer \
    customer_creation currency expires_at line_items[#][quantity] line_items[#][price_data][currency] \
    line_items[#][price_data][unit_amount] line_items[#][price_data][product_data][name] \
    line_items[#][price_data][product_data][description] \
    line_items[#][price_data][product_data][metadata][*] locale metadata metadata[*] \
    payment_intent_data[metadata][*] payment_intent_data[description] payment_intent_data[receipt_email] \
    payment_intent_data[statement_descriptor_suffix] payment_intent_data[capture_method] \
    payment_method_types[#] allowed_payment_method_types[#] submit_type expand[#]";

pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    let (params, context) = (&call.params, &call.context);
    params.allow(&[CREATE])?;
    if params.required("mode")? != "payment" {
        return Err(Error::invalid("The simulator supports only mode=payment.").param("mode"));
    }
    let success_url = web_address(params, "success_url")?.ok_or_else(|| Error::missing("success_url"))?;
    let (amount, currency, items) = total(params)?;
    let expires_at = params.integer("expires_at")?.unwrap_or(context.now + 86_400);
    if !(context.now + 1_790..=context.now + 86_410).contains(&expires_at) {
        let message = "The `expires_at` timestamp must be between 30 minutes and 24 hours from now.";
        return Err(Error::invalid(message).param("expires_at"));
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
    state.sessions.put(&session.id, session.clone());
    Ok(session.json())
}

/// The sum of the line items, their common currency, and how the page shows them.
fn total(params: &Params) -> Answer<(i64, String, Vec<String>)> {
    let (mut sum, mut common, mut items) = (0_i64, None, Vec::new());
    for index in params.indexes("line_items") {
        let data = format!("line_items[{index}][price_data]");
        let (unit, currency) = money_of_item(params, &data)?;
        let quantity = params.integer(&format!("line_items[{index}][quantity]"))?.unwrap_or(1);
        let line = unit.checked_mul(quantity).filter(|line| *line > 0);
        let line = line.ok_or_else(|| Error::invalid("Invalid quantity.").param("line_items"))?;
        sum = sum.saturating_add(line);
        if common.get_or_insert_with(|| currency.clone()) != &currency {
            return Err(Error::invalid("All line items must have the same currency.").param("line_items"));
        }
        items.push((params.required(&format!("{data}[product_data][name]"))?.to_owned(), line));
    }
    let currency = common.ok_or_else(|| Error::missing("line_items"))?;
    check_amount(sum, &currency, "line_items")?;
    let items = item_texts(items, &currency);
    Ok((sum, currency, items))
}

fn money_of_item(params: &Params, data: &str) -> Answer<(i64, String)> {
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

fn web_address(params: &Params, name: &str) -> Answer<Option<String>> {
    match params.text(name) {
        Some(url) if !url.starts_with("https://") && !url.starts_with("http://") => {
            Err(Error::invalid("Not a valid URL").code("url_invalid").param(name))
        }
        url => Ok(url.map(str::to_owned)),
    }
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&["expand[#]"])?;
    find_for(state, call).map(|session| session.json())
}

/// The session in the path, if it belongs to the account the call is for.
fn find_for(state: &State, call: &Call) -> Answer<Session> {
    let session = find(state, &call.id)?;
    if session.account == call.context.account {
        return Ok(session);
    }
    Err(Error::not_found("checkout.session", &call.id, "session"))
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&list::with(&["payment_intent", "status", "created", "created[*]", "customer"]))?;
    let (intent, status) = (call.params.text("payment_intent"), call.params.text("status"));
    list::page(&state.sessions, &call.params, "/v1/checkout/sessions", Session::json, |session| {
        intent.is_none_or(|intent| session.intent.as_deref() == Some(intent))
            && status.is_none_or(|status| session.status == status)
            && list::created_fits(&call.params, session.created)
            && session.account == call.context.account
    })
}

pub(super) fn expire(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&["expand[#]"])?;
    let session = find_for(state, call)?;
    if !session.is_open() {
        let message = format!(
            "Only Checkout Sessions with a status in [\"open\"] can be expired. This one has a status of {}.",
            session.status
        );
        return Err(Error::invalid(message).begun());
    }
    Ok(expire_open(state, &call.context, session).json())
}

fn expire_open(state: &mut State, context: &Context, mut session: Session) -> Session {
    session.status = "expired";
    state.sessions.put(&session.id, session.clone());
    if let Some(intent) = session.intent.as_ref().and_then(|id| state.intents.get_owned(id)) {
        cancel_intent(state, context, intent, Some("automatic".to_owned()));
    }
    state.emit(context, "checkout.session.expired", session.json());
    session
}

impl EndsByItself for State {
    fn end_due(&mut self, services: &Arc<Services>) {
        let context = Context::without_call(services);
        let due = self.sessions.open().filter(|session| session.expires_at <= context.now);
        for session in due.cloned().collect::<Vec<_>>() {
            expire_open(self, &context, session);
        }
    }
}

pub(super) enum PaidWith<'a> {
    Card(&'a Typed),
    /// Another kind of method, by its name.
    Other(&'a str),
}

/// The customer presses "Pay". The first time makes the session's intent; a decline leaves it for another try.
pub(super) fn pay(state: &mut State, context: &Context, id: &str, with: &PaidWith<'_>) -> Answer<Intent> {
    let session = find(state, id)?;
    let context = &Context { account: session.account.clone(), ..context.clone() };
    if !session.is_open() || session.expires_at <= calendar::unix_seconds() {
        return Err(Error::invalid(format!("This checkout is {}.", session.status)));
    }
    let (kind, card) = match with {
        PaidWith::Card(typed) => (method_types::CARD, Card::read(typed).map_err(Error::mistake)?),
        PaidWith::Other(name) => {
            let offered = session.method_types.iter().any(|offered| offered == name);
            let kind = method_types::played(name).filter(|kind| offered && kind.timing != Timing::Now);
            let kind = kind.ok_or_else(|| Error::invalid(format!("{name} is not offered here.")))?;
            (kind, Card::named("0000", Behavior::Approve))
        }
    };
    let begun = session.intent.as_ref().and_then(|id| state.intents.get_owned(id));
    let intent = match begun {
        Some(intent) => intent,
        None => begin(state, context, session)?,
    };
    if !matches!(intent.status, "requires_payment_method" | "requires_action") {
        return Ok(intent);
    }
    let method = methods::add(state, context, kind, card);
    let intent = attempt(state, context, intent, &method)?;
    if intent.status == "requires_capture" {
        complete(state, context, &intent);
    }
    Ok(intent)
}

fn begin(state: &mut State, context: &Context, mut session: Session) -> Answer<Intent> {
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

pub(super) fn find(state: &State, id: &str) -> Answer<Session> {
    state.sessions.get_owned(id).ok_or_else(|| Error::not_found("checkout.session", id, "session"))
}
