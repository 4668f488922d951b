//! One key, one transfer: told again to whoever asks again, and to nobody who asks for something else.

use std::fs;

use serde_json::{Value, json};

use crate::support::{BankStore, BankWorld, Desk, On, PREVIEW, REFUSED_BANK, on_each_store};

/// A change of the configuration, and what it is called.
type Change = (&'static str, fn(&mut Value));

/// Every call that was made to the provider so far.
fn calls(world: &BankWorld) -> Value {
    world.simulator.control("GET", "state?limit=0", &Value::Null)["calls"].clone()
}

fn full_body(desk: &Desk, key: &str) -> Value {
    let mut body = desk.body(key, 10_000);
    body["description"] = json!("Rent for November");
    body["metadata"] = json!({"order": 7, "tags": ["a", "b"]});
    body["remittanceData"] = json!({"invoice": "F-1", "line": 2});
    body
}

fn a_transfer_has_every_field_and_is_told_again(on: On) {
    let world = BankWorld::start_without_looks(on);
    let desk = &world.desk;
    let body = full_body(desk, "the rent of November");
    let answer = desk.transfer(&body);
    assert!(!answer.headers.contains_key("idempotent-replayed"));
    let first = answer.data(201);
    let transaction = &first["transaction"];
    let reference = transaction["serviceReference"].as_str().unwrap();
    assert!(reference.starts_with("ach_") && reference.len() == 30, "{reference}");
    assert_eq!(first["replayed"], false);
    assert_eq!(
        first["bankAccount"],
        json!({"bankName": "First Example Bank", "accountType": "checking", "last4": "6789"})
    );
    assert_eq!(
        first["routing"],
        json!({"provider": "ach_provider_a", "channel": "standard_ach", "matchedRuleId": null,
               "matchedConditionIds": [], "fallback": true})
    );
    assert_eq!(first.as_object().unwrap().len(), 4);
    for (field, expected) in [
        ("status", "processing"),
        ("amountMinor", "10000"),
        ("platformFeeMinor", "25"),
        ("organizationFeeMinor", "10"),
        ("feeMinor", "35"),
        ("totalDebitMinor", "10035"),
        ("currency", "USD"),
        ("paymentMethod", "ach"),
        ("provider", "ach_provider_a"),
        ("channel", "standard_ach"),
        ("description", "Rent for November"),
    ] {
        assert_eq!(transaction[field], expected, "{field}");
    }
    assert_eq!(transaction["metadata"], json!({"order": 7, "tags": ["a", "b"]}));
    assert_eq!(transaction["failure"], Value::Null);
    assert_eq!(
        transaction["fee"],
        json!({"version": 1, "provider": "ach_provider_a", "paymentMethod": "ach", "currency": "USD",
               "channel": "standard_ach"})
    );
    desk.wait_events(&world.simulator);
    // The same request in other words: another token for the same customer, another order of fields, another form.
    let mut same = body.clone();
    same["customerToken"] = json!(desk.new_token("customer-1"));
    same["amountMinor"] = json!(10_000);
    same["currency"] = json!("usd");
    same["metadata"] = serde_json::from_str(r#"{ "tags" : ["a","b"], "order" : 7 }"#).unwrap();
    let before = calls(&world);
    for body in [&body, &same] {
        let answer = desk.transfer(body);
        assert_eq!(answer.headers["idempotent-replayed"], "true");
        let again = answer.data(200);
        assert_eq!(again["replayed"], true);
        assert_eq!((&again["bankAccount"], &again["routing"]), (&first["bankAccount"], &first["routing"]));
        for name in
            ["serviceReference", "status", "totalDebitMinor", "feeMinor", "providerReference", "createdAt"]
        {
            assert_eq!(again["transaction"][name], transaction[name], "{name}");
        }
    }
    assert_eq!(calls(&world), before, "the provider was asked again");
    // The provider was told what it needs.
    let row = world.simulator.row(reference);
    assert_eq!(row["amount"], 10_000, "the principal, not the total");
    assert_eq!(row["statement_descriptor"], "Rent for November");
    assert_eq!(row["individual_name"], "Ada Example");
    assert_eq!(row["individual_id"], "customer-1");
    assert_eq!(row["funding"], "checking");
    assert_eq!(row["settlement_schedule"], "future_dated");
    desk.assert_books(Desk::FUNDS);
}

/// A token is issued once per key, too.
fn check_tokens(desk: &Desk) {
    let ask = |email: &str| {
        let body = json!({"externalCustomerId": "keyed", "email": email, "firstName": "Ada", "lastName": "Lovelace",
                          "e_mail": "a typing error"});
        let headers = [("content-type", "application/json"), ("idempotency-key", "a key of a token")];
        let headers = headers.map(|(name, value)| (name, value.replace(' ', "-")));
        let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
        let path = "/client/v1/ach/customer-tokens";
        desk.client().send("POST", path, &headers, body.to_string().as_bytes())
    };
    let first = ask("ada@example.com");
    assert_eq!(
        first.headers.get("tollgate-warning").map(String::as_str),
        Some(r#"unknown field "e_mail"; did you mean "email"?"#)
    );
    let first = first.data(201);
    let again = ask("ada@example.com");
    assert_eq!(again.headers.get("idempotent-replayed").map(String::as_str), Some("true"));
    assert_eq!(again.data(200), first);
    let other = ask("bob@example.com");
    assert_eq!(other.failure(409), "idempotency_conflict");
    assert_eq!(other.json()["error"]["details"][0]["field"], "email");
}

fn another_request_under_the_key_is_refused(on: On) {
    let world = BankWorld::start_without_looks(on);
    let desk = &world.desk;
    let body = full_body(desk, "a key that is taken");
    desk.made(&body);
    desk.wait_events(&world.simulator);
    let before = calls(&world);
    let other_customer = json!(desk.new_token("customer-2"));
    let changes = [
        ("accountName", json!("Bob Example")),
        ("accountNumber", json!("000123456780")),
        ("amountMinor", json!("10001")),
        ("bankAccountType", json!("savings")),
        ("bankName", json!("Second Example Bank")),
        ("customerToken", other_customer),
        ("description", json!("Rent for December")),
        ("metadata", json!({"order": 7, "tags": ["b", "a"]})),
        ("remittanceData", json!("F-1")),
        ("routingNumber", json!("011401533")),
    ];
    let mut all = body.clone();
    let named = |body: &Value| {
        let answer = desk.transfer(body);
        assert_eq!(answer.failure(409), "idempotency_conflict");
        let said = answer.json().to_string();
        assert!(!said.contains("000123456") && !said.contains("011401533"), "{said}");
        let details = answer.json()["error"]["details"].as_array().unwrap().clone();
        details.iter().map(|detail| detail["field"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (field, value) in &changes {
        let mut other = body.clone();
        other[*field] = value.clone();
        let shown = if field.ends_with("Number") { "bankAccount" } else { field };
        assert_eq!(named(&other), [shown]);
        all[*field] = value.clone();
        if matches!(*field, "description" | "metadata" | "remittanceData") {
            other.as_object_mut().unwrap().remove(*field);
            assert_eq!(named(&other), [*field], "left out");
        }
    }
    let mut every: Vec<&str> =
        changes.iter().map(|(field, _)| *field).filter(|field| !field.ends_with("Number")).collect();
    every.push("bankAccount");
    every.sort_unstable();
    assert_eq!(named(&all), every, "every field that differs");
    check_tokens(desk);
    assert_eq!(calls(&world), before);
    assert_eq!(desk.listed("transactions").len(), 1);
    desk.assert_books(Desk::FUNDS);
}

fn what_was_made_is_told_whatever_changed_since(on: On) {
    let mut world = BankWorld::start_without_looks(on);
    let desk = world.desk.clone();
    let (made, refused) = (desk.body("made before the change", 10_000), {
        let mut body = desk.body("refused before the change", 10_000);
        body["routingNumber"] = json!(REFUSED_BANK);
        body
    });
    let reference = desk.made(&made);
    assert_eq!(desk.transfer(&refused).failure(422), "provider_rejected");
    desk.wait_events(&world.simulator);
    let before = calls(&world);
    let address = world.simulator.address();
    let changes: [Change; 4] = [
        ("routing was disabled", |document| document["routing"]["ach"]["enabled"] = json!(false)),
        ("credentials were removed", |document| {
            document["providers"]["ach_provider_a"]["credentials"] = json!({});
        }),
        ("the provider was removed", |document| {
            document["providers"] = json!({});
            document["routing"] = json!({});
            document["fees"] = json!([]);
        }),
        ("fees were raised", |document| {
            document["fees"][0]["platform"]["fixedFeeMinor"] = json!("999");
        }),
    ];
    for (what, change) in changes {
        let mut document = desk.document(address);
        change(&mut document);
        desk.configure(&document);
        let again = desk.transfer(&made).data(200);
        assert_eq!(again["transaction"]["serviceReference"], reference.as_str(), "{what}");
        assert_eq!(again["transaction"]["totalDebitMinor"], "10035", "{what}");
        assert_eq!(desk.transfer(&refused).failure(422), "provider_rejected", "{what}");
        let mut other = made.clone();
        other["amountMinor"] = json!("5");
        assert_eq!(desk.transfer(&other).failure(409), "idempotency_conflict", "{what}");
    }
    desk.leave(0);
    desk.transfer(&made).data(200);
    assert_eq!(calls(&world), before);
    // And after a restart.
    world.server.kill();
    world.serve_again(BankStore::serve_without_looks);
    let again = desk.transfer(&made).data(200);
    assert_eq!(again["transaction"]["serviceReference"], reference.as_str());
    assert_eq!(again["replayed"], true);
    desk.assert_books(10_035);
}

fn a_refused_transfer_stays_refused(on: On) {
    let world = BankWorld::start_without_looks(on);
    let desk = &world.desk;
    let mut body = desk.body("to a bank that takes nothing", 10_000);
    body["routingNumber"] = json!(REFUSED_BANK);
    let answer = desk.transfer(&body);
    assert_eq!(answer.failure(422), "provider_rejected");
    let said = answer.json().to_string();
    assert!(!said.contains(REFUSED_BANK) && !said.contains("000123456789"), "{said}");
    let named = answer.json()["error"]["serviceReference"].as_str().unwrap().to_owned();
    assert_eq!(desk.status(&named), "failed");
    assert_eq!(desk.wallet().available, Desk::FUNDS, "the funds are back");
    let before = calls(&world);
    let again = desk.transfer(&body);
    assert_eq!(again.failure(422), "provider_rejected");
    assert_eq!(again.json()["message"], answer.json()["message"]);
    assert_eq!(again.json()["error"]["serviceReference"], named.as_str());
    assert_eq!(calls(&world), before);
    let failed = desk.listed("transactions?status=failed");
    assert_eq!(failed.len(), 1);
    let reference = failed[0]["serviceReference"].as_str().unwrap();
    assert_eq!(failed[0]["failure"]["code"], "bank_details_refused");
    assert_eq!(desk.postings(reference), ["reserve", "release"]);
    assert!(world.simulator.accepted(10).is_empty());
    // Corrected, it is another request and needs another key.
    let mut corrected = body.clone();
    corrected["routingNumber"] = json!(crate::support::GOOD_BANK);
    assert_eq!(desk.transfer(&corrected).failure(409), "idempotency_conflict");
    corrected["idempotencyKey"] = json!("to a bank that takes it");
    desk.made(&corrected);
    desk.assert_books(Desk::FUNDS);
}

/// The key is looked up before the token is: whoever asks again need not have a new one.
fn a_token_that_has_ended_still_repeats(on: On) {
    let world = BankWorld::start_without_looks(on);
    let desk = &world.desk;
    let with_settings = |settings: Value| {
        let mut document = desk.document(world.simulator.address());
        document["settings"] = settings;
        desk.configure(&document);
    };
    with_settings(json!({"customerTokenLifetimeSeconds": 8}));
    let mut body = desk.body("with a token that ends", 10_000);
    body["customerToken"] = json!(desk.new_token("customer-1"));
    let reference = desk.made(&body);
    desk.wait_events(&world.simulator);
    let before = calls(&world);
    let mut unused = body.clone();
    unused["idempotencyKey"] = json!("never used before");
    crate::support::wait_until("the token has ended", crate::support::BANK_WAIT_TIMEOUT, || {
        // Often enough, and not so often that the server has to do little else.
        std::thread::sleep(std::time::Duration::from_millis(100));
        desk.transfer(&{
            let mut poor = unused.clone();
            poor["amountMinor"] = json!("1000000000000000000");
            poor
        })
        .status
            == 400
    });
    assert_eq!(desk.transfer(&unused).faulty_fields(), ["customerToken"]);
    let again = desk.transfer(&body).data(200);
    assert_eq!(again["transaction"]["serviceReference"], reference.as_str());
    // One whose key is retired cannot be opened at all: the same letters are the same request, no others are.
    with_settings(json!({"customerTokenKey": 2, "customerTokenOldestKey": 2}));
    let again = desk.transfer(&body).data(200);
    assert_eq!(again["transaction"]["serviceReference"], reference.as_str());
    assert_eq!(desk.transfer(&unused).faulty_fields(), ["customerToken"]);
    for other in [desk.token.as_str(), "x.y.z"] {
        let mut differs = body.clone();
        differs["customerToken"] = json!(other);
        let answer = desk.transfer(&differs);
        assert_eq!(answer.failure(409), "idempotency_conflict");
        assert_eq!(answer.json()["error"]["details"][0]["field"], "customerToken");
    }
    let mut same = body.clone();
    same["customerToken"] = json!(desk.new_token("customer-1"));
    desk.transfer(&same).data(200);
    assert_eq!(calls(&world), before);
    desk.assert_books(Desk::FUNDS);
}

/// Numbers count by their exact value: what differs beyond a floating-point number's reach is another request, and another way
/// to write the same number is the same one.
fn numbers_are_compared_by_their_exact_value(on: On) {
    let world = BankWorld::start_without_looks(on);
    let desk = &world.desk;
    let send = |key: &str, field: &str, number: &str| {
        let mut body = desk.body(key, 10_000);
        body[field] = json!({"n": "NUMBER"});
        let text = body.to_string().replace("\"NUMBER\"", number);
        let headers = [("content-type", "application/json")];
        desk.client().send("POST", crate::support::TRANSFERS, &headers, text.as_bytes())
    };
    for (field, one, same, others) in [
        ("metadata", "1.0", &["1", "1.00", "1e0"][..], &["1.1"][..]),
        ("metadata", "9007199254740993", &["9007199254740993.0"], &["9007199254740992"]),
        ("remittanceData", "18446744073709551617", &[], &["18446744073709551616"]),
    ] {
        let key = format!("{field} with {one}");
        send(&key, field, one).data(201);
        for same in [one].iter().chain(same) {
            send(&key, field, same).data(200);
        }
        for other in others {
            let answer = send(&key, field, other);
            assert_eq!(answer.failure(409), "idempotency_conflict", "{one} and {other}");
            assert_eq!(answer.json()["error"]["details"][0]["field"], field);
        }
    }
}

/// What was recorded before tokens were kept letter by letter is compared by the customer, as it was then.
#[test]
fn requests_recorded_by_the_release_before_still_repeat() {
    let mut world = BankWorld::start_without_looks(On::Sqlite);
    let body = full_body(&world.desk, "recorded long ago");
    let reference = world.desk.made(&body);
    world.desk.wait_events(&world.simulator);
    world.server.terminate();
    let BankStore::Sqlite(folder) = &world.store else { panic!("on SQLite") };
    let file = rusqlite::Connection::open(folder.path().join("data/tollgate.db")).unwrap();
    let changed = file
        .execute("UPDATE transfers SET fingerprints = json_remove(fingerprints, '$.customerTokenText')", [])
        .unwrap();
    assert_eq!(changed, 1);
    drop(file);
    world.serve_again(BankStore::serve_without_looks);
    let again = world.desk.transfer(&body).data(200);
    assert_eq!(again["transaction"]["serviceReference"], reference.as_str());
    let mut other = body.clone();
    other["metadata"] = json!({"order": 8});
    assert_eq!(world.desk.transfer(&other).failure(409), "idempotency_conflict");
}

fn fees_are_those_of_the_preview(on: On) {
    let world = BankWorld::start(on);
    let desk = &world.desk;
    for (number, (speed, amount)) in
        [("none", "1"), ("none", "12345"), ("same_day", "999999"), ("instant", "4999")]
            .into_iter()
            .enumerate()
    {
        let metadata = json!({"speed": speed});
        let ask = json!({"amountMinor": amount, "currency": "USD", "metadata": metadata});
        let preview = desk.client().post(PREVIEW, &ask).data(200);
        let mut body = desk.body(&format!("as previewed {number}"), 1);
        body["amountMinor"] = json!(amount);
        body["metadata"] = metadata;
        let transaction = desk.transfer(&body).data(201)["transaction"].clone();
        for name in ["platformFeeMinor", "organizationFeeMinor", "feeMinor"] {
            assert_eq!(transaction[name], preview["fee"][name], "{speed} {amount}");
        }
        assert_eq!(transaction["totalDebitMinor"], preview["totalDebitMinor"]);
        assert_eq!(transaction["channel"], preview["routing"]["channel"]);
        let reference = transaction["serviceReference"].as_str().unwrap();
        let read = desk.transaction(reference);
        assert_eq!(read["totalDebitMinor"], preview["totalDebitMinor"]);
    }
    desk.assert_books(Desk::FUNDS);
}

/// Two nodes that know nothing of each other's transfers give one key the same reference.
#[test]
fn a_reference_follows_from_the_key_alone() {
    let mut world = BankWorld::start(On::Sqlite);
    world.server.terminate();
    let copy = BankStore::new(On::Sqlite);
    let (BankStore::Sqlite(from), BankStore::Sqlite(to)) = (&world.store, &copy) else { panic!("on SQLite") };
    fs::create_dir_all(to.path().join("data")).unwrap();
    for name in ["tollgate.db", "tollgate.db-wal"] {
        let there = from.path().join("data").join(name);
        if there.exists() {
            fs::copy(there, to.path().join("data").join(name)).unwrap();
        }
    }
    world.serve_again(BankStore::serve);
    let other = copy.serve().run();
    let (here, there) = (world.desk.clone(), world.desk.at(&other));
    for key in ["a key of one caller", "another key"] {
        let body = here.body(key, 10_000);
        let reference = here.made(&body);
        // The provider knows the key by now, and tells the other node of the same transfer.
        assert_eq!(there.made(&body), reference);
        assert!(!reference.contains("key"));
        world.simulator.sole(&reference);
    }
}

on_each_store! {
    a_transfer_has_every_field_and_is_told_again
    another_request_under_the_key_is_refused
    what_was_made_is_told_whatever_changed_since
    a_refused_transfer_stays_refused
    a_token_that_has_ended_still_repeats
    numbers_are_compared_by_their_exact_value
    fees_are_those_of_the_preview
}
