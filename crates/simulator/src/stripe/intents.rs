//! `/v1/payment_intents`.

use super::attempt::{capture as capture_held, keep};
use super::prelude::*;
use super::surcharge::Surcharge;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) status: Word,
    pub(crate) amount_received: i64,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) amount_capturable: i64,
    pub(crate) automatic_methods: Option<Value>,
    pub(crate) cancellation_reason: Option<String>,
    pub(crate) canceled_at: Option<i64>,
    pub(crate) manual_capture: bool,
    pub(crate) capture_method: String,
    pub(crate) client_secret: String,
    pub(crate) created: i64,
    pub(crate) customer: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) last_payment_error: Option<Value>,
    pub(crate) latest_charge: Option<String>,
    pub(crate) next_action: Option<Value>,
    pub(crate) method: Option<String>,
    pub(crate) method_types: Vec<String>,
    pub(crate) allowed_types: Option<Vec<String>>,
    pub(crate) receipt_email: Option<String>,
    pub(crate) setup_future_usage: Option<String>,
    pub(crate) statement_descriptor: Option<String>,
    pub(crate) statement_descriptor_suffix: Option<String>,
    /// Where the customer goes after proving who they are.
    pub(crate) return_url: Option<String>,
    pub(crate) surcharge: Surcharge,
    /// Whether the method that is attached could be surcharged, and how much.
    pub(crate) surcharge_shown: Value,
    pub(crate) session: Option<String>,
    pub(crate) account: Option<String>,
}

impl Kept for Intent {
    fn class(&self) -> Class {
        if matches!(self.status, "succeeded" | "canceled") { Class::Closed } else { Class::Open }
    }
}

impl Intent {
    pub(crate) fn json(&self) -> Value {
        let intent = object!(self: id amount amount_capturable amount_received canceled_at cancellation_reason
            capture_method client_secret created currency customer description
            last_payment_error latest_charge metadata next_action receipt_email
            setup_future_usage statement_descriptor statement_descriptor_suffix;
            "object": "payment_intent",
            "amount_details": with_given(json!({ "tip": {} }), [("surcharge", self.surcharge_shown.clone())]), "automatic_payment_methods": self.automatic_methods,
            "confirmation_method": "automatic", "livemode": false, "payment_method": self.method,
            "payment_method_options": {}, "allowed_payment_method_types": self.allowed_types,
            "payment_method_types": self.method_types, "status": self.status,
        );
        with_unset(
            intent,
            "application application_fee_amount customer_account \
             excluded_payment_method_types managed_payments on_behalf_of \
             payment_method_configuration_details payment_record processing review shipping source \
             transfer_data transfer_group",
        )
    }

    /// Only versions that have surcharges tell of them.
    pub(super) fn show_surcharge(&mut self, context: &Context, method: Option<&Method>) {
        if versions::has_surcharges(&context.version) {
            self.surcharge_shown = self.surcharge.json(self.amount, method);
        }
    }

    /// What the browser may see with the publishable key.
    pub(crate) fn public_json(&self) -> Value {
        let mut whole = self.json();
        if let Some(fields) = whole.as_object_mut() {
            for private in ["metadata", "customer", "latest_charge", "amount_received", "amount_capturable"] {
                fields.shift_remove(private);
            }
        }
        whole
    }
}

/// Documented parameters of create and confirm that change nothing here.
const IGNORED: &str = "error_on_requires_action mandate mandate_data[**] off_session \
    payment_method_options[**] radar_options[**] shipping[**] use_stripe_sdk \
    payment_method_configuration excluded_payment_method_types[#] expand[#]";

const CREATE: &str = "amount currency automatic_payment_methods[enabled] \
    automatic_payment_methods[allow_redirects] application_fee_amount capture_method confirm \
    confirmation_method customer description metadata metadata[*] on_behalf_of payment_method \
    payment_method_data[**] payment_method_types[#] allowed_payment_method_types[#] receipt_email return_url setup_future_usage \
    statement_descriptor statement_descriptor_suffix transfer_data[**] transfer_group confirmation_token \
    amount_details[surcharge][amount] amount_details[surcharge][enforce_validation]";

/// Why an intent was canceled that was not captured in time.
const EXPIRED: &str = "expired";

const CAPTURE_METHODS: [&str; 3] = ["automatic", "automatic_async", "manual"];

pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    let params = &call.params;
    params.allow(&[CREATE, IGNORED])?;
    let confirm = params.boolean("confirm")?.unwrap_or(false);
    if params.has("return_url") && !confirm {
        let message = "You can only set `return_url` when `confirm` is true.";
        return Err(Error::invalid(message).param("return_url"));
    }
    let (amount, currency) = money(params, "amount", "currency")?;
    let mut intent = new_intent(state, &call.context, params, amount, currency)?;
    params.merge_metadata("metadata", &mut intent.metadata)?;
    let token = confirmation_tokens::of_call(state, &call.context, params)?.filter(|_| confirm);
    let method = methods::of_call(state, &call.context, params)?;
    let method = method.or_else(|| token.as_ref().map(|token| token.method.clone()));
    if confirm && method.is_none() {
        return Err(no_method());
    }
    intent.surcharge.read(params, intent.amount)?;
    if let Some(token) = token {
        intent.return_url = intent.return_url.or_else(|| token.return_url.clone());
        confirmation_tokens::spend(state, token, &intent.id);
    }
    if let Some(method) = &method {
        intent.method = Some(method.id.clone());
        intent.status = "requires_confirmation";
    }
    let intent = keep(state, &call.context, intent, "payment_intent.created");
    match method {
        Some(method) if confirm => Ok(attempt(state, &call.context, intent, &method)?.json()),
        _ => Ok(intent.json()),
    }
}

/// An intent nobody has paid yet, from the parameters a call or a checkout session gives.
pub(super) fn new_intent(
    state: &State,
    context: &Context,
    params: &Params,
    amount: i64,
    currency: String,
) -> Answer<Intent> {
    if let Some(email) = params.text("receipt_email").filter(|email| !email.contains('@')) {
        let message = format!("Invalid email address: {email}");
        return Err(Error::invalid(message).code("email_invalid").param("receipt_email"));
    }
    let automatic =
        params.boolean("automatic_payment_methods[enabled]")?.filter(|enabled| *enabled).map(|_| {
            let redirects = params.text("automatic_payment_methods[allow_redirects]").unwrap_or("always");
            json!({ "allow_redirects": redirects, "enabled": true })
        });
    let capture_method = params.word("capture_method", &CAPTURE_METHODS)?;
    let capture_method = capture_method.unwrap_or_else(|| "automatic_async".to_owned());
    let is_manual = capture_method == "manual";
    let method_types = method_types::taken(state, params, (amount, &currency), is_manual)?;
    let id = context.id("pi_");
    Ok(Intent {
        client_secret: format!("{id}_secret_{}", context.services.ids.letters(25)),
        id,
        amount,
        currency,
        idempotency_key: context.idempotency_key.clone(),
        automatic_methods: automatic,
        manual_capture: is_manual,
        capture_method,
        created: context.now,
        customer: params.owned("customer"),
        description: params.owned("description"),
        method_types,
        allowed_types: params.owned_list("allowed_payment_method_types"),
        receipt_email: params.owned("receipt_email"),
        setup_future_usage: params.word("setup_future_usage", &["on_session", "off_session"])?,
        statement_descriptor: params.owned("statement_descriptor"),
        statement_descriptor_suffix: params.owned("statement_descriptor_suffix"),
        return_url: params.owned("return_url"),
        account: context.account.clone(),
        status: "requires_payment_method",
        ..Intent::default()
    })
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&["client_secret", "expand[#]"])?;
    let intent = find(state, call)?;
    Ok(shown(&intent, call))
}

pub(super) fn update(state: &mut State, call: &Call) -> Answer {
    let params = &call.params;
    params.allow(&[
        "amount currency description metadata metadata[*] receipt_email payment_method customer",
        "payment_method_data[**] capture_method amount_details[surcharge][amount]",
        "amount_details[surcharge][enforce_validation]",
        IGNORED,
    ])?;
    let mut intent = find(state, call)?;
    let open = matches!(intent.status, "requires_payment_method" | "requires_confirmation");
    if !open && (params.has("amount") || params.has("currency") || params.has("payment_method")) {
        return Err(wrong_status(&intent, "updated"));
    }
    if let Some(amount) = params.integer("amount")? {
        check_amount(amount, &intent.currency, "amount")?;
        intent.amount = amount;
    }
    intent.surcharge.read(params, intent.amount)?;
    if let Some(method) = methods::of_call(state, &call.context, params)? {
        intent.show_surcharge(&call.context, Some(&method));
        intent.method = Some(method.id);
        intent.status = "requires_confirmation";
    }
    intent.description = params.owned("description").or(intent.description);
    intent.receipt_email = params.owned("receipt_email").or(intent.receipt_email);
    params.merge_metadata("metadata", &mut intent.metadata)?;
    state.intents.put(&intent.id, intent.clone());
    Ok(intent.json())
}

pub(super) fn confirm(state: &mut State, call: &Call) -> Answer {
    let params = &call.params;
    params.allow(&[
        "payment_method payment_method_data[**] return_url client_secret capture_method receipt_email",
        "setup_future_usage payment_method_types[#] allowed_payment_method_types[#] confirmation_token",
        "amount_to_confirm amount_details[surcharge][amount] amount_details[surcharge][enforce_validation]",
        IGNORED,
    ])?;
    let mut intent = find(state, call)?;
    if matches!(intent.status, "succeeded" | "canceled" | "requires_capture" | "processing") {
        return Err(wrong_status(&intent, "confirmed"));
    }
    let token = confirmation_tokens::of_call(state, &call.context, params)?;
    // What the call says itself goes before what the token says.
    let method = match methods::of_call(state, &call.context, params)? {
        Some(method) => method,
        None if token.is_some() => token.as_ref().map(|token| token.method.clone()).ok_or_else(no_method)?,
        None => intent.method.as_ref().and_then(|id| state.methods.get_owned(id)).ok_or_else(no_method)?,
    };
    if let Some(amount) = params.integer("amount_to_confirm")? {
        check_amount(amount, &intent.currency, "amount_to_confirm")?;
        intent.amount = amount;
    }
    intent.surcharge.read(params, intent.amount)?;
    let of_token = token.as_ref().and_then(|token| token.return_url.clone());
    intent.return_url = params.owned("return_url").or(of_token).or(intent.return_url);
    intent.receipt_email = params.owned("receipt_email").or(intent.receipt_email);
    // What is validated is validated first, so that the token may be used again.
    intent.surcharge.check(intent.amount, &method)?;
    if let Some(token) = token {
        confirmation_tokens::spend(state, token, &intent.id);
    }
    let intent = attempt(state, &call.context, intent, &method)?;
    Ok(shown(&intent, call))
}

pub(super) fn cancel(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&["cancellation_reason", "expand[#]"])?;
    let reasons = ["duplicate", "fraudulent", "requested_by_customer", "abandoned"];
    let reason = call.params.word("cancellation_reason", &reasons)?;
    let intent = find(state, call)?;
    if matches!(intent.status, "succeeded" | "canceled") {
        return Err(wrong_status(&intent, "canceled"));
    }
    if intent
        .session
        .as_ref()
        .and_then(|id| state.sessions.get(id))
        .is_some_and(super::sessions::Session::is_open)
    {
        let message =
            "You cannot cancel a PaymentIntent of an open Checkout Session. Expire the session instead.";
        return Err(Error::unexpected_state(message));
    }
    Ok(cancel_intent(state, &call.context, intent, reason).json())
}

pub(super) fn cancel_intent(
    state: &mut State,
    context: &Context,
    mut intent: Intent,
    reason: Option<String>,
) -> Intent {
    let held = intent.latest_charge.as_ref().filter(|_| intent.status == "requires_capture");
    if reason.as_deref() == Some(EXPIRED)
        && let Some(charge) = held.and_then(|id| state.charges.get_owned(id))
    {
        state.emit(context, "charge.expired", charge.json());
    }
    intent.status = "canceled";
    intent.canceled_at = Some(context.now);
    intent.cancellation_reason = reason;
    intent.amount_capturable = 0;
    intent.next_action = None;
    keep(state, context, intent, "payment_intent.canceled")
}

pub(super) fn capture(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&[
        "amount_to_capture application_fee_amount metadata metadata[*] statement_descriptor",
        "statement_descriptor_suffix transfer_data[**] final_capture amount_details[surcharge][amount]",
        "amount_details[surcharge][enforce_validation] expand[#]",
    ])?;
    let mut intent = find(state, call)?;
    if intent.status != "requires_capture" {
        return Err(wrong_status(&intent, "captured"));
    }
    let amount = call.params.integer("amount_to_capture")?.unwrap_or(intent.amount);
    if !(1..=intent.amount).contains(&amount) {
        let message = "The amount to capture must be positive and at most the amount authorized.";
        return Err(Error::invalid(message).code("amount_too_large").param("amount_to_capture"));
    }
    intent.surcharge.lower(&call.params, amount)?;
    let method = intent.method.as_ref().and_then(|id| state.methods.get_owned(id));
    intent.show_surcharge(&call.context, method.as_ref());
    call.params.merge_metadata("metadata", &mut intent.metadata)?;
    Ok(capture_held(state, &call.context, intent, amount).json())
}

/// Nobody captured it in time.
pub(super) fn lapse(state: &mut State, context: &Context, id: &str) -> Answer<Intent> {
    let intent = held(state, id)?;
    Ok(cancel_intent(state, context, intent, Some(EXPIRED.to_owned())))
}

pub(super) fn held(state: &State, id: &str) -> Answer<Intent> {
    let intent =
        state.intents.get_owned(id).ok_or_else(|| Error::not_found("payment_intent", id, "intent"))?;
    if intent.status == "requires_capture" {
        return Ok(intent);
    }
    Err(wrong_status(&intent, "captured"))
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&list::with(&["customer", "created", "created[*]"]))?;
    let customer = call.params.text("customer");
    list::page(&state.intents, &call.params, "/v1/payment_intents", Intent::json, |intent| {
        customer.is_none_or(|customer| intent.customer.as_deref() == Some(customer))
            && list::created_fits(&call.params, intent.created)
            && intent.account == call.context.account
    })
}

/// The intent in the path. The browser's key must come with its client secret.
fn find(state: &State, call: &Call) -> Answer<Intent> {
    let missing = || Error::not_found("payment_intent", &call.id, "intent");
    let is_its = |intent: &Intent| intent.account == call.context.account;
    let intent = state.intents.get_owned(&call.id).filter(is_its).ok_or_else(missing)?;
    match call.params.text("client_secret") {
        Some(secret) if secret != intent.client_secret => {
            let message = "The client_secret provided does not match any associated PaymentIntent.";
            Err(Error::invalid(message).code("payment_intent_invalid_parameter").param("client_secret"))
        }
        None if call.from_browser => Err(Error::missing("client_secret")),
        _ => Ok(intent),
    }
}

fn shown(intent: &Intent, call: &Call) -> Value {
    if call.from_browser { intent.public_json() } else { intent.json() }
}

fn no_method() -> Error {
    Error::unexpected_state(
        "You cannot confirm this PaymentIntent because it's missing a payment method. Update the PaymentIntent with \
         a payment method, or provide one when confirming.",
    )
}

fn wrong_status(intent: &Intent, done: &str) -> Error {
    let status = intent.status;
    let message = format!("This PaymentIntent could not be {done} because it has a status of {status}.");
    Error::unexpected_state(message).with("payment_intent", intent.json())
}
