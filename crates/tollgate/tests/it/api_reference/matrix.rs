//! Who may call what: every operation of the document with every kind of credential.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::scene::Scene;
use crate::support::{Answer, Client};

/// What an operation asks of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Nothing.
    Open,
    /// A signature that none of these requests has.
    Signed,
    /// A secret key.
    SecretKey,
    /// A secret key; without any credential the answer is 403.
    Transfer,
    /// Either kind of key.
    AnyKey,
    /// The operator's token.
    AdminToken,
}

use Class::{AdminToken, AnyKey, Open, SecretKey, Signed, Transfer};

/// What the right credential gets, with the document's own example as the body: a status, and a code where it is a
/// failure. An operation that is not here fails the test.
const TABLE: &[(&str, Class, u16, &str)] = &[
    ("fee_quote", SecretKey, 200, ""),
    ("payment_prepare", AnyKey, 201, ""),
    ("payment_read", SecretKey, 200, ""),
    ("component_prepare", AnyKey, 201, ""),
    // The example's intent is another payment's.
    ("component_confirm", SecretKey, 400, "invalid_body"),
    ("customer_token_issue", Transfer, 201, ""),
    ("transfer_preview", Transfer, 200, ""),
    // The example's token is nobody's.
    ("transfer_make", Transfer, 400, "invalid_body"),
    // The payment it finds is a card's.
    ("transfer_cancel", Transfer, 409, "not_cancelable"),
    ("client_wallet", SecretKey, 200, ""),
    ("transaction_list", SecretKey, 200, ""),
    // Nothing is recorded before the confirmation.
    ("transaction_read", SecretKey, 404, "not_paid_yet"),
    // Nothing is paid.
    ("payment_capture", SecretKey, 409, "not_capturable"),
    ("payment_void", SecretKey, 409, "not_voidable"),
    ("refund_create", SecretKey, 404, "not_found"),
    ("refund_list", SecretKey, 404, "not_found"),
    ("refund_read", SecretKey, 404, "not_found"),
    ("webhook", Signed, 401, "unauthenticated"),
    ("checkout_paid", Open, 200, ""),
    ("checkout_canceled", Open, 200, ""),
    ("organization_create", AdminToken, 201, ""),
    ("organization_list", AdminToken, 200, ""),
    ("application_create", AdminToken, 201, ""),
    ("application_list", AdminToken, 200, ""),
    ("statement_read", AdminToken, 200, ""),
    ("statement_export", AdminToken, 200, ""),
    // The sandbox's application has a `test` environment.
    ("environment_create", AdminToken, 409, "name_taken"),
    ("environment_list", AdminToken, 200, ""),
    ("environment_read", AdminToken, 200, ""),
    ("key_issue", AdminToken, 201, ""),
    ("key_list", AdminToken, 200, ""),
    ("key_rotate", AdminToken, 201, ""),
    ("key_revoke", AdminToken, 200, ""),
    ("config_read", AdminToken, 200, ""),
    ("config_replace", AdminToken, 200, ""),
    ("config_validate", AdminToken, 200, ""),
    ("config_history", AdminToken, 200, ""),
    ("config_version_read", AdminToken, 200, ""),
    ("quote_explain", AdminToken, 200, ""),
    ("provider_list", AdminToken, 200, ""),
    ("provider_test", AdminToken, 200, ""),
    ("provider_circuit_force", AdminToken, 200, ""),
    ("provider_domain_register", AdminToken, 200, ""),
    ("wallet_list", AdminToken, 200, ""),
    ("wallet_read", AdminToken, 200, ""),
    ("wallet_fund", AdminToken, 201, ""),
    ("wallet_withdraw", AdminToken, 201, ""),
    ("wallet_ledger", AdminToken, 200, ""),
    ("admin_transaction_list", AdminToken, 200, ""),
    ("admin_transaction_read", AdminToken, 200, ""),
    ("admin_payment_list", AdminToken, 200, ""),
    ("admin_payment_read", AdminToken, 200, ""),
    ("admin_payment_capture", AdminToken, 409, "not_capturable"),
    ("admin_payment_void", AdminToken, 409, "not_voidable"),
    ("admin_transfer_cancel", AdminToken, 409, "not_cancelable"),
    ("admin_refund_create", AdminToken, 404, "not_found"),
    ("admin_payment_account", AdminToken, 200, ""),
    // The scene's payment is no transfer.
    ("corrected_account_reveal", AdminToken, 404, "not_found"),
    ("waiting_transfer_list", AdminToken, 200, ""),
    ("event_endpoint_create", AdminToken, 201, ""),
    ("event_endpoint_list", AdminToken, 200, ""),
    ("event_endpoint_read", AdminToken, 200, ""),
    ("event_endpoint_change", AdminToken, 200, ""),
    ("event_endpoint_rotate", AdminToken, 201, ""),
    ("event_endpoint_remove", AdminToken, 200, ""),
    ("event_list", AdminToken, 200, ""),
    ("event_read", AdminToken, 200, ""),
    ("event_resend", AdminToken, 200, ""),
    ("event_resend_range", AdminToken, 200, ""),
    ("delivery_list", AdminToken, 200, ""),
    ("exception_list", AdminToken, 200, ""),
    // There are none.
    ("exception_resolve", AdminToken, 404, "not_found"),
    ("provider_event_list", AdminToken, 200, ""),
    ("provider_event_retry", AdminToken, 404, "not_found"),
    ("audit", AdminToken, 200, ""),
    ("doctor", AdminToken, 200, ""),
    ("health", Open, 200, ""),
    ("ready", Open, 200, ""),
    ("metrics", Open, 200, ""),
    ("openapi", Open, 200, ""),
    ("docs", Open, 200, ""),
    ("docs_script", Open, 200, ""),
];

/// What somebody presents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presented {
    Nothing,
    Malformed,
    Revoked,
    Publishable,
    OtherOrganization,
    OtherEnvironment,
    AdminToken,
    /// Last but for operations that are the operator's, so that what it changes disturbs nobody.
    Secret,
}

/// What is to come of it.
#[derive(Debug, PartialEq, Eq)]
enum Expected {
    Refused(u16, &'static str),
    /// As the table says.
    Answered,
    /// As if there were none of the things that the path names, and nothing of them in any list.
    Stranger,
}

fn expected(class: Class, presented: Presented) -> Expected {
    use Presented::{Nothing, OtherEnvironment, OtherOrganization, Publishable, Secret};
    let unauthenticated = Expected::Refused(401, "unauthenticated");
    let secret_needed = Expected::Refused(403, "secret_key_required");
    match (class, presented) {
        (Open | Signed, _) | (SecretKey | Transfer | AnyKey, Secret) | (AnyKey, Publishable) => {
            Expected::Answered
        }
        (AdminToken, Presented::AdminToken) => Expected::Answered,
        (SecretKey | Transfer | AnyKey, OtherOrganization | OtherEnvironment) => Expected::Stranger,
        (SecretKey | Transfer, Publishable) | (Transfer, Nothing) => secret_needed,
        _ => unauthenticated,
    }
}

/// An operation of the document with a request for it.
struct Request {
    name: String,
    method: String,
    path: String,
    body: Value,
    security: Value,
    /// Whether the path names something that belongs to a key's environment.
    has_reference: bool,
}

impl Request {
    fn send(&self, client: &mut Client) -> Answer {
        let body = if self.body.is_null() { String::new() } else { self.body.to_string() };
        let headers: &[_] = if body.is_empty() { &[] } else { &[("content-type", "application/json")] };
        client.send(&self.method, &self.path, headers, body.as_bytes())
    }
}

fn requests(scene: &Scene) -> Vec<Request> {
    let mut requests = Vec::new();
    for (path, methods) in scene.document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let mut body = operation["requestBody"]["content"]["application/json"]["example"].clone();
            if body.is_null() && operation.get("requestBody").is_some() {
                body = json!({});
            }
            requests.push(Request {
                name: operation["operationId"].as_str().unwrap().to_owned(),
                method: method.to_ascii_uppercase(),
                path: filled(path, scene),
                body,
                security: operation["security"].clone(),
                has_reference: path.contains("{reference}") || path.contains("{refund}"),
            });
        }
    }
    requests
}

/// The path with what there is in the scene.
fn filled(path: &str, scene: &Scene) -> String {
    let filled = [
        ("{environment}", scene.environment.as_str()),
        ("{organization}", &scene.organization),
        ("{application}", &scene.application),
        ("{reference}", &scene.payments[0]),
        ("{key}", if path.ends_with("/rotate") { &scene.keys[0] } else { &scene.keys[1] }),
        ("{endpoint}", if path.ends_with("{endpoint}") { &scene.endpoints[0] } else { &scene.endpoints[1] }),
        ("{event}", &scene.events[0]),
        ("{exception}", "exc_00000000000000000000000000"),
        ("{provider}", "card_provider_a"),
        ("{currency}", "USD"),
        ("{version}", "1"),
        ("{refund}", "re_00000000000000000000000000"),
    ]
    .into_iter()
    .fold(path.to_owned(), |path, (name, value)| path.replace(name, value));
    assert!(!filled.contains('{'), "the matrix does not know what to put into {path}");
    filled
}

#[test]
fn every_operation_answers_every_credential_as_it_should() {
    let scene = Scene::start();
    let mut requests = requests(&scene);
    let known: BTreeSet<_> = TABLE.iter().map(|(name, ..)| *name).collect();
    let documented: BTreeSet<_> = requests.iter().map(|request| request.name.as_str()).collect();
    assert_eq!(
        documented.difference(&known).collect::<Vec<_>>(),
        Vec::<&&str>::new(),
        "these operations have no row in the matrix's table: who may call them?"
    );
    assert_eq!(
        known.difference(&documented).collect::<Vec<_>>(),
        Vec::<&&str>::new(),
        "rows of no operation"
    );
    // What takes away or replaces what others read comes last.
    requests.sort_by_key(|request| (request.method == "DELETE", request.method == "PUT"));
    let notes = scene.server.sandbox_json();
    let note = |name: &str| notes[name].as_str().unwrap().to_owned();
    let secret = note("secretKey");
    let presented = [
        (Presented::Nothing, String::new()),
        (Presented::Malformed, secret[..secret.len() - 1].to_owned()),
        (Presented::Revoked, scene.revoked().key),
        (Presented::Publishable, note("publishableKey")),
        (Presented::OtherOrganization, scene.of_another_organization().key),
        (Presented::OtherEnvironment, scene.of_another_environment().key),
        (Presented::Secret, secret.clone()),
        (Presented::AdminToken, note("adminToken")),
    ];
    let mut tried = 0;
    for request in &requests {
        let (_, class, status, code) = TABLE.iter().find(|(name, ..)| *name == request.name).unwrap();
        assert_eq!(request.security, security(*class), "{}: the document says otherwise", request.name);
        for (presented, credential) in &presented {
            let answer = request.send(&mut scene.server.client(credential));
            let case = format!("{} with {presented:?}", request.name);
            check(&case, &answer, &expected(*class, *presented), (*status, code), request, &scene);
            tried += 1;
        }
    }
    println!("{tried} combinations of {} operations", requests.len());
}

fn check(
    case: &str,
    answer: &Answer,
    expected: &Expected,
    row: (u16, &str),
    request: &Request,
    scene: &Scene,
) {
    let body = String::from_utf8_lossy(&answer.body);
    match expected {
        Expected::Refused(status, code) => {
            assert_eq!(answer.status, *status, "{case}: {body}");
            assert_eq!(answer.failure(*status), *code, "{case}");
        }
        Expected::Answered => {
            assert_eq!(answer.status, row.0, "{case}: {body}");
            if !row.1.is_empty() {
                assert_eq!(answer.failure(row.0), row.1, "{case}");
            }
        }
        Expected::Stranger => {
            assert!(![401, 403].contains(&answer.status) && answer.status < 500, "{case}: {body}");
            if request.has_reference {
                assert_eq!(answer.failure(404), "not_found", "{case}");
            }
            let ours = scene.payments.iter().chain([&scene.transfer, &scene.environment]);
            for id in ours {
                assert!(!body.contains(id.as_str()), "{case}: {id} is somebody else's\n{body}");
            }
        }
    }
}

fn security(class: Class) -> Value {
    match class {
        Open | Signed => json!([]),
        SecretKey | Transfer => json!([{"secretKey": []}]),
        AnyKey => json!([{"secretKey": []}, {"publishableKey": []}]),
        AdminToken => json!([{"adminToken": []}]),
    }
}
