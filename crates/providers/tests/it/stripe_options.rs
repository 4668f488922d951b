//! What the Stripe adapter does by its options, against the simulator.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use serde_json::{Value, json};
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::card::{CardOrder, ProviderReport, ProviderStatus};
use tollgate_domain::fee::FeeEntry;
use tollgate_domain::hold::HoldActionKind;
use tollgate_domain::id::RefundId;
use tollgate_domain::refund::Refund;
use tollgate_domain::{Currency, Flow, Principal};
use tollgate_engine::ports::{Adapters as _, CallError, CheckSubject, Component, RejectionKind, Subject};

use crate::offered::Offered as _;
use crate::support::{
    EMAIL, World, asked, failed_code, given_back, hold_action, manual_order, minor, order, quick, refund,
    refused, start, start_layered, stripe_with,
};

fn with(world: &World, options: &Value) -> Provider {
    stripe_with(&format!("{}/stripe", world.origin), options)
}

fn in_currency(flow: Flow, code: &str, amount: u64) -> CardOrder {
    let fee = FeeEntry::default().assess(Principal::new(amount).unwrap());
    CardOrder { currency: Currency::parse(code).unwrap(), fee, ..order(flow) }
}

async fn look(world: &World, provider: &Provider, id: &str) -> ProviderReport {
    let order = order(Flow::PaymentComponent);
    world.stripe_cards().read_report(provider, &order, Subject::Object(id)).await.outcome.unwrap()
}

#[tokio::test]
async fn only_cards_are_taken_unless_an_option_says_otherwise() {
    let world = start().await;
    let (cards, provider) = (world.stripe_cards(), &world.stripe);
    let intent = cards.prepare(provider, &order(Flow::PaymentComponent)).await.outcome.unwrap().object;
    let refusal = world.confirm(&intent, "pm_usBankAccount_success").await.expect(400);
    assert_eq!(refusal["error"]["code"], "payment_intent_incompatible_payment_method");
    assert_eq!(look(&world, provider, &intent).await.provider_status, ProviderStatus::NotStarted);
    world.confirm(&intent, "pm_card_visa").await.expect(200);

    let hosted = cards.prepare(provider, &order(Flow::HostedCheckout)).await.outcome.unwrap();
    let page = hosted.checkout_url.unwrap();
    let shown = crate::support::send("GET", &page, &[], String::new()).await.unwrap();
    assert!(!shown.text.contains("bank account"), "{}", shown.text);
    let session = world.stripe_object(&format!("checkout/sessions/{}", hosted.object)).await;
    assert_eq!(session["payment_method_types"], json!(["card"]));

    // A method that does not take the payment's currency is left out; where none is left, nothing is asked.
    let provider = with(&world, &json!({ "paymentMethods": ["oxxo", "card"] }));
    let intent = cards.prepare(&provider, &order(Flow::PaymentComponent)).await.outcome.unwrap().object;
    let intent = world.stripe_object(&format!("payment_intents/{intent}")).await;
    assert_eq!(intent["payment_method_types"], json!(["card"]));
    let provider = with(&world, &json!({ "paymentMethods": ["oxxo"] }));
    let order = order(Flow::PaymentComponent);
    let fault = cards.check_order(&provider, &order).await.outcome.unwrap_err();
    assert_eq!(fault.field, "currency");
    assert!(fault.message.contains("oxxo"), "{}", fault.message);
    let call = cards.prepare(&provider, &order).await;
    assert!(call.logs.is_empty());
    refused(call, RejectionKind::Invalid);
}

#[tokio::test]
async fn a_bank_debit_is_processing_until_it_comes_through() {
    let world = start().await;
    let provider = with(&world, &json!({ "paymentMethods": ["card", "us_bank_account"] }));
    for (action, paid) in [("settle", true), ("fail", false)] {
        let order = order(Flow::PaymentComponent);
        let id = world.stripe_cards().prepare(&provider, &order).await.outcome.unwrap().object;
        world.confirm(&id, "pm_usBankAccount_success").await.expect(200);
        assert_eq!(look(&world, &provider, &id).await.provider_status, ProviderStatus::Processing);
        world.control("POST", &format!("stripe/payment_intents/{id}/{action}"), json!({})).await;
        let seen = look(&world, &provider, &id).await;
        assert_eq!(seen.provider_status == ProviderStatus::Succeeded, paid, "{seen:?}");
        if !paid {
            assert_eq!(failed_code(&seen), "bank_declined");
        }
        let withdrawn = world.stripe_cards().withdraw_report(&provider, &order, &id).await.outcome.unwrap();
        let expected = if paid { ProviderStatus::Succeeded } else { ProviderStatus::Canceled };
        assert_eq!(withdrawn.provider_status, expected);
    }
}

#[tokio::test]
async fn a_voucher_that_a_customer_holds_is_not_taken_back() {
    let world = start().await;
    let (cards, provider) =
        (world.stripe_cards(), with(&world, &json!({ "paymentMethods": ["card", "oxxo"] })));
    for (flow, action, paid) in [
        (Flow::PaymentComponent, "settle", true),
        (Flow::PaymentComponent, "fail", false),
        (Flow::HostedCheckout, "settle", true),
        (Flow::HostedCheckout, "fail", false),
    ] {
        let order = in_currency(flow, "MXN", 20_000);
        let prepared = cards.prepare(&provider, &order).await.outcome.unwrap();
        let id = prepared.object.as_str();
        match &prepared.checkout_url {
            None => {
                world.confirm_with(id, "oxxo").await.expect(200);
            }
            Some(page) => {
                let headers = [("content-type", "application/x-www-form-urlencoded")];
                let reply = crate::support::send("POST", page, &headers, "method=oxxo".to_owned()).await;
                assert_eq!(reply.unwrap().status, 303);
            }
        }
        assert_eq!(look(&world, &provider, id).await.provider_status, ProviderStatus::Processing);
        let withdrawn = cards.withdraw_report(&provider, &order, id).await.outcome.unwrap();
        assert_eq!(withdrawn.provider_status, ProviderStatus::Processing, "{flow:?}");
        let intent = withdrawn.payment.unwrap();
        world.control("POST", &format!("stripe/payment_intents/{intent}/{action}"), json!({})).await;
        let seen = look(&world, &provider, id).await;
        if paid {
            assert_eq!(seen.provider_status, ProviderStatus::Succeeded);
        } else {
            assert_eq!(failed_code(&seen), "payment_expired");
        }
    }
}

#[tokio::test]
async fn receipts_and_statements_are_the_same_in_both_flows() {
    let world = start().await;
    let cards = world.stripe_cards();
    let receipt = json!({ "receiptEmail": true, "statementDescriptorSuffix": "TICKETS" });
    for (options, email, suffix) in
        [(json!({}), Value::Null, Value::Null), (receipt, json!(EMAIL), json!("TICKETS"))]
    {
        let provider = with(&world, &options);
        let intent = cards.prepare(&provider, &order(Flow::PaymentComponent)).await.outcome.unwrap().object;
        let hosted = cards.prepare(&provider, &order(Flow::HostedCheckout)).await.outcome.unwrap();
        world.pay_page(&hosted.checkout_url.unwrap(), "4242424242424242").await;
        let session = world.stripe_object(&format!("checkout/sessions/{}", hosted.object)).await;
        let paid = session["payment_intent"].as_str().unwrap().to_owned();
        for id in [intent, paid] {
            let intent = world.stripe_object(&format!("payment_intents/{id}")).await;
            assert_eq!((&intent["receipt_email"], &intent["statement_descriptor_suffix"]), (&email, &suffix));
        }
    }
}

#[tokio::test]
async fn chosen_metadata_goes_with_the_payment_in_both_flows() {
    let world = start().await;
    let cards = world.stripe_cards();
    let mut provider = world.stripe.clone();
    provider.options.forward_metadata = ["orderId", "seats", "cart"].map(str::to_owned).into();
    let with_metadata = |flow| CardOrder {
        metadata: r#"{"orderId":"A & 1","seats":2,"cart":{"a":1},"note":"for us alone"}"#.to_owned(),
        ..order(flow)
    };
    let order = with_metadata(Flow::PaymentComponent);
    let intent = cards.prepare(&provider, &order).await.outcome.unwrap().object;
    let hosted_order = with_metadata(Flow::HostedCheckout);
    let hosted = cards.prepare(&provider, &hosted_order).await.outcome.unwrap();
    world.pay_page(&hosted.checkout_url.unwrap(), "4242424242424242").await;
    let session = world.stripe_object(&format!("checkout/sessions/{}", hosted.object)).await;
    let paid = world
        .stripe_object(&format!("payment_intents/{}", session["payment_intent"].as_str().unwrap()))
        .await;
    let intent = world.stripe_object(&format!("payment_intents/{intent}")).await;
    for (object, order) in [(&intent, &order), (&session, &hosted_order), (&paid, &hosted_order)] {
        let expected = json!({
            "tollgate_reference": order.id.to_string(), "tollgate_environment": order.environment.to_string(),
            "orderId": "A & 1", "seats": "2",
        });
        assert_eq!(object["metadata"], expected);
    }
}

#[tokio::test]
async fn three_decimals_end_in_zero() {
    let world = start().await;
    let cards = world.stripe_cards();
    for code in ["BHD", "JOD", "KWD", "OMR", "TND"] {
        let odd = in_currency(Flow::PaymentComponent, code, 12_345);
        let fault = cards.check_order(&world.stripe, &odd).await.outcome.unwrap_err();
        assert_eq!(fault.field, "amountMinor");
        assert!(fault.message.contains("12345") && fault.message.contains(code), "{}", fault.message);
        let even = in_currency(Flow::PaymentComponent, code, 12_340);
        assert_eq!(cards.check_order(&world.stripe, &even).await.outcome, Ok(()));
        let intent = cards.prepare(&world.stripe, &even).await.outcome.unwrap().object;
        // The total counts, not the principal.
        let mut with_fee = even;
        with_fee.fee.total_debit = minor(12_345);
        assert_eq!(
            cards.check_order(&world.stripe, &with_fee).await.outcome.unwrap_err().field,
            "amountMinor"
        );
        // And the provider itself says no.
        let post = async |path: &str, body: String| {
            let url = format!("{}/stripe/v1/{path}", world.origin);
            let headers = [
                ("authorization", "Bearer sk_test_simulator"),
                ("content-type", "application/x-www-form-urlencoded"),
            ];
            crate::support::send("POST", &url, &headers, body).await.unwrap()
        };
        let body =
            format!("amount=12345&currency={}&allowed_payment_method_types[]=card", code.to_lowercase());
        assert_eq!(post("payment_intents", body).await.expect(400)["error"]["param"], "amount");
        // Refunds are no different.
        let currency = Currency::parse(code).unwrap();
        assert_eq!(cards.refunds().unwrap().amount_step(currency), 10);
        assert_eq!(cards.in_browser().tokens(&world.stripe).unwrap().amount_step(currency), 10);
        let confirm = format!("payment_intents/{intent}/confirm");
        post(&confirm, "payment_method=pm_card_visa".to_owned()).await.expect(200);
        let refused = post("refunds", format!("payment_intent={intent}&amount=345")).await.expect(400);
        assert_eq!(refused["error"]["param"], "amount");
        post("refunds", format!("payment_intent={intent}&amount=340")).await.expect(200);
    }
    assert_eq!(cards.refunds().unwrap().amount_step(Currency::USD), 1);
}

#[tokio::test]
async fn payments_for_a_connected_account_are_its_own() {
    let world = start().await;
    let (cards, order) = (world.stripe_cards(), order(Flow::PaymentComponent));
    let shop = with(&world, &json!({ "account": "acct_1SimulatedShop" }));
    let prepared = cards.prepare(&shop, &order).await.outcome.unwrap();
    let component = cards.component(&shop, Some(&prepared));
    let Some(Component::PaymentElement { account, .. }) = component else { panic!("{component:?}") };
    assert_eq!(
        account.as_deref(),
        Some("acct_1SimulatedShop"),
        "without it the browser cannot read the intent"
    );
    let id = prepared.object;
    assert_eq!(look(&world, &shop, &id).await.provider_status, ProviderStatus::NotStarted);
    let elsewhere = cards.read_report(&world.stripe, &order, Subject::Object(&id)).await;
    assert_eq!(refused(elsewhere, RejectionKind::Missing), "provider_object_missing");

    let access = cards.can_access_account(&shop, None).await;
    assert_eq!(asked(&access), [("account.retrieve", 1)]);
    assert_eq!(access.outcome, Ok(true));
    // Without one in the configuration, the account that was stored for the key is compared.
    for (before, expected) in [(None, false), (Some("acct_1Simulator"), true), (Some("acct_1Other"), false)] {
        assert_eq!(cards.can_access_account(&world.stripe, before).await.outcome, Ok(expected), "{before:?}");
    }
    let stranger = with(&world, &json!({ "account": "acct_1Stranger" }));
    let call = cards.prepare(&stranger, &crate::support::order(Flow::PaymentComponent)).await;
    assert_eq!(refused(call, RejectionKind::Credentials), "provider_credentials");
}

#[tokio::test]
async fn what_an_event_only_names_is_found_at_the_provider() {
    let world = start().await;
    let (cards, order) = (world.stripe_cards(), order(Flow::HostedCheckout));
    let hosted = cards.prepare(&world.stripe, &order).await.outcome.unwrap();
    world.pay_page(&hosted.checkout_url.unwrap(), "4242424242424242").await;
    let session = world.stripe_object(&format!("checkout/sessions/{}", hosted.object)).await;
    let intent = session["payment_intent"].as_str().unwrap();
    let path = format!("stripe/payment_intents/{intent}");
    let refund = world.control("POST", &format!("{path}/refund"), json!({ "amount": 5 })).await;
    let dispute = world.control("POST", &format!("{path}/dispute"), json!({})).await;
    let charge = refund["charge"].as_str().unwrap();
    for (id, operation) in [
        (hosted.object.as_str(), "checkout.sessions.retrieve"),
        (intent, "payment_intents.retrieve"),
        (charge, "charges.retrieve"),
        (refund["id"].as_str().unwrap(), "refunds.retrieve"),
        (dispute["id"].as_str().unwrap(), "disputes.retrieve"),
    ] {
        let call = cards.identify(&world.stripe, id).await;
        assert_eq!(asked(&call), [(operation, 1)]);
        let found = call.outcome.unwrap().unwrap();
        assert_eq!((found.payment.as_deref(), found.reference), (Some(intent), Some(order.id.to_string())));
        assert_eq!(found.dispute.is_some(), id == dispute["id"]);
    }
    for nothing in ["pi_nobody", "mtr_1", "../../v1/account", ""] {
        assert_eq!(cards.identify(&world.stripe, nothing).await.outcome, Ok(None), "{nothing}");
    }
}

#[tokio::test]
async fn a_domain_is_registered_once_and_validated_again() {
    let world = start().await;
    let cards = world.stripe_cards();
    let first = cards.register_domain(&world.stripe, "shop.example.com").await.unwrap();
    assert_eq!(asked(&first), [("payment_method_domains.list", 1), ("payment_method_domains.create", 1)]);
    let first = first.outcome.unwrap();
    let apple = first.wallets.iter().find(|wallet| wallet.name == "apple_pay").unwrap();
    assert!(apple.is_active && apple.problem.is_none());
    let again = cards.register_domain(&world.stripe, "shop.example.com").await.unwrap();
    assert_eq!(asked(&again), [("payment_method_domains.list", 1), ("payment_method_domains.validate", 1)]);
    assert_eq!(again.outcome, Ok(first));
    let lost = cards.register_domain(&world.stripe, "shop.invalid").await.unwrap().outcome.unwrap();
    let apple = lost.wallets.iter().find(|wallet| wallet.name == "apple_pay").unwrap();
    assert!(!apple.is_active && apple.problem.as_ref().unwrap().contains("HTTPS"), "{apple:?}");
}

#[tokio::test]
async fn an_account_that_takes_no_cards_is_named_and_nothing_is_left_to_pay() {
    let world = start().await;
    let cards = world.stripe_cards();
    let provider = with(&world, &json!({ "paymentMethods": ["card", "us_bank_account"] }));
    world.control("POST", "stripe/payment_methods/card/switch_off", json!({})).await;
    for flow in Flow::ALL {
        let order = order(flow);
        let call = cards.prepare(&provider, &order).await;
        let Err(CallError::Rejected(rejection)) = call.outcome else { panic!("{:?}", call.outcome) };
        assert_eq!(rejection.kind, RejectionKind::Invalid);
        let message = rejection.failure.message;
        assert!(message.contains("does not take `card`") && message.contains("dashboard"), "{message}");
        // Asked again it is no different.
        refused(cards.prepare(&provider, &order).await, RejectionKind::Invalid);
    }
    for (kind, closed) in [("payment_intents", "canceled"), ("checkout_sessions", "expired")] {
        let made = world.state("stripe", kind).await;
        let [one] = &made.as_array().unwrap()[..] else { panic!("{made}") };
        assert_eq!(one["status"], closed, "{one}");
    }
    // Nothing at all is refused by the provider itself.
    let only_cards = with(&world, &json!({}));
    let refusal = cards.prepare(&only_cards, &order(Flow::PaymentComponent)).await;
    assert!(refused(refusal, RejectionKind::Invalid).contains("provider_refused"));
    // What is missing beside cards is left out.
    world.control("POST", "stripe/payment_methods/card/switch_on", json!({})).await;
    world.control("POST", "stripe/payment_methods/us_bank_account/switch_off", json!({})).await;
    let intent = cards.prepare(&provider, &order(Flow::PaymentComponent)).await.outcome.unwrap().object;
    let intent = world.stripe_object(&format!("payment_intents/{intent}")).await;
    assert_eq!(intent["payment_method_types"], json!(["card"]));
}

/// Every flow with every version that a configuration can name.
#[tokio::test]
async fn every_permitted_version_prepares_pays_holds_captures_and_gives_back() {
    let world = start().await;
    let cards = world.stripe_cards();
    for (number, version) in (1..).zip(Adapter::Stripe.api_versions()) {
        let options = json!({ "apiVersion": version, "paymentMethods": ["card", "link"] });
        let provider = with(&world, &options);
        for flow in Flow::ALL {
            let order = manual_order(flow);
            let payment = pay(&world, &provider, &order).await;
            let capture = hold_action(HoldActionKind::Capture, Some(1_000));
            let captured = cards.act_on_hold(&provider, &order, &payment, &capture).await.outcome.unwrap();
            assert_eq!(captured.provider_status, ProviderStatus::Succeeded, "{version}");
            let back = Refund { id: RefundId::from_bytes(order.id.to_bytes()), ..refund(number, 100, 0) };
            cards.refund(&provider, &order, &payment, &back).await.outcome.expect(version);
            let seen =
                cards.read_report(&provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
            assert_eq!(given_back(&seen), 100, "{version}");
            // All of what is held, or nothing of it.
            for (kind, expected) in [
                (HoldActionKind::Capture, ProviderStatus::Succeeded),
                (HoldActionKind::Void, ProviderStatus::Canceled),
            ] {
                let order = manual_order(flow);
                let payment = pay(&world, &provider, &order).await;
                let action = hold_action(kind, None);
                let done = cards.act_on_hold(&provider, &order, &payment, &action).await.outcome.unwrap();
                assert_eq!(done.provider_status, expected, "{version}");
                let seen =
                    cards.read_report(&provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
                assert_eq!((&seen.provider_status, given_back(&seen)), (&expected, 0), "{version}");
            }
            // Paid at once, and contested.
            let order = crate::support::order(flow);
            let payment = pay(&world, &provider, &order).await;
            let seen =
                cards.read_report(&provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
            assert_eq!(seen.provider_status, ProviderStatus::Succeeded, "{version}");
            world.control("POST", &format!("stripe/payment_intents/{payment}/dispute"), json!({})).await;
            let dispute = cards.dispute(&provider, &payment, None).await.outcome.unwrap().unwrap();
            assert_eq!(
                (dispute.status.as_str(), dispute.withdrawn),
                ("needs_response", Some(minor(2_000))),
                "{version}"
            );
            // What is not paid is withdrawn.
            let order = crate::support::order(flow);
            let prepared = cards.prepare(&provider, &order).await.outcome.expect(version);
            let withdrawn = cards.withdraw_report(&provider, &order, &prepared.object).await.outcome.unwrap();
            assert_eq!(withdrawn.provider_status, ProviderStatus::Canceled, "{version}");
            // For a connected account.
            let mut options = options.clone();
            options["account"] = json!("acct_1SimulatedShop");
            let shop = with(&world, &options);
            let order = crate::support::order(flow);
            let prepared = cards.prepare(&shop, &order).await.outcome.expect(version);
            let seen =
                cards.read_report(&shop, &order, Subject::Object(&prepared.object)).await.outcome.unwrap();
            assert_eq!(seen.provider_status, ProviderStatus::NotStarted, "{version}");
        }
        let checks = world.providers.capabilities(Adapter::Stripe).checks.unwrap();
        let subject =
            CheckSubject { provider: &provider, webhook_url: "https://x.test/", mode: None, currencies: &[] };
        let report = checks.check(subject).await;
        let failed: Vec<_> =
            report.checks.iter().filter(|check| !check.ok).map(|check| check.name.as_str()).collect();
        assert_eq!(failed, ["webhook_endpoint"], "{version}: {:#?}", report.checks);
    }
}

/// Prepares a payment and has the customer pay it; the provider's id of the payment.
async fn pay(world: &World, provider: &Provider, order: &CardOrder) -> String {
    let cards = world.stripe_cards();
    let prepared = cards.prepare(provider, order).await.outcome.unwrap();
    match &prepared.checkout_url {
        Some(page) => drop(world.pay_page(page, "4242424242424242").await),
        None => drop(world.confirm(&prepared.object, "pm_card_visa").await.expect(200)),
    }
    let seen = cards.read_report(provider, order, Subject::Object(&prepared.object)).await.outcome.unwrap();
    seen.payment.unwrap()
}

/// What was sent before the version of the API changed its parameters.
async fn as_before(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let body = String::from_utf8_lossy(&body).replace("allowed_payment_method_types", "payment_method_types");
    let mut parts = parts;
    parts.headers.remove("content-length");
    next.run(Request::from_parts(parts, body.into())).await
}

#[tokio::test]
async fn a_parameter_that_the_version_does_not_have_is_refused_and_the_check_says_so() {
    let world = start_layered(quick(), |router| router.layer(axum::middleware::from_fn(as_before))).await;
    let cards = world.stripe_cards();
    for flow in Flow::ALL {
        let call = cards.prepare(&world.stripe, &order(flow)).await;
        let Err(CallError::Rejected(rejection)) = call.outcome else { panic!("{:?}", call.outcome) };
        assert!(rejection.failure.message.contains("no longer supported"), "{}", rejection.failure.message);
    }
    let checks = world.providers.capabilities(Adapter::Stripe).checks.unwrap();
    let subject =
        CheckSubject { provider: &world.stripe, webhook_url: "https://x.test/", mode: None, currencies: &[] };
    let report = checks.check(subject).await;
    let check = report.checks.iter().find(|check| check.name == "preparation").unwrap();
    assert!(
        !check.ok && check.message.contains("`payment_method_types` is no longer supported"),
        "{check:?}"
    );
    // With the version before, the same request is right.
    let before = with(&world, &json!({ "apiVersion": "2026-08-26.dahlia" }));
    cards.prepare(&before, &order(Flow::PaymentComponent)).await.outcome.unwrap();
    // One that the provider does not know is refused whatever is asked.
    let url = format!("{}/stripe/v1/balance", world.origin);
    let headers = [("authorization", "Bearer sk_test_simulator"), ("stripe-version", "2026-10-29.endive")];
    let reply = crate::support::send("GET", &url, &headers, String::new()).await.unwrap().expect(400);
    assert_eq!(reply["error"]["message"], "Invalid Stripe API version: 2026-10-29.endive");
}

#[tokio::test]
async fn the_check_leaves_nothing_to_pay() {
    let world = start().await;
    let checks = world.providers.capabilities(Adapter::Stripe).checks.unwrap();
    let subject =
        CheckSubject { provider: &world.stripe, webhook_url: "https://x.test/", mode: None, currencies: &[] };
    let report = checks.check(subject).await;
    assert!(
        report.checks.iter().any(|check| check.name == "preparation" && check.ok),
        "{:#?}",
        report.checks
    );
    let made = world.state("stripe", "payment_intents").await;
    let [intent] = &made.as_array().unwrap()[..] else { panic!("{made}") };
    assert_eq!(intent["status"], "canceled");
    // An account that takes no cards is named.
    world.control("POST", "stripe/payment_methods/card/switch_off", json!({})).await;
    let provider = with(&world, &json!({ "paymentMethods": ["card", "link"] }));
    let subject = CheckSubject { provider: &provider, ..subject };
    let report = checks.check(subject).await;
    let check = report.checks.iter().find(|check| check.name == "preparation").unwrap();
    assert!(!check.ok && check.message.contains("does not take `card`"), "{check:?}");
}
