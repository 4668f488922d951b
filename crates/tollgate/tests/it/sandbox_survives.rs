//! `kill -9` of the sandbox in the middle of twelve payments: the simulated providers die with it, and neither forgets.

use serde_json::{Value, json};

use crate::support::{GOOD_BANK, GOOD_CARD, Server, Start, TOKENS, TRANSFERS, WAIT_TIMEOUT, wait_until};

const FORM: [(&str, &str); 1] = [("content-type", "application/x-www-form-urlencoded")];

/// A hosted checkout: its reference, and the path of the page that the customer pays on.
fn checkout(server: &Server, amount: &str, acquirer: &str) -> (String, String) {
    let order = json!({"amountMinor": amount, "currency": "USD", "metadata": {"acquirer": acquirer}});
    let data = server.sandbox_client("secretKey").post("/client/v1/payments", &order).data(201);
    let url = data["checkoutUrl"].as_str().unwrap();
    let path = url.strip_prefix(&format!("http://{}", server.address())).unwrap();
    (data["serviceReference"].as_str().unwrap().to_owned(), path.to_owned())
}

fn pay(server: &Server, path: &str) {
    let answer = server.client("").send("POST", path, &FORM, GOOD_CARD.as_bytes());
    let shown = String::from_utf8_lossy(&answer.body);
    // A payment link thanks by itself.
    let is_thanked = answer.status == 200 && shown.contains("Thank you");
    assert!(answer.status == 303 || is_thanked, "{} {shown}", answer.status);
}

/// What is answered to a transfer of that key, whether it is the first or not.
fn transfer(server: &Server, token: &str, key: &str, metadata: &Value) -> Value {
    let body = json!({
        "idempotencyKey": key, "amountMinor": "5000", "currency": "USD", "customerToken": token,
        "routingNumber": GOOD_BANK, "accountNumber": "000123456789", "bankAccountType": "checking",
        "bankName": "First Bank", "accountName": "Ann Smith", "metadata": metadata,
    });
    let answer = server.sandbox_client("secretKey").post(TRANSFERS, &body);
    answer.data(answer.status)
}

fn reference(transfer: &Value) -> String {
    transfer["transaction"]["serviceReference"].as_str().unwrap().to_owned()
}

#[test]
fn killed_in_the_middle_of_twelve_payments_it_brings_all_to_their_end() {
    let mut first = Start::sandbox().run();
    let customer = json!({
        "externalCustomerId": "c-1", "email": "ann@example.com", "firstName": "Ann", "lastName": "Smith",
    });
    let token = first.sandbox_client("secretKey").post(TOKENS, &customer).data(201);
    let token = token["customerToken"].as_str().unwrap();
    // Seven on cards at all three providers, five on bank transfers at both. The third's webhooks are all that tells of its payments.
    let orders = [
        ("12500", "any"),
        ("100000", "any"),
        ("800", "c"),
        ("900", "any"),
        ("250000", "any"),
        ("700", "any"),
        ("600", "c"),
    ];
    let checkouts = orders.map(|(amount, acquirer)| checkout(&first, amount, acquirer));
    let (bank_a, bank_b) = (json!({}), json!({"bank": "b"}));
    let transfers = [&bank_a, &bank_a, &bank_a, &bank_b, &bank_b];
    let mut references: Vec<String> = transfers
        .iter()
        .zip(1..)
        .map(|(metadata, number)| {
            reference(&transfer(&first, token, &format!("payout-{number:04}"), metadata))
        })
        .collect();
    references.extend(checkouts.iter().map(|(reference, _)| reference.clone()));
    // Three are paid, and their webhooks may or may not have been sent when it dies.
    let (paid, waiting) = checkouts.split_at(3);
    for (_, path) in paid {
        pay(&first, path);
    }
    first.kill();

    let address = first.address().to_string();
    let second = Start::sandbox().within(&first.data_dir).with("TOLLGATE_LISTEN", &address).run();
    // The pages of the others are where they were.
    for (_, path) in waiting {
        pay(&second, path);
    }
    let mut client = second.sandbox_client("secretKey");
    for reference in &references {
        wait_until(&format!("{reference} has ended"), WAIT_TIMEOUT, || {
            let answer = client.get(&format!("/client/v1/transactions/{reference}"));
            answer.status == 200 && answer.data(200)["status"] == "succeeded"
        });
    }
    assert_eq!(references.len(), 12);
    // What was sent twice is one transfer, at the provider as well.
    let again = transfer(&second, token, "payout-0001", &bank_a);
    assert_eq!((&again["replayed"], reference(&again)), (&json!(true), references[0].clone()));
    let state = second.client("").get("/simulator/control/state");
    let state: Value = serde_json::from_slice(&state.body).unwrap();
    assert_eq!(state["increase"]["counts"]["ach_transfers"], 3, "{state}");
    assert_eq!(state["modern_treasury"]["counts"]["payment_orders"], 2, "{state}");
    assert_eq!(state["stripe"]["counts"]["charges_succeeded"], 3, "{state}");
    assert_eq!(state["square"]["counts"]["payments_charged"], 2, "{state}");
    assert_eq!(state["adyen"]["payments"].as_array().map(Vec::len), Some(2), "{state}");
}
