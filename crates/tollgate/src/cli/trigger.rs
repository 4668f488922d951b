//! `tollgate trigger`: has the simulated providers, or the providers' own sandboxes, do what happens by itself in earnest.
//!
//! Nothing is told to the server: it learns of it by the providers' webhooks, as it would in earnest.

mod real_sandbox;

use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};
use tollgate_domain::Currency;
use tollgate_vault::Secret;

use super::{fields::Fields, http::segment, money, payments, sandbox_file::SandboxFile, session::Session};
use crate::failure::Failure;

/// How long the simulator may take to answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the server is given to follow before the command says what is known so far.
const FOLLOWED_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
pub(crate) struct Trigger {
    #[command(subcommand)]
    verb: Verb,
    /// Return at once instead of waiting for the server to hear of it.
    #[arg(long, global = true)]
    no_wait: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Pay a prepared card payment with a test card that succeeds.
    Pay {
        /// The payment reference, pay_….
        reference: String,
    },
    /// Settle an ACH transfer, or complete an instant one.
    Settle {
        /// The transfer reference, ach_….
        reference: String,
    },
    /// Return an ACH transfer from the receiving bank.
    Return {
        /// The transfer reference, ach_….
        reference: String,
        /// The return code, R01 to R68.
        #[arg(long, default_value = "R03")]
        code: String,
    },
    /// Refund a card payment, as from the provider's dashboard.
    Refund {
        /// The payment reference, pay_….
        reference: String,
        /// Partial refund amount, such as 5.00.
        #[arg(long)]
        amount: Option<String>,
    },
    /// Open a dispute on a card payment.
    Dispute {
        /// The payment reference, pay_….
        reference: String,
    },
    /// Resend the latest provider webhook for a payment.
    Duplicate {
        /// The payment reference, pay_… or ach_….
        reference: String,
    },
}

/// A payment at its provider.
struct Subject {
    payment_detail: Value,
    wire: String,
    /// The provider's address.
    address: String,
    key: Secret,
    /// The provider's own name for the payment.
    object: Option<String>,
    /// Whether this is the simulator beside a sandbox, which can be driven further than the providers' own sandboxes.
    is_simulated: bool,
}

pub(crate) async fn run(session: Session, trigger: Trigger) -> Result<(), Failure> {
    let (Verb::Pay { reference }
    | Verb::Settle { reference }
    | Verb::Return { reference, .. }
    | Verb::Refund { reference, .. }
    | Verb::Dispute { reference }
    | Verb::Duplicate { reference }) = &trigger.verb;
    let subject = Subject::find(&session, reference).await?;
    let done = subject.drive(&session, &trigger.verb).await?;
    if matches!(trigger.verb, Verb::Duplicate { .. }) {
        return session.output.show(&done, |_| format!("Resent {}.", done.text("event_id")));
    }
    if trigger.no_wait {
        return session.output.show(&done, |_| "Done at the provider.".to_owned());
    }
    let payment_detail = followed(&session, reference, &subject.payment_detail).await?;
    let status = |payment_detail: &Value| {
        let transaction = payment_detail.field("transaction").filter(|it| !it.is_null());
        transaction
            .map_or_else(|| payment_detail.text("status"), |transaction| transaction.text("status"))
            .to_owned()
    };
    session.output.show(&payment_detail, |style| {
        let (before, now) = (status(&subject.payment_detail), status(&payment_detail));
        let news = news(&subject.payment_detail, &payment_detail);
        if news.is_empty() {
            return format!(
                "Done at the provider; {reference} is still {} and may update in a moment.",
                style.status(&now)
            );
        }
        let arrow = if before == now {
            style.status(&now)
        } else {
            format!("{} -> {}", style.status(&before), style.status(&now))
        };
        format!("{reference}  {arrow}\nHeard since: {}.", news.join(", "))
    })
}

impl Subject {
    async fn find(session: &Session, reference: &str) -> Result<Self, Failure> {
        let payment_detail = payments::read(session, reference).await?;
        let facts = payment_detail.field("transaction").filter(|it| !it.is_null()).unwrap_or(&payment_detail);
        let provider = facts.text("provider").to_owned();
        let config = session.client.get(&session.path("/config").await?).await?;
        let entry = config.field("providers").and_then(|providers| providers.get(&provider));
        let entry =
            entry.ok_or_else(|| Failure::new(format!("provider {provider} is no longer configured")))?;
        let wire = entry.text("adapter").to_owned();
        let simulated = session
            .sandbox_file
            .as_ref()
            .and_then(|sandbox_file: &SandboxFile| sandbox_file.simulator(&wire));
        // Real money must not hear of this: either the sandbox says that it is simulated, or the key is a test key.
        let simulated = simulated.filter(|(address, _)| *address == entry.text("baseUrl"));
        let is_simulated = simulated.is_some();
        let (address, key) = match simulated {
            Some((address, key)) => (address.to_owned(), key),
            None => real_sandbox::access(&provider, &wire, entry)?,
        };
        let object = facts
            .optional_text("providerReference")
            .or_else(|| payment_detail.optional_text("providerObject"));
        let object = object.map(segment);
        Ok(Self { payment_detail, wire, address, key, object, is_simulated })
    }

    fn object(&self) -> Result<&str, Failure> {
        let unknown =
            || Failure::new("the provider does not have this payment yet; see `tollgate payments show`");
        self.object.as_deref().ok_or_else(unknown)
    }

    async fn drive(&self, session: &Session, verb: &Verb) -> Result<Value, Failure> {
        if !self.is_simulated
            && let Some(done) = self.drive_real_sandbox(session, verb).await?
        {
            return Ok(done);
        }
        match verb {
            Verb::Pay { .. } => self.pay(session).await,
            Verb::Settle { .. } => {
                let object = self.object()?;
                match (self.wire.as_str(), self.is_instant()) {
                    ("increase", false) => {
                        self.call(session, &format!("simulations/ach_transfers/{object}/settle"), json!({}))
                            .await
                    }
                    ("increase", true) => {
                        self.call(
                            session,
                            &format!("simulations/real_time_payments_transfers/{object}/complete"),
                            json!({}),
                        )
                        .await
                    }
                    ("stripe", _) => {
                        self.control(session, &format!("stripe/payment_intents/{object}/settle"), json!({}))
                            .await
                    }
                    ("adyen", _) => {
                        self.control(session, &format!("adyen/payments/{object}/settle"), json!({})).await
                    }
                    ("modern_treasury", _) => self.drive_order(session, "complete", json!({})).await,
                    _ => Err(self.cannot("settle; card payments are paid with `tollgate trigger pay`")),
                }
            }
            Verb::Return { code, .. } => {
                if !["increase", "modern_treasury"].contains(&self.wire.as_str()) || self.is_instant() {
                    return Err(self.cannot("be returned; only standard and same-day ACH transfers can"));
                }
                let reason = tollgate_simulator::return_reason(code).ok_or_else(|| {
                    Failure::new(format!("`{code}` is not a return code; use one of R01 to R39, R51 or R68"))
                })?;
                if self.wire == "modern_treasury" {
                    return self.drive_order(session, "return", json!({ "code": code })).await;
                }
                let transfer = format!("simulations/ach_transfers/{}", self.object()?);
                // A bank sends back what it was sent: one that is not on its way yet is sent now.
                drop(self.call(session, &format!("{transfer}/submit"), json!({})).await);
                self.call(session, &format!("{transfer}/return"), json!({ "reason": reason })).await
            }
            Verb::Refund { amount, .. } => {
                let minor = self.refund_minor(amount.as_deref())?;
                let body = minor.map_or_else(|| json!({}), |minor| json!({ "amount": minor }));
                let kind = match self.wire.as_str() {
                    "stripe" => "stripe/payment_intents",
                    "square" => "square/payments",
                    "adyen" => "adyen/payments",
                    _ => {
                        return Err(
                            self.cannot("be refunded; return transfers with `tollgate trigger return`")
                        );
                    }
                };
                self.control(session, &format!("{kind}/{}/refund", self.object()?), body).await
            }
            Verb::Dispute { .. } => {
                let kind = match self.wire.as_str() {
                    "stripe" => "stripe/payment_intents",
                    "square" => "square/payments",
                    "adyen" => "adyen/payments",
                    _ => return Err(self.cannot("be disputed; only card payments can")),
                };
                self.control(session, &format!("{kind}/{}/dispute", self.object()?), json!({})).await
            }
            Verb::Duplicate { .. } => {
                let heard = self
                    .payment_detail
                    .list("timeline")
                    .iter()
                    .rev()
                    .find(|line| line.text("kind") == "webhook");
                let event = heard.map(|line| line.text("/detail/eventId"));
                let event =
                    event.ok_or_else(|| Failure::new("no webhook for this payment was received yet"))?;
                self.control(session, "webhooks/again", json!({ "event_id": event })).await
            }
        }
    }

    /// A refund's amount in minor units; `None` is everything.
    fn refund_minor(&self, amount: Option<&str>) -> Result<Option<i64>, Failure> {
        let facts = self.payment_detail.field("transaction").filter(|it| !it.is_null());
        let currency = facts.unwrap_or(&self.payment_detail).text("currency");
        let currency = Currency::parse(currency).unwrap_or(Currency::USD);
        let minor = amount.map(|amount| money::to_minor(amount, currency)).transpose()?;
        Ok(minor.and_then(|minor| minor.parse().ok()))
    }

    /// The customer's side: the hosted page's form, or the component's call.
    async fn pay(&self, session: &Session) -> Result<Value, Failure> {
        let page = self.payment_detail.optional_text("checkoutUrl");
        if let Some(page) = page.filter(|page| page.starts_with(&format!("{}/", self.address))) {
            let form = "number=4242+4242+4242+4242&expiry=12/34&cvc=123";
            let headers = [("content-type", "application/x-www-form-urlencoded".to_owned())];
            let sent =
                session.client.http.send(Method::POST, page, &headers, form.into(), REQUEST_TIMEOUT).await;
            let reply = sent.map_err(|why| self.unreachable(&why))?;
            if reply.status.is_redirection() || reply.status.is_success() {
                return Ok(json!({ "paid": true }));
            }
            return Err(Failure::new(format!(
                "the checkout page rejected the card (status {})",
                reply.status
            )));
        }
        match self.wire.as_str() {
            "stripe" => {
                let address = format!("{}/v1/payment_intents/{}/confirm", self.address, self.object()?);
                let headers = [
                    ("authorization", format!("Bearer {}", self.key.expose())),
                    ("content-type", "application/x-www-form-urlencoded".to_owned()),
                ];
                self.send(session, &address, &headers, b"payment_method=pm_card_visa".to_vec()).await
            }
            "adyen" => {
                self.control(session, &format!("adyen/sessions/{}/pay", self.object()?), json!({})).await
            }
            "square" => Err(self.cannot(
                "be paid here: its component gives your backend a token; confirm with \"sourceId\":\"cnon:card-nonce-ok\"",
            )),
            _ => Err(self.cannot("be paid; settle transfers with `tollgate trigger settle`")),
        }
    }

    fn is_instant(&self) -> bool {
        self.payment_detail.text("/transaction/channel") == "instant"
    }

    fn cannot(&self, what: &str) -> Failure {
        Failure::new(format!("{} cannot {what}", self.payment_detail.text("serviceReference")))
    }

    fn unreachable(&self, why: &str) -> Failure {
        Failure::new(format!(
            "the provider's sandbox at {} is not responding: {why}; is it running?",
            self.address
        ))
    }

    /// A sandbox call of the provider's own API.
    async fn call(&self, session: &Session, path: &str, body: Value) -> Result<Value, Failure> {
        let headers = [("authorization", format!("Bearer {}", self.key.expose()))];
        self.send(session, &format!("{}/{path}", self.address), &headers, body.to_string().into_bytes()).await
    }

    /// What happens to a payment order, which that provider's API has no calls for.
    async fn drive_order(&self, session: &Session, action: &str, body: Value) -> Result<Value, Failure> {
        self.control(session, &format!("{}/payment_orders/{}/{action}", self.wire, self.object()?), body)
            .await
    }

    /// The simulator's control interface, which lies beside the adapters.
    async fn control(&self, session: &Session, path: &str, body: Value) -> Result<Value, Failure> {
        let beside = self.address.strip_suffix(&format!("/{}", self.wire)).unwrap_or(&self.address);
        self.send(session, &format!("{beside}/control/{path}"), &[], body.to_string().into_bytes()).await
    }

    async fn send(
        &self,
        session: &Session,
        url: &str,
        headers: &[(&str, String)],
        body: Vec<u8>,
    ) -> Result<Value, Failure> {
        let sent = session.client.http.send(Method::POST, url, headers, body, REQUEST_TIMEOUT).await;
        let reply = sent.map_err(|why| self.unreachable(&why))?;
        let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        if reply.status.is_success() {
            return Ok(answer);
        }
        let words = ["/error/message", "/errors/message", "/errors/0/detail", "/detail", "/title", "/error"];
        let words = words.iter().find_map(|place| answer.optional_text(place)).unwrap_or("no reason given");
        let who = if self.is_simulated { "the simulated provider" } else { "the provider's sandbox" };
        Err(Failure::new(format!("{who} rejected the request: {words}")))
    }
}

/// Waits until the server has heard of it, within bounds.
async fn followed(session: &Session, reference: &str, before: &Value) -> Result<Value, Failure> {
    let deadline = Instant::now() + FOLLOWED_WITHIN;
    loop {
        let payment_detail = payments::read(session, reference).await?;
        let changed = |field: &str| payment_detail.field(field) != before.field(field);
        if changed("/transaction/status")
            || changed("/transaction/refundedMinor")
            || changed("/transaction/dispute")
        {
            return Ok(payment_detail);
        }
        if Instant::now() > deadline {
            return Ok(payment_detail);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// What the timeline has that it did not have before.
fn news(before: &Value, now: &Value) -> Vec<String> {
    let lines = now.list("timeline").iter().skip(before.list("timeline").len());
    let told = lines.filter_map(|line| match line.text("kind") {
        "webhook" => Some(format!("webhook {}", line.text("/detail/type"))),
        "status" => Some(format!("status {}", line.text("/detail/to"))),
        "refund" | "dispute" | "exception" => Some(line.text("kind").to_owned()),
        _ => None,
    });
    told.collect()
}
