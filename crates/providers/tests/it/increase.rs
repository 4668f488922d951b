//! Bank transfers over the Increase API, against the simulator.

use serde_json::{Value, json};
use tollgate_domain::ach::{AchProviderReport, AchProviderStatus, BankAccountType};
use tollgate_domain::{Channel, Currency, Minor, Principal, fee::FeeEntry};
use tollgate_engine::ports::{CallError, RejectionKind};

use crate::increase_support::{
    ACCOUNT, CHANNELS, NO_BANK, ROUTING, SLOW_BANK, World, bank, bank_at, order, order_over, start,
};
use crate::support::{asked, provider, quick, refused};

fn path(report: &AchProviderReport) -> String {
    let rail =
        if report.transfer.starts_with("ach_") { "ach_transfers" } else { "real_time_payments_transfers" };
    format!("{rail}/{}", report.transfer)
}

async fn sent(world: &World, channel: Channel) -> AchProviderReport {
    world.send(&order(channel)).await.outcome.unwrap()
}

async fn provider_status(world: &World, report: &AchProviderReport) -> AchProviderStatus {
    world.read(&report.transfer).await.outcome.unwrap().provider_status
}

#[tokio::test]
async fn every_channel_is_sent_as_itself_found_and_read() {
    let world = start(quick()).await;
    for channel in CHANNELS {
        let mut order = order(channel);
        assert_eq!(world.find(&order).await.outcome.unwrap(), None);
        let call = world.send(&order).await;
        let create = if channel == Channel::Instant {
            assert_eq!(
                asked(&call),
                [("routing_numbers.list", 1), ("real_time_payments_transfers.create", 1)]
            );
            &call.logs[1]
        } else {
            assert_eq!(asked(&call), [("ach_transfers.create", 1)]);
            &call.logs[0]
        };
        assert_eq!(create.idempotency_key, Some(order.id.to_string()));
        assert_eq!((create.tries[0].status, create.tries[0].outcome.as_str()), (Some(200), "ok"));
        let report = call.outcome.unwrap();
        assert_eq!(report.provider_status, AchProviderStatus::Accepted);
        assert_eq!(report.amount, Minor::new(2_000));
        assert_eq!(report.reference, Some(order.id.to_string()));
        assert_eq!((&report.expected_on, report.corrections.len()), (&None, 0));

        let taken = world.taken(&order).await;
        let [row] = &taken[..] else { panic!("{taken:?}") };
        assert_eq!((&row["amount"], &row["routing_number"]), (&json!(2_000), &json!(ROUTING)));
        assert_eq!(row["account_number_last4"], "2951");
        if channel == Channel::Instant {
            assert_eq!(row["creditor_name"], "Zoe Nguyen-Strasse");
            assert_eq!(row["unstructured_remittance_information"], r#"{"invoice":"A-7"}"#);
        } else {
            let schedule = if channel == Channel::SameDayAch { "same_day" } else { "future_dated" };
            assert_eq!(row["settlement_schedule"], schedule);
            assert_eq!(row["individual_name"], "Zoe Nguyen-Strasse");
            assert_eq!((&row["individual_id"], &row["funding"]), (&json!("cust_42"), &json!("savings")));
            assert_eq!(row["statement_descriptor"], "Cafe - June");
            assert_eq!(row["standard_entry_class_code"], "prearranged_payments_and_deposit");
        }
        assert_eq!(world.find(&order).await.outcome.unwrap(), Some(report.clone()));
        assert_eq!(world.read(&report.transfer).await.outcome.unwrap(), report);

        // The same order again is the same transfer; a key is of one channel, and the order never changes its own.
        assert_eq!(world.send(&order).await.outcome.unwrap(), report);
        assert_eq!(world.taken(&order).await.len(), 1);
        order.channel = if channel == Channel::Instant { Channel::StandardAch } else { Channel::Instant };
        assert_eq!(world.find(&order).await.outcome.unwrap(), None);
    }
}

#[tokio::test]
async fn a_bare_order_is_enough() {
    let world = start(quick()).await;
    for channel in CHANNELS {
        let mut bare = order(channel);
        (bare.description, bare.remittance) = (None, None);
        bare.external_customer_id = "a customer whose name is too long".to_owned();
        bare.account_type = BankAccountType::Checking;
        if channel != Channel::Instant {
            (bare.account_name, bare.customer_name) = ("🦀".to_owned(), "🦀".to_owned());
        }
        world.send(&bare).await.outcome.unwrap();
        let row = &world.taken(&bare).await[0];
        if channel == Channel::Instant {
            assert_eq!(row["unstructured_remittance_information"], "Transfer");
        } else {
            assert_eq!(
                (&row["funding"], &row["statement_descriptor"]),
                (&json!("checking"), &json!("Transfer"))
            );
            assert_eq!((&row["individual_name"], &row["individual_id"]), (&Value::Null, &Value::Null));
        }
    }
}

#[tokio::test]
async fn what_receiving_banks_do_is_seen() {
    let world = start(quick()).await;

    let first = sent(&world, Channel::StandardAch).await;
    world.post(&format!("simulations/{}/submit", path(&first)), None, Value::Null).await;
    let seen = world.read(&first.transfer).await.outcome.unwrap();
    assert_eq!(seen.provider_status, AchProviderStatus::Sent);
    let day: jiff::civil::Date = seen.expected_on.unwrap().parse().unwrap();
    let days = (day - jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date()).get_days();
    assert!((0..=5).contains(&days), "{day}");

    for (reason, code) in [
        ("no_account", "R03"),
        ("account_frozen_entry_returned_per_ofac_instruction", "R16"),
        ("credit_entry_refused_by_receiver", "R23"),
        ("insufficient_fund", "R01"),
        ("item_related_to_rck_entry_is_ineligible", "R51"),
    ] {
        let one = sent(&world, Channel::SameDayAch).await;
        world.post(&format!("simulations/{}/submit", path(&one)), None, Value::Null).await;
        world.post(&format!("simulations/{}/return", path(&one)), None, json!({ "reason": reason })).await;
        assert_eq!(
            provider_status(&world, &one).await,
            AchProviderStatus::Returned { code: code.to_owned() }
        );
    }

    let done = sent(&world, Channel::Instant).await;
    world.post(&format!("simulations/{}/complete", path(&done)), None, json!({})).await;
    assert_eq!(provider_status(&world, &done).await, AchProviderStatus::Settled);
    for (reason, code) in
        [("account_closed", "account_closed"), ("timeout", "timeout"), ("other", "bank_rejected")]
    {
        let one = sent(&world, Channel::Instant).await;
        let body = json!({ "rejection": { "reject_reason_code": reason } });
        world.post(&format!("simulations/{}/complete", path(&one)), None, body).await;
        let AchProviderStatus::Rejected(failure) = provider_status(&world, &one).await else {
            panic!("{reason}")
        };
        assert_eq!(failure.code, code);
        assert!(failure.message.ends_with('.'), "{failure:?}");
    }
}

#[tokio::test]
async fn what_the_providers_staff_does_is_seen() {
    let world = start(quick()).await;
    for channel in [Channel::StandardAch, Channel::Instant] {
        let one = sent(&world, channel).await;
        world.control("POST", &format!("increase/{}/reject", path(&one)), json!({})).await;
        let AchProviderStatus::Rejected(failure) = provider_status(&world, &one).await else {
            panic!("{channel:?}")
        };
        let code = if channel == Channel::Instant { "bank_rejected" } else { "provider_rejected" };
        assert_eq!(failure.code, code);

        // Whoever may approve transfers can also call them off; ours are sent without being asked for.
        let order = order(channel);
        let key = order.id.to_string();
        let mut body = json!({
            "amount": 2_000, "account_number": ACCOUNT, "routing_number": ROUTING, "require_approval": true,
        });
        let rail = if channel == Channel::Instant {
            body["source_account_number_id"] = "account_number_simulator".into();
            body["creditor_name"] = "Zoe".into();
            body["unstructured_remittance_information"] = "x".into();
            "real_time_payments_transfers"
        } else {
            body["account_id"] = "account_simulator".into();
            body["statement_descriptor"] = "x".into();
            "ach_transfers"
        };
        let made = world.post(rail, Some(&key), body).await;
        let found = world.find(&order).await.outcome.unwrap().unwrap();
        assert_eq!(
            (found.transfer.as_str(), &found.provider_status),
            (made["id"].as_str().unwrap(), &AchProviderStatus::AwaitingApproval)
        );
        world.post(&format!("{}/cancel", path(&found)), None, Value::Null).await;
        assert_eq!(provider_status(&world, &found).await, AchProviderStatus::Canceled);
    }
}

#[tokio::test]
async fn what_is_to_be_corrected_is_told_and_account_numbers_are_not_printed() {
    let world = start(quick()).await;
    let one = sent(&world, Channel::StandardAch).await;
    world.post(&format!("simulations/{}/submit", path(&one)), None, Value::Null).await;
    let correct = format!("simulations/{}/create_notification_of_change", path(&one));
    world.post(&correct, None, json!({ "corrected_account_number": "000555444333" })).await;
    world
        .post(
            &correct,
            None,
            json!({ "corrected_routing_number": "021000021", "corrected_account_funding": "checking" }),
        )
        .await;
    world.post(&correct, None, json!({ "corrected_individual_id": "1234" })).await;
    let seen = world.read(&one.transfer).await.outcome.unwrap();
    assert_eq!(seen.provider_status, AchProviderStatus::Sent);
    let [account, bank, person] = &seen.corrections[..] else { panic!("{seen:?}") };
    assert_eq!(account.code.as_deref(), Some("incorrect_account_number"));
    assert_eq!(account.account_number.as_ref().unwrap().expose(), "000555444333");
    assert!(account.created_at.is_some() && account.routing_number.is_none());
    assert_eq!(bank.routing_number.as_deref(), Some("021000021"));
    assert_eq!(bank.account_funding.as_deref(), Some("checking"));
    assert_eq!(person.individual_id.as_deref(), Some("****"));
    let printed = format!("{seen:?}");
    assert!(printed.contains("********4333") && !printed.contains("55544"), "{printed}");
}

#[tokio::test]
async fn bank_details_the_provider_does_not_take_are_refused() {
    let world = start(quick()).await;
    for (channel, routing, code, operations) in [
        (Channel::StandardAch, NO_BANK, "bank_details_refused", vec![("ach_transfers.create", 1)]),
        (Channel::SameDayAch, NO_BANK, "bank_details_refused", vec![("ach_transfers.create", 1)]),
        (Channel::StandardAch, "123456789", "bank_details_refused", vec![("ach_transfers.create", 1)]),
        (Channel::Instant, NO_BANK, "instant_not_supported", vec![("routing_numbers.list", 1)]),
        (Channel::Instant, SLOW_BANK, "instant_not_supported", vec![("routing_numbers.list", 1)]),
        (Channel::Instant, "123456789", "instant_not_supported", vec![("routing_numbers.list", 1)]),
        (Channel::Instant, "12345", "bank_details_refused", vec![("routing_numbers.list", 1)]),
    ] {
        let call = world.wire().send(&world.provider, &order(channel), &bank_at(routing)).await;
        assert_eq!(asked(&call), operations);
        let text = format!("{call:?}");
        assert!(!text.contains(routing), "{text}");
        assert_eq!(refused(call, RejectionKind::Invalid), code, "{channel:?} {routing}");
    }
    assert_eq!(world.count().await, 0);
    // A refusal leaves the key free.
    let order = order(Channel::StandardAch);
    let call = world.wire().send(&world.provider, &order, &bank_at(NO_BANK)).await;
    refused(call, RejectionKind::Invalid);
    world.send(&order).await.outcome.unwrap();
    // A bank that is slow is a bank.
    let slow = crate::increase_support::order(Channel::SameDayAch);
    world.wire().send(&world.provider, &slow, &bank_at(SLOW_BANK)).await.outcome.unwrap();
}

#[tokio::test]
async fn amounts_the_wire_cannot_carry_are_not_sent() {
    let world = start(quick()).await;
    for channel in CHANNELS {
        let mut euros = order(channel);
        euros.currency = Currency::parse("EUR").unwrap();
        for order in
            [order_over(channel, 10_000_000_000), order_over(channel, 1_000_000_000_000_000_000), euros]
        {
            let call = world.send(&order).await;
            assert_eq!(asked(&call), []);
            assert_eq!(refused(call, RejectionKind::Invalid), "amount_limit");
        }
    }
    let call = world.send(&order(Channel::WebCard)).await;
    assert_eq!(
        (asked(&call), refused(call, RejectionKind::Invalid)),
        (vec![], "provider_refused".to_owned())
    );
    assert_eq!(world.count().await, 0);
    world.send(&order_over(Channel::StandardAch, 9_999_999_999)).await.outcome.unwrap();
}

#[tokio::test]
async fn a_key_that_made_a_transfer_by_a_request_that_read_otherwise_was_ours() {
    let world = start(quick()).await;
    // The configuration named another account when the lost request was sent.
    for channel in CHANNELS {
        let order = order(channel);
        let first = world.send(&order).await.outcome.unwrap();
        let moved = provider(&json!({
            "adapter": "increase",
            "baseUrl": format!("{}/increase", world.origin),
            "credentials": { "apiKey": "increase_simulator_key" },
            "funding": { "accountId": "account_other", "accountNumberId": "account_number_other" },
        }));
        let call = world.wire().send(&moved, &order, &bank()).await;
        let operations = asked(&call);
        let (create, read) = (&operations[operations.len() - 2], &operations[operations.len() - 1]);
        assert!(create.0.ends_with(".create") && read.0.ends_with(".retrieve"), "{operations:?}");
        assert_eq!((create.1, read.1), (1, 1));
        assert_eq!(call.logs[operations.len() - 2].tries[0].outcome, "idempotency_key_already_used_error");
        assert_eq!(call.outcome.unwrap(), first);
        assert_eq!(world.taken(&order).await.len(), 1);
    }
    // What was made is told as it is, also where it is not what would be made now.
    let first = order(Channel::StandardAch);
    world.send(&first).await.outcome.unwrap();
    let mut other = first.clone();
    other.fee = FeeEntry::default().assess(Principal::new(5_000).unwrap());
    let seen = world.send(&other).await.outcome.unwrap();
    assert_eq!((seen.amount, seen.reference), (Minor::new(2_000), Some(first.id.to_string())));
    other.channel = Channel::Instant;
    let seen = world.send(&other).await.outcome.unwrap();
    assert!(seen.transfer.starts_with("ach_transfer_"), "{seen:?}");
    assert_eq!(world.taken(&first).await.len(), 1);
}

#[tokio::test]
async fn what_is_not_there_is_missing() {
    let world = start(quick()).await;
    for id in ["ach_transfer_nobody", "real_time_payments_transfer_nobody", "sandbox_ach_transfer_nobody"] {
        let call = world.read(id).await;
        assert_eq!(call.logs.len(), 1);
        assert_eq!(refused(call, RejectionKind::Missing), "provider_object_missing");
    }
    for id in ["", "wire_transfer_1", "ach_transfer_1/cancel", "ach_transfer_1?x=y", "account_simulator"] {
        let call = world.read(id).await;
        assert_eq!(asked(&call), [], "{id}");
        assert_eq!(refused(call, RejectionKind::Missing), "provider_object_missing");
    }
}

#[tokio::test]
async fn a_configuration_the_provider_does_not_take() {
    let world = start(quick()).await;
    let configured = |key: &str, funding: Value| {
        provider(&json!({
            "adapter": "increase",
            "baseUrl": format!("{}/increase", world.origin),
            "credentials": { "apiKey": key },
            "funding": funding,
        }))
    };
    let both = json!({ "accountId": "account_simulator", "accountNumberId": "account_number_simulator" });
    let wrong_key = configured("not the key", both.clone());
    let broken_key = configured("a\u{1}b", both);
    let unfunded = configured("increase_simulator_key", json!({}));
    let bent = configured("increase_simulator_key", json!({ "accountId": "a/b", "accountNumberId": "?" }));
    for channel in CHANNELS {
        for (provider, asks) in [(&wrong_key, true), (&broken_key, false), (&unfunded, false), (&bent, false)]
        {
            let call = world.wire().send(provider, &order(channel), &bank()).await;
            assert_eq!(!call.logs.is_empty(), asks);
            assert_eq!(refused(call, RejectionKind::Credentials), "provider_credentials");
        }
        let other = configured(
            "increase_simulator_key",
            json!({ "accountId": "account_other", "accountNumberId": "account_number_other" }),
        );
        let call = world.wire().send(&other, &order(channel), &bank()).await;
        assert_eq!(refused(call, RejectionKind::Credentials), "provider_credentials");
    }
    for provider in [&wrong_key, &broken_key, &unfunded, &bent] {
        let call = world.wire().funds(provider).await.unwrap();
        assert_eq!(refused(call, RejectionKind::Credentials), "provider_credentials");
    }
    let call = world.wire().find(&wrong_key, &order(Channel::Instant)).await;
    assert_eq!(refused(call, RejectionKind::Credentials), "provider_credentials");
    assert_eq!(world.count().await, 0);
}

#[tokio::test]
async fn nobody_there_is_unsent() {
    let world = start(quick()).await;
    let nowhere = crate::increase_support::provider_at("http://127.0.0.1:1");
    for channel in CHANNELS {
        let call = world.wire().send(&nowhere, &order(channel), &bank()).await;
        assert_eq!(call.logs[0].tries.len(), 3);
        assert!(matches!(call.outcome, Err(CallError::Unsent(_))), "{call:?}");
    }
}
