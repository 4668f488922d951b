//! Account and routing numbers stay where they belong: in the request. A provider that repeats them everywhere it can
//! does not get them into anything that is kept, shown or logged.

use serde_json::{Value, json};
use tollgate_configuration::Adapter;
use tollgate_domain::Channel;
use tollgate_engine::ports::Adapters as _;
use tollgate_providers::Providers;

use crate::conformance::{Everything, tells_nothing};
use crate::increase_script::{Answer, answer, scripted};
use crate::increase_support::{ACCOUNT, CHANNELS, ROUTING, bank, order, provider_at};
use crate::support::quick;

/// The digits of a text, with what stands between them left out.
fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// A problem that repeats the numbers in every place and in several spellings.
fn problem(status: u16, kind: &str) -> Answer {
    let spaced: String = ACCOUNT.chars().flat_map(|digit| [digit, ' ']).collect();
    let dashed = "122-105-155";
    assert_eq!(digits(dashed), ROUTING);
    let said =
        format!("account_number {ACCOUNT} ({spaced}) at {ROUTING}, {dashed}, acct:{ACCOUNT};rtn={ROUTING}.");
    answer(
        status,
        &json!({
            "type": kind, "title": said, "detail": said, "status": status, "resource_id": said,
            "reason": said, "errors": [{ "field": "account_number", "message": said, ACCOUNT: ROUTING }],
        }),
    )
}

fn echo(status: &str) -> Value {
    json!({
        "id": "ach_transfer_1", "status": status, "amount": 2_000, "idempotency_key": null,
        "account_number": ACCOUNT, "routing_number": ROUTING, "statement_descriptor": ACCOUNT,
        "return": { "raw_return_reason_code": ACCOUNT, "return_reason_code": format!("no_account_{ACCOUNT}"),
            "addenda_information": ACCOUNT },
        "rejection": { "reject_reason_code": ACCOUNT, "reject_reason_additional_information": ROUTING },
        "submission": { "effective_date": ACCOUNT, "expected_funds_settlement_at": ROUTING },
        "notifications_of_change": [{
            "change_code": format!("incorrect_{ACCOUNT}"), "corrected_account_funding": ROUTING,
            "corrected_account_number": ACCOUNT, "corrected_routing_number": ACCOUNT,
            "corrected_individual_id": ACCOUNT, "created_at": ACCOUNT, "corrected_account_data": ACCOUNT,
        }],
    })
}

#[tokio::test]
async fn numbers_do_not_leave_the_request() {
    let logs = Everything::default();
    let _guard = tracing::subscriber::set_default(logs.clone());
    // The capture works, or the rest would prove nothing.
    tracing::trace!(canary = "seen", "a line");
    assert!(logs.0.lock().unwrap().contains("canary=\"seen\""));

    let providers = Providers::new(quick()).unwrap();
    let wire = providers.capabilities(Adapter::Increase).transfers.unwrap();
    let supported = answer(
        200,
        &json!({ "data": [{ "routing_number": ROUTING, "real_time_payments_transfers": "supported", "name": ACCOUNT }] }),
    );
    let mut answers = vec![
        problem(409, "idempotency_key_already_used_error"),
        problem(403, &format!("no_{ROUTING}_permission")),
    ];
    for status in ["returned", "rejected", "submitted", ACCOUNT, &format!("status {ROUTING}!")] {
        answers.push(answer(200, &echo(status)));
        answers.push(answer(200, &json!({ "data": [echo(status)], "next_cursor": ACCOUNT })));
    }
    for one in answers {
        for channel in CHANNELS {
            let order = order(channel);
            let instant = channel == Channel::Instant;
            let first = instant.then(|| supported.clone());
            let script = first.into_iter().chain(vec![one.clone(); 3]).collect();
            let (_, address) = scripted(script).await;
            let provider = provider_at(&address);
            let call = wire.send(&provider, &order, &bank()).await;
            tells_nothing(&[ACCOUNT, ROUTING], &format!("{call:?}"));

            let (_, address) = scripted(vec![one.clone(); 3]).await;
            tells_nothing(
                &[ACCOUNT, ROUTING],
                &format!("{:?}", wire.find(&provider_at(&address), &order).await),
            );
            let (_, address) = scripted(vec![one.clone(); 3]).await;
            let id = if instant { "real_time_payments_transfer_1" } else { "ach_transfer_1" };
            tells_nothing(&[ACCOUNT, ROUTING], &format!("{:?}", wire.read(&provider_at(&address), id).await));
            if instant {
                // Asking about the bank can fail as well.
                let (_, address) = scripted(vec![one.clone(); 3]).await;
                tells_nothing(
                    &[],
                    &format!("{:?}", wire.send(&provider_at(&address), &order, &bank()).await),
                );
            }
        }
        let (_, address) = scripted(vec![one.clone(); 3]).await;
        tells_nothing(&[], &format!("{:?}", wire.funds(&provider_at(&address)).await.unwrap()));
    }
    // Nobody there, and an address that cannot be written.
    for channel in CHANNELS {
        let call = wire.send(&provider_at("http://127.0.0.1:1"), &order(channel), &bank()).await;
        tells_nothing(&[ACCOUNT, ROUTING], &format!("{call:?}"));
    }
    tells_nothing(&[ACCOUNT, ROUTING], &format!("{:?} {:?}", bank(), providers));
    tells_nothing(&[ACCOUNT, ROUTING], &logs.0.lock().unwrap());
}

/// What is shown of a refusal still helps: the words are there, the digits are not.
#[tokio::test]
async fn a_refusal_keeps_its_words() {
    let providers = Providers::new(quick()).unwrap();
    let wire = providers.capabilities(Adapter::Increase).transfers.unwrap();
    let (_, address) = scripted(vec![problem(400, "invalid_parameters_error")]).await;
    let call = wire.send(&provider_at(&address), &order(Channel::StandardAch), &bank()).await;
    let Err(tollgate_engine::ports::CallError::Rejected(rejection)) = call.outcome else {
        panic!("{call:?}")
    };
    assert_eq!(rejection.failure.code, "bank_details_refused");
    let message = rejection.failure.message;
    assert!(message.contains("It says: account_number ****"), "{message}");
    assert_eq!(digits(&message), "");
}
