//! Money out of the wallet to a bank account.

#![expect(clippy::indexing_slicing, reason = "a field that is not there reads as null")]

use std::{env, error::Error, fs};

use serde_json::{Value, json};

fn call(path: &str, body: Option<Value>) -> Result<Value, Box<dyn Error>> {
    let base = env::var("TOLLGATE_URL").unwrap_or_else(|_| "http://127.0.0.1:8080".into());
    let key = env::var("TOLLGATE_KEY").or_else(|_| {
        let notes: Value = serde_json::from_str(&fs::read_to_string("tollgate-data/sandbox.json")?)?;
        Ok::<_, Box<dyn Error>>(notes["secretKey"].as_str().unwrap_or_default().to_owned())
    })?;
    let (url, bearer) = (format!("{base}{path}"), format!("Bearer {key}"));
    let mut response = match body {
        Some(body) => ureq::post(&url).header("Authorization", &bearer).send_json(body)?,
        None => ureq::get(&url).header("Authorization", &bearer).call()?,
    };
    Ok(response.body_mut().read_json::<Value>()?["data"].take())
}

fn main() -> Result<(), Box<dyn Error>> {
    // Who receives it, sealed: your pages can hold the token without holding the person's data.
    let customer = json!({"externalCustomerId": "c-1", "email": "ann@example.com", "firstName": "Ann", "lastName": "Smith"});
    let token = call("/client/v1/ach/customer-tokens", Some(customer))?["customerToken"].take();

    // What it would cost. Nothing is reserved by asking.
    let asked = json!({"amountMinor": "5000", "currency": "USD"});
    println!("{}", call("/client/v1/ach/transfers/preview", Some(asked))?["totalDebitMinor"]);

    // Send it. The key makes it safe to send again: the same transfer is answered, and no second one is made.
    let now = std::time::UNIX_EPOCH.elapsed()?.as_nanos();
    let transfer = json!({
        "idempotencyKey": format!("payout-{now}"),
        "amountMinor": "5000",
        "currency": "USD",
        "customerToken": token,
        "routingNumber": "110000000",
        "accountNumber": "000123456789",
        "bankAccountType": "checking",
        "bankName": "First Bank",
        "accountName": "Ann Smith",
    });
    println!("{}", call("/client/v1/ach/transfers", Some(transfer.clone()))?["transaction"]["status"]);
    println!("replayed: {}", call("/client/v1/ach/transfers", Some(transfer))?["replayed"]);

    // What is left.
    println!("{}", call("/client/v1/wallet", None)?);
    Ok(())
}
