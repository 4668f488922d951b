//! What the suite has to be told about each adapter.

use serde_json::{Value, json};
use tollgate_configuration::Adapter;
use tollgate_domain::Channel::{Instant, SameDayAch, StandardAch};
use tollgate_domain::ach::AchProviderStatus as Ach;
use tollgate_domain::card::ProviderStatus as Card;
use tollgate_simulator::Wire;

use super::bench::{Make, Standing};
use crate::support::{LOCATION, SQUARE_KEY, STRIPE_SECRET};
use crate::{increase_support, modern_treasury_support};

/// What is asked about something that was made.
#[derive(Debug, Clone, Copy)]
pub(super) enum Look {
    /// By the provider's name for it.
    Read,
    /// By our own key for it.
    Find,
}

/// A call to the simulator, with the name of what was made in the place of `{id}`, and its body.
pub(super) type Step = (&'static str, &'static str);
/// What is done to something that was made, and where it then stands.
pub(super) type Row = (Make, Vec<Step>, Standing);

pub(super) struct Description {
    pub(super) adapter: Adapter,
    pub(super) wire: Wire,
    /// Its configuration at a base URL.
    pub(super) entry: fn(&str) -> Value,
    /// The secret that its API is called with.
    pub(super) api_secret: &'static str,
    /// How the simulator's own calls on its wire are authorized.
    pub(super) authorization: &'static str,
    /// A token of a card that is not declined; none where no cards are charged.
    pub(super) card_token: &'static str,
    /// Everything it makes: by which operation, and what the simulator counts of it.
    pub(super) makes: &'static [(Make, &'static str, &'static str)],
    /// What is asked about that, by which operation.
    pub(super) looks: &'static [(Make, Look, &'static str)],
    /// What it says of a request whose key is in use.
    pub(super) busy: &'static str,
    /// Its table of statuses.
    pub(super) statuses: fn() -> Vec<Row>,
    /// An error in its form that says this everywhere.
    pub(super) problem: fn(&str) -> Value,
    /// The credential that webhooks are signed with, and its value.
    pub(super) webhook_secret: (&'static str, &'static str),
    pub(super) signature_headers: &'static [&'static str],
    /// Whether a signature has a time, so that an old delivery is not believed.
    pub(super) signs_time: bool,
    /// Whether every byte of a body is signed, or only what decides something.
    pub(super) signs_body: bool,
    /// Another value that the credential could have.
    pub(super) other_secret: &'static str,
}

const OTHER_SECRET: &str = "another secret, as long";

pub(super) const STRIPE: Description = Description {
    adapter: Adapter::Stripe,
    wire: Wire::Stripe,
    entry: |url| {
        json!({
            "adapter": "stripe", "baseUrl": url,
            "credentials": { "secretKey": "sk_test_simulator", "publishableKey": "pk_test_simulator",
                "webhookSecret": STRIPE_SECRET },
        })
    },
    api_secret: "sk_test_simulator",
    authorization: "Bearer sk_test_simulator",
    card_token: "",
    makes: &[
        (Make::Page, "checkout.sessions.create", "checkout_sessions"),
        (Make::Component, "payment_intents.create", "payment_intents"),
        (Make::Refund, "refunds.create", "refunds"),
    ],
    looks: &[
        (Make::Page, Look::Read, "checkout.sessions.retrieve"),
        (Make::Component, Look::Read, "payment_intents.retrieve"),
    ],
    busy: "conflict",
    statuses: || {
        let confirm = |body| ("stripe/v1/payment_intents/{id}/confirm", body);
        let asks = confirm("payment_method=pm_card_authenticationRequired");
        let authenticated = ("control/stripe/payment_intents/{id}/authenticate", "{}");
        [
            (vec![], Card::NotStarted),
            (vec![confirm("payment_method=pm_card_visa")], Card::Succeeded),
            (vec![asks], Card::ActionRequired),
            (vec![asks, authenticated], Card::Succeeded),
            (vec![("stripe/v1/payment_intents/{id}/cancel", "")], Card::Canceled),
        ]
        .map(|(steps, expected)| (Make::Component, steps, Standing::Card(expected)))
        .into()
    },
    problem: |said| {
        json!({ "error": { "type": "invalid_request_error", "code": said, "message": said, "param": said,
            "decline_code": said, "doc_url": said, "payment_intent": { "id": said } } })
    },
    webhook_secret: ("webhookSecret", STRIPE_SECRET),
    signature_headers: &["stripe-signature"],
    signs_time: true,
    signs_body: true,
    other_secret: OTHER_SECRET,
};

pub(super) const SQUARE: Description = Description {
    adapter: Adapter::Square,
    wire: Wire::Square,
    entry: |url| {
        json!({
            "adapter": "square", "baseUrl": url,
            "credentials": { "accessToken": "square_simulator_token", "applicationId": "sandbox-sq0idb-simulator",
                "locationId": LOCATION, "webhookSignatureKey": SQUARE_KEY },
        })
    },
    api_secret: "square_simulator_token",
    authorization: "Bearer square_simulator_token",
    card_token: "cnon:card-nonce-ok",
    makes: &[
        (Make::Page, "payment_links.create", "payment_links"),
        (Make::Charge, "payments.create", "payments_charged"),
        (Make::Refund, "refunds.create", "refunds"),
    ],
    looks: &[(Make::Charge, Look::Read, "payments.get")],
    busy: "conflict",
    statuses: || {
        let paid = ("control/square/payment_links/{id}/pay", "{}");
        vec![
            (Make::Page, vec![], Standing::Card(Card::NotStarted)),
            (Make::Page, vec![paid], Standing::Card(Card::Succeeded)),
            (Make::Charge, vec![], Standing::Card(Card::Succeeded)),
        ]
    },
    problem: |said| json!({ "errors": [{ "category": "INVALID_REQUEST_ERROR", "code": said, "detail": said, "field": said }] }),
    webhook_secret: ("webhookSignatureKey", SQUARE_KEY),
    signature_headers: &["x-square-hmacsha256-signature"],
    signs_time: false,
    signs_body: true,
    other_secret: OTHER_SECRET,
};

/// The key that the provider's own libraries are tried with.
pub(crate) const ADYEN_HMAC_KEY: &str = "0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF";

/// The simulator's merchant account, at a base URL.
pub(crate) fn adyen_entry(url: &str) -> Value {
    json!({
        "adapter": "adyen", "baseUrl": url, "merchantAccount": "TollgateTestECOM",
        "credentials": { "apiKey": "adyen_simulator_key", "clientKey": "test_SIMULATOR", "hmacKey": ADYEN_HMAC_KEY },
    })
}

pub(super) const ADYEN: Description = Description {
    adapter: Adapter::Adyen,
    wire: Wire::Adyen,
    entry: adyen_entry,
    api_secret: "adyen_simulator_key",
    authorization: "",
    card_token: "",
    makes: &[
        (Make::Page, "payment_links.create", "payment_links"),
        (Make::Component, "sessions.create", "sessions"),
        (Make::Refund, "refunds.create", "modifications"),
    ],
    // Of payments themselves nothing can be read.
    looks: &[(Make::Page, Look::Read, "payment_links.get")],
    busy: "704",
    statuses: || {
        let pay = |body| ("control/adyen/payment_links/{id}/pay", body);
        let declined = pay(r#"{"number":"4000000000000002"}"#);
        [
            (vec![], Card::NotStarted),
            (vec![declined], Card::NotStarted),
            // Which payment paid it, and what became of that, only webhooks tell.
            (vec![pay("{}")], Card::Processing),
            (vec![declined, pay("{}")], Card::Processing),
            (vec![("control/adyen/payment_links/{id}/expire", "{}")], Card::Canceled),
        ]
        .map(|(steps, expected)| (Make::Page, steps, Standing::Card(expected)))
        .into()
    },
    problem: |said| {
        json!({ "status": 422, "errorCode": said, "message": said, "errorType": said, "pspReference": said,
            "detail": said, "title": said, "invalidFields": [{ "name": said, "message": said }] })
    },
    webhook_secret: ("hmacKey", ADYEN_HMAC_KEY),
    signature_headers: &[],
    signs_time: false,
    signs_body: false,
    other_secret: "FEDCBA9876543210FEDCBA9876543210FEDCBA9876543210FEDCBA9876543210",
};

/// What happens to a transfer of a channel, and where it then stands.
fn rows(channel: tollgate_domain::Channel, rows: Vec<(Vec<Step>, Ach)>) -> Vec<Row> {
    let row = |(steps, expected)| (Make::Transfer(channel), steps, Standing::Transfer(expected));
    rows.into_iter().map(row).collect()
}

fn returned(code: &str) -> Ach {
    Ach::Returned { code: code.to_owned() }
}

pub(super) const INCREASE: Description = Description {
    adapter: Adapter::Increase,
    wire: Wire::Increase,
    entry: increase_support::entry,
    api_secret: increase_support::API_KEY,
    authorization: "Bearer increase_simulator_key",
    card_token: "",
    makes: &[
        (Make::Transfer(StandardAch), "ach_transfers.create", "ach_transfers"),
        (Make::Transfer(SameDayAch), "ach_transfers.create", "ach_transfers"),
        (Make::Transfer(Instant), "real_time_payments_transfers.create", "real_time_payments_transfers"),
    ],
    looks: &[
        (Make::Transfer(StandardAch), Look::Read, "ach_transfers.retrieve"),
        (Make::Transfer(StandardAch), Look::Find, "ach_transfers.list"),
        (Make::Transfer(Instant), Look::Read, "real_time_payments_transfers.retrieve"),
        (Make::Transfer(Instant), Look::Find, "real_time_payments_transfers.list"),
    ],
    busy: "invalid_operation_error",
    statuses: || {
        let submitted = ("increase/simulations/ach_transfers/{id}/submit", "{}");
        let settled = ("increase/simulations/ach_transfers/{id}/settle", "{}");
        let closed = ("increase/simulations/ach_transfers/{id}/return", r#"{"reason":"account_closed"}"#);
        let ach = vec![
            (vec![], Ach::Accepted),
            (vec![submitted], Ach::Sent),
            (vec![submitted, ("increase/simulations/ach_transfers/{id}/acknowledge", "{}")], Ach::Sent),
            (vec![settled], Ach::Settled),
            (vec![submitted, closed], returned("R02")),
            // Even what has settled can come back.
            (vec![settled, closed], returned("R02")),
            (vec![("control/increase/ach_transfers/{id}/review", "{}")], Ach::Accepted),
            (vec![("control/increase/ach_transfers/{id}/require_attention", "{}")], Ach::Attention),
            (vec![("control/increase/ach_transfers/{id}/require_approval", "{}")], Ach::AwaitingApproval),
            (
                vec![("control/increase/ach_transfers/{id}/require_confirmation", "{}")],
                Ach::AwaitingConfirmation,
            ),
            (vec![("control/increase/ach_transfers/{id}/cancel", "{}")], Ach::Canceled),
        ];
        let instant = vec![
            (vec![], Ach::Accepted),
            (vec![("increase/simulations/real_time_payments_transfers/{id}/complete", "{}")], Ach::Settled),
        ];
        [rows(StandardAch, ach), rows(Instant, instant)].concat()
    },
    problem: |said| {
        json!({ "type": said, "title": said, "detail": said, "status": 400, "resource_id": said, "reason": said,
            "errors": [{ "field": "account_number", "message": said }] })
    },
    webhook_secret: ("webhookSecret", increase_support::SECRET),
    signature_headers: &["webhook-id", "webhook-timestamp", "webhook-signature"],
    signs_time: true,
    signs_body: true,
    other_secret: OTHER_SECRET,
};

pub(super) const MODERN_TREASURY: Description = Description {
    adapter: Adapter::ModernTreasury,
    wire: Wire::ModernTreasury,
    entry: modern_treasury_support::entry,
    api_secret: modern_treasury_support::API_KEY,
    authorization: "",
    card_token: "",
    makes: &[
        (Make::Transfer(StandardAch), "payment_orders.create", "payment_orders"),
        (Make::Transfer(SameDayAch), "payment_orders.create", "payment_orders"),
        (Make::Transfer(Instant), "payment_orders.create", "payment_orders"),
    ],
    looks: &[
        (Make::Transfer(StandardAch), Look::Read, "payment_orders.retrieve"),
        (Make::Transfer(SameDayAch), Look::Find, "payment_orders.list"),
    ],
    busy: "conflict",
    statuses: || {
        let hold = ("control/modern_treasury/payment_orders/{id}/hold", "{}");
        let approval = ("control/modern_treasury/payment_orders/{id}/require_approval", "{}");
        let release = ("control/modern_treasury/payment_orders/{id}/release", "{}");
        let send = ("control/modern_treasury/payment_orders/{id}/send", "{}");
        let complete = ("control/modern_treasury/payment_orders/{id}/complete", "{}");
        let closed = ("control/modern_treasury/payment_orders/{id}/return", r#"{"code":"R02"}"#);
        let ach = vec![
            (vec![], Ach::Accepted),
            (vec![hold], Ach::Attention),
            (vec![approval], Ach::AwaitingApproval),
            (vec![approval, release], Ach::Accepted),
            (vec![send], Ach::Sent),
            // That the bank acknowledges it says nothing of where it stands.
            (vec![send, ("control/modern_treasury/payment_orders/{id}/acknowledge", "{}")], Ach::Sent),
            (vec![send, complete], Ach::Settled),
            (vec![send, closed], returned("R02")),
            // By ACH, what is completed can still come back.
            (vec![send, complete, closed], returned("R02")),
            (vec![("control/modern_treasury/payment_orders/{id}/deny", "{}")], Ach::Canceled),
            (vec![("control/modern_treasury/payment_orders/{id}/cancel", "{}")], Ach::Canceled),
        ];
        [rows(StandardAch, ach), rows(Instant, vec![(vec![], Ach::Accepted), (vec![complete], Ach::Settled)])]
            .concat()
    },
    problem: |said| json!({ "errors": { "code": said, "message": said, "parameter": said } }),
    webhook_secret: ("webhookKey", modern_treasury_support::WEBHOOK_KEY),
    signature_headers: &["x-signature"],
    signs_time: false,
    signs_body: true,
    other_secret: OTHER_SECRET,
};
