//! `/v2/payments`.

use super::call::key_name;
use super::charge::{cancel as cancel_payment, charge, complete as complete_payment, lapse};
use super::prelude::*;
use super::source;
use crate::card::{Brand, Funding};
use crate::fields::FieldError as _;

/// A payment, from the moment a card was tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Payment {
    pub(crate) id: String,
    pub(crate) money: Money,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) status: Word,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) order_id: String,
    pub(crate) reference_id: Option<String>,
    pub(crate) refunded: i64,
    pub(crate) buyer_email: Option<String>,
    pub(crate) card: Card,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) card_status: Word,
    pub(crate) created_at: String,
    pub(crate) customer_id: Option<String>,
    pub(crate) delay_duration: String,
    pub(crate) delayed_until: String,
    pub(crate) errors: Vec<Value>,
    pub(crate) location_id: String,
    pub(crate) note: Option<String>,
    pub(crate) refund_ids: Vec<String>,
    pub(crate) statement: Option<String>,
    pub(crate) updated_at: String,
    pub(crate) version: u64,
}

impl Kept for Payment {
    fn label(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    fn class(&self) -> Class {
        if matches!(self.status, "COMPLETED" | "APPROVED") { Class::Done } else { Class::Closed }
    }
}

impl Payment {
    pub(crate) fn version_token(&self) -> String {
        format!("{}v{}o", self.id, self.version)
    }

    pub(crate) fn json(&self) -> Value {
        let failed = self.status == "FAILED";
        let (card_type, prepaid_type) = match self.card.funding {
            Funding::Credit => ("CREDIT", "NOT_PREPAID"),
            Funding::Debit => ("DEBIT", "NOT_PREPAID"),
            Funding::Prepaid => ("DEBIT", "PREPAID"),
            Funding::Unknown => ("UNKNOWN_CARD_TYPE", "UNKNOWN_PREPAID_TYPE"),
        };
        let cvv = if self.card.behavior == Behavior::Decline(Reason::WrongCvc) {
            "CVV_REJECTED"
        } else {
            "CVV_ACCEPTED"
        };
        let card_details = json!({
            "status": self.card_status,
            "card": {
                "card_brand": brand(&self.card), "last_4": self.card.last4,
                "exp_month": self.card.exp_month, "exp_year": self.card.exp_year,
                "fingerprint": format!("sq-1-simulated{}", self.card.last4), "card_type": card_type,
                "prepaid_type": prepaid_type, "bin": "453275",
            },
            "entry_method": "KEYED", "cvv_status": cvv, "avs_status": "AVS_ACCEPTED",
            "statement_description": self.statement.as_deref().unwrap_or("SQ *TOLLGATE SIMULATOR"),
        });
        let errors = json!(Some(&self.errors).filter(|errors| !errors.is_empty()));
        let card_details = with_given(card_details, [("errors", errors)]);
        let payment = object!(self: id created_at updated_at status delay_duration delayed_until location_id order_id;
            "amount_money": self.money.json(), "delay_action": "CANCEL", "source_type": "CARD",
            "card_details": card_details, "total_money": self.money.json(),
            "approved_money": self.money.of(if failed { 0 } else { self.money.amount }).json(),
            "application_details": { "square_product": "ECOMMERCE_API" },
            "version_token": self.version_token(),
        );
        // The provider leaves out what a payment does not have.
        let completed = Some(&self.id).filter(|_| self.status == "COMPLETED");
        let refund_ids = Some(&self.refund_ids).filter(|ids| !ids.is_empty());
        let capabilities = (self.status == "APPROVED").then_some(["EDIT_AMOUNT_UP", "EDIT_AMOUNT_DOWN"]);
        let given = [
            ("reference_id", json!(self.reference_id)),
            ("note", json!(self.note)),
            ("buyer_email_address", json!(self.buyer_email)),
            ("customer_id", json!(self.customer_id)),
            ("statement_description_identifier", json!(self.statement)),
            ("receipt_number", json!(completed.map(|id| id.chars().take(4).collect::<String>()))),
            ("receipt_url", json!(completed.map(|id| format!("https://receipts.invalid/{id}")))),
            ("capabilities", json!(capabilities)),
            ("refund_ids", json!(refund_ids)),
            ("refunded_money", json!(refund_ids.map(|_| self.money.of(self.refunded).json()))),
        ];
        with_given(payment, given)
    }
}

pub(crate) fn brand(card: &Card) -> &'static str {
    match card.brand {
        Brand::Visa => "VISA",
        Brand::Mastercard => "MASTERCARD",
        Brand::Amex => "AMERICAN_EXPRESS",
        Brand::Discover => "DISCOVER",
        Brand::Diners => "DISCOVER_DINERS",
        Brand::Jcb => "JCB",
        Brand::Unionpay => "CHINA_UNIONPAY",
    }
}

const CREATE: &str = "source_id idempotency_key amount_money delay_duration delay_action autocomplete \
    order_id customer_id location_id team_member_id reference_id verification_token \
    accept_partial_authorization buyer_email_address buyer_phone_number billing_address shipping_address \
    note statement_description_identifier customer_details offline_payment_details app_fee_money";

pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    let (fields, context) = (Fields::of(&call.body), &call.context);
    fields.allow(&[CREATE])?;
    let source_id = fields.required("source_id", 255)?;
    let key = fields.required("idempotency_key", 45)?;
    let money = fields.required_money("amount_money")?;
    check_currency(context, &money.currency)?;
    check_location(context, fields.text("location_id", 50)?)?;
    let buyer_email = fields.owned("buyer_email_address", 255)?;
    if buyer_email.as_ref().is_some_and(|email| !email.contains('@')) {
        let detail = "Invalid email address";
        return Err(Error::invalid("INVALID_EMAIL_ADDRESS", "buyer_email_address", detail));
    }
    let wish = PaymentParams {
        order: open_order(state, fields.text("order_id", 192)?, money.amount)?,
        money,
        delay_seconds: delay(&fields)?,
        complete_now: fields.boolean("autocomplete")?.unwrap_or(true),
        idempotency_key: Some(key.to_owned()),
        reference_id: fields.owned("reference_id", 40)?,
        note: fields.owned("note", 500)?,
        buyer_email,
        customer_id: fields.owned("customer_id", 191)?,
        statement: fields.owned("statement_description_identifier", 20)?,
    };
    let verified = fields.text("verification_token", 255)?.is_some();
    let source = source::take(state, source_id, verified)?;
    let payment = charge(state, context, wish, source)?;
    disputes::open_by_amount(state, context, &payment)?;
    Ok(json!({ "payment": payment.json() }))
}

/// A week, the longest for a card that was typed in, unless less is asked for.
const WEEK_SECONDS: i64 = 7 * 86_400;

/// For how long a payment is held that is not completed at once.
fn delay(fields: &Fields<'_>) -> Answer<i64> {
    let Some(text) = fields.text("delay_duration", 255)? else { return Ok(WEEK_SECONDS) };
    if fields.boolean("autocomplete")?.unwrap_or(true) {
        let detail =
            "`delay_duration` can only be set for a delayed capture payment (`autocomplete` is `false`).";
        return Err(Error::invalid("BAD_REQUEST", "delay_duration", detail));
    }
    let seconds = calendar::seconds_of(text).filter(|seconds| (60..=WEEK_SECONDS).contains(seconds));
    let detail = "The duration must be between one minute and seven days.";
    seconds.ok_or_else(|| Error::invalid("INVALID_VALUE", "delay_duration", detail))
}

/// The order a payment names, while it can still be paid.
fn open_order(state: &State, id: Option<&str>, amount: i64) -> Answer<Option<Order>> {
    let Some(id) = id else { return Ok(None) };
    let order = state.orders.get_owned(id).ok_or_else(|| Error::not_found("order", id))?;
    if order.state != "OPEN" || !order.tenders.is_empty() {
        return Err(Error::bad_request(format!("Order {id} cannot be paid: it is {}.", order.state)));
    }
    if order.total.amount != amount {
        let detail = "The payment amount does not match the order's total.";
        return Err(Error::invalid("INVALID_VALUE", "amount_money.amount", detail));
    }
    Ok(Some(order))
}

pub(super) fn check_currency(context: &Context, currency: &str) -> Answer<()> {
    let only = &context.services.config.square.currency;
    if only == currency {
        return Ok(());
    }
    let detail =
        format!("This merchant can only process payments in {only}, but amount was provided in {currency}.");
    Err(Error::invalid("INVALID_VALUE", "amount_money.currency", detail))
}

pub(super) fn check_location(context: &Context, given: Option<&str>) -> Answer<()> {
    match given {
        Some(given) if given != context.location() => {
            let detail = format!("Location `{given}` not found.");
            Err(Error::invalid("INVALID_LOCATION", "location_id", detail))
        }
        _ => Ok(()),
    }
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    lapse(state, &call.context, &call.id);
    Ok(json!({ "payment": find(state, &call.id)?.json() }))
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    let known = "last_4 card_brand total is_offline_payment offline_begin_time offline_end_time";
    let listed_after = call.context.services.config.square_listed_after_ms;
    list::page(&state.payments, call, "payments", known, |payment| {
        let fits = calendar::is_older(&payment.created_at, listed_after)
            && call.query.get("last_4").is_none_or(|last4| last4 == payment.card.last4)
            && call.query.get("total").is_none_or(|total| total == payment.money.amount.to_string())
            && call.query.get("location_id").is_none_or(|location| location == payment.location_id);
        fits.then(|| {
            (payment.id.clone(), payment.created_at.clone(), payment.updated_at.clone(), payment.json())
        })
    })
}

pub(super) fn update(state: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&["idempotency_key payment"])?;
    fields.required("idempotency_key", 45)?;
    lapse(state, &call.context, &call.id);
    let mut payment = find(state, &call.id)?;
    let changes = fields.object("payment")?.ok_or_else(|| Error::missing("payment"))?;
    changes.allow(&["amount_money tip_money version_token delay_action"])?;
    check_version(&changes, &payment)?;
    if payment.status != "APPROVED" {
        return Err(not_approved(&payment, "updated"));
    }
    if let Some(money) = changes.money("amount_money")? {
        if money.currency != payment.money.currency {
            let detail = "The currency must be the payment's.";
            return Err(Error::invalid("INVALID_VALUE", "payment.amount_money.currency", detail));
        }
        payment.money = money;
        orders::change_total(state, &call.context, &payment);
    }
    Ok(json!({ "payment": changed(state, &call.context, payment).json() }))
}

fn check_version(fields: &Fields<'_>, payment: &Payment) -> Answer<()> {
    match fields.text("version_token", 255)? {
        Some(token) if token != payment.version_token() => {
            let detail = "The payment has changed since.";
            Err(Error::invalid("VERSION_MISMATCH", "version_token", detail))
        }
        _ => Ok(()),
    }
}

pub(super) fn complete(state: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&["version_token"])?;
    lapse(state, &call.context, &call.id);
    let payment = find(state, &call.id)?;
    check_version(&fields, &payment)?;
    if payment.status != "APPROVED" {
        return Err(not_approved(&payment, "completed"));
    }
    Ok(json!({ "payment": complete_payment(state, &call.context, payment).json() }))
}

pub(super) fn cancel(state: &mut State, call: &Call) -> Answer {
    Fields::of(&call.body).allow(&[])?;
    lapse(state, &call.context, &call.id);
    let payment = find(state, &call.id)?;
    if payment.status != "APPROVED" {
        return Err(not_approved(&payment, "canceled"));
    }
    Ok(json!({ "payment": cancel_payment(state, &call.context, payment).json() }))
}

/// Voids whatever a key created, and frees the key: the way out when the answer to a payment was lost.
pub(super) fn cancel_by_key(state: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&["idempotency_key"])?;
    let key = fields.required("idempotency_key", 45)?;
    let is_its = |payment: &&Payment| payment.idempotency_key.as_deref() == Some(key);
    let created = state.payments.labeled(Some(key)).find(is_its).cloned();
    if let Some(payment) = created {
        if payment.refunded > 0 {
            return Err(not_approved(&payment, "canceled"));
        }
        if matches!(payment.status, "APPROVED" | "COMPLETED") {
            cancel_payment(state, &call.context, payment);
        }
        call.keys.release(&key_name("payments.create", key));
    }
    Ok(json!({}))
}

pub(super) fn find(state: &State, id: &str) -> Answer<Payment> {
    state.payments.get_owned(id).ok_or_else(|| Error::not_found("payment", id))
}

pub(super) fn not_approved(payment: &Payment, done: &str) -> Error {
    Error::bad_request(format!("Payment {} cannot be {done}: it is {}.", payment.id, payment.status))
}
