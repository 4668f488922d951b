//! `/v1/confirmation_tokens`: what a browser has collected, for the merchant's server to look at and to confirm with, once.

use super::prelude::*;

/// How long a token can be used.
const LIVES_SECONDS: i64 = 12 * 60 * 60;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ConfirmationToken {
    pub(crate) id: String,
    pub(super) created: i64,
    pub(super) expires_at: i64,
    /// The intent it was used to confirm.
    pub(super) payment_intent: Option<String>,
    pub(super) return_url: Option<String>,
    pub(super) setup_future_usage: Option<String>,
    pub(super) method: Method,
    pub(super) account: Option<String>,
}

impl Kept for ConfirmationToken {}

impl ConfirmationToken {
    fn json(&self) -> Value {
        let method = self.method.json();
        let of_method = |name: &str| method.get(name).cloned().unwrap_or_default();
        let kind = self.method.kind();
        let preview = json!({
            "allow_redisplay": "unspecified", "billing_details": of_method("billing_details"), "customer": null,
            "customer_account": null, "type": kind, kind: of_method(kind),
        });
        let token = object!(self: id created expires_at payment_intent return_url setup_future_usage;
            "object": "confirmation_token", "livemode": false, "payment_method_preview": preview, "use_stripe_sdk": true,
        );
        with_unset(token, "mandate_data metadata payment_method_options setup_intent shipping")
    }
}

const CREATE: &str =
    "payment_method payment_method_data[**] return_url setup_future_usage shipping[**] expand[#]";

/// By the browser's script, and by a test helper of the server's.
pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    let params = &call.params;
    params.allow(&[CREATE])?;
    let method = methods::of_call(state, &call.context, params)?;
    let method = method.ok_or_else(|| Error::missing("payment_method_data"))?;
    let token = ConfirmationToken {
        id: call.context.id("ctoken_"),
        created: call.context.now,
        expires_at: call.context.now + LIVES_SECONDS,
        payment_intent: None,
        return_url: params.owned("return_url"),
        setup_future_usage: params.word("setup_future_usage", &["on_session", "off_session"])?,
        method,
        account: call.context.account.clone(),
    };
    state.tokens.put(&token.id, token.clone());
    Ok(token.json())
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&["expand[#]"])?;
    Ok(find(state, &call.context, &call.id)?.json())
}

fn find(state: &State, context: &Context, id: &str) -> Answer<ConfirmationToken> {
    let token = state.tokens.get_owned(id).filter(|token| token.account == context.account);
    token.ok_or_else(|| Error::not_found("ConfirmationToken", id, "confirmation_token"))
}

/// The token that a call confirms with, if it names one.
pub(super) fn of_call(
    state: &State,
    context: &Context,
    params: &Params,
) -> Answer<Option<ConfirmationToken>> {
    let Some(id) = params.text("confirmation_token") else { return Ok(None) };
    let token = find(state, context, id)?;
    let refusal = |why: &str| Err(Error::invalid(why).param("confirmation_token"));
    if token.payment_intent.is_some() {
        return refusal("This ConfirmationToken has already been used and cannot be used again.");
    }
    if token.expires_at <= context.now {
        return refusal("This ConfirmationToken has expired. Create a new one to continue.");
    }
    Ok(Some(token))
}

/// From now on the token is spent, whatever becomes of the payment.
pub(super) fn spend(state: &mut State, token: ConfirmationToken, intent: &str) {
    let payment_intent = Some(intent.to_owned());
    state.tokens.put(&token.id.clone(), ConfirmationToken { payment_intent, ..token });
}

/// Lets a token expire now.
pub(super) fn expire(state: &mut State, context: &Context, id: &str) -> Answer<Value> {
    let token = find(state, context, id)?;
    let token = ConfirmationToken { expires_at: context.now, ..token };
    state.tokens.put(id, token.clone());
    Ok(token.json())
}
