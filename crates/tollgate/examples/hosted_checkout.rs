//! A page of the provider that takes the card.

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
    let order = json!({
        "amountMinor": "12500",
        "currency": "USD",
        "description": "Order 1002",
        "customer": {"name": "Ann Smith", "email": "ann@example.com"},
        "metadata": {"orderId": "1002"},
        "successUrl": "http://127.0.0.1:8080/checkout/paid",
        "cancelUrl": "http://127.0.0.1:8080/checkout/canceled",
    });
    let prepared = call("/client/v1/payments", Some(order))?;
    // Send the customer there. Pay with 4242 4242 4242 4242, any later date, any code.
    println!("{}", prepared["checkoutUrl"]);

    // `prepared` until somebody pays; then `status` is the transaction's, which is null before.
    let reference = prepared["serviceReference"].as_str().ok_or("no reference")?;
    let payment = call(&format!("/client/v1/payments/{reference}"), None)?;
    println!("{} {}", payment["status"], payment["transaction"]);
    Ok(())
}
