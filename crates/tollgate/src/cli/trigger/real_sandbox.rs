//! The providers' own sandboxes: what they can be made to do with a test key, and nothing with any other.

use serde_json::Value;
use tollgate_vault::Secret;

use super::{Subject, Verb};
use crate::{
    cli::{fields::Fields, session::Session, variable},
    failure::Failure,
};

/// How a provider's sandbox is reached: the variable with its key, the credential that is, and the address.
struct Reach {
    variable: &'static str,
    credential: &'static str,
    address: &'static str,
}

fn reach(wire: &str) -> Option<Reach> {
    let (variable, credential, address) = match wire {
        "stripe" => ("STRIPE_SECRET_KEY", "secretKey", "https://api.stripe.com"),
        "increase" => ("INCREASE_API_KEY", "apiKey", "https://sandbox.increase.com"),
        _ => return None,
    };
    Some(Reach { variable, credential, address })
}

/// The address and the key of a provider's own sandbox. Refuses whatever is, or may be, live.
pub(super) fn access(provider: &str, wire: &str, entry: &Value) -> Result<(String, Secret), Failure> {
    let not_simulated = format!("{provider} is not simulated here");
    let Some(reach) = reach(wire) else {
        let instead = match wire {
            "square" => "confirm with \"sourceId\":\"cnon:card-nonce-ok\", and refund in its dashboard",
            "adyen" => "pay with 4111 1111 1111 1111, 03/30 and 737, and refund in its Customer Area",
            "modern_treasury" => {
                "there the account number decides: 123456789 settles, 100XX is returned with RXX, 1111111110 fails"
            }
            _ => "use its dashboard",
        };
        return Err(Failure::new(format!(
            "{not_simulated}, and its sandbox offers no simulation calls; {instead}"
        )));
    };
    let Reach { variable: name, credential, address } = reach;
    let key = variable(name).ok_or_else(|| {
        Failure::new(format!(
            "{not_simulated}; to drive the provider's own sandbox, set {name} to the test key that is configured"
        ))
    })?;
    refuse_live(provider, wire, entry, &key, name)?;
    let key = Secret::new(key);
    if entry.text(&format!("/credentials/{credential}")) != key.masked() {
        return Err(Failure::new(format!(
            "{name} is not the key that is configured for {provider}; nothing was done"
        )));
    }
    let configured = entry.optional_text("baseUrl").map(|url| url.trim_end_matches('/').to_owned());
    Ok((configured.unwrap_or_else(|| address.to_owned()), key))
}

fn refuse_live(provider: &str, wire: &str, entry: &Value, key: &str, name: &str) -> Result<(), Failure> {
    let refused = |what: String| Failure::new(format!("{what}; `trigger` works with sandboxes only"));
    if wire == "stripe" {
        return match key.split('_').nth(1) {
            Some("test") => Ok(()),
            _ => Err(refused(format!("{name} is not a test key (sk_test_…)"))),
        };
    }
    // Without an address of its own, the environment decides where its API is, and without both it is production.
    let is_test_address = |url: &str| url.starts_with("http://") || url.starts_with("https://sandbox.");
    if entry.text("environment") == "sandbox" || entry.optional_text("baseUrl").is_some_and(is_test_address) {
        return Ok(());
    }
    Err(refused(format!("{provider} is configured for production, not for `\"environment\": \"sandbox\"`")))
}

impl Subject {
    /// What is done otherwise here than in the simulator; `None`: the same call serves both.
    pub(super) async fn drive_real_sandbox(
        &self,
        session: &Session,
        verb: &Verb,
    ) -> Result<Option<Value>, Failure> {
        let is_card = self.wire == "stripe";
        match verb {
            Verb::Pay { .. } if is_card => self.confirm(session, "pm_card_visa").await.map(Some),
            Verb::Dispute { .. } if is_card => {
                if self.payment_detail.field("transaction").is_some_and(|it| !it.is_null()) {
                    return Err(self.cannot(
                        "be disputed: there it is the card that decides; prepare a new payment, and this command pays it \
                         with a card that is disputed",
                    ));
                }
                self.confirm(session, "pm_card_createDispute").await.map(Some)
            }
            Verb::Refund { amount, .. } if is_card => {
                let mut form = format!("payment_intent={}", self.object()?);
                if let Some(minor) = self.refund_minor(amount.as_deref())? {
                    form.extend([format!("&amount={minor}")]);
                }
                self.post_form(session, "v1/refunds", form).await.map(Some)
            }
            Verb::Settle { .. } if is_card => {
                Err(self.cannot("settle; card payments are paid with `tollgate trigger pay`"))
            }
            Verb::Duplicate { .. } => {
                Err(self.cannot("be told again from here; resend the event in the provider's dashboard"))
            }
            _ => Ok(None),
        }
    }

    /// Confirms an intent with one of the provider's test cards.
    async fn confirm(&self, session: &Session, card: &str) -> Result<Value, Failure> {
        if let Some(page) = self.payment_detail.optional_text("checkoutUrl") {
            return Err(self.cannot(&format!(
                "be paid without a browser; open {page} and pay with 4242 4242 4242 4242, any later date and any CVC"
            )));
        }
        let path = format!("v1/payment_intents/{}/confirm", self.object()?);
        // A method that leads elsewhere would have to come back somewhere.
        let form = format!("payment_method={card}&return_url=https://example.com/");
        self.post_form(session, &path, form).await
    }

    async fn post_form(&self, session: &Session, path: &str, form: String) -> Result<Value, Failure> {
        let headers = [
            ("authorization", format!("Bearer {}", self.key.expose())),
            ("content-type", "application/x-www-form-urlencoded".to_owned()),
        ];
        self.send(session, &format!("{}/{path}", self.address), &headers, form.into_bytes()).await
    }
}
