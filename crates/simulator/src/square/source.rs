//! What can be charged: the sandbox's named nonces, and one-time tokens the browser script makes.

use super::error::decline_code;
use super::prelude::*;

#[derive(Debug)]
pub(super) struct Source {
    pub(super) card: Card,
    pub(super) decline: Option<&'static str>,
}

/// Finds a source and uses it up where it is good for one payment only.
pub(super) fn take(state: &mut State, id: &str, verified: bool) -> Answer<Source> {
    let named = |decline: Option<&'static str>| {
        Ok(Source {
            card: Card { exp_month: 12, exp_year: 2034, ..Card::named("5858", Behavior::Approve) },
            decline,
        })
    };
    match id {
        "cnon:card-nonce-ok" | "ccof:customer-card-id-ok" => named(None),
        "cnon:card-nonce-declined" => named(Some("GENERIC_DECLINE")),
        "cnon:card-nonce-rejected-cvv" => named(Some("CVV_FAILURE")),
        "cnon:card-nonce-rejected-postalcode" => named(Some("ADDRESS_VERIFICATION_FAILURE")),
        "cnon:card-nonce-rejected-expiration" => named(Some("INVALID_EXPIRATION")),
        "cnon:card-nonce-insufficient-funds" => named(Some("INSUFFICIENT_FUNDS")),
        "cnon:card-nonce-requires-verification" => {
            named((!verified).then_some("CARD_DECLINED_VERIFICATION_REQUIRED"))
        }
        "cnon:card-nonce-already-used" => Err(used()),
        _ => {
            let Some(token) = state.tokens.get_owned(id) else {
                let detail = "Card nonce not found in this `sandbox` application environment.";
                return Err(Error::new(StatusCode::NOT_FOUND, "INVALID_REQUEST_ERROR", "NOT_FOUND", detail));
            };
            if token.used {
                return Err(used());
            }
            let source = of_card(token.card.clone());
            state.tokens.put(id, Token { used: source.decline != Some(TEMPORARY), ..token });
            Ok(source)
        }
    }
}

fn used() -> Error {
    Error::invalid("CARD_TOKEN_USED", "source_id", "The card nonce was already used.").begun()
}

pub(super) fn of_card(card: Card) -> Source {
    let decline = match card.behavior {
        Behavior::Decline(reason) => Some(decline_code(reason)),
        _ => None,
    };
    Source { card, decline }
}

/// The sandbox also declines by what else was typed: CVV 911 and expiry 01/40.
pub(super) fn bent_by_details(mut card: Card, typed: &Typed) -> Card {
    if typed.cvc.trim() == "911" {
        card.behavior = Behavior::Decline(Reason::WrongCvc);
    } else if (card.exp_month, card.exp_year) == (1, 2040) {
        card.behavior = Behavior::Decline(Reason::InvalidExpiry);
    }
    card
}
