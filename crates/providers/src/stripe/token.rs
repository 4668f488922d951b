//! Cards that are looked at before they are charged: confirmation tokens, and confirming an intent with one.

use tollgate_configuration::Adapter;
use tollgate_domain::{
    card::{CardOrder, ProviderReport},
    card_fee::{Brand, CardFacts, Country, Funding, Instrument, Place, State},
};
use tollgate_engine::ports::{CallError, Charge, RejectionKind, TokenCard};
use tollgate_vault::Secret;

use super::{
    call::{ApiClient, Keyed, every_key_spent, interpret, interpret_keyed, keys},
    form::Form,
    read, request, status,
    types::{self, Intent},
};
use crate::{
    failure::{Code, not_offered, refused},
    retry::{CallSession, unix_seconds},
    text::is_id,
};

/// The public previews since this one take a surcharge as such, and check it.
const SURCHARGE_SINCE: &str = "2026-03-25.preview";

/// Whether intents can be confirmed with a decided total.
pub(super) fn is_offered(version: &str) -> bool {
    Adapter::Stripe.reports_surcharge(Some(version))
}

/// Whether the provider takes a surcharge as such.
pub(super) fn takes_surcharges(version: &str) -> bool {
    version.ends_with(".preview") && version >= SURCHARGE_SINCE
}

pub(super) async fn look_at(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    token: &Secret,
) -> Result<TokenCard, CallError> {
    let id = token.expose();
    if !is_id(id) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    let call = api.get("confirmation_tokens.retrieve", &format!("confirmation_tokens/{id}"), Form::new())?;
    let token = calls.run(&call, interpret::<types::ConfirmationToken>).await?;
    Ok(token_card(token, unix_seconds()))
}

fn token_card(token: types::ConfirmationToken, now: i64) -> TokenCard {
    let is_spent = token.payment_intent.is_some()
        || token.setup_intent.is_some()
        || token.expires_at.is_some_and(|expiry| expiry <= now);
    let Some(preview) = token.payment_method_preview else {
        let (instrument, payer, has_unreadable_state) = (Instrument::Unknown, None, false);
        return TokenCard { instrument, payer, has_unreadable_state, is_spent };
    };
    let instrument = match (preview.kind.as_str(), preview.card) {
        ("card", Some(card)) => Instrument::Card(card_facts(&card)),
        ("card", None) => Instrument::Unknown,
        _ => Instrument::NotCard,
    };
    let address = preview.billing_details.and_then(|details| details.address);
    let state_named = address.as_ref().and_then(|address| address.state.as_deref());
    let state_named = state_named.map(str::trim).filter(|name| !name.is_empty());
    let state = state_named.and_then(State::parse);
    let has_unreadable_state = state_named.is_some() && state.is_none();
    let country = address.as_ref().and_then(|address| Country::parse(address.country.as_deref()?));
    let payer = country.map(|country| Place { country, state });
    TokenCard { instrument, payer, has_unreadable_state, is_spent }
}

/// The provider does not say whether a card was issued to a business.
fn card_facts(card: &types::CardDetails) -> CardFacts {
    CardFacts {
        brand: card.brand.as_deref().and_then(Brand::parse).unwrap_or(Brand::Unknown),
        funding: card.funding.as_deref().and_then(Funding::parse).unwrap_or(Funding::Unknown),
        country: card.country.as_deref().and_then(Country::parse),
        commercial: None,
    }
}

/// Confirms the intent with the token and the total, in one call.
pub(super) async fn charge(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    charge: &Charge,
) -> Result<ProviderReport, CallError> {
    let Some(terms) = &charge.terms else {
        return Err(not_offered("A card can only be charged here once its fee was decided."));
    };
    let (intent, is_surcharge) = (&terms.object, takes_surcharges(api.version));
    if !is_id(intent) || !is_id(charge.source.expose()) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    let form = request::confirmation(charge.source.expose(), terms, is_surcharge);
    let path = format!("payment_intents/{intent}/confirm");
    // A server error that the key keeps may have come after the charge: only reading the intent tells.
    let key = format!("{}-confirm-{}", order.provider_key(), charge.number);
    let call = api.post("payment_intents.confirm", &path, form, keys(&key).next())?;
    match calls.run(&call, interpret_keyed::<Intent>).await? {
        Keyed::Answer(intent) => Ok(status::intent_report(&intent)),
        Keyed::Spent => {
            let report = read(calls, api, intent).await?;
            let is_under_way = report.provider_status.is_under_way();
            if is_under_way { Ok(report) } else { Err(every_key_spent()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(preview: &Value, instrument: Instrument, payer: Option<&str>) {
        let token = json!({ "payment_method_preview": preview, "expires_at": 2_000, "payment_intent": null });
        let read = token_card(serde_json::from_value(token).unwrap(), 1_000);
        let payer = payer.map(|text| Place::parse(text).unwrap());
        let read = (read.instrument, read.payer, read.has_unreadable_state, read.is_spent);
        assert_eq!(read, (instrument, payer, false, false), "{preview}");
    }

    /// The provider takes any text as a state.
    #[test]
    fn a_state_that_cannot_be_read_is_not_taken_for_none() {
        for (state, is_unreadable) in
            [(json!("Connecticut"), true), (json!("CT"), false), (json!(" "), false), (Value::Null, false)]
        {
            let address = json!({ "address": { "country": "US", "state": state } });
            let token = json!({ "payment_method_preview": { "type": "card", "billing_details": address } });
            let read = token_card(serde_json::from_value(token).unwrap(), 1_000);
            assert_eq!(read.has_unreadable_state, is_unreadable, "{state}");
            assert_eq!(read.payer.map(|payer| payer.country), Country::parse("US"));
        }
    }

    #[test]
    fn what_a_token_was_made_of() {
        let card = |brand, funding, country: Option<&str>| {
            let country = country.and_then(Country::parse);
            Instrument::Card(CardFacts { brand, funding, country, commercial: None })
        };
        let at = |state: Value| json!({ "address": { "country": "US", "state": state } });
        check(
            &json!({ "type": "card", "card": { "brand": "visa", "funding": "credit", "country": "US" },
                "billing_details": at(json!("ct")) }),
            card(Brand::Visa, Funding::Credit, Some("US")),
            Some("US-CT"),
        );
        check(
            &json!({ "type": "card", "card": { "brand": "amex", "funding": "prepaid", "country": null },
                "billing_details": at(Value::Null) }),
            card(Brand::Amex, Funding::Prepaid, None),
            Some("US"),
        );
        check(
            &json!({ "type": "card", "card": { "brand": "new", "funding": "charge" }, "billing_details": null }),
            card(Brand::Unknown, Funding::Unknown, None),
            None,
        );
        check(&json!({ "type": "us_bank_account", "us_bank_account": {} }), Instrument::NotCard, None);
        check(&json!({ "type": "card" }), Instrument::Unknown, None);
    }

    #[test]
    fn a_token_is_spent_once_it_was_used_or_its_time_is_over() {
        for (token, is_spent) in [
            (json!({ "expires_at": null }), false),
            (json!({ "expires_at": 1_001 }), false),
            (json!({ "expires_at": 1_000 }), true),
            (json!({ "payment_intent": "pi_1" }), true),
            (json!({ "setup_intent": "seti_1" }), true),
        ] {
            let read = token_card(serde_json::from_value(token.clone()).unwrap(), 1_000);
            assert_eq!(read.is_spent, is_spent, "{token}");
        }
    }

    #[test]
    fn versions_that_can() {
        for (version, offered, surcharges) in [
            ("2026-03-25.dahlia", false, false),
            ("2026-03-25.preview", false, true),
            ("2026-04-22.dahlia", true, false),
            ("2026-09-30.preview", true, true),
            ("2026-10-28.endive", true, false),
        ] {
            assert_eq!((is_offered(version), takes_surcharges(version)), (offered, surcharges), "{version}");
        }
    }
}
