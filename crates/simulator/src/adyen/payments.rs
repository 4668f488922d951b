//! `/payments`, and payments on sessions and links: one try with a card each, which no call reads afterwards.

use super::prelude::*;
use crate::card::{Behavior, Brand, Card, Mistake, Reason};

/// How the API begins its name for a payment whose customer comes back from the issuer's page.
pub(super) const REDIRECT_RESULT: &str = "X6XtfGC3!";

/// Why payments are refused: the code, what to type as the holder's name to see it, and the words.
const REFUSALS: &str = include_str!("refusals.txt");

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Payment {
    pub(crate) id: String,
    pub(crate) terms: Terms,
    /// The result code; after an authorization also `Expired`.
    #[serde(deserialize_with = "archive::word")]
    pub(crate) status: Word,
    pub(crate) captured: i64,
    pub(crate) refunded: i64,
    /// The session or link that it is on, or where the customer goes on who paid on neither.
    pub(crate) of: String,
    /// The code of the refusal, which for one that is asked for proof is `11` until that is given.
    #[serde(deserialize_with = "archive::optional_word")]
    pub(super) refusal: Option<Word>,
    pub(super) made_at: i64,
    card: Card,
}

impl Kept for Payment {
    fn label(&self) -> Option<&str> {
        Some(&self.terms.reference)
    }

    fn class(&self) -> Class {
        match self.status {
            "Authorised" => Class::Done,
            "Pending" | "ChallengeShopper" => Class::Open,
            _ => Class::Closed,
        }
    }
}

/// What a customer types of a card, in plain, or encrypted by the browser for a server to send; tests write `test_` instead.
const TYPED: [&str; 4] = ["number", "expiryMonth", "expiryYear", "cvc"];
const ENCRYPTED: [&str; 4] =
    ["encryptedCardNumber", "encryptedExpiryMonth", "encryptedExpiryYear", "encryptedSecurityCode"];

fn read_card<'a>(text: impl Fn(&str) -> &'a str) -> Answer<Card> {
    let names = if text("number").is_empty() { ENCRYPTED } else { TYPED };
    let typed = Typed::read(names, |name| text(name).trim_start_matches("test_").to_owned());
    Card::read(&typed).map_err(|mistake| match mistake {
        Mistake::Number => Error::of("101"),
        Mistake::Month | Mistake::Year => Error::of("129"),
        Mistake::Cvc => Error::of("103"),
    })
}

/// The code of the refusal that a card means, or that a test asks for by the holder's name or by the code itself.
fn refusal(card: &Card, holder: &str, asked: &str) -> Option<Word> {
    let by_card = match card.behavior {
        Behavior::Decline(Reason::Generic) => Some("2"),
        Behavior::Decline(Reason::Processing) => Some("4"),
        Behavior::Decline(Reason::Lost | Reason::Stolen) => Some("5"),
        Behavior::Decline(Reason::Expired | Reason::InvalidExpiry) => Some("6"),
        Behavior::Decline(Reason::NotATestCard) => Some("8"),
        Behavior::Decline(Reason::InsufficientFunds) => Some("12"),
        Behavior::Decline(Reason::WrongCvc) => Some("24"),
        _ => None,
    };
    let known = rows::<3>(REFUSALS).find(|[code, name, _]| asked == *code || holder == *name);
    known.map(|[code, ..]| code).or(by_card)
}

impl Payment {
    pub(super) fn json(&self) -> Value {
        json!({
            "pspReference": self.id, "resultCode": self.status, "amount": self.terms.amount,
            "paymentMethod": { "type": "scheme", "brand": self.method() },
        })
    }

    pub(super) fn method(&self) -> &'static str {
        match self.card.brand {
            Brand::Mastercard => "mc",
            Brand::Unionpay => "cup",
            brand => brand.name(),
        }
    }

    pub(super) fn refusal_text(&self) -> Option<Word> {
        rows::<3>(REFUSALS).find(|[code, ..]| self.refusal == Some(code)).map(|[_, _, words]| words)
    }

    /// Authorized, and nothing of it captured, canceled or expired.
    pub(super) fn is_held(&self) -> bool {
        self.status == "Authorised" && self.captured == 0
    }
}

/// Tries a card. Whatever becomes of it is a payment of its own.
pub(super) fn pay(
    state: &mut State,
    context: &Context,
    on: (String, Terms),
    method: &Value,
) -> Answer<Payment> {
    let text = |name: &str| method.get(name).and_then(Value::as_str).unwrap_or_default();
    let card = read_card(text)?;
    let refusal = refusal(&card, text("holderName"), text("refusal"));
    let (status, refusal) = match card.behavior {
        _ if text("holderName") == "PENDING" => ("Pending", refusal),
        Behavior::Authenticate if refusal.is_none() => ("ChallengeShopper", Some("11")),
        _ => ("Received", refusal),
    };
    let ((of, terms), id, made_at) = (on, context.psp_reference(), context.now);
    let payment = Payment { id, terms, status, captured: 0, refunded: 0, of, refusal, made_at, card };
    keep(state, &payment);
    if status == "Received" { resume(state, context, &payment.id) } else { Ok(payment) }
}

/// The issuer looks at the password.
pub(super) fn prove(state: &mut State, id: &str, password: &str) -> Answer<Payment> {
    let mut payment = find(state, id)?;
    if payment.status == "ChallengeShopper" && password == "password" {
        payment.refusal = None;
        state.payments.put(id, payment.clone());
    }
    Ok(payment)
}

/// Ends an attempt and tells of it: the customer came back from the issuer, or the acquirer answered at last.
pub(super) fn resume(state: &mut State, context: &Context, id: &str) -> Answer<Payment> {
    let mut payment = find(state, id)?;
    if !["Received", "Pending", "ChallengeShopper"].contains(&payment.status) {
        return Ok(payment);
    }
    payment.status = match payment.refusal {
        None => "Authorised",
        Some("15" | "16") => "Cancelled",
        Some("4") => "Error",
        Some(_) => "Refused",
    };
    if payment.status == "Authorised" && !payment.terms.is_manual {
        payment.captured = payment.terms.amount.value;
    }
    keep(state, &payment);
    tell(state, context, &payment);
    Ok(payment)
}

fn tell(state: &mut State, context: &Context, payment: &Payment) {
    let (card, refusal) = (&payment.card, payment.refusal_text());
    let is_asked = card.behavior == Behavior::Authenticate;
    let expiry = format!("{:02}/{}", card.exp_month, card.exp_year);
    let code = payment.id.chars().rev().take(6).collect::<String>();
    let paid = format!("{code}:{}:{expiry}", card.last4);
    let of = |prefix: &str| Some(&payment.of).filter(|id| id.starts_with(prefix));
    let data = json!({
        "cardSummary": card.last4, "expiryDate": expiry, "cardBin": "411111", "fundingSource": "CREDIT",
        "issuerCountry": "NL", "authCode": refusal.is_none().then_some(code),
        "threeDAuthenticated": (is_asked && refusal.is_none()).to_string(), "threeDOffered": is_asked.to_string(),
        "checkoutSessionId": of("CS"), "paymentLinkId": of("PL"),
    });
    let item = json!({
        "success": refusal.is_none().to_string(), "reason": refusal.unwrap_or(&paid), "additionalData": data,
        "operations": refusal.is_none().then_some(["CANCEL", "CAPTURE", "REFUND"]),
    });
    state.tell(context, payment, ("AUTHORISATION", &payment.id), item);
}

/// Stores a payment, and what it means for its session or link.
fn keep(state: &mut State, payment: &Payment) {
    state.payments.put(&payment.id, payment.clone());
    let offers = state.offers(&payment.of);
    if let Some(mut offer) = offers.get_owned(&payment.of) {
        offer.note(payment);
        offers.put(&payment.of, offer);
    }
}

/// Releases what is authorized and was not captured in time.
pub(super) fn expire(state: &mut State, context: &Context, id: &str) {
    let Some(payment) = state.payments.get_owned(id).filter(Payment::is_held) else { return };
    let payment = Payment { status: "Expired", ..payment };
    state.tell(context, &payment, ("EXPIRE", &context.psp_reference()), json!({}));
    state.payments.put(id, payment);
}

pub(super) fn methods(_: &mut State, call: &Call) -> Answer {
    call.fields().map(|_| available())
}

/// The one method that is simulated.
pub(super) fn available() -> Value {
    let brands = ["visa", "mc", "amex", "discover"];
    json!({ "paymentMethods": [{ "name": "Cards", "type": "scheme", "brands": brands }] })
}

pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    let (fields, context) = (call.fields()?, &call.context);
    let method = fields.object("paymentMethod")?.ok_or_else(|| fields.missing("paymentMethod"))?;
    method.word("type", "scheme")?.ok_or_else(|| method.missing("type"))?;
    let data = fields.raw("additionalData");
    let lost = data.get("RequestedTestErrorResponseCode").and_then(Value::as_str).unwrap_or_default();
    if lost == "NO_CONNECTION_AVAILABLE" {
        return Err(Error::of("703").saying("No connection available"));
    }
    let refusal = data.get("RequestedTestAcquirerResponseCode");
    let method = merged(fields.raw("paymentMethod"), json!({ "refusal": refusal }));
    let on = (fields.text("returnUrl")?, fields.terms(&context.services.config)?);
    let payment = pay(state, context, on, &method)?;
    if lost == "IOEXCEPTION_RECEIVED" {
        // The connection behind the provider was lost: this is the key's answer for good, whatever the issuer did.
        return Err(Error::plain(StatusCode::INTERNAL_SERVER_ERROR, lost));
    }
    Ok(shown(call, &payment))
}

pub(super) fn details(state: &mut State, call: &Call) -> Answer {
    challenged(state, call).map(|payment| shown(call, &payment))
}

/// Goes on with a payment whose customer comes back from the issuer, who alone decides what that means.
pub(super) fn challenged(state: &mut State, call: &Call) -> Answer<Payment> {
    let fields = call.fields()?;
    let details = fields.object("details")?.ok_or_else(|| fields.missing("details"))?;
    let result = details.string("redirectResult")?.and_then(|token| token.strip_prefix(REDIRECT_RESULT));
    let id = result.or(details.string("threeDSResult")?.and(fields.string("paymentData")?));
    let id = id.ok_or_else(|| Error::invalid("Invalid details: no payment was begun with them."))?;
    resume(state, &call.context, id)
}

/// The action that has a component ask the customer for the issuer's password.
pub(super) fn challenge(payment: &Payment) -> Value {
    json!({
        "type": "threeDS2", "subtype": "challenge", "paymentMethodType": "scheme", "token": payment.id,
        "paymentData": payment.id, "authorisationToken": format!("Bq1aYG!{}", payment.id),
    })
}

fn shown(call: &Call, payment: &Payment) -> Value {
    let data = call.body.get("authenticationData");
    let native = data.and_then(|data| data.pointer("/threeDSRequestData/nativeThreeDS"));
    if payment.status != "ChallengeShopper" {
        let more = json!({
            "merchantReference": payment.terms.reference, "refusalReasonCode": payment.refusal,
            "refusalReason": payment.refusal_text(),
        });
        return merged(payment.json(), more);
    }
    if native == Some(&json!("preferred")) {
        return json!({ "resultCode": "ChallengeShopper", "action": challenge(payment) });
    }
    let url = format!("{}/authenticate/{}", call.context.services.base_url(Wire::Adyen), payment.id);
    let action = json!({ "type": "redirect", "method": "GET", "paymentMethodType": "scheme", "url": url });
    json!({ "resultCode": "RedirectShopper", "action": action })
}

pub(super) fn find(state: &State, id: &str) -> Answer<Payment> {
    state.payments.get_owned(id).ok_or_else(|| Error::of("167"))
}
