//! Kinds of card fees and the fee program: what is refused, what is warned about, what is written back.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use jiff::civil::{Date, date};
use serde_json::{Value, json};
use tollgate_configuration::{Allowance, Configuration, TableCell};
use tollgate_domain::{
    Flow, Principal,
    card_fee::{Brand, CardFacts, FeeKind, Funding, Instrument, PaymentFacts, Place},
    fee::FeeEntry,
    tenant::EnvironmentName,
};

const TODAY: Date = date(2026, 11, 18);

fn program() -> Value {
    json!({
        "merchant": {"country": "US", "state": "GA", "mcc": "5999"},
        "acceptedBrands": ["visa", "mastercard"],
        "cost": {"cards": {"percentBps": 290, "fixedMinor": "30"}},
        "noticeGivenOn": "2026-06-01",
        "entryNoticeAttested": true,
        "amexParityConfirmed": true,
        "postedTotalPrice": false,
        "onlineOnly": false,
        "overrides": [],
    })
}

/// One card provider with this entry and program, and a bank.
fn document(platform: impl Into<Value>, organization: impl Into<Value>, program: impl Into<Value>) -> Value {
    let (platform, organization, program) = (platform.into(), organization.into(), program.into());
    json!({
        "providers": {
            "cards": {"adapter": "stripe", "credentials": {}},
            "bank": {"adapter": "increase", "environment": "sandbox", "credentials": {}},
        },
        "routing": {"web_card": {"default": {"provider": "cards", "channel": "web_card"}}},
        "fees": [{
            "provider": "cards", "paymentMethod": "web_card", "channel": "none", "currency": "USD",
            "platform": platform, "organization": organization,
        }],
        "settings": {"secretKeyForPreparation": true, "feeProgram": program},
    })
}

fn surcharge(bps: u16) -> Value {
    json!({"feeKind": "surcharge", "percentFeeBps": bps})
}

fn flat(kind: &str, fixed: &str) -> Value {
    json!({"feeKind": kind, "fixedFeeMinor": fixed})
}

fn read(document: &Value) -> Result<Configuration, Vec<(String, String)>> {
    Configuration::read_on(document, &Configuration::default(), TODAY)
        .map_err(|errors| errors.into_iter().map(|error| (error.field, error.message)).collect())
}

/// The one thing that is wrong with a document.
fn fault(document: &Value) -> (String, String) {
    let mut faults = read(document).unwrap_err();
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults.remove(0)
}

fn warnings(document: &Value) -> Vec<(String, String)> {
    let warnings = read(document).unwrap().warnings(&EnvironmentName::parse("test").unwrap(), TODAY);
    warnings.into_iter().map(|warning| (warning.path, warning.message)).collect()
}

#[test]
fn what_can_never_be_lawful_is_refused_with_its_rule() {
    let of_town = |mut program: Value| {
        program["merchant"]["mcc"] = json!("9399");
        program
    };
    let mut online = program();
    online["onlineOnly"] = json!(true);
    for (platform, organization, program, path, code, source) in [
        (
            Value::Null,
            json!({"feeKind": "convenience", "percentFeeBps": 100}),
            program(),
            "fees[0].organization.percentFeeBps",
            "convenience_not_flat",
            "payscout.com",
        ),
        (
            flat("convenience", "100"),
            Value::Null,
            program(),
            "fees[0].platform.feeKind",
            "convenience_not_merchant",
            "payscout.com",
        ),
        (
            json!({"fixedFeeMinor": "1"}),
            flat("convenience", "100"),
            program(),
            "fees[0].platform.feeKind",
            "convenience_not_merchant",
            "payscout.com",
        ),
        (
            Value::Null,
            flat("convenience", "250"),
            online,
            "fees[0].organization.feeKind",
            "convenience_online_only",
            "payscout.com",
        ),
        (
            surcharge(200),
            flat("convenience", "100"),
            program(),
            "fees[0].organization.feeKind",
            "kinds_combined",
            "payscout.com",
        ),
        (
            flat("service", "235"),
            Value::Null,
            program(),
            "fees[0].platform.feeKind",
            "service_mcc",
            "clearent.com",
        ),
        (
            flat("service", "235"),
            Value::Null,
            Value::Null,
            "fees[0].platform.feeKind",
            "service_mcc",
            "clearent.com",
        ),
    ] {
        let (field, message) = fault(&document(platform, organization, program));
        assert_eq!(field, path, "{message}");
        assert!(message.contains(code) && message.contains(source), "{path}: {message}");
    }
    read(&document(flat("service", "235"), Value::Null, of_town(program()))).unwrap();
    read(&document(Value::Null, flat("convenience", "250"), program())).unwrap();
    read(&document(surcharge(250), surcharge(50), program())).unwrap();
    // A layer without a kind is of the other's.
    read(&document(surcharge(250), json!({"percentFeeBps": 50}), program())).unwrap();
}

#[test]
fn no_refund_keeps_a_surcharge_whoever_asks_for_it() {
    let with = |fee: Value, refund: &str| {
        let mut document = document(Value::Null, fee, program());
        document["settings"]["feeRefund"] = json!(refund);
        document
    };
    let (path, message) = fault(&with(surcharge(250), "none"));
    assert_eq!(path, "settings.feeRefund");
    let words = "can never be lawful, refund_none: A refund may not keep the surcharge. set proportional or full: fees[0] is a \
                 surcharge (https://";
    assert!(message.starts_with(words), "{message}");
    for refund in ["proportional", "full"] {
        read(&with(surcharge(250), refund)).unwrap();
    }
    // Other kinds, and fees without one, may be kept.
    read(&with(flat("convenience", "250"), "none")).unwrap();
    read(&with(json!({"percentFeeBps": 250}), "none")).unwrap();
}

#[test]
fn a_neutral_fee_is_the_same_for_every_way_to_pay() {
    let neutral = || document(flat("neutral", "99"), Value::Null, Value::Null);
    let bank_fee = |fixed: &str| {
        json!({"provider": "bank", "paymentMethod": "ach", "channel": "standard_ach", "currency": "USD",
               "platform": {"fixedFeeMinor": fixed}})
    };
    read(&neutral()).unwrap();
    let with_bank = |fee: Option<Value>| {
        let mut document = neutral();
        document["routing"]["ach"] = json!({"default": {"provider": "bank", "channel": "standard_ach"}});
        if let Some(fee) = fee {
            document["fees"].as_array_mut().unwrap().push(fee);
        }
        document
    };
    read(&with_bank(Some(bank_fee("99")))).unwrap();
    let (path, message) = fault(&with_bank(Some(bank_fee("98"))));
    assert_eq!(path, "fees[0].platform.feeKind");
    assert!(
        message.contains("neutral_differs") && message.contains("fees[1] (bank, standard_ach)"),
        "{message}"
    );
    let (_, message) = fault(&with_bank(None));
    assert!(message.contains("routing.ach.default (bank, standard_ach) costs something else"), "{message}");
    let mut euros = with_bank(Some(bank_fee("99")));
    euros["fees"][0]["currency"] = json!("EUR");
    read(&euros).unwrap();
}

#[test]
fn every_faulty_field_of_a_program_is_named() {
    let mut faulty = document(surcharge(250), json!({"feeKind": "sur"}), program());
    faulty["settings"]["feeProgram"] = json!({
        "merchant": {"country": "USA", "state": "GEOR", "mcc": "59", "city": "Macon"},
        "acceptedBrands": ["visa", "visa", "solo", 1],
        "cost": {"bank": {"percentBps": 1}, "cards": {"percentBps": 10_001, "fixedMinor": "-1"}},
        "noticeGivenOn": "June",
        "entryNoticeAttested": "yes",
        "onlineOnly": 1,
        "overrides": [{"id": "US-TX", "reason": "", "expiresOn": "2027-02-30"}, {}],
        "overriddes": [],
    });
    let faults = read(&faulty).unwrap_err();
    let mut fields: Vec<_> = faults.iter().map(|(field, _)| field.as_str()).collect();
    fields.sort_unstable();
    let below = |name: &str| format!("settings.feeProgram.{name}");
    let mut expected: Vec<String> = [
        "acceptedBrands[1]",
        "acceptedBrands[2]",
        "acceptedBrands[3]",
        "cost.bank",
        "cost.cards.fixedMinor",
        "cost.cards.percentBps",
        "entryNoticeAttested",
        "merchant.city",
        "merchant.country",
        "merchant.mcc",
        "merchant.state",
        "noticeGivenOn",
        "onlineOnly",
        "overriddes",
        "overrides[0].expiresOn",
        "overrides[0].reason",
        "overrides[1].expiresOn",
        "overrides[1].id",
        "overrides[1].reason",
    ]
    .map(below)
    .into();
    expected.insert(0, "fees[0].organization.feeKind".to_owned());
    assert_eq!(fields, expected);
    let kinds = faults.iter().find(|(field, _)| field == "fees[0].organization.feeKind").unwrap();
    assert_eq!(kinds.1, "must be one of: surcharge, convenience, service, neutral");
}

#[test]
fn places_and_overrides_are_those_of_the_rules() {
    let with = |pointer: &str, value: Value| {
        let mut document = document(surcharge(250), Value::Null, program());
        *document.pointer_mut(&format!("/settings/feeProgram{pointer}")).unwrap() = value;
        document
    };
    let given =
        |id: &str, expires: &str| json!([{"id": id, "reason": "opinion of counsel", "expiresOn": expires}]);
    let (path, message) = fault(&with("/merchant/state", json!("ZZ")));
    assert_eq!(path, "settings.feeProgram.merchant.state");
    assert!(message.starts_with("must be one of: AK, AL, AR"), "{message}");
    assert!(fault(&with("/merchant/state", Value::Null)).1.starts_with("is required here: one of: AK"));
    let (path, message) = fault(&with("/overrides", given("US-GA", "2027-06-01")));
    assert_eq!(path, "settings.feeProgram.overrides[0].id");
    assert!(message.contains("US-CO:cost") && message.contains("payer_place:merchant"), "{message}");
    let (path, message) = fault(&with("/overrides", given("US-TX", "2027-11-20")));
    assert_eq!(path, "settings.feeProgram.overrides[0].expiresOn");
    assert_eq!(message, "must be within a year, 2027-11-19 at the latest; renew it then");
    for expires in ["2027-11-19", "2026-11-18", "2020-01-01"] {
        read(&with("/overrides", given("US-TX", expires))).unwrap();
    }
    // Without a day nobody can say how long a year is.
    let late = with("/overrides", given("US-TX", "2030-01-01"));
    Configuration::read(&late, &Configuration::default()).unwrap();
}

#[test]
fn a_program_is_written_as_it_was_read() {
    let mut given = program();
    given["overrides"] = json!([
        {"id": "US-TX", "reason": "opinion of counsel", "document": "vault/42", "expiresOn": "2027-06-01"},
    ]);
    let read = read(&document(surcharge(250), Value::Null, given.clone())).unwrap();
    let public = read.to_public();
    assert_eq!(public["settings"]["feeProgram"], given);
    assert_eq!(public["fees"][0]["platform"]["feeKind"], "surcharge");
    assert_eq!(Configuration::read_on(&public, &read, TODAY).unwrap().to_public(), public);
}

#[test]
fn warnings_count_the_fixed_part_of_small_payments() {
    assert_eq!(warnings(&document(surcharge(250), surcharge(50), program())), []);
    for (platform, organization, words) in [
        // 3.65 % of 125.00, and 6.9 % of 10.00.
        (
            json!({"fixedFeeMinor": "30", "percentFeeBps": 290}),
            json!({"percentFeeBps": 50, "minimumFeeMinor": "10"}),
            "adds 0.69 USD to 10.00 USD, more than the 0.30 USD (3 %) that Visa allows; lower it",
        ),
        (
            json!({"feeKind": "surcharge", "fixedFeeMinor": "2", "percentFeeBps": 300}),
            Value::Null,
            "adds 0.32 USD to 10.00 USD, more than the 0.30 USD (3 %) that Visa allows; lower it, or it is cut to that",
        ),
        (
            surcharge(301),
            Value::Null,
            "adds 30.10 USD to 1000.00 USD, more than the 30.00 USD (3 %) that Visa allows",
        ),
    ] {
        let told = warnings(&document(platform, organization, program()));
        assert!(told.iter().any(|(path, text)| path == "fees[0]" && text.starts_with(words)), "{told:?}");
    }
    let mut mastercard = document(surcharge(350), Value::Null, program());
    mastercard["settings"]["feeProgram"]["acceptedBrands"] = json!(["mastercard"]);
    assert_eq!(warnings(&mastercard), []);
    mastercard["settings"]["surchargeWarningBps"] = json!(200);
    let told = warnings(&mastercard);
    assert!(
        told[0].1.contains("more than the 0.20 USD (2 %) that settings.surchargeWarningBps sets"),
        "{told:?}"
    );
}

#[test]
fn a_fee_without_a_kind_and_one_that_nobody_pays_are_warned_about() {
    let told = warnings(&document(json!({"percentFeeBps": 100}), Value::Null, Value::Null));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].1.starts_with("has no feeKind, so debit and prepaid cards pay it as well"), "{told:?}");
    let mut bank_debits = document(json!({"percentFeeBps": 100}), Value::Null, Value::Null);
    bank_debits["providers"]["cards"]["options"] = json!({"paymentMethods": ["card", "us_bank_account"]});
    let told = warnings(&bank_debits);
    let words = "has no feeKind, so debit and prepaid cards, us_bank_account pay it as well";
    assert!(told[0].1.starts_with(words), "{told:?}");
    bank_debits["fees"][0]["platform"]["feeKind"] = json!("service");
    bank_debits["settings"]["feeProgram"] = program();
    bank_debits["settings"]["feeProgram"]["merchant"]["mcc"] = json!("9399");
    let told = warnings(&bank_debits);
    let words = "is a service fee, and cards takes us_bank_account as well: whoever pays so is charged it and given it back";
    assert!(told.len() == 1 && told[0].1.starts_with(words), "{told:?}");
    assert_eq!(warnings(&document(json!({"percentFeeBps": 0}), Value::Null, Value::Null)), []);

    let mut connecticut = document(surcharge(100), Value::Null, program());
    connecticut["settings"]["feeProgram"]["merchant"]["state"] = json!("CT");
    let told = warnings(&connecticut);
    let expected = "is a surcharge that cannot be charged now, prohibited: The law of the place prohibits this fee. \
                    (https://portal.ct.gov/DCP/Legal/Credit-Card-Surcharge)";
    assert_eq!(told, [("fees[0]".to_owned(), expected.to_owned())]);
    let told = warnings(&document(surcharge(100), Value::Null, Value::Null));
    assert!(told[0].1.ends_with("settings.feeProgram is not set."), "{told:?}");
    let mut old = document(surcharge(100), Value::Null, program());
    old["providers"]["cards"]["options"] = json!({"apiVersion": "2026-03-25.dahlia"});
    let told = warnings(&old);
    assert!(
        told[0].1.starts_with("is a surcharge that cannot be charged now, provider_cannot_report"),
        "{told:?}"
    );
    let hint = "options.apiVersion is 2026-03-25.dahlia; remove it, or choose a later one.";
    assert!(told[0].1.ends_with(hint), "{told:?}");
}

#[test]
fn an_override_is_warned_about_for_thirty_days_and_then_does_not_count() {
    for (expires, words) in [
        ("2026-12-19", None),
        ("2026-12-18", Some("is 2026-12-18: the override US-TX ends in 30 days")),
        ("2026-11-19", Some("is 2026-11-19: the override US-TX ends in 1 day;")),
        ("2026-11-18", Some("is 2026-11-18: the override US-TX does not count any more")),
    ] {
        let mut texas = document(surcharge(100), Value::Null, program());
        let given = json!([{"id": "US-TX", "reason": "opinion of counsel", "expiresOn": expires}]);
        texas["settings"]["feeProgram"]["overrides"] = given;
        texas["settings"]["feeProgram"]["merchant"]["state"] = json!("TX");
        let told = warnings(&texas);
        let ending = told.iter().find(|(path, _)| path == "settings.feeProgram.overrides[0].expiresOn");
        match words {
            None => assert_eq!(told, [], "{expires}"),
            Some(words) => assert!(ending.unwrap().1.starts_with(words), "{told:?}"),
        }
        let is_unpaid = told.iter().any(|(_, text)| text.contains("cannot be charged now, unclear"));
        assert_eq!(is_unpaid, expires == "2026-11-18", "{told:?}");
    }
}

/// By place, what may be surcharged.
fn surcharges(configuration: &Configuration) -> Vec<TableCell> {
    let places = configuration.fees_by_place(TODAY);
    places.into_iter().map(|place| place.fees.into_iter().next().unwrap()).collect()
}

fn surcharge_in(configuration: &Configuration, place: &str) -> (Allowance, &'static str) {
    let cells = surcharges(configuration);
    let cell = cells.iter().find(|cell| cell.place == Place::parse(place).unwrap()).unwrap();
    (cell.allowance, cell.reason.as_str())
}

/// What 100.00 are charged where the whole principal is asked for: with a card of the accepted network that allows least.
fn least_quoted(configuration: &Configuration, layers: &FeeEntry, payer: Place) -> u64 {
    let configured = layers.assess(Principal::new(10_000).unwrap());
    let quoted = [Brand::Visa, Brand::Mastercard].map(|brand| {
        let card = CardFacts { brand, funding: Funding::Credit, country: None, commercial: None };
        let (instrument, payer) = (Instrument::Card(card), Some(payer));
        let facts = PaymentFacts { instrument, payer, recurring: false };
        let (kind, flow) = (FeeKind::Surcharge, Flow::PaymentComponent);
        configuration.decide_card_fee(kind, "cards", &configured, flow, facts, TODAY).fee.get()
    });
    quoted.into_iter().min().unwrap()
}

#[test]
fn what_is_shown_by_place_is_what_is_charged() {
    let cost = |percent: u16, fixed: &str| json!({"cards": {"percentBps": percent, "fixedMinor": fixed}});
    for (adapter, version, cost, georgia) in [
        ("stripe", Value::Null, cost(290, "30"), (300, "network_cap")),
        ("stripe", Value::Null, cost(250, "0"), (250, "cost_cap")),
        ("stripe", Value::Null, cost(0, "0"), (0, "cost_cap")),
        ("stripe", Value::Null, json!({}), (0, "cost_unknown")),
        ("stripe", json!("2026-03-25.dahlia"), cost(290, "30"), (0, "provider_cannot_report")),
        ("stripe", json!("2026-04-22.dahlia"), cost(290, "30"), (300, "network_cap")),
        ("stripe", json!("2026-09-30.preview"), cost(290, "30"), (300, "network_cap")),
        ("square", Value::Null, cost(290, "30"), (0, "provider_cannot_report")),
    ] {
        let mut document = document(surcharge(10_000), Value::Null, program());
        document["providers"]["cards"]["adapter"] = json!(adapter);
        document["providers"]["cards"]["options"] = json!({ "apiVersion": version });
        document["settings"]["feeProgram"]["cost"] = cost;
        let configuration = read(&document).unwrap();
        let (_, _, _, layers) = configuration.fees.kinds().next().unwrap();
        for cell in surcharges(&configuration) {
            let quoted = least_quoted(&configuration, &layers, cell.place);
            let shown = match cell.allowance {
                Allowance::Nothing => 0,
                Allowance::Share(bps) => bps.get().into(),
                Allowance::Cost => georgia.0,
                Allowance::Any => 10_000,
            };
            assert_eq!(shown, quoted, "{adapter}: {cell:?}");
            if cell.place == Place::parse("US-GA").unwrap() {
                assert_eq!((quoted, cell.reason.as_str()), georgia, "{adapter}");
            }
        }
    }
}

#[test]
fn places_are_shown_for_the_merchant_and_the_providers_there_are() {
    let share = |bps: u64| {
        Allowance::Share(u16::try_from(bps).ok().and_then(tollgate_domain::BasisPoints::new).unwrap())
    };
    // Without a program, a merchant in each place who has done everything.
    let none = read(&document(Value::Null, Value::Null, Value::Null)).unwrap();
    assert_eq!(surcharge_in(&none, "US-CO"), (share(200), "place_cap"));
    let mut oklahoma = document(surcharge(250), Value::Null, program());
    oklahoma["settings"]["feeProgram"]["merchant"]["state"] = json!("OK");
    assert_eq!(surcharge_in(&read(&oklahoma).unwrap(), "US-GA"), (share(200), "place_cap"));
    oklahoma["settings"]["feeProgram"]["entryNoticeAttested"] = json!(false);
    assert_eq!(surcharge_in(&read(&oklahoma).unwrap(), "US-GA"), (Allowance::Nothing, "no_entry_notice"));
    // Of two providers the one where more may be charged; of those that charge such a fee, where any does.
    let mut two = document(Value::Null, Value::Null, program());
    two["providers"]["other"] = json!({"adapter": "square", "credentials": {}});
    assert_eq!(surcharge_in(&read(&two).unwrap(), "US-GA"), (share(300), "network_cap"));
    two["fees"][0]["provider"] = json!("other");
    two["fees"][0]["platform"] = surcharge(250);
    assert_eq!(surcharge_in(&read(&two).unwrap(), "US-GA"), (Allowance::Nothing, "provider_cannot_report"));
}

#[test]
fn limits_that_are_equally_low_are_all_named_in_order() {
    for (brand, bps, cost, payer, reasons) in [
        (Brand::Visa, 350, 310, "US-GA", vec!["network_cap"]),
        (Brand::Visa, 350, 300, "US-GA", vec!["network_cap", "cost_cap"]),
        (Brand::Visa, 350, 200, "US-CO", vec!["place_cap", "cost_cap"]),
        // The places' law is one reason, whichever of them it is; limits that are higher are none.
        (Brand::Visa, 250, 180, "US-OK", vec!["cost_cap"]),
        (Brand::Mastercard, 450, 400, "US-GA", vec!["network_cap", "cost_cap"]),
        // As much as is configured is not lowered.
        (Brand::Visa, 300, 300, "US-GA", vec!["as_configured"]),
    ] {
        let mut document = document(surcharge(bps), Value::Null, program());
        document["settings"]["feeProgram"]["cost"] = json!({"cards": {"percentBps": cost}});
        let configuration = read(&document).unwrap();
        let (_, _, kind, layers) = configuration.fees.kinds().next().unwrap();
        let card = CardFacts { brand, funding: Funding::Credit, country: None, commercial: None };
        let (instrument, payer) = (Instrument::Card(card), Place::parse(payer));
        let facts = PaymentFacts { instrument, payer, recurring: false };
        let configured = layers.assess(Principal::new(10_000).unwrap());
        let flow = Flow::PaymentComponent;
        let decision = configuration.decide_card_fee(kind, "cards", &configured, flow, facts, TODAY);
        let codes: Vec<_> = decision.reasons.iter().map(|reason| reason.code.as_str()).collect();
        assert_eq!(codes, reasons, "{brand:?} {bps} {cost} {payer:?}");
        assert!(decision.reasons.iter().all(|reason| reason.source.is_some()), "{decision:?}");
    }
}
