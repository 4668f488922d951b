//! The Adyen adapter against the simulator: what is only received, what cannot be asked, and what webhooks tell instead.

use serde_json::{Value, json};
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::card::{CardOrder, ProviderStatus, ReportSource};
use tollgate_domain::hold::HoldActionKind::Capture;
use tollgate_domain::refund::RefundStatus;
use tollgate_domain::{Currency, Flow};
use tollgate_engine::ports::{
    Adapters as _, BrowserResults, CallError, Cards, Component, InboundWebhook, NewWebhook, Prepared,
    Reading, RejectionKind, SignedStep, Subject, WebhookNotice,
};
use tollgate_simulator::Wire;
use tollgate_vault::Secret;

use crate::conformance::{ADYEN_HMAC_KEY, Inbox, adyen_entry};
use crate::offered::{Offered as _, OneEvent as _};
use crate::support::{World, hold_action, manual_order, minor, now, order, provider, refund, refused, start};

struct Bench {
    world: World,
    provider: Provider,
    inbox: Inbox,
}

impl Bench {
    async fn start() -> Self {
        let world = start().await;
        let provider = provider(&adyen_entry(&format!("{}/adyen", world.origin)));
        let inbox = Inbox::open(&world.simulator, Wire::Adyen, ADYEN_HMAC_KEY).await;
        Self { world, provider, inbox }
    }

    fn cards(&self) -> &dyn Cards {
        self.world.providers.capabilities(Adapter::Adyen).cards.unwrap()
    }

    fn results(&self) -> &dyn BrowserResults {
        self.cards().in_browser().results().unwrap()
    }

    async fn prepare(&self, order: &CardOrder) -> Prepared {
        self.cards().prepare(&self.provider, order).await.outcome.unwrap()
    }

    /// Pays on a session: what the browser gets.
    async fn pay(&self, session: &str, body: Value) -> Value {
        self.world.control("POST", &format!("adyen/sessions/{session}/pay"), body).await
    }

    /// What so many webhooks say, each of them verified.
    async fn told(&self, count: usize) -> Vec<WebhookNotice> {
        let reader = self.world.webhooks(Adapter::Adyen);
        let received = self.inbox.until(|all| all.len() >= count).await;
        let read = |(headers, body): &(Vec<(String, String)>, Vec<u8>)| {
            let inbound = InboundWebhook { url: &self.inbox.url, headers, body };
            reader.verify(&self.provider, inbound, now()).unwrap();
            reader.translate_one(body).unwrap()
        };
        received.iter().map(read).collect()
    }
}

fn report(reading: Reading) -> tollgate_domain::card::ProviderReport {
    match reading {
        Reading::Report(report) => report,
        Reading::CannotBeAsked(known) => panic!("it cannot be asked; it knows {known:?}"),
    }
}

#[tokio::test]
async fn a_component_payment_from_session_to_refund() {
    let bench = Bench::start().await;
    let order = order(Flow::PaymentComponent);
    let made = bench.prepare(&order).await;
    let Some(Component::DropIn {
        client_key,
        environment,
        session_id,
        session_data,
        country_code,
        script_url,
        style_url,
    }) = bench.cards().in_browser().component(&bench.provider, &order, &made)
    else {
        panic!("a Drop-in was expected");
    };
    assert_eq!(
        (client_key.as_str(), environment, session_id.as_str(), country_code.as_str()),
        ("test_SIMULATOR", "test", made.object.as_str(), "US")
    );
    assert_eq!(Some(session_data.expose()), made.client_secret.as_ref().map(Secret::expose));
    assert!(script_url.starts_with(&bench.world.origin) && style_url.ends_with("adyen.css"));

    // Another server is asked for the component: the same session comes again.
    let again =
        bench.cards().in_browser().reopen(&bench.provider, &order, &made.object).await.outcome.unwrap();
    assert_eq!(again.client_secret.unwrap().expose(), session_data.expose());
    assert_eq!(bench.world.count("adyen", "sessions").await, 1);

    let paid = bench.pay(&made.object, json!({})).await;
    let payment = paid["id"].as_str().unwrap();
    let result = Secret::new(paid["sessionResult"].as_str().unwrap());
    let read = bench.results().read_result(&bench.provider, &order, &made.object, &result).await;
    assert!(!format!("{read:?}").contains(result.expose()), "the result is a secret of the browser's");
    let read = report(read.outcome.unwrap());
    assert_eq!(
        (read.payment.as_deref(), &read.provider_status, read.amount, read.source),
        (Some(payment), &ProviderStatus::Succeeded, Some(minor(2_000)), ReportSource::Result)
    );
    // Nothing else tells.
    for subject in [Subject::Payment(payment), Subject::Object(&made.object)] {
        let asked = bench.cards().read(&bench.provider, &order, subject).await;
        assert!(asked.logs.is_empty(), "{asked:?}");
        assert_eq!(asked.outcome.unwrap(), Reading::CannotBeAsked(None));
    }
    let withdrawn = bench.cards().withdraw(&bench.provider, &order, &made.object).await;
    assert_eq!(withdrawn.outcome.unwrap(), Reading::CannotBeAsked(None));

    let asked = refund(1, 500, 0);
    let given = bench.cards().refund(&bench.provider, &order, payment, &asked).await.outcome.unwrap();
    assert_eq!(
        (given.status, given.reference, given.total),
        (RefundStatus::Processing, Some(asked.id), minor(500))
    );
    let told = bench.told(2).await;
    let steps: Vec<_> = told.iter().map(|notice| &notice.signed.as_ref().unwrap().step).collect();
    assert_eq!(steps[0], &SignedStep::Approved);
    assert_eq!(told[0].reference, Some(order.id.to_string()));
    let SignedStep::Refund(done) = steps[1] else { panic!("{told:?}") };
    assert_eq!((done.status, done.reference, &done.id), (RefundStatus::Succeeded, Some(asked.id), &given.id));
    assert!(told.iter().all(|notice| notice.payment.as_deref() == Some(payment)), "{told:?}");
}

#[tokio::test]
async fn a_result_is_one_attempts_and_no_other_sessions() {
    let bench = Bench::start().await;
    let (order, other) = (order(Flow::PaymentComponent), order(Flow::PaymentComponent));
    let (made, another) = (bench.prepare(&order).await, bench.prepare(&other).await);
    let declined = bench.pay(&made.object, json!({ "number": "4000000000000002" })).await;
    let result = Secret::new(declined["sessionResult"].as_str().unwrap());
    let read = bench.results().read_result(&bench.provider, &order, &made.object, &result).await;
    assert!(matches!(report(read.outcome.unwrap()).provider_status, ProviderStatus::Failed(_)));
    // It never changes, also when the customer has paid meanwhile.
    bench.pay(&made.object, json!({})).await;
    let read = bench.results().read_result(&bench.provider, &order, &made.object, &result).await;
    assert!(matches!(report(read.outcome.unwrap()).provider_status, ProviderStatus::Failed(_)));
    for (session, result) in [(&another.object, &result), (&made.object, &Secret::new("made up"))] {
        let call = bench.results().read_result(&bench.provider, &order, session, result).await;
        refused(call, RejectionKind::Invalid);
    }
    let told = bench.told(2).await;
    let [SignedStep::Declined(_), SignedStep::Approved] =
        [&told[0], &told[1]].map(|notice| notice.signed.as_ref().unwrap().step.clone())
    else {
        panic!("{told:?}");
    };
}

#[tokio::test]
async fn a_link_is_read_and_withdrawn_until_it_is_paid() {
    let bench = Bench::start().await;
    let (unpaid, paid) = (order(Flow::HostedCheckout), order(Flow::HostedCheckout));
    let (first, second) = (bench.prepare(&unpaid).await, bench.prepare(&paid).await);
    let withdrawn = bench.cards().withdraw(&bench.provider, &unpaid, &first.object).await.outcome.unwrap();
    assert_eq!(report(withdrawn).provider_status, ProviderStatus::Canceled);
    let again = bench.cards().withdraw(&bench.provider, &unpaid, &first.object).await.outcome.unwrap();
    assert_eq!(report(again).provider_status, ProviderStatus::Canceled);

    bench.world.control("POST", &format!("adyen/payment_links/{}/pay", second.object), json!({})).await;
    let withdrawn = bench.cards().withdraw(&bench.provider, &paid, &second.object).await.outcome.unwrap();
    let Reading::CannotBeAsked(Some(known)) = withdrawn else { panic!("{withdrawn:?}") };
    assert_eq!((known.provider_status, known.payment), (ProviderStatus::Processing, None));
    assert_eq!(bench.told(1).await[0].reference, Some(paid.id.to_string()));
}

/// The connection behind the provider was lost: that is the key's answer for good, and only a webhook tells what was done.
#[tokio::test]
async fn a_lost_connection_behind_the_provider_is_never_taken_for_a_no() {
    let bench = Bench::start().await;
    let order = manual_order(Flow::PaymentComponent);
    let made = bench.prepare(&order).await;
    let held = bench.pay(&made.object, json!({})).await["id"].as_str().unwrap().to_owned();
    bench.world.fault("adyen", "captures.create", "error_kept_after", 1).await;
    let action = hold_action(Capture, None);
    let captures = bench.cards().captures(order.flow).unwrap();
    for _ in 0..2 {
        let call = captures.act_on_hold(&bench.provider, &order, &held, &action).await;
        assert!(matches!(call.outcome, Err(CallError::Unknown(_))), "{call:?}");
    }
    assert_eq!(bench.world.count("adyen", "modifications").await, 1);
    let told = bench.told(2).await;
    assert_eq!(told[1].signed.as_ref().unwrap().step, SignedStep::Captured);
    assert_eq!(told[1].payment, Some(held));
}

/// Nothing of the provider's tells a repeated request to set up a webhook from a second one.
#[tokio::test]
async fn a_webhook_is_not_made_twice_because_an_answer_was_lost() {
    let bench = Bench::start().await;
    let checks = bench.world.providers.capabilities(Adapter::Adyen).checks.unwrap();
    let (url, secret) = ("https://shop.example/webhooks", Secret::new("unused"));
    let register = || async {
        let new = NewWebhook { url, key: "key", secret: &secret };
        checks.register_webhook(&bench.provider, new).await.unwrap()
    };
    for fault in ["error_after", "torn"] {
        bench.world.fault("adyen", "webhooks.create", fault, 1).await;
    }
    let lost = register().await;
    assert!(matches!(lost.outcome, Err(CallError::Unknown(_))), "{lost:?}");
    let made = lost.logs.iter().find(|log| log.operation == "webhooks.create").unwrap();
    assert_eq!(made.tries.len(), 1);
    // What was made is found, and gets its key.
    let again = register().await.outcome.unwrap();
    assert!(!again.is_new, "{again:?}");
}

#[tokio::test]
async fn amounts_are_sent_as_the_provider_counts_them() {
    let bench = Bench::start().await;
    for (code, value) in [("USD", 2_000), ("JPY", 2_000), ("CLP", 200_000), ("IDR", 20)] {
        let order = CardOrder { currency: Currency::parse(code).unwrap(), ..order(Flow::PaymentComponent) };
        let made = bench.prepare(&order).await;
        let sessions = bench.world.state("adyen", "sessions").await;
        let session =
            sessions.as_array().unwrap().iter().find(|row| row["id"] == made.object.as_str()).cloned();
        assert_eq!(session.unwrap()["amount"], value, "{code}");
        bench.pay(&made.object, json!({})).await;
    }
    for notice in bench.told(4).await {
        assert_eq!(notice.signed.unwrap().amount, minor(2_000));
    }
    let order = CardOrder { currency: Currency::parse("CLF").unwrap(), ..order(Flow::PaymentComponent) };
    let fault = bench.cards().check_order(&bench.provider, &order).await.outcome.unwrap_err();
    assert_eq!(fault.field, "currency");
}

#[tokio::test]
async fn a_wrong_merchant_account_or_key_decides_no_payment() {
    let bench = Bench::start().await;
    for (place, value) in [("merchantAccount", "SomebodyElse"), ("apiKey", "wrong")] {
        let mut entry = adyen_entry(bench.provider.address());
        let fields = if place == "apiKey" { &mut entry["credentials"] } else { &mut entry };
        fields[place] = value.into();
        let order = order(Flow::PaymentComponent);
        refused(bench.cards().prepare(&provider(&entry), &order).await, RejectionKind::Credentials);
    }
    assert_eq!(bench.world.count("adyen", "sessions").await, 0);
}

/// What is pending may be refused yet: it is not taken for a payment that is on its way, whose webhook alone counts.
#[tokio::test]
async fn a_pending_payment_can_still_be_refused() {
    let bench = Bench::start().await;
    let (order, page) = (order(Flow::PaymentComponent), order(Flow::HostedCheckout));
    let (session, link) = (bench.prepare(&order).await.object, bench.prepare(&page).await.object);
    let paid = bench.pay(&session, json!({ "holder": "PENDING" })).await;
    let result = Secret::new(paid["sessionResult"].as_str().unwrap());
    let read = bench.results().read_result(&bench.provider, &order, &session, &result).await;
    assert_eq!(read.outcome.unwrap(), Reading::CannotBeAsked(None));
    let path = format!("adyen/payment_links/{link}/pay");
    bench.world.control("POST", &path, json!({ "holder": "PENDING" })).await;
    let read = bench.cards().read(&bench.provider, &page, Subject::Object(&link)).await.outcome.unwrap();
    let Reading::CannotBeAsked(Some(known)) = read else { panic!("{read:?}") };
    assert_eq!((known.provider_status, known.payment), (ProviderStatus::ActionRequired, None));
}
