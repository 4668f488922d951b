//! Every flow of the Stripe adapter, and every route of its simulator.

use serde_json::json;
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::card::CardOrder;
use tollgate_domain::card_fee::{FeeKind, Place};
use tollgate_domain::fee::FeeEntry;
use tollgate_domain::hold::HoldActionKind::{Capture, Void};
use tollgate_domain::refund::{Refund, RefundReason};
use tollgate_domain::tenant::Mode;
use tollgate_domain::{Currency, Flow, Minor, Principal};
use tollgate_engine::ports::{
    Adapters as _, Charge, ChargeTerms, CheckSubject, NewWebhook, Preparing, Subject,
};
use tollgate_simulator::Wire;
use tollgate_vault::Secret;

use super::recording::{Recorded, Recording};
use super::{assert_faultless, assert_preview_faultless, planted};
use crate::offered::Offered as _;
use crate::support::{STRIPE_SECRET, hold_action, manual_order, order, refund, send, stripe_with};

/// The version of the preview of the library.
const PREVIEW: &str = "2026-09-30.preview";
const GOOD: &str = "4242424242424242";
const DECLINED: &str = "4000000000000002";
/// As many as a list of the provider holds.
const PAGE: usize = 100;
/// In each of them something can be paid with more than a card.
const CURRENCIES: [&str; 20] = [
    "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "JPY", "MXN", "MYR", "NOK", "NZD",
    "PLN", "SEK", "SGD", "USD", "THB",
];
const URL: &str = "https://pay.example.test/webhooks/v1/env/card_provider_a";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_exchange_fits() {
    assert_faultless(Adapter::Stripe, record().await, &planted::STRIPE).await;
}

/// What a public preview adds, judged by the preview of the library: surcharges that are allowed, too high, and on a debit card.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn surcharges_fit_the_preview() {
    let recorded =
        Recorded::start(Adapter::Stripe, Wire::Stripe, "Bearer sk_test_simulator", STRIPE_SECRET).await;
    let cards = recorded.world.stripe_cards();
    let preview = options(&recorded, &json!({ "apiVersion": PREVIEW }));
    let tokens = cards.in_browser().tokens(&preview).unwrap();
    for (number, method, surcharge, is_paid) in
        [(1, "pm_card_visa", 30, true), (2, "pm_card_visa", 900, false), (3, "pm_card_visa_debit", 30, false)]
    {
        let order = order(Flow::PaymentComponent);
        let body = format!("payment_method={method}");
        let made = recorded.done("POST", "/v1/test_helpers/confirmation_tokens", &body).await;
        let source = Secret::new(made["id"].as_str().unwrap());
        let object = cards.prepare(&preview, &order).await.outcome.unwrap().object;
        let total = Minor::new(order.fee.total_debit.get() + surcharge).unwrap();
        let terms = ChargeTerms { object, total, surcharge: Minor::new(surcharge).unwrap() };
        let charge =
            Charge { number, source, verification: None, buyer_email: None, terms: Some(terms.clone()) };
        let charged = tokens.charge_token(&preview, &order, &charge).await.outcome;
        assert_eq!(charged.is_ok(), is_paid, "{method} {surcharge}");
        cards.read(&preview, &order, Subject::Object(&terms.object)).await.outcome.unwrap();
    }
    capture_in_part(&recorded, &preview).await;
    let recording = recorded.recorded();
    let sent = [
        "amount_details%5Bsurcharge%5D%5Bamount%5D=30",
        "enforce_validation%5D=enabled",
        "amount_to_capture=1030&amount_details%5Bsurcharge%5D%5Bamount%5D=30",
    ];
    assert!(sent.iter().all(|part| recording.lines().contains(part)));
    assert_preview_faultless("stripe_preview", &recording).await;
}

/// A capture names the surcharge that is left.
async fn capture_in_part(recorded: &Recorded, preview: &Provider) {
    let cards = recorded.world.stripe_cards();
    let held = manual_order(Flow::PaymentComponent);
    let fee = held.fee.with_fees(FeeKind::Surcharge, held.fee.fee, Minor::ZERO);
    let body = "payment_method=pm_card_visa";
    let made = recorded.done("POST", "/v1/test_helpers/confirmation_tokens", body).await;
    let alone = CardOrder { fee: FeeEntry::default().assess(fee.principal), ..held.clone() };
    let object = cards.prepare(preview, &alone).await.outcome.unwrap().object;
    let source = Secret::new(made["id"].as_str().unwrap());
    let terms = Some(ChargeTerms { object: object.clone(), total: fee.total_debit, surcharge: fee.fee });
    let charge = Charge { number: 4, source, verification: None, buyer_email: None, terms };
    let tokens = cards.in_browser().tokens(preview).unwrap();
    tokens.charge_token(preview, &alone, &charge).await.outcome.unwrap();
    let part = hold_action(Capture, Some(1_000));
    cards.act_on_hold(preview, &CardOrder { fee, ..held }, &object, &part).await.outcome.unwrap();
}

async fn record() -> Recording {
    let recorded =
        Recorded::start(Adapter::Stripe, Wire::Stripe, "Bearer sk_test_simulator", STRIPE_SECRET).await;
    prepare_and_withdraw(&recorded).await;
    every_method(&recorded).await;
    pay(&recorded).await;
    pay_elsewhere(&recorded).await;
    look_at_cards(&recorded).await;
    hold(&recorded).await;
    give_back(&recorded).await;
    dispute(&recorded).await;
    check(&recorded).await;
    withdraw_what_was_not_answered(&recorded).await;
    other_routes(&recorded).await;
    thin_events(&recorded).await;
    recorded.finish(&["v1.payment_intent.succeeded", "v2.core.event_destination.ping"]).await
}

fn options(recorded: &Recorded, options: &serde_json::Value) -> Provider {
    stripe_with(&format!("{}/stripe", recorded.world.origin), options)
}

/// The least and the most that can be in an order, on the platform and on a connected account.
async fn prepare_and_withdraw(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.stripe_cards());
    let mut most = options(
        recorded,
        &json!({ "paymentMethods": ["card", "link", "klarna"], "receiptEmail": true,
            "statementDescriptorSuffix": "TICKETS", "account": "acct_1SimulatedShop" }),
    );
    most.options.forward_metadata = ["orderId", "seats"].map(str::to_owned).into();
    for flow in Flow::ALL {
        let mut bare = order(flow);
        (bare.description, bare.customer_email, bare.cancel_url) = (None, None, None);
        let full = CardOrder { metadata: r#"{"orderId":"A & 1","seats":2}"#.to_owned(), ..order(flow) };
        for (order, provider) in [(full, &most), (bare, &world.stripe), (manual_order(flow), &most)] {
            let prepared = cards.prepare(provider, &order).await.outcome.unwrap();
            cards.read_report(provider, &order, Subject::Object(&prepared.object)).await.outcome.unwrap();
            if flow == Flow::PaymentComponent {
                cards.in_browser().reopen(provider, &order, &prepared.object).await.outcome.unwrap();
            }
            cards.withdraw_report(provider, &order, &prepared.object).await.outcome.unwrap();
        }
    }
    cards.can_access_account(&most, None).await.outcome.unwrap();
}

fn order_in(flow: Flow, currency: &str) -> CardOrder {
    let fee = FeeEntry::default().assess(Principal::new(2_000).unwrap());
    CardOrder { currency: Currency::parse(currency).unwrap(), fee, ..order(flow) }
}

/// Every payment method that can be configured, where a currency of it is paid in.
async fn every_method(recorded: &Recorded) {
    let cards = recorded.world.stripe_cards();
    let all = Adapter::Stripe.payment_methods();
    let names: Vec<_> = all.iter().map(|method| method.name).collect();
    let provider = options(recorded, &json!({ "paymentMethods": names }));
    let is_taken = |currency: &str| all.iter().any(|method| method.name != "card" && method.takes(currency));
    let currencies: Vec<_> = CURRENCIES.into_iter().filter(|currency| is_taken(currency)).collect();
    for method in all {
        assert!(currencies.iter().any(|currency| method.takes(currency)), "no currency of {}", method.name);
    }
    for (flow, currency) in
        Flow::ALL.into_iter().flat_map(|flow| currencies.iter().map(move |code| (flow, code)))
    {
        let order = order_in(flow, currency);
        let prepared = cards.prepare(&provider, &order).await.outcome.unwrap();
        cards.withdraw_report(&provider, &order, &prepared.object).await.outcome.unwrap();
    }
}

/// Paid at once, after 3-D Secure, later, not at all.
async fn pay(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.stripe_cards());
    for number in [DECLINED, GOOD] {
        let order = order(Flow::HostedCheckout);
        let page = cards.prepare(&world.stripe, &order).await.outcome.unwrap();
        world.pay_page(page.checkout_url.as_ref().unwrap(), number).await;
        let read =
            cards.read_report(&world.stripe, &order, Subject::Object(&page.object)).await.outcome.unwrap();
        if let Some(payment) = read.payment.filter(|_| number == GOOD) {
            cards.read_report(&world.stripe, &order, Subject::Payment(&payment)).await.outcome.unwrap();
            cards.withdraw_report(&world.stripe, &order, &page.object).await.outcome.unwrap();
        }
    }
    let later = options(recorded, &json!({ "paymentMethods": ["card", "us_bank_account"] }));
    for (method, steps) in [
        ("pm_card_visa", &[][..]),
        ("pm_card_chargeDeclined", &[]),
        ("pm_card_chargeDeclinedInsufficientFunds", &[]),
        ("pm_card_authenticationRequired", &["authenticate"]),
        ("pm_card_authenticationRequired", &["fail_authentication"]),
        ("pm_usBankAccount_success", &["settle"]),
        ("pm_usBankAccount_success", &["fail"]),
    ] {
        let order = order(Flow::PaymentComponent);
        let intent = cards.prepare(&later, &order).await.outcome.unwrap().object;
        world.confirm(&intent, method).await;
        cards.read_report(&later, &order, Subject::Object(&intent)).await.outcome.unwrap();
        for step in steps {
            recorded.drive(&format!("payment_intents/{intent}/{step}"), json!({})).await;
            cards.read_report(&later, &order, Subject::Object(&intent)).await.outcome.unwrap();
        }
    }
}

/// By bank debit and by voucher, on the page and in the component; and on the page in the buyer's own currency.
async fn pay_elsewhere(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.stripe_cards());
    for (method, currency) in [
        ("sepa_debit", "EUR"),
        ("bacs_debit", "GBP"),
        ("au_becs_debit", "AUD"),
        ("oxxo", "MXN"),
        ("boleto", "BRL"),
        ("konbini", "JPY"),
        ("multibanco", "EUR"),
    ] {
        let provider = options(recorded, &json!({ "paymentMethods": ["card", method] }));
        for (flow, end) in Flow::ALL.into_iter().flat_map(|flow| ["settle", "fail"].map(|end| (flow, end))) {
            let order = order_in(flow, currency);
            let prepared = cards.prepare(&provider, &order).await.outcome.unwrap();
            let subject = Subject::Object(&prepared.object);
            match &prepared.checkout_url {
                Some(page) => {
                    let headers = [("content-type", "application/x-www-form-urlencoded")];
                    let paid = send("POST", page, &headers, format!("method={method}")).await.unwrap();
                    assert_eq!(paid.status, 303, "{}", paid.text);
                }
                None => drop(world.confirm_with(&prepared.object, method).await.expect(200)),
            }
            let read = cards.read_report(&provider, &order, subject).await.outcome.unwrap();
            // What the customer holds is not taken back.
            cards.withdraw_report(&provider, &order, &prepared.object).await.outcome.unwrap();
            let intent = read.payment.unwrap();
            recorded.drive(&format!("payment_intents/{intent}/{end}"), json!({})).await;
            cards.read_report(&provider, &order, subject).await.outcome.unwrap();
        }
    }
    let order = order(Flow::HostedCheckout);
    let page = cards.prepare(&world.stripe, &order).await.outcome.unwrap();
    let shown = json!({ "amount": 1_900, "currency": "eur" });
    recorded.drive(&format!("checkout_sessions/{}/present", page.object), shown).await;
    world.pay_page(page.checkout_url.as_ref().unwrap(), GOOD).await;
    cards.read_report(&world.stripe, &order, Subject::Object(&page.object)).await.outcome.unwrap();
}

/// Cards that are looked at before they are charged: paid, declined, asked for by their bank, held; and a bank account.
async fn look_at_cards(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.stripe_cards());
    let tokens = cards.in_browser().tokens(&world.stripe).unwrap();
    let browsers = "payment_method_data[type]=card&payment_method_data[card][number]=4242424242424242\
        &payment_method_data[card][exp_month]=12&payment_method_data[card][exp_year]=2034\
        &payment_method_data[billing_details][address][country]=US\
        &payment_method_data[billing_details][address][state]=GA&return_url=https://shop.example";
    let made = recorded.done("POST", "/v1/confirmation_tokens", browsers).await;
    let read = tokens.read_token(&world.stripe, &Secret::new(made["id"].as_str().unwrap())).await;
    assert_eq!(read.outcome.unwrap().payer, Place::parse("US-GA"));
    for (number, method, order) in [
        (1, "pm_card_visa", order(Flow::PaymentComponent)),
        (2, "pm_card_chargeDeclined", order(Flow::PaymentComponent)),
        (3, "pm_card_authenticationRequired", order(Flow::PaymentComponent)),
        (4, "pm_card_amex", manual_order(Flow::PaymentComponent)),
        (5, "pm_usBankAccount_success", order(Flow::PaymentComponent)),
    ] {
        let body = format!("payment_method={method}");
        let made = recorded.done("POST", "/v1/test_helpers/confirmation_tokens", &body).await;
        let source = Secret::new(made["id"].as_str().unwrap());
        let card = tokens.read_token(&world.stripe, &source).await.outcome.unwrap();
        assert_eq!((card.instrument.card().is_some(), card.is_spent), (number != 5, false));
        let object = cards.prepare(&world.stripe, &order).await.outcome.unwrap().object;
        let total = Minor::new(order.fee.total_debit.get() + 10).unwrap();
        let terms = Some(ChargeTerms { object, total, surcharge: Minor::new(10).unwrap() });
        let charge = Charge { number, source: source.clone(), verification: None, buyer_email: None, terms };
        let charged = tokens.charge_token(&world.stripe, &order, &charge).await.outcome;
        match number {
            // The intent takes cards alone.
            2 | 5 => drop(charged.unwrap_err()),
            _ => assert_eq!(charged.unwrap().amount, Some(total)),
        }
        let spent = tokens.read_token(&world.stripe, &source).await.outcome.unwrap();
        assert!(spent.is_spent, "{method}");
    }
    let unknown = tokens.read_token(&world.stripe, &Secret::new("ctoken_unknown")).await;
    unknown.outcome.unwrap_err();
}

/// More than a page of others was made meanwhile.
async fn withdraw_what_was_not_answered(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.stripe_cards());
    for flow in Flow::ALL {
        let lost = order(flow);
        let made = cards.prepare(&world.stripe, &lost).await.outcome.unwrap().object;
        for _ in 0..PAGE {
            cards.prepare(&world.stripe, &order(flow)).await.outcome.unwrap();
        }
        let preparing: &dyn Preparing = match flow {
            Flow::HostedCheckout => cards.hosted_checkout().unwrap(),
            Flow::PaymentComponent => cards.in_browser(),
        };
        preparing.withdraw_unanswered(&world.stripe, &lost).await.outcome.unwrap();
        let seen = cards.read_report(&world.stripe, &lost, Subject::Object(&made)).await.outcome.unwrap();
        assert!(seen.provider_status.is_canceled(), "{seen:?}");
    }
}

/// Held, then captured whole or in part, released, or left to expire.
async fn hold(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.stripe_cards());
    for (action, flow) in [
        (Some(hold_action(Capture, None)), Flow::PaymentComponent),
        (Some(hold_action(Capture, Some(1_000))), Flow::HostedCheckout),
        (Some(hold_action(Void, None)), Flow::PaymentComponent),
        (None, Flow::PaymentComponent),
    ] {
        let order = manual_order(flow);
        let prepared = cards.prepare(&world.stripe, &order).await.outcome.unwrap();
        match &prepared.checkout_url {
            Some(page) => drop(world.pay_page(page, GOOD).await),
            None => drop(world.confirm(&prepared.object, "pm_card_visa").await),
        }
        let read = cards
            .read_report(&world.stripe, &order, Subject::Object(&prepared.object))
            .await
            .outcome
            .unwrap();
        let payment = read.payment.unwrap();
        match action {
            Some(action) => {
                cards.act_on_hold(&world.stripe, &order, &payment, &action).await.outcome.unwrap();
                // What is captured or released already is refused.
                cards
                    .act_on_hold(&world.stripe, &order, &payment, &hold_action(Void, None))
                    .await
                    .outcome
                    .unwrap();
            }
            None => drop(recorded.drive(&format!("payment_intents/{payment}/lapse"), json!({})).await),
        }
        cards.read_report(&world.stripe, &order, Subject::Payment(&payment)).await.outcome.unwrap();
    }
}

async fn paid(recorded: &Recorded, method: &str) -> String {
    let (world, cards) = (&recorded.world, recorded.world.stripe_cards());
    let intent = cards.prepare(&world.stripe, &order(Flow::PaymentComponent)).await.outcome.unwrap().object;
    world.confirm(&intent, method).await.expect(200);
    intent
}

/// Refunds of ours and of the dashboard, in every state.
async fn give_back(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.stripe_cards());
    let order = order(Flow::PaymentComponent);
    let intent = paid(recorded, "pm_card_visa").await;
    cards.refund(&world.stripe, &order, &intent, &refund(1, 500, 15)).await.outcome.unwrap();
    recorded
        .drive(&format!("payment_intents/{intent}/refund"), json!({ "amount": 100, "reason": "duplicate" }))
        .await;
    cards.refund(&world.stripe, &order, &intent, &refund(2, 9_000, 0)).await.outcome.unwrap_err();
    cards.read_report(&world.stripe, &order, Subject::Payment(&intent)).await.outcome.unwrap();
    for (number, end) in [(3, "succeed"), (4, "fail")] {
        let intent = paid(recorded, "pm_card_pendingRefund").await;
        let made =
            cards.refund(&world.stripe, &order, &intent, &refund(number, 500, 0)).await.outcome.unwrap();
        cards.read_report(&world.stripe, &order, Subject::Payment(&intent)).await.outcome.unwrap();
        recorded.drive(&format!("refunds/{}/{end}", made.id), json!({})).await;
        cards.read_report(&world.stripe, &order, Subject::Payment(&intent)).await.outcome.unwrap();
        cards.identify(&world.stripe, &made.id).await.outcome.unwrap().unwrap();
    }
    let intent = paid(recorded, "pm_card_visa").await;
    for (number, reason) in (10..).zip(RefundReason::ALL) {
        let mut made: Refund = refund(number, 100, 0);
        made.terms.reason = Some(reason);
        cards.refund(&world.stripe, &order, &intent, &made).await.outcome.unwrap();
    }
    // An account without money refunds later.
    recorded.drive("balances/any/drain", json!({})).await;
    cards.refund(&world.stripe, &order, &intent, &refund(20, 100, 0)).await.outcome.unwrap();
    cards.read_report(&world.stripe, &order, Subject::Payment(&intent)).await.outcome.unwrap();
    recorded.drive("balances/any/fill", json!({})).await;
    cards.read_report(&world.stripe, &order, Subject::Payment(&intent)).await.outcome.unwrap();
    // More refunds than come with a charge are listed.
    let intent = paid(recorded, "pm_card_visa").await;
    for _ in 0..=PAGE {
        recorded.drive(&format!("payment_intents/{intent}/refund"), json!({ "amount": 10 })).await;
    }
    cards.read_report(&world.stripe, &order, Subject::Payment(&intent)).await.outcome.unwrap();
}

async fn dispute(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.stripe_cards());
    let intent = paid(recorded, "pm_card_visa").await;
    recorded.drive(&format!("payment_intents/{intent}/dispute"), json!({ "status": "prevented" })).await;
    cards.dispute(&world.stripe, &intent, None).await.outcome.unwrap().unwrap();
    for (beginning, status) in
        [("needs_response", "won"), ("needs_response", "lost"), ("warning_needs_response", "won")]
    {
        let intent = paid(recorded, "pm_card_visa").await;
        let beginning = json!({ "status": beginning });
        let opened = recorded.drive(&format!("payment_intents/{intent}/dispute"), beginning).await;
        let id = opened["id"].as_str().unwrap();
        cards.dispute(&world.stripe, &intent, None).await.outcome.unwrap().unwrap();
        recorded.drive(&format!("disputes/{id}/review"), json!({})).await;
        cards.dispute(&world.stripe, &intent, Some(id)).await.outcome.unwrap().unwrap();
        recorded.drive(&format!("disputes/{id}/close"), json!({ "status": status })).await;
        cards.dispute(&world.stripe, &intent, Some(id)).await.outcome.unwrap().unwrap();
        cards.identify(&world.stripe, id).await.outcome.unwrap().unwrap();
        let charge = opened["charge"].as_str().unwrap();
        cards.identify(&world.stripe, charge).await.outcome.unwrap().unwrap();
    }
    // What was paid on an account as a platform sees it.
    cards.identify(&world.stripe, "dp_unknown").await.outcome.unwrap();
}

async fn check(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.stripe_cards());
    let connected = options(recorded, &json!({ "account": "acct_1SimulatedShop" }));
    let checks = world.providers.capabilities(Adapter::Stripe).checks.unwrap();
    let secret = Secret::new("unused");
    for (number, provider) in [&world.stripe, &connected].into_iter().enumerate() {
        let subject = CheckSubject { provider, webhook_url: URL, mode: Some(Mode::Test), currencies: &[] };
        checks.check(subject).await;
        let key = format!("tollgate-webhook-{number}");
        let new = NewWebhook { url: &format!("{URL}{number}"), key: &key, secret: &secret };
        let made = checks.register_webhook(provider, new).await.unwrap().outcome.unwrap();
        let path = format!("/v1/webhook_endpoints/{}", made.id);
        recorded.done("GET", &path, "").await;
        recorded.done("POST", &path, "disabled=true").await;
        recorded.done("DELETE", &path, "").await;
    }
    for _ in 0..2 {
        cards.register_domain(&world.stripe, "shop.example.test").await.unwrap().outcome.unwrap();
    }
    // Keys of nobody, and another account's.
    let wrong = crate::support::provider(&json!({
        "adapter": "stripe", "baseUrl": world.stripe.address(),
        "credentials": { "secretKey": "sk_test_wrong", "publishableKey": "pk_test_wrong" },
    }));
    let foreign = options(recorded, &json!({ "account": "acct_1Foreign" }));
    for provider in [&wrong, &foreign] {
        cards.prepare(provider, &order(Flow::PaymentComponent)).await.outcome.unwrap_err();
    }
}

/// What the simulator has for other clients.
async fn other_routes(recorded: &Recorded) {
    for list in [
        "payment_intents",
        "checkout/sessions",
        "refunds",
        "charges",
        "disputes",
        "events",
        "webhook_endpoints",
        "payment_method_domains",
    ] {
        let listed = recorded.done("GET", &format!("/v1/{list}?limit=100"), "").await;
        // An endpoint and an event are shown alone, too; most were above.
        let first = listed["data"][0]["id"].as_str().map(str::to_owned);
        if let Some(id) = first.filter(|_| list != "webhook_endpoints") {
            recorded.done("GET", &format!("/v1/{list}/{id}"), "").await;
        }
    }
    recorded.done("GET", "/v1/accounts/acct_1SimulatedShop", "").await;
    let domain = recorded.done("GET", "/v1/payment_method_domains?limit=1", "").await;
    let domain = domain["data"][0]["id"].as_str().unwrap().to_owned();
    recorded.done("POST", &format!("/v1/payment_method_domains/{domain}/validate"), "").await;
    let card = "type=card&card[number]=4242424242424242&card[exp_month]=12&card[exp_year]=2034&card[cvc]=123";
    let method = recorded.done("POST", "/v1/payment_methods", card).await;
    let method = method["id"].as_str().unwrap();
    let intent = recorded.done("POST", "/v1/payment_intents", "amount=2000&currency=usd").await;
    let intent = intent["id"].as_str().unwrap();
    let path = format!("/v1/payment_intents/{intent}");
    recorded.done("POST", &path, &format!("payment_method={method}&description=Lamp")).await;
    recorded.done("GET", &format!("{path}?expand[]=payment_method"), "").await;
    recorded.done("POST", &format!("{path}/confirm"), "").await;
    for (path, body) in
        [("/v1/payment_intents", "amount=1&currency=usd"), ("/v1/refunds", "charge=ch_unknown")]
    {
        assert!(recorded.call("POST", path, body).await.status >= 400);
    }
}

/// Events that name their object alone.
async fn thin_events(recorded: &Recorded) {
    recorded.drive("event_destinations/ed_1/configure", json!({ "payload": "thin" })).await;
    let intent = paid(recorded, "pm_card_visa").await;
    recorded.drive(&format!("payment_intents/{intent}/refund"), json!({ "amount": 100 })).await;
    recorded.drive(&format!("payment_intents/{intent}/dispute"), json!({})).await;
    recorded.drive("event_destinations/ed_1/ping", json!({})).await;
}
