//! Bank transfers over the Modern Treasury API, against the simulator.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use serde_json::{Value, json};
use tollgate_configuration::Adapter;
use tollgate_domain::ach::{
    AchProviderReport, AchProviderStatus, RecipientKind, TransferOrder, TransferPurpose,
};
use tollgate_domain::tenant::Mode;
use tollgate_domain::{Channel, Currency, Minor};
use tollgate_engine::ports::{
    Adapters as _, CallError, CheckSubject, InboundWebhook, InstantCapability, RejectionKind, SignatureError,
};

use crate::increase_support::{
    CHANNELS, NO_BANK, ROUTING, SLOW_BANK, World, bank, bank_at, order, order_over,
};
use crate::modern_treasury_support::{
    ACCOUNT_ID, API_KEY, WEBHOOK_KEY, drive, entry, provider_at, start, status,
};
use crate::offered::OneEvent as _;
use crate::support::{asked, now, provider, providers, quick, refused, send};

const A_DAY_AND_AN_HOUR: i64 = 25 * 60 * 60;

async fn sent(world: &World, channel: Channel) -> AchProviderReport {
    world.send(&order(channel)).await.outcome.unwrap()
}

fn returned(code: &str) -> AchProviderStatus {
    AchProviderStatus::Returned { code: code.to_owned() }
}

#[tokio::test]
async fn chosen_metadata_goes_with_the_order() {
    let mut world = start(quick()).await;
    world.provider.options.forward_metadata = ["payroll", "run"].map(str::to_owned).into();
    let order =
        TransferOrder { metadata: r#"{"run":7,"note":"ours"}"#.to_owned(), ..order(Channel::StandardAch) };
    let sent = world.send(&order).await.outcome.unwrap();
    let basic = data_encoding::BASE64.encode(format!("organization_simulator:{API_KEY}").as_bytes());
    let url = format!("{}/api/payment_orders/{}", world.provider.address(), sent.transfer);
    let shown = send("GET", &url, &[("authorization", &format!("Basic {basic}"))], String::new()).await;
    assert_eq!(shown.unwrap().expect(200)["metadata"], json!({ "run": "7" }));
}

#[tokio::test]
async fn a_business_and_a_payroll_are_told_to_the_bank() {
    let world = start(quick()).await;
    for (kind, purpose, descriptor, expected) in [
        (RecipientKind::Business, None, Some("ACME FEES"), ("CCD", "business", "ACME FEES")),
        (
            RecipientKind::Individual,
            Some(TransferPurpose::Payroll),
            Some("ACME"),
            ("PPD", "individual", "PAYROLL"),
        ),
        (RecipientKind::Individual, None, None, ("PPD", "individual", "Cafe - Jun")),
    ] {
        let mut order = order(Channel::StandardAch);
        (order.recipient_kind, order.purpose) = (kind, purpose);
        order.statement_descriptor = descriptor.map(str::to_owned);
        world.send(&order).await.outcome.unwrap();
        let taken = world.taken(&order).await;
        let [row] = &taken[..] else { panic!("{taken:?}") };
        assert_eq!((&row["subtype"], &row["party_type"]), (&json!(expected.0), &json!(expected.1)));
        assert_eq!(row["statement_descriptor"], expected.2);
    }
}

#[tokio::test]
async fn remittance_that_does_not_fit_is_refused_before_it_is_sent() {
    let world = start(quick()).await;
    let wire = world.wire();
    for (channel, most) in [(Channel::StandardAch, 80), (Channel::Instant, 140)] {
        let mut order = order(channel);
        order.remittance = Some(json!("x".repeat(most)).to_string());
        assert_eq!(wire.check_order(&order), Ok(()));
        world.send(&order).await.outcome.unwrap();
        assert_eq!(world.taken(&order).await[0]["remittance_information"], "x".repeat(most));
        order.remittance = Some(json!("x".repeat(most + 1)).to_string());
        assert_eq!(wire.check_order(&order).unwrap_err().field, "remittanceData");
    }
}

#[tokio::test]
async fn every_channel_is_sent_as_itself_found_and_read() {
    let world = start(quick()).await;
    for channel in CHANNELS {
        let order = order(channel);
        assert_eq!(world.find(&order).await.outcome.unwrap(), None);
        let call = world.send(&order).await;
        let create = call.logs.last().unwrap();
        assert_eq!(
            (create.operation, create.idempotency_key.clone()),
            ("payment_orders.create", Some(order.id.to_string()))
        );
        assert_eq!((create.tries[0].status, create.tries[0].outcome.as_str()), (Some(201), "ok"));
        assert_eq!(call.logs.len(), if channel == Channel::Instant { 2 } else { 1 });
        let report = call.outcome.unwrap();
        assert_eq!(report.provider_status, AchProviderStatus::Accepted);
        assert_eq!((report.amount, &report.reference), (Minor::new(2_000), &Some(order.id.to_string())));
        let day: jiff::civil::Date = report.expected_on.clone().unwrap().parse().unwrap();
        let days = (day - jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date()).get_days();
        assert!((0..=4).contains(&days), "{day}");

        let taken = world.taken(&order).await;
        let [row] = &taken[..] else { panic!("{taken:?}") };
        assert_eq!((&row["amount"], &row["routing_number"]), (&json!(2_000), &json!(ROUTING)));
        assert_eq!(row["external_id"], order.id.to_string());
        assert_eq!(row["account_number_last4"], "2951");
        assert_eq!(row["party_name"], "Zoe Nguyen-Strasse");
        assert_eq!(row["remittance_information"], r#"{"invoice":"A-7"}"#);
        if channel == Channel::Instant {
            assert_eq!((&row["type"], &row["subtype"]), (&json!("rtp"), &Value::Null));
        } else {
            let priority = if channel == Channel::SameDayAch { "high" } else { "normal" };
            assert_eq!(
                (&row["type"], &row["subtype"], &row["priority"]),
                (&json!("ach"), &json!("PPD"), &json!(priority))
            );
            assert_eq!(
                (&row["statement_descriptor"], &row["originating_party_name"]),
                (&json!("Cafe - Jun"), &json!("Acme"))
            );
        }
        assert_eq!(world.find(&order).await.outcome.unwrap(), Some(report.clone()));
        assert_eq!(world.read(&report.transfer).await.outcome.unwrap(), report);
        // The same order again is the same payment order.
        assert_eq!(world.send(&order).await.outcome.unwrap(), report);
        assert_eq!(world.taken(&order).await.len(), 1);
    }
}

/// After a day the provider has forgotten the key, and another API key never knew it: what is left is our reference.
#[tokio::test]
async fn a_forgotten_key_never_makes_a_second_order() {
    let world = start(quick()).await;
    for channel in CHANNELS {
        let order = order(channel);
        let first = world.send(&order).await.outcome.unwrap();
        let mut second_key = entry(world.provider.address());
        second_key["credentials"]["apiKey"] = json!(format!("{API_KEY}_second"));
        let call = world.wire().send(&provider(&second_key), &order, &bank()).await;
        let last_two: Vec<_> = call.logs.iter().rev().take(2).map(|log| log.operation).collect();
        assert_eq!(last_two, ["payment_orders.list", "payment_orders.create"]);
        assert_eq!(call.outcome.unwrap(), first);

        world.control("POST", "clock", json!({ "skew_seconds": A_DAY_AND_AN_HOUR })).await;
        let call = world.send(&order).await;
        assert_eq!(call.logs.iter().rev().nth(1).unwrap().tries[0].outcome, "external_id taken");
        assert_eq!(call.outcome.unwrap(), first);
        assert_eq!(world.find(&order).await.outcome.unwrap(), Some(first));
        assert_eq!(world.taken(&order).await.len(), 1);
        world.control("POST", "clock", json!({ "skew_seconds": 0 })).await;

        // While the order is there and cannot be read, nobody claims to know.
        let order = crate::increase_support::order(channel);
        world.send(&order).await.outcome.unwrap();
        world.control("POST", "clock", json!({ "skew_seconds": A_DAY_AND_AN_HOUR })).await;
        world.fault("payment_orders.list", "refuse", 1).await;
        let call = world.send(&order).await;
        assert!(matches!(call.outcome, Err(CallError::Unknown(_))), "{call:?}");
        world.control("POST", "clock", json!({ "skew_seconds": 0 })).await;
    }
}

#[tokio::test]
async fn why_an_order_failed_is_told_without_its_numbers() {
    let world = start(quick()).await;
    let one = sent(&world, Channel::Instant).await;
    drive(&world, &one, "fail", json!({ "reason": "account 000847362951 is closed" })).await;
    let AchProviderStatus::Rejected(failure) = status(&world, &one).await else { panic!() };
    assert_eq!(failure.code, "provider_rejected");
    assert!(failure.message.ends_with("It says: account **** is closed"), "{failure:?}");
}

async fn reverse(world: &World, order: &AchProviderReport) {
    let url = format!("{}/api/payment_orders/{}/reversals", world.provider.address(), order.transfer);
    let pair = data_encoding::BASE64.encode(format!("organization_simulator:{API_KEY}").as_bytes());
    let basic = format!("Basic {pair}");
    let headers = [("authorization", basic.as_str()), ("content-type", "application/json")];
    send("POST", &url, &headers, r#"{"reason":"duplicate"}"#.to_owned()).await.unwrap().expect(201);
}

/// `reversed` says that a reversal was sent. Whether the money comes back is the receiving bank's decision.
#[tokio::test]
async fn a_reversal_counts_once_the_money_is_back() {
    let world = start(quick()).await;
    for (action, expected) in
        [("complete_reversal", returned("reversed")), ("return_reversal", AchProviderStatus::Settled)]
    {
        let order = order(Channel::StandardAch);
        let one = world.send(&order).await.outcome.unwrap();
        drive(&world, &one, "complete", json!({})).await;
        reverse(&world, &one).await;
        assert_eq!(status(&world, &one).await, AchProviderStatus::Sent);
        drive(&world, &one, action, json!({})).await;
        assert_eq!(status(&world, &one).await, expected, "{action}");
        assert_eq!(world.find(&order).await.outcome.unwrap().unwrap().provider_status, expected);
    }
}

#[tokio::test]
async fn what_is_to_be_corrected_is_told_and_account_numbers_are_not_printed() {
    let world = start(quick()).await;
    let one = sent(&world, Channel::StandardAch).await;
    drive(&world, &one, "send", json!({})).await;
    drive(&world, &one, "correct", json!({ "account_number": "000555444333" })).await;
    let early = world.read(&one.transfer).await.outcome.unwrap();
    assert_eq!((early.provider_status, early.corrections.len()), (AchProviderStatus::Sent, 1));
    drive(&world, &one, "complete", json!({})).await;
    drive(&world, &one, "correct", json!({ "code": "C02", "routing_number": "021000021" })).await;
    let seen = world.read(&one.transfer).await.outcome.unwrap();
    assert_eq!(seen.provider_status, AchProviderStatus::Settled);
    let [account, bank] = &seen.corrections[..] else { panic!("{seen:?}") };
    assert_eq!(account.code.as_deref(), Some("C01"));
    assert_eq!(account.account_number.as_ref().unwrap().expose(), "000555444333");
    assert!(account.created_at.is_some() && account.routing_number.is_none());
    assert_eq!((bank.code.as_deref(), bank.routing_number.as_deref()), (Some("C02"), Some("021000021")));
    // A key that may not read returns still tells how the order stands.
    world.fault("returns.list", "refuse", 1).await;
    let bare = world.read(&one.transfer).await.outcome.unwrap();
    assert_eq!((bare.provider_status, bare.corrections.len()), (AchProviderStatus::Settled, 0));
    let printed = format!("{seen:?}");
    assert!(printed.contains("********4333") && !printed.contains("55544"), "{printed}");
}

#[tokio::test]
async fn what_the_provider_does_not_take_is_refused() {
    let world = start(quick()).await;
    for (channel, routing, code, operation) in [
        (Channel::StandardAch, NO_BANK, "bank_details_refused", "payment_orders.create"),
        (Channel::SameDayAch, "123456789", "bank_details_refused", "payment_orders.create"),
        (Channel::Instant, NO_BANK, "instant_not_supported", "validations.routing_numbers"),
        (Channel::Instant, SLOW_BANK, "instant_not_supported", "validations.routing_numbers"),
        (Channel::Instant, "12345", "bank_details_refused", "validations.routing_numbers"),
    ] {
        let call = world.wire().send(&world.provider, &order(channel), &bank_at(routing)).await;
        assert_eq!(asked(&call), [(operation, 1)]);
        let text = format!("{call:?}");
        assert!(!text.contains(routing), "{text}");
        assert_eq!(refused(call, RejectionKind::Invalid), code, "{channel:?} {routing}");
    }
    for channel in CHANNELS {
        let (mut euros, mut nameless) = (order(channel), order(channel));
        euros.currency = Currency::parse("EUR").unwrap();
        (nameless.account_name, nameless.customer_name) = ("🦀".to_owned(), "🦀".to_owned());
        for (order, code) in [
            (order_over(channel, 10_000_000_000), "amount_limit"),
            (euros, "amount_limit"),
            (nameless, "account_name_not_supported"),
        ] {
            let call = world.send(&order).await;
            assert_eq!(asked(&call), []);
            assert_eq!(refused(call, RejectionKind::Invalid), code);
        }
    }
    let call = world.send(&order(Channel::WebCard)).await;
    assert_eq!(refused(call, RejectionKind::Invalid), "provider_refused");
    assert_eq!(world.count().await, 0);
    // A refusal leaves key and reference free.
    let order = order(Channel::StandardAch);
    refused(world.wire().send(&world.provider, &order, &bank_at(NO_BANK)).await, RejectionKind::Invalid);
    world.send(&order).await.outcome.unwrap();
}

#[tokio::test]
async fn a_configuration_the_provider_does_not_take() {
    let world = start(quick()).await;
    let with = |place: &str, value: &str| {
        let mut entry = entry(world.provider.address());
        *entry.pointer_mut(place).unwrap() = value.into();
        provider(&entry)
    };
    for (entry, asks) in [
        (with("/credentials/apiKey", "not the key"), true),
        (with("/credentials/organizationId", "another"), true),
        (with("/credentials/organizationId", "organization:simulator"), false),
        (with("/funding/originatingAccountId", "00000000-0000-4000-8000-000000000000"), true),
        (with("/funding/originatingAccountId", "a/b"), false),
    ] {
        let call = world.wire().send(&entry, &order(Channel::StandardAch), &bank()).await;
        assert_eq!(!call.logs.is_empty(), asks);
        assert_eq!(refused(call, RejectionKind::Credentials), "provider_credentials");
    }
    assert_eq!(world.count().await, 0);
    assert!(world.wire().can_access_account(&world.provider).await.outcome.unwrap());
    let other = with("/funding/originatingAccountId", "00000000-0000-4000-8000-000000000000");
    assert!(!world.wire().can_access_account(&other).await.outcome.unwrap());
    for id in ["", "x/cancel", "x?y=z"] {
        let call = world.read(id).await;
        assert_eq!(asked(&call), [], "{id}");
        refused(call, RejectionKind::Missing);
    }
    refused(world.read(ACCOUNT_ID).await, RejectionKind::Missing);
}

#[tokio::test]
async fn the_check_tells_the_side_and_the_account() {
    let world = start(quick()).await;
    let checks = world.providers.capabilities(Adapter::ModernTreasury).checks.unwrap();
    let url = "https://pay.example.test/webhooks/v1/env/bank";
    let failed = async |place: &str, value: Value| {
        let mut entry = entry(world.provider.address());
        if !place.is_empty() {
            let (parent, name) = place.rsplit_once('/').unwrap();
            entry.pointer_mut(parent).unwrap()[name] = value;
        }
        let provider = provider(&entry);
        let subject =
            CheckSubject { provider: &provider, webhook_url: url, mode: Some(Mode::Test), currencies: &[] };
        let found = checks.check(subject).await.checks;
        let failed = found.into_iter().filter(|check| !check.ok);
        failed.map(|check| (check.name, check.message)).collect::<Vec<_>>()
    };
    assert_eq!(failed("", Value::Null).await, []);
    assert_eq!(failed("/environment", json!("sandbox")).await, []);
    let account = "/funding/originatingAccountId";
    for (place, value, name, said) in [
        ("/credentials/apiKey", "wrong".to_owned(), "credentials", "rejected credentials.apiKey"),
        ("/credentials/apiKey", format!("{API_KEY}_live"), "mode", "real money would move"),
        ("/environment", "production".to_owned(), "mode", "environment says live"),
        (
            account,
            "00000000-0000-4000-8000-000000000000".to_owned(),
            "account",
            "There is no internal account",
        ),
        (account, "00000000-0000-4000-8000-00000000c105".to_owned(), "account", "is closed"),
        (account, "00000000-0000-4000-8000-00000000e000".to_owned(), "account", "is in EUR"),
    ] {
        let found = failed(place, json!(value)).await;
        assert!(found.len() == 1 && found[0].0 == name && found[0].1.contains(said), "{value}: {found:?}");
    }
}

/// An answer of the provider in which the account can originate something, but no ACH credits.
async fn without_ach_credits(request: Request, next: Next) -> Response {
    let (parts, body) = next.run(request).await.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let mut account: Value = serde_json::from_slice(&body).unwrap();
    if let Some(capabilities) = account["account_capabilities"].as_array_mut() {
        capabilities.retain(|one| one["payment_type"] != "ach" || one["direction"] != "credit");
        assert!(!capabilities.is_empty());
    }
    let mut parts = parts;
    parts.headers.remove("content-length");
    Response::from_parts(parts, account.to_string().into())
}

#[tokio::test]
async fn an_account_that_cannot_originate_ach_credits_is_named() {
    let layered = |router: axum::Router| router.layer(axum::middleware::from_fn(without_ach_credits));
    let world = crate::support::start_layered(quick(), layered).await;
    let provider = provider_at(&format!("{}/modern_treasury", world.origin));
    let checks = world.providers.capabilities(Adapter::ModernTreasury).checks.unwrap();
    let subject =
        CheckSubject { provider: &provider, webhook_url: "https://x.test/", mode: None, currencies: &[] };
    let report = checks.check(subject).await;
    let check = report.checks.iter().find(|check| check.name == "account").unwrap();
    assert!(!check.ok && check.message.contains("cannot originate ACH credits"), "{check:?}");
    let hint = check.hint.as_deref().unwrap_or_default();
    assert!(hint.contains("funding.originatingAccountId"), "{check:?}");
}

/// An account that pays by ACH only.
const ACH_ONLY: &str = "00000000-0000-4000-8000-00000000ac40";

#[tokio::test]
async fn an_account_without_real_time_payments_says_so() {
    let world = start(quick()).await;
    let capability = async |provider| world.wire().instant_capability(provider).await.outcome.unwrap();
    assert_eq!(capability(&world.provider).await, InstantCapability::Available);
    let mut entry = entry(world.provider.address());
    entry["funding"]["originatingAccountId"] = json!(ACH_ONLY);
    let provider = provider(&entry);
    let lacks = capability(&provider).await;
    assert!(matches!(lacks, InstantCapability::Missing(what) if what.contains("rtp")), "{lacks:?}");
    world.fault("internal_accounts.retrieve", "error_before", 100).await;
    let untold = world.wire().instant_capability(&provider).await.outcome;
    assert!(matches!(untold, Err(CallError::Unknown(_))), "{untold:?}");
    world.control("DELETE", "faults", Value::Null).await;

    // Not asked before, and refused by the provider: another failure than a receiving bank that takes no part.
    let mut instant = order(Channel::Instant);
    instant.rail = Some(tollgate_domain::ach::TransferRail::RealTimePayments);
    let call = world.wire().send(&provider, &instant, &bank()).await;
    let Err(CallError::Rejected(rejection)) = call.outcome else { panic!("{call:?}") };
    assert_eq!(
        (rejection.kind, rejection.failure.code.as_str()),
        (RejectionKind::Invalid, "instant_not_enabled")
    );
    assert!(rejection.failure.message.contains("cannot originate instant transfers"), "{rejection:?}");
    world.wire().send(&provider, &order(Channel::StandardAch), &bank()).await.outcome.unwrap();
}

/// The line of the bank's statement turned out to be another's.
#[tokio::test]
async fn a_completed_order_can_be_taken_back() {
    let world = start(quick()).await;
    let made = sent(&world, Channel::StandardAch).await;
    drive(&world, &made, "complete", json!({})).await;
    assert_eq!(status(&world, &made).await, AchProviderStatus::Settled);
    let data = drive(&world, &made, "unreconcile", json!({})).await;
    assert_eq!(status(&world, &made).await, AchProviderStatus::Sent);
    let reader = world.providers.capabilities(Adapter::ModernTreasury).webhooks.unwrap();
    for (event, expected) in [("unreconciled", Some("unreconciled")), ("completed", None)] {
        let body = json!({ "event": event, "data": data }).to_string();
        let notice = reader.translate_one(body.as_bytes()).unwrap();
        assert_eq!((notice.relevant, notice.taken_back.as_deref()), (true, expected));
    }
}

/// Signed and accepted by the official library.
const VECTOR: &str = r#"{"event":"completed","data":{"id":"f62fd6a0-0000-4000-8000-000000000001","object":"payment_order","status":"completed"}}"#;
const SIGNATURE: &str = "a402780d954bc06e9a77a37037c1208404a6c3498474d93c9d23a32060553fad";

#[test]
fn signatures() {
    let providers = providers();
    let reader = providers.capabilities(Adapter::ModernTreasury).webhooks.unwrap();
    let verify = |provider: &tollgate_configuration::Provider, signatures: &[&str], body: &str| {
        let headers: Vec<_> =
            signatures.iter().map(|one| ("x-signature".to_owned(), (*one).to_owned())).collect();
        reader.verify(provider, InboundWebhook { url: "", headers: &headers, body: body.as_bytes() }, now())
    };
    let good = provider_at("https://app.moderntreasury.com");
    for (signatures, body, expected) in [
        (vec![SIGNATURE], VECTOR, Ok(())),
        (vec![SIGNATURE], "{}", Err(SignatureError::Forged)),
        (vec!["a402"], VECTOR, Err(SignatureError::Forged)),
        (vec![SIGNATURE, SIGNATURE], VECTOR, Err(SignatureError::Malformed)),
        (vec![""], VECTOR, Err(SignatureError::Malformed)),
        (vec!["not hex"], VECTOR, Err(SignatureError::Malformed)),
        (vec![], VECTOR, Err(SignatureError::Malformed)),
    ] {
        assert_eq!(verify(&good, &signatures, body), expected, "{signatures:?}");
    }
    assert_eq!(WEBHOOK_KEY, "mt_test_webhook_key");
    let keyless = provider(&json!({ "adapter": "modern_treasury" }));
    assert_eq!(verify(&keyless, &[SIGNATURE], VECTOR), Err(SignatureError::NoSecret));
}

#[test]
fn events_name_the_order_and_those_of_others_are_left_alone() {
    let providers = providers();
    let reader = providers.capabilities(Adapter::ModernTreasury).webhooks.unwrap();
    let ours = order(Channel::StandardAch).id.to_string();
    for (event, data, kind, object) in [
        (
            "completed",
            json!({ "id": "po", "object": "payment_order", "external_id": ours }),
            "payment_order.completed",
            Some("po"),
        ),
        (
            "acknowledged",
            json!({ "id": "po", "object": "payment_order", "external_id": ours }),
            "payment_order.acknowledged",
            Some("po"),
        ),
        (
            "completed",
            json!({ "id": "po", "object": "payment_order", "external_id": "INV-7" }),
            "payment_order.completed",
            None,
        ),
        (
            "completed",
            json!({ "id": "po", "object": "payment_order", "external_id": null }),
            "payment_order.completed",
            None,
        ),
        (
            "created",
            json!({ "id": "re", "object": "return", "returnable_id": "po", "returnable_type": "payment_order" }),
            "return.created",
            Some("po"),
        ),
        (
            "created",
            json!({ "id": "re", "object": "return", "returnable_id": "x", "returnable_type": "incoming_payment_detail" }),
            "return.created",
            None,
        ),
        (
            "completed",
            json!({ "id": "rv", "object": "reversal", "payment_order_id": "po" }),
            "reversal.completed",
            Some("po"),
        ),
        ("created", json!({ "id": "tr", "object": "transaction" }), "transaction.created", None),
    ] {
        let body = json!({ "event": event, "data": data }).to_string();
        let notice = reader.translate_one(body.as_bytes()).unwrap();
        assert_eq!((notice.kind.as_str(), notice.objects.first().map(String::as_str)), (kind, object));
        assert_eq!((notice.relevant, notice.event.len()), (object.is_some(), 64));
        // Two deliveries of one event are one; two events are two.
        assert_eq!(reader.translate_one(body.as_bytes()).unwrap().event, notice.event);
        assert_ne!(reader.translate_one(format!("{body} ").as_bytes()).unwrap().event, notice.event);
    }
    for broken in ["", "[]", "{}", r#"{"event":"completed"}"#, r#"{"event":1,"data":{"id":"000123456789"}}"#]
    {
        let error = reader.translate_one(broken.as_bytes()).unwrap_err();
        assert!(!error.to_string().contains("000123456789"), "{error}");
    }
}
