//! What is sent. Every byte follows from the order and the options it was prepared with, so that a repeated request is the
//! same request.

use std::time::Duration;

use tollgate_configuration::ProviderOptions;
use tollgate_domain::{
    Currency, card::CardOrder, card_fee::FeeKind, fee::FeeSnapshot, hold::CaptureMode, money::Minor,
};
use tollgate_engine::ports::{CallError, ChargeTerms, OrderFault};

use super::form::Form;
use crate::{failure::not_offered, metadata::forwarded, text::fit};

/// Under these names the provider keeps whose payment it is.
pub(super) const REFERENCE: &str = "tollgate_reference";
const ENVIRONMENT: &str = "tollgate_environment";

/// What a hosted page calls the purchase where the caller said nothing.
const NEUTRAL_NAME: &str = "Payment";
const NAME_BYTES_MAX: usize = 250;

/// The wire takes a session's end between 30 minutes and 24 hours from when it is made. A minute at each end allows
/// for the way there and for clocks that differ.
const SESSION_SECONDS_MIN: i64 = 31 * 60;
/// Nothing is promised for longer than this.
pub(super) const MAX_SESSION: Duration = Duration::from_mins(24 * 60 - 1);
/// In whole seconds, the last of which has begun.
const SESSION_SECONDS_MAX: i64 = (24 * 60 - 1) * 60 + 1;

/// The wire counts these in other units than ISO 4217 does, so that an amount would be a hundred times too much or too
/// little.
const OTHER_UNITS: [&str; 3] = ["ISK", "MGA", "UGX"];

/// Three decimals, of which the wire takes only two: the last digit has to be 0.
const TENS_ONLY: [&str; 5] = ["BHD", "JOD", "KWD", "OMR", "TND"];

/// Methods whose money the wire can hold until it is captured; with any other in the list it refuses the whole payment.
const HOLDABLE: [&str; 5] = ["card", "link", "affirm", "cashapp", "klarna"];

/// What the wire would refuse, or would take for another amount.
pub(super) fn check(order: &CardOrder, options: &ProviderOptions) -> Result<(), OrderFault> {
    let code = order.currency.code();
    let fault = |field, message| Err(OrderFault { field, message });
    if OTHER_UNITS.contains(&code) {
        let message =
            format!("{code} is counted in different units by the selected provider; route it elsewhere");
        return fault("currency", message);
    }
    let is_manual = order.capture == CaptureMode::Manual;
    if is_manual && !options.payment_methods.iter().any(|method| HOLDABLE.contains(&method.name)) {
        let message = format!(
            "cannot be manual with the payment methods of the selected provider; use automatic, or add one of {} to its \
             `options.paymentMethods`",
            HOLDABLE.join(", ")
        );
        return fault("capture", message);
    }
    if methods_of(order, options).next().is_none() {
        let names: Vec<_> = options.payment_methods.iter().map(|method| method.name).collect();
        let message = format!(
            "cannot be paid with any payment method of the selected provider ({}); route {code} elsewhere, or add \
             `card` to its `options.paymentMethods`",
            names.join(", ")
        );
        return fault("currency", message);
    }
    let (total, fee) = (order.fee.total_debit, order.fee.fee);
    let step = amount_step(order.currency);
    if !total.get().is_multiple_of(step) {
        let message = format!(
            "leads to a total debit of {total} with a fee of {fee}, but the selected provider takes {code} only in \
             multiples of {step}; choose an amount whose totalDebitMinor ends in 0"
        );
        return fault("amountMinor", message);
    }
    Ok(())
}

/// The wire takes totals in multiples of this.
pub(super) fn amount_step(currency: Currency) -> u64 {
    if TENS_ONLY.contains(&currency.code()) { 10 } else { 1 }
}

/// From this version on the parameter that names methods has another name, and the wire leaves out those that its account
/// cannot take instead of refusing them.
const METHODS_ARE_ALLOWED_SINCE: &str = "2026-09-30";

/// Those of the configured methods that can pay in this currency.
pub(super) fn methods(
    options: &ProviderOptions,
    currency: Currency,
    capture: CaptureMode,
) -> impl Iterator<Item = &'static str> {
    let methods = options.payment_methods.iter().filter(move |method| method.takes(currency.code()));
    let can_pay = move |name: &&'static str| capture != CaptureMode::Manual || HOLDABLE.contains(name);
    methods.map(|method| method.name).filter(can_pay)
}

fn methods_of<'a>(
    order: &CardOrder,
    options: &'a ProviderOptions,
) -> impl Iterator<Item = &'static str> + 'a {
    methods(options, order.currency, order.capture)
}

/// Without a list the wire offers every method that is switched on in the account's dashboard.
pub(super) fn with_methods(form: Form, version: &str, methods: impl Iterator<Item = &'static str>) -> Form {
    let is_allowed = version >= METHODS_ARE_ALLOWED_SINCE;
    let parameter = if is_allowed { "allowed_payment_method_types[]" } else { "payment_method_types[]" };
    methods.fold(form, |form, name| form.with(parameter, name))
}

/// Why what was made cannot be paid as it was asked for: cards were, and the account does not take them, or it takes none of
/// the methods.
pub(super) fn untaken(
    mut methods: impl Iterator<Item = &'static str> + Clone,
    offered: &[String],
) -> Option<String> {
    let is_offered = |name: &&str| offered.iter().any(|offered| offered == name);
    let lacks_card = methods.clone().any(|name| name == "card") && !is_offered(&"card");
    if !lacks_card && methods.clone().any(|name| is_offered(&name)) {
        return None;
    }
    let missing = if lacks_card { "card" } else { methods.next()? };
    Some(format!(
        "The provider's account does not take `{missing}` for this payment (it takes: {}). Switch it on in the provider's \
         dashboard, or change `options.paymentMethods`.",
        if offered.is_empty() { "nothing".to_owned() } else { offered.join(", ") }
    ))
}

/// The same for an order.
pub(super) fn untaken_of(order: &CardOrder, options: &ProviderOptions, offered: &[String]) -> Option<String> {
    let methods: Vec<_> = methods_of(order, options).collect();
    untaken(methods.into_iter(), offered)
}

/// The wire mails a receipt to this address whatever the account's own e-mail settings say.
fn receipt_email<'a>(order: &'a CardOrder, options: &ProviderOptions) -> Option<&'a str> {
    order.customer_email.as_deref().filter(|_| options.receipt_email)
}

/// An intent for the embedded component.
pub(super) fn intent(order: &CardOrder, options: &ProviderOptions, version: &str) -> Form {
    let form =
        Form::new().with("amount", &order.fee.total_debit.to_string()).with("currency", &currency(order));
    with_methods(form, version, methods_of(order, options))
        .with_some("capture_method", capture_method(order))
        .with_some("description", order.description.as_deref())
        .with_some("receipt_email", receipt_email(order, options))
        .with_some("statement_descriptor_suffix", options.statement_descriptor_suffix.as_deref())
        .with_all("metadata", &metadata(order, options))
}

/// A session for the hosted page.
pub(super) fn session(
    order: &CardOrder,
    options: &ProviderOptions,
    version: &str,
) -> Result<Form, CallError> {
    let Some(success_url) = &order.success_url else {
        return Err(not_offered("A hosted checkout needs a successUrl."));
    };
    let name = order.description.as_deref().map(|text| fit(text, NAME_BYTES_MAX));
    let name = name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| NEUTRAL_NAME.to_owned());
    let item = |name: String, amount: Minor| {
        [
            ("price_data][currency", currency(order)),
            ("price_data][unit_amount", amount.to_string()),
            ("price_data][product_data][name", name),
            ("quantity", "1".to_owned()),
        ]
    };
    // A fee that has a name is itemized, unless the wire would not take its amount.
    let step = amount_step(order.currency);
    let fee = order.fee.line().filter(|(_, fee)| fee.get().is_multiple_of(step));
    let items = match fee {
        Some((label, fee)) => vec![item(name, order.fee.principal.into()), item(label.to_owned(), fee)],
        None => vec![item(name, order.fee.total_debit)],
    };
    let mut form = with_methods(Form::new().with("mode", "payment"), version, methods_of(order, options))
        .with("success_url", success_url)
        .with_some("cancel_url", order.cancel_url.as_deref())
        .with("client_reference_id", &order.id.to_string())
        .with_some("customer_email", order.customer_email.as_deref());
    for (place, item) in items.iter().enumerate() {
        form = form.with_all(&format!("line_items[{place}]"), item);
    }
    let form = form
        .with_all("metadata", &metadata(order, options))
        .with_some("payment_intent_data[capture_method]", capture_method(order))
        .with_some("payment_intent_data[description]", order.description.as_deref())
        .with_some("payment_intent_data[receipt_email]", receipt_email(order, options))
        .with_some(
            "payment_intent_data[statement_descriptor_suffix]",
            options.statement_descriptor_suffix.as_deref(),
        )
        // A session's metadata is not its intent's unless told.
        .with_all("payment_intent_data[metadata]", &metadata(order, options))
        .with("expires_at", &session_end(order).to_string());
    Ok(form)
}

/// Confirming an intent with a token's card, over a total that was decided for it. Where the wire takes a surcharge as such, it
/// refuses one that its own rules do not allow.
pub(super) fn confirmation(token: &str, terms: &ChargeTerms, takes_surcharges: bool) -> Form {
    let form =
        intent_query().with("confirmation_token", token).with("amount_to_confirm", &terms.total.to_string());
    if !takes_surcharges || terms.surcharge == Minor::ZERO {
        return form;
    }
    form.with("amount_details[surcharge][amount]", &terms.surcharge.to_string())
        .with("amount_details[surcharge][enforce_validation]", "enabled")
}

/// Left out where the wire captures by itself.
fn capture_method(order: &CardOrder) -> Option<&'static str> {
    (order.capture == CaptureMode::Manual).then_some("manual")
}

/// Capturing what is held. What the total leaves is released. A surcharge that falls with it is named where the wire takes
/// surcharges as such; otherwise it knows the total alone.
pub(super) fn capture(captured: &FeeSnapshot, authorized: &FeeSnapshot, takes_surcharges: bool) -> Form {
    let form = intent_query().with("amount_to_capture", &captured.total_debit.to_string());
    let is_lowered = authorized.kind == Some(FeeKind::Surcharge) && captured.fee < authorized.fee;
    if !takes_surcharges || !is_lowered {
        return form;
    }
    form.with("amount_details[surcharge][amount]", &captured.fee.to_string())
}

/// Releasing what is held.
pub(super) fn void() -> Form {
    intent_query().with("cancellation_reason", "requested_by_customer")
}

/// Taking an intent back.
pub(super) fn cancel() -> Form {
    intent_query().with("cancellation_reason", "abandoned")
}

/// An intent with its charge and that one's refunds.
pub(super) fn intent_query() -> Form {
    Form::new().with("expand[]", "latest_charge").with("expand[]", "latest_charge.refunds")
}

/// A session with its intent, that one's charge, and the charge's refunds.
pub(super) fn session_query() -> Form {
    Form::new()
        .with("expand[]", "payment_intent")
        .with("expand[]", "payment_intent.latest_charge")
        .with("expand[]", "payment_intent.latest_charge.refunds")
}

/// Whichever payment an object belongs to.
pub(super) fn owner_query() -> Form {
    Form::new().with("expand[]", "payment_intent")
}

/// A domain by its name.
pub(super) fn domain_query(domain: &str) -> Form {
    Form::new().with("domain_name", domain).with("limit", "1")
}

/// A domain to register.
pub(super) fn domain(domain: &str) -> Form {
    Form::new().with("domain_name", domain)
}

fn currency(order: &CardOrder) -> String {
    order.currency.code().to_ascii_lowercase()
}

fn metadata(order: &CardOrder, options: &ProviderOptions) -> Vec<(String, String)> {
    let own = [(REFERENCE, order.id.to_string()), (ENVIRONMENT, order.environment.to_string())];
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    own.chain(forwarded(&order.metadata, &options.forward_metadata)).collect()
}

/// The newest disputes of an intent; hardly any has more than one.
pub(super) fn dispute_query(intent: &str) -> Form {
    Form::new().with("payment_intent", intent).with("limit", "10")
}

/// In seconds since the epoch, and not before the payment's own end.
fn session_end(order: &CardOrder) -> i64 {
    let seconds = |millis: i64| millis.div_euclid(1_000);
    let created = seconds(order.created_at.unix_millis());
    let wanted = seconds(order.expires_at.unix_millis().saturating_add(999));
    wanted.clamp(created.saturating_add(SESSION_SECONDS_MIN), created.saturating_add(SESSION_SECONDS_MAX))
}
