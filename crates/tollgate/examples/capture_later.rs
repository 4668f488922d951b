//! A card payment that is authorized first, and captured in part.

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
    // Prepare it with `capture: "manual"`, and let the customer pay.
    let order = json!({"amountMinor": "125000", "currency": "USD", "capture": "manual"});
    let prepared = call("/client/v1/payments/component", Some(order))?;
    let reference = prepared["serviceReference"].as_str().ok_or("no reference")?;
    let path = format!("/client/v1/payments/component/{reference}/confirm");
    let held = call(&path, Some(json!({"sourceId": "cnon:card-nonce-ok"})))?["transaction"].take();
    println!("{} until {}", held["status"], held["captureBefore"]);

    // Only a part of the order can be shipped: capture that. The rest is released.
    let part = json!({"idempotencyKey": format!("shipment-{reference}"), "amountMinor": "100000"});
    let captured =
        call(&format!("/client/v1/transactions/{reference}/capture"), Some(part))?["transaction"].take();
    println!("{} with a total debit of {}", captured["status"], captured["totalDebitMinor"]);
    Ok(())
}
