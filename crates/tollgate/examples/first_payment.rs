//! A quote, a card payment, and its outcome.

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
    // What would it cost, and where would it go?
    let quote = call("/client/v1/fees/quote", Some(json!({"amountMinor": "125000", "currency": "USD"})))?;
    println!("total debit {} through {}", quote["totalDebitMinor"], quote["routing"]["provider"]);

    // Prepare it. In a shop, the answer's `component` goes to the browser, whose card field makes the token.
    let order = json!({"amountMinor": "125000", "currency": "USD", "description": "Order 1001"});
    let prepared = call("/client/v1/payments/component", Some(order))?;
    let reference = prepared["serviceReference"].as_str().ok_or("no reference")?;

    // Charge the card. Sending this again charges nothing again.
    let path = format!("/client/v1/payments/component/{reference}/confirm");
    let confirmed = call(&path, Some(json!({"sourceId": "cnon:card-nonce-ok"})))?;
    println!("{}", confirmed["transaction"]["status"]);

    // Whenever you want to know.
    println!("{}", call(&format!("/client/v1/transactions/{reference}"), None)?["status"]);
    Ok(())
}
