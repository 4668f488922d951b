//! What the simulator really sends: believed and understood, and not believed as soon as anything about it is changed.

use std::time::Duration;

use serde_json::Value;
use tollgate_domain::refund::RefundReport;
use tollgate_engine::ports::{InboundWebhook, SignatureError, SignedStep, Webhooks};

use super::bench::{Bench, Case};
use super::descriptions::Description;
use super::inbox::{Inbox, Received};
use crate::offered::OneEvent as _;
use crate::support::{now, provider, quick};

pub(super) async fn webhooks_are_believed_as_they_are_signed_and_no_other_way(
    description: &'static Description,
) {
    let bench = Bench::start(description, quick()).await;
    let (field, secret) = description.webhook_secret;
    let inbox = Inbox::open(&bench.world.simulator, description.wire, secret).await;
    let reader = bench.offered().webhooks.unwrap();
    let mut awaited = Vec::new();
    for (make, ..) in description.makes {
        let case = bench.begin(*make).await;
        let made = bench.make(&case).await.outcome.unwrap().name;
        match case {
            // A page or component that nobody paid is nothing to tell of.
            Case::Card(..) => {}
            Case::Refund(_, payment, _) => awaited.push(payment),
            Case::Transfer(_) => awaited.push(made),
        }
    }
    let leads_to = |(_, body): &Received, name: &String| {
        let notice = reader.translate_one(body).unwrap();
        notice.relevant && (notice.objects.contains(name) || notice.payment.as_ref() == Some(name))
    };
    let all_told =
        |all: &[Received]| awaited.iter().all(|name| all.iter().any(|received| leads_to(received, name)));
    let received = inbox.until(all_told).await;

    let with_secret = |value: Value| {
        let mut entry = (description.entry)("http://127.0.0.1:1");
        entry["credentials"][field] = value;
        entry["credentials"].as_object_mut().unwrap().retain(|_, value| !value.is_null());
        provider(&entry)
    };
    let (other, none) = (with_secret(description.other_secret.into()), with_secret(Value::Null));
    let url = inbox.url.as_str();
    for (headers, body) in &received {
        let delivery = InboundWebhook { url, headers, body };
        assert_eq!(reader.verify(&bench.provider, delivery, now()), Ok(()));
        assert_eq!(reader.verify(&other, delivery, now()), Err(SignatureError::Forged));
        assert_eq!(reader.verify(&none, delivery, now()), Err(SignatureError::NoSecret));
        let late = reader.verify(&bench.provider, delivery, now().saturating_add(Duration::from_secs(302)));
        let expected = if description.signs_time { Err(SignatureError::Stale) } else { Ok(()) };
        assert_eq!(late, expected);
        let notice = reader.translate_one(body).unwrap();
        assert!(!notice.event.is_empty() && !notice.kind.is_empty(), "{notice:?}");
        assert_eq!(reader.translate_one(body).unwrap(), notice);
    }
    let (headers, body) = &received[0];
    let verify = |headers: &[(String, String)], body: &[u8]| {
        reader.verify(&bench.provider, InboundWebhook { url, headers, body }, now())
    };
    if description.signs_body {
        changed_bodies_are_not_believed(body, |bent| verify(headers, bent));
    } else {
        changed_bodies_decide_nothing_else(reader, body, |bent| verify(headers, bent));
    }
    for name in description.signature_headers {
        let without: Vec<_> = headers.iter().filter(|(known, _)| known != name).cloned().collect();
        assert_eq!(verify(&without, body), Err(SignatureError::Malformed), "{name}");
        let one = headers.iter().find(|(known, _)| known == name).unwrap().clone();
        let twice = [headers.clone(), vec![one.clone()]].concat();
        assert_eq!(verify(&twice, body), Err(SignatureError::Malformed), "{name}");
        for place in 0..one.1.len() {
            let mut bent = one.1.clone().into_bytes();
            bent[place] = if bent[place] == b'1' { b'2' } else { b'1' };
            let bent = (one.0.clone(), String::from_utf8(bent).unwrap());
            let changed = [without.clone(), vec![bent]].concat();
            assert!(verify(&changed, body).is_err(), "{name}: {changed:?}");
        }
    }
    unreadable_bodies_are_told_without_their_words(reader);
}

/// One bit, an end that is missing, a space that means nothing to a reader of JSON.
fn changed_bodies_are_not_believed(body: &[u8], verify: impl Fn(&[u8]) -> Result<(), SignatureError>) {
    for place in 0..body.len() {
        let mut bent = body.to_vec();
        bent[place] ^= 1 << (place % 8);
        assert_eq!(verify(&bent), Err(SignatureError::Forged), "byte {place}");
    }
    for cut in (0..body.len()).step_by(17) {
        assert!(verify(&body[..cut]).is_err(), "cut at {cut}");
    }
    for bent in [[body, b"\n"].concat(), [b" ", body].concat(), [body, body].concat()] {
        assert_eq!(verify(&bent), Err(SignatureError::Forged));
    }
}

/// Where parts are not signed: a changed body is not believed, or it decides what it did before.
fn changed_bodies_decide_nothing_else(
    reader: &dyn Webhooks,
    body: &[u8],
    verify: impl Fn(&[u8]) -> Result<(), SignatureError>,
) {
    let decided = |body: &[u8]| {
        let notice = reader.translate_one(body).unwrap();
        let signed = notice.signed.map(|signed| {
            let step = match signed.step {
                // The reason is shown, and decides nothing.
                SignedStep::Declined(_) => "declined".to_owned(),
                SignedStep::HoldActionFailed(action, _) => format!("failed {action:?}"),
                SignedStep::Refund(refund) => format!("{:?}", RefundReport { failure: None, ..refund }),
                step => format!("{step:?}"),
            };
            (step, signed.amount, signed.currency)
        });
        (signed, notice.kind, notice.objects, notice.payment, notice.reference, notice.account)
    };
    let before = decided(body);
    let mut believed = 0;
    for place in 0..body.len() {
        let mut bent = body.to_vec();
        bent[place] ^= 1 << (place % 8);
        if verify(&bent).is_ok() {
            believed += 1;
            assert_eq!(decided(&bent), before, "byte {place}");
        }
    }
    assert!(believed > 0 && believed < body.len() / 2, "{believed} of {} bytes", body.len());
    for cut in 0..body.len() {
        assert!(verify(&body[..cut]).is_err(), "cut at {cut}");
    }
    assert!(verify(&[body, body].concat()).is_err());
}

fn unreadable_bodies_are_told_without_their_words(reader: &dyn Webhooks) {
    for body in ["", "[]", "{}", "null", "\"000123456789\"", r#"{"id":000123456789}"#, r#"["000123456789"]"#]
    {
        let error = reader.translate_one(body.as_bytes()).unwrap_err();
        assert!(!error.to_string().contains("000123456789"), "{error}");
    }
}
