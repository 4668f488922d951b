//! Signatures as the provider's own libraries make them, and what of an event is believed.

use serde_json::{Value, json};
use tollgate_configuration::Configuration;

use super::*;

/// Each of these was made and accepted by both of the provider's official libraries.
const KEY: &str = "0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF";
const AUTHORISATION: &str = "mipbO8oyD116ptsXnmk5mANPo0otA28xhv1h9mF6CcQ=";
const REFUND: &str = "59iw4BT89uWpNvWgfffwm0kAZt9JcgSa1ZuvKmXMjaI=";
const REPORT: &str = "RNRnWpO0cYmTTBhdb+qQFbiqvmaoRE72z5k+j9yZ1gQ=";

fn provider(credentials: Value) -> Provider {
    let mut entry = json!({
        "adapter": "adyen", "merchantAccount": "TollgateTestECOM",
        "credentials": { "apiKey": "AQE", "clientKey": "test_X" },
    });
    for (name, value) in credentials.as_object().unwrap() {
        entry["credentials"][name] = value.clone();
    }
    let document = json!({ "providers": { "c": entry } });
    let configuration = Configuration::read(&document, &Configuration::default()).unwrap();
    configuration.providers.get("c").unwrap().clone()
}

fn item(signature: &str, fields: Value) -> Value {
    let mut item = json!({
        "additionalData": { "hmacSignature": signature, "checkoutSessionId": "CS451F2AB1ED897A94" },
        "amount": { "currency": "USD", "value": 1999 }, "eventCode": "AUTHORISATION",
        "eventDate": "2026-01-01T00:00:05+01:00", "merchantAccountCode": "TollgateTestECOM",
        "merchantReference": "pay_01jgfq0000testtesttesttest", "paymentMethod": "visa",
        "pspReference": "QFQTPCQ8HXSKGK82", "reason": "052095:1111:03/2030", "success": "true",
    });
    for (name, value) in fields.as_object().unwrap() {
        item[name] = value.clone();
    }
    item
}

fn authorisation(fields: Value) -> Value {
    item(AUTHORISATION, fields)
}

fn report(fields: Value) -> Value {
    let mut report = item(
        REPORT,
        json!({
            "amount": { "currency": "EUR", "value": 0 }, "eventCode": "REPORT_AVAILABLE",
            "merchantReference": "a:b\\c/ü", "pspReference": "settlement_detail_report_batch_7.csv",
        }),
    );
    for (name, value) in fields.as_object().unwrap() {
        report[name] = value.clone();
    }
    report
}

fn body(items: &[Value]) -> Vec<u8> {
    let items: Vec<_> = items.iter().map(|item| json!({ "NotificationRequestItem": item })).collect();
    json!({ "live": "false", "notificationItems": items }).to_string().into_bytes()
}

fn verified(provider: &Provider, body: &[u8]) -> Result<(), SignatureError> {
    verify(provider, InboundWebhook { url: "", headers: &[], body })
}

fn check(items: &[Value]) -> Result<(), SignatureError> {
    verified(&provider(json!({ "hmacKey": KEY })), &body(items))
}

#[test]
fn what_the_official_libraries_sign_is_believed() {
    let refund = item(
        REFUND,
        json!({
            "amount": { "currency": "USD", "value": 500 }, "eventCode": "REFUND",
            "merchantReference": "re_01jgfq0000testtesttesttest", "originalReference": "QFQTPCQ8HXSKGK82",
            "pspReference": "KHQC5N7G84BLNK43",
        }),
    );
    for item in [authorisation(json!({})), refund.clone(), report(json!({}))] {
        assert_eq!(check(std::slice::from_ref(&item)), Ok(()), "{item}");
    }
    assert_eq!(check(&[authorisation(json!({})), refund]), Ok(()), "every item is signed by itself");
}

#[test]
fn what_is_signed_cannot_be_changed() {
    for change in [
        json!({ "amount": { "currency": "USD", "value": 2000 } }),
        json!({ "amount": { "currency": "EUR", "value": 1999 } }),
        json!({ "success": "false" }),
        json!({ "eventCode": "CAPTURE" }),
        json!({ "pspReference": "QFQTPCQ8HXSKGK83" }),
        json!({ "originalReference": "QFQTPCQ8HXSKGK82" }),
        json!({ "merchantAccountCode": "Other" }),
        json!({ "merchantReference": "pay_01jgfq0000testtesttesttes0" }),
    ] {
        assert_eq!(check(&[authorisation(change.clone())]), Err(SignatureError::Forged), "{change}");
    }
    let two = [authorisation(json!({})), authorisation(json!({ "success": "false" }))];
    assert_eq!(check(&two), Err(SignatureError::Forged), "one that is forged is enough");
    assert_eq!(check(&[]), Err(SignatureError::Malformed), "nothing is signed");
}

/// Fields are signed one after the other, with colons between them that stand in the fields, too.
#[test]
fn a_colon_that_was_moved_to_another_field_is_not_believed() {
    for change in [
        json!({ "merchantAccountCode": "TollgateTestECOM:a", "merchantReference": "b\\c/ü" }),
        json!({ "pspReference": "settlement_detail_report_batch_7.csv:", "merchantAccountCode": "a",
                "originalReference": "TollgateTestECOM", "merchantReference": "b\\c/ü" }),
        json!({ "merchantReference": "a", "amount": { "currency": "b\\c/ü:0:EUR", "value": null } }),
    ] {
        assert_eq!(check(&[report(change.clone())]), Err(SignatureError::Malformed), "{change}");
    }
}

#[test]
fn what_is_not_signed_decides_nothing() {
    let mut changed = authorisation(json!({ "reason": "x", "paymentMethod": "mc" }));
    changed["additionalData"]["checkoutSessionId"] = json!("OTHER");
    changed["additionalData"]["paymentLinkId"] = json!("PLX");
    assert_eq!(check(std::slice::from_ref(&changed)), Ok(()));
    let told = |item: Value| translate(&body(&[item])).remove(0).unwrap();
    assert_eq!(told(changed), told(authorisation(json!({}))));
    let later = told(authorisation(json!({ "eventDate": "2030-01-01T00:00:00Z" })));
    assert_eq!((later.signed, later.payment), {
        let first = told(authorisation(json!({})));
        (first.signed, first.payment)
    });
}

#[test]
fn the_key_before_is_taken_while_the_key_is_replaced() {
    let other = "FF".repeat(32);
    let body = body(&[authorisation(json!({}))]);
    for (credentials, expected) in [
        (json!({ "hmacKey": KEY }), Ok(())),
        (json!({ "hmacKey": KEY.to_lowercase() }), Ok(())),
        (json!({ "hmacKey": other, "hmacKeyPrevious": KEY }), Ok(())),
        (json!({ "hmacKey": other }), Err(SignatureError::Forged)),
        (json!({}), Err(SignatureError::NoSecret)),
    ] {
        assert_eq!(verified(&provider(credentials.clone()), &body), expected, "{credentials}");
    }
}

#[test]
fn where_a_password_is_configured_nothing_is_believed_without_it() {
    let provider = provider(json!({ "hmacKey": KEY, "webhookPassword": "p@ss:word" }));
    let body = body(&[authorisation(json!({}))]);
    // Of `tollgate:p@ss:word`, of another password, and of another user.
    for (given, expected) in [
        (vec!["Basic dG9sbGdhdGU6cEBzczp3b3Jk"], Ok(())),
        (vec![], Err(SignatureError::Forged)),
        (vec!["Basic dG9sbGdhdGU6cEBzcw=="], Err(SignatureError::Forged)),
        (vec!["Basic YW5vdGhlcjpwQHNzOndvcmQ="], Err(SignatureError::Forged)),
        (vec!["dG9sbGdhdGU6cEBzczp3b3Jk"], Err(SignatureError::Forged)),
        (vec!["Basic dG9sbGdhdGU6cEBzczp3b3Jk"; 2], Err(SignatureError::Forged)),
    ] {
        let headers = given.iter().map(|value| ("authorization".to_owned(), (*value).to_owned()));
        let headers: Vec<_> = headers.collect();
        let inbound = InboundWebhook { url: "", headers: &headers, body: &body };
        assert_eq!(verify(&provider, inbound), expected, "{given:?}");
    }
}

#[test]
fn events_of_the_other_side_are_not_believed() {
    let test_side = body(&[authorisation(json!({}))]);
    let live = String::from_utf8(test_side).unwrap().replace(r#""live":"false""#, r#""live":"true""#);
    let provider = provider(json!({ "hmacKey": KEY }));
    assert_eq!(verified(&provider, live.as_bytes()), Err(SignatureError::OtherMode));
    let none = live.replace(r#""live":"true""#, r#""live":"perhaps""#);
    assert_eq!(verified(&provider, none.as_bytes()), Err(SignatureError::Malformed));
}

fn told(code: &str, success: &str, fields: Value) -> WebhookNotice {
    let mut fields = fields;
    fields["eventCode"] = json!(code);
    fields["success"] = json!(success);
    translate(&body(&[authorisation(fields)])).remove(0).unwrap()
}

#[test]
fn each_event_is_the_step_that_the_table_names() {
    let action = HoldActionId::from_bytes([7; 16]);
    let name = |step: &SignedStep| format!("{step:?}").split(['(', ' ', '{']).next().unwrap().to_owned();
    let reference = action.to_string();
    for (code, success, expected) in [
        ("AUTHORISATION", "true", "Approved"),
        ("AUTHORISATION", "false", "Declined"),
        ("CAPTURE", "true", "Captured"),
        ("CAPTURE", "false", "HoldActionFailed"),
        ("CAPTURE_FAILED", "true", "CaptureFailed"),
        ("CANCELLATION", "true", "Released"),
        ("CANCELLATION", "false", "HoldActionFailed"),
        ("TECHNICAL_CANCEL", "true", "Released"),
        ("EXPIRE", "true", "Expired"),
        ("OFFER_CLOSED", "true", "Closed"),
        ("REFUND", "true", "Refund"),
        ("REFUND", "false", "Refund"),
        ("REFUND_FAILED", "true", "Refund"),
        ("REFUNDED_REVERSED", "true", "Refund"),
        ("CANCEL_OR_REFUND", "true", "Unclear"),
        ("CHARGEBACK", "true", "Disputed"),
    ] {
        let fields = json!({ "originalReference": "PAYMENT", "merchantReference": reference });
        let notice = told(code, success, fields);
        let step = &notice.signed.as_ref().unwrap().step;
        assert_eq!(name(step), expected, "{code} {success}");
        assert_eq!(notice.payment.as_deref(), Some("PAYMENT"), "{code}");
        if let SignedStep::HoldActionFailed(told, _) = step {
            assert_eq!(*told, Some(action));
        }
    }
    for code in ["NOTIFICATION_OF_FRAUD", "REPORT_AVAILABLE", "SOMETHING_NEW"] {
        assert!(!told(code, "true", json!({})).relevant, "{code}");
    }
}

#[test]
fn every_event_that_is_asked_for_is_read() {
    for code in NEEDED_EVENTS {
        let fields = json!({ "originalReference": "PAYMENT" });
        assert!(told(code, "true", fields).relevant, "{code}");
    }
}

#[test]
fn a_dispute_goes_through_its_life_and_no_step_is_taken_back() {
    let at = |code: &str| {
        told(code, "true", json!({ "originalReference": "PAYMENT", "pspReference": "DISPUTE" }))
            .dispute
            .unwrap()
    };
    let after = |codes: &[&str]| {
        let mut steps = codes.iter().map(|code| at(code));
        let first = steps.next().unwrap();
        steps.fold(first, Dispute::followed_by)
    };
    for (codes, status, away, closed) in [
        (&["REQUEST_FOR_INFORMATION"][..], "inquiry_needs_response", 0, false),
        (&["NOTIFICATION_OF_CHARGEBACK"], "announced", 0, false),
        (&["NOTIFICATION_OF_CHARGEBACK", "CHARGEBACK"], "charged_back", 1999, false),
        (&["CHARGEBACK", "NOTIFICATION_OF_CHARGEBACK"], "charged_back", 1999, false),
        (&["CHARGEBACK", "CHARGEBACK_REVERSED"], "reversed", 0, false),
        (&["CHARGEBACK", "CHARGEBACK_REVERSED", "CHARGEBACK"], "reversed", 0, false),
        (&["CHARGEBACK_REVERSED", "CHARGEBACK"], "reversed", 0, false),
        (&["CHARGEBACK", "CHARGEBACK_REVERSED", "PREARBITRATION_OPEN"], "arbitration", 0, false),
        (&["CHARGEBACK", "CHARGEBACK_REVERSED", "SECOND_CHARGEBACK"], "lost", 1999, true),
        (&["CHARGEBACK", "CHARGEBACK_REVERSED", "PREARBITRATION_WON"], "won", 0, true),
        (&["CHARGEBACK", "SECOND_CHARGEBACK", "CHARGEBACK_REVERSED"], "lost", 1999, true),
        // Nobody defends it: lost once the money is taken, whichever is told first.
        (&["CHARGEBACK", "DISPUTE_DEFENSE_PERIOD_ENDED"], "undefended", 1999, true),
        (&["DISPUTE_DEFENSE_PERIOD_ENDED", "CHARGEBACK"], "undefended", 1999, true),
        (&["NOTIFICATION_OF_CHARGEBACK", "DISPUTE_DEFENSE_PERIOD_ENDED"], "undefended", 0, false),
        (
            &["NOTIFICATION_OF_CHARGEBACK", "DISPUTE_DEFENSE_PERIOD_ENDED", "CHARGEBACK"],
            "undefended",
            1999,
            true,
        ),
        (&["CHARGEBACK", "CHARGEBACK_REVERSED", "DISPUTE_DEFENSE_PERIOD_ENDED"], "reversed", 0, false),
        // An inquiry that nobody answers is not lost yet, and a chargeback after it can be defended.
        (&["REQUEST_FOR_INFORMATION", "DISPUTE_DEFENSE_PERIOD_ENDED"], "inquiry_expired", 0, false),
        (
            &["REQUEST_FOR_INFORMATION", "DISPUTE_DEFENSE_PERIOD_ENDED", "CHARGEBACK"],
            "charged_back",
            1999,
            false,
        ),
    ] {
        let dispute = after(codes);
        let found = (dispute.status.as_str(), dispute.amount_withdrawn().get(), dispute.is_closed());
        assert_eq!(found, (status, away, closed), "{codes:?}");
        let wants = ["inquiry_needs_response", "announced", "charged_back"].contains(&status);
        assert_eq!(dispute.needs_response(), wants, "{codes:?}");
    }
    let without_payment = told("CHARGEBACK_REVERSED", "true", json!({ "pspReference": "DISPUTE" }));
    assert_eq!((without_payment.payment, without_payment.objects), (None, Vec::new()));
    assert!(without_payment.dispute.is_some());
}

#[test]
fn what_is_signed_and_cannot_be_read_stands_in_nobodys_way() {
    let odd = authorisation(json!({ "amount": { "currency": "CLP", "value": 150 } }));
    let told =
        translate(&body(&[odd, authorisation(json!({})), authorisation(json!({ "success": "maybe" }))]));
    assert!(told[0].is_err() && told[1].is_ok() && told[2].is_err());
}

#[test]
fn a_second_capture_is_another_event_and_a_repeated_one_is_the_same() {
    let capture = |date: &str| told("CAPTURE", "true", json!({ "eventDate": date })).event;
    assert_eq!(capture("2026-01-01T00:00:05+01:00"), capture("2026-01-01T00:00:05+01:00"));
    assert_ne!(capture("2026-01-01T00:00:05+01:00"), capture("2026-01-03T00:00:05+01:00"));
}
