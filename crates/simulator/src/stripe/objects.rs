//! The provider's objects and how they are shown. What happens to them is told elsewhere.

mod charge;
mod dispute;
mod domain;
mod event;
mod intent;
mod method;
mod refund;
mod session;

use serde_json::{Value, json};

pub(crate) use charge::Charge;
pub(crate) use dispute::{Dispute, Movement};
pub(crate) use domain::Domain;
pub(crate) use event::Event;
pub(crate) use intent::{Intent, Status};
pub(crate) use method::Method;
pub(crate) use refund::Refund;
pub(crate) use session::Session;

/// An object with more fields, which hold nothing here.
fn with_unset(mut object: Value, names: &str) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.extend(names.split_whitespace().map(|name| (name.to_owned(), Value::Null)));
    }
    object
}

fn no_billing_details() -> Value {
    let address = with_unset(json!({}), "city country line1 line2 postal_code state");
    with_unset(json!({ "address": address }), "email name phone tax_id")
}
