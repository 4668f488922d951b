//! What customers pay on: `/sessions` for components, `/paymentLinks` for pages, which can be read and withdrawn.

use super::payments;
use super::prelude::*;
use crate::due::EndsByItself;

/// A session or a link.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Offer {
    pub(crate) id: String,
    pub(crate) terms: Terms,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) status: Word,
    pub(crate) expires_at: i64,
    /// When a webhook is to say that nobody paid. There is none about links.
    closed_at: Option<i64>,
    /// What was asked for, and what the answer adds to it.
    answer: Packed,
}

impl Kept for Offer {
    fn class(&self) -> Class {
        if self.ends_at().is_some() { Class::Open } else { Class::Closed }
    }
}

impl Offer {
    /// When something happens to it by itself.
    fn ends_at(&self) -> Option<i64> {
        match self.status {
            "completed" => None,
            "expired" => self.closed_at,
            _ => Some(self.expires_at),
        }
    }

    /// A text of the answer.
    pub(super) fn text(&self, field: &str) -> Option<String> {
        self.answer.value().get(field)?.as_str().map(str::to_owned)
    }

    /// Takes note of a payment on it. A link does not say that one was refused.
    pub(super) fn note(&mut self, payment: &Payment) {
        let is_link = self.id.starts_with("PL");
        self.status = match payment.status {
            "Authorised" => "completed",
            "Pending" => "paymentPending",
            "ChallengeShopper" => self.status,
            _ if is_link && self.status == "paymentPending" => "active",
            _ if is_link => self.status,
            "Cancelled" => "canceled",
            _ => "refused",
        };
    }
}

/// Makes a session or a link.
pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    let (fields, context) = (call.fields()?, &call.context);
    let is_link = call.operation == "payment_links.create";
    let (prefix, usual, longest) = if is_link { ("PL", DAY, 70 * DAY) } else { ("CS", DAY / 24, DAY) };
    let expires_at = match fields.string("expiresAt")? {
        None => Some(context.now + usual),
        Some(given) => given.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second),
    };
    let expires_at = expires_at.filter(|at| (context.now + 1..=context.now + longest).contains(at));
    let expires_at = expires_at.ok_or_else(|| Error::invalid("Field 'expiresAt' is not valid."))?;
    let id = format!("{prefix}{}", context.psp_reference());
    let own = if is_link {
        let url = format!("{}/pay/{id}", context.services.base_url(Wire::Adyen));
        json!({ "reusable": false, "status": "active", "url": url })
    } else {
        json!({ "mode": "embedded", "sessionData": context.services.ids.letters(80) })
    };
    let answer = merged(call.echo(own), json!({ "id": id, "expiresAt": time(expires_at) }));
    let offer = Offer {
        id: id.clone(),
        terms: fields.terms(&context.services.config)?,
        status: "active",
        expires_at,
        closed_at: (!is_link).then(|| expires_at.max(context.now + DAY / 2)),
        answer: answer.clone().into(),
    };
    state.offers(&id).put(&id, offer);
    Ok(answer)
}

/// A customer pays.
pub(super) fn pay_on(state: &mut State, context: &Context, offer: Offer, method: &Value) -> Answer<Payment> {
    if ["completed", "expired", "paymentPending"].contains(&offer.status) {
        return Err(Error::invalid(format!("{} is {}.", offer.id, offer.status)));
    }
    payments::pay(state, context, (offer.id, offer.terms), method)
}

/// What became of a session, as of when the browser received this result: it is never brought up to date.
pub(super) fn result(state: &mut State, call: &Call) -> Answer {
    let session = find(state, &call.id)?;
    let token = call.query.get("sessionResult").unwrap_or_default();
    let result = state.results.get(token).map(Packed::value);
    let own = result.filter(|result| result.get("id") == Some(&json!(session.id)));
    own.ok_or_else(|| Error::invalid("Field 'sessionResult' is not valid."))
}

/// What the browser receives after an attempt, to ask with for the result.
pub(super) fn take_result(state: &mut State, context: &Context, session: &Offer) -> String {
    let shown = state.payments_on(session).filter(|one| one.status == "Authorised");
    let result = json!({
        "id": session.id, "status": session.status, "reference": session.terms.reference,
        "payments": shown.map(Payment::json).collect::<Vec<_>>(),
    });
    let token = context.services.ids.letters(80);
    state.results.put(&token, result.into());
    token
}

pub(super) fn retrieve_link(state: &mut State, call: &Call) -> Answer {
    find(state, &call.id).map(|link| with(link.answer.value(), [("status", json!(link.status))]))
}

/// A link can be changed to expired and to nothing else, while it is active.
pub(super) fn expire_link(state: &mut State, call: &Call) -> Answer {
    call.fields()?;
    let link = find(state, &call.id)?;
    if link.status != "active" {
        return Err(Error::invalid(format!("A payment link that is {} cannot expire.", link.status)));
    }
    end(state, &call.context, &call.id, 0);
    retrieve_link(state, call)
}

/// Ends what is held, or can still be paid on. Of a session it tells, once that is closed, that nobody paid.
pub(super) fn end(state: &mut State, context: &Context, id: &str, now: i64) {
    payments::expire(state, context, id);
    let offer = state.offers(id).get_owned(id).filter(|offer| offer.status != "completed");
    let Some(mut offer) = offer else { return };
    offer.status = "expired";
    let closed = offer.closed_at.take_if(|closed_at| *closed_at <= now);
    if closed.is_some() && state.payments_on(&offer).all(|payment| payment.status != "Pending") {
        let item = json!({
            "merchantReference": offer.terms.reference, "amount": offer.terms.amount,
            "additionalData": { "checkoutSessionId": id },
        });
        state.outbox.push(notification(context, ("OFFER_CLOSED", &context.psp_reference()), item));
    }
    state.offers(id).put(id, offer);
}

impl EndsByItself for State {
    fn end_due(&mut self, services: &Arc<Services>) {
        let context = &Context::new(services);
        let open = self.sessions.open().chain(self.links.open());
        let open = open.filter(|offer| offer.ends_at().is_some_and(|at| at <= context.now));
        // After four weeks what is not captured is released.
        let old = self.payments.oldest_first().take_while(|one| one.made_at <= context.now - 28 * DAY);
        let held = old.filter(|payment| payment.is_held()).map(|payment| &payment.id);
        let due: Vec<String> = open.map(|offer| &offer.id).chain(held).cloned().collect();
        for id in due {
            end(self, context, &id, context.now);
        }
    }
}

pub(super) fn find(state: &mut State, id: &str) -> Answer<Offer> {
    let unknown = Error::plain(StatusCode::NOT_FOUND, "Could not find a payment link with this id.");
    let unknown = if id.starts_with("CS") { Error::invalid("Invalid session id.") } else { unknown };
    state.offers(id).get_owned(id).ok_or(unknown)
}
