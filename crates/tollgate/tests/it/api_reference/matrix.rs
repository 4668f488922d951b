//! Who may call what: every operation of the document with every kind of credential.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU32, Ordering},
};

use serde_json::{Value, json};

use tollgate_console::{PageRoute, page_routes};

use super::scene::Scene;
use crate::{
    people::Browser,
    support::{Answer, Client},
};

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
    /// An operator of any role.
    Viewer,
    /// An operator who may resend and refund.
    Support,
    /// An operator who may change configurations, wallets, keys and payments.
    Operator,
    /// An operator who may approve what others have made.
    Approver,
    /// An operator who may do everything.
    Admin,
}

use Class::{Admin, AnyKey, Approver, Open, Operator, SecretKey, Signed, Support, Transfer, Viewer};

/// Every role with what it may call.
const ROLES: [(&str, &[Class]); 5] = [
    ("viewer", &[Viewer]),
    ("support", &[Viewer, Support]),
    ("operator", &[Viewer, Support, Operator]),
    ("approver", &[Viewer, Approver]),
    ("admin", &[Viewer, Support, Operator, Approver, Admin]),
];

/// Operations that cover every organization, so that nobody who is limited to some may call them.
const OF_ALL_ORGANIZATIONS: [&str; 2] = ["audit", "doctor"];

/// What the right credential gets, with the document's own example as the body: a status, and a code where it is a
/// failure. An operation that is not here fails the test.
const TABLE: &[(&str, Class, u16, &str)] = &[
    ("fee_quote", SecretKey, 200, ""),
    ("payment_prepare", AnyKey, 201, ""),
    ("payment_read", SecretKey, 200, ""),
    ("component_prepare", AnyKey, 201, ""),
    // Its fee has no kind.
    ("component_card", SecretKey, 409, "payment_not_confirmable"),
    // The example's intent is another payment's.
    ("component_confirm", SecretKey, 400, "invalid_body"),
    // Nothing was declined.
    ("component_switch", SecretKey, 409, "not_switchable"),
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
    ("refund_create", SecretKey, 409, "not_refundable"),
    ("refund_list", SecretKey, 404, "not_found"),
    ("refund_read", SecretKey, 404, "not_found"),
    ("webhook", Signed, 401, "unauthenticated"),
    ("policy_report", Open, 200, ""),
    ("checkout_paid", Open, 200, ""),
    ("checkout_canceled", Open, 200, ""),
    ("organization_create", Admin, 201, ""),
    ("organization_list", Viewer, 200, ""),
    ("application_create", Operator, 201, ""),
    ("application_list", Viewer, 200, ""),
    ("statement_read", Viewer, 200, ""),
    ("statement_export", Viewer, 200, ""),
    ("fee_report_read", Viewer, 200, ""),
    ("fee_report_export", Viewer, 200, ""),
    // The scene's application has a `live` environment by then.
    ("environment_create", Operator, 409, "name_taken"),
    ("environment_list", Viewer, 200, ""),
    ("environment_read", Viewer, 200, ""),
    ("key_issue", Operator, 201, ""),
    ("key_list", Viewer, 200, ""),
    ("key_rotate", Operator, 201, ""),
    ("key_revoke", Operator, 200, ""),
    ("config_read", Viewer, 200, ""),
    ("config_replace", Operator, 200, ""),
    ("config_validate", Operator, 200, ""),
    ("config_history", Viewer, 200, ""),
    ("config_version_read", Viewer, 200, ""),
    ("quote_explain", Viewer, 200, ""),
    ("provider_list", Viewer, 200, ""),
    ("payment_page_list", Viewer, 200, ""),
    ("provider_test", Operator, 200, ""),
    ("provider_circuit_force", Operator, 200, ""),
    ("provider_domain_register", Operator, 200, ""),
    ("wallet_list", Viewer, 200, ""),
    ("wallet_read", Viewer, 200, ""),
    ("wallet_fund", Operator, 201, ""),
    ("wallet_withdraw", Operator, 201, ""),
    ("wallet_ledger", Viewer, 200, ""),
    ("admin_transaction_list", Viewer, 200, ""),
    ("admin_transaction_read", Viewer, 200, ""),
    ("admin_payment_list", Viewer, 200, ""),
    ("payment_export", Viewer, 200, ""),
    ("admin_payment_read", Viewer, 200, ""),
    ("admin_payment_capture", Operator, 409, "not_capturable"),
    ("admin_payment_void", Operator, 409, "not_voidable"),
    ("admin_transfer_cancel", Operator, 409, "not_cancelable"),
    ("admin_refund_create", Support, 409, "not_refundable"),
    ("admin_payment_account", Operator, 200, ""),
    ("payment_note", Support, 201, ""),
    // The scene's payment is no transfer.
    ("corrected_account_reveal", Operator, 404, "not_found"),
    ("waiting_transfer_list", Viewer, 200, ""),
    ("request_list", Viewer, 200, ""),
    ("event_endpoint_create", Operator, 201, ""),
    ("event_endpoint_list", Viewer, 200, ""),
    ("event_endpoint_read", Viewer, 200, ""),
    ("event_endpoint_change", Operator, 200, ""),
    ("event_endpoint_rotate", Operator, 201, ""),
    ("event_endpoint_remove", Operator, 200, ""),
    ("event_list", Viewer, 200, ""),
    ("event_read", Viewer, 200, ""),
    ("event_resend", Support, 200, ""),
    ("event_resend_range", Support, 200, ""),
    ("delivery_list", Viewer, 200, ""),
    ("exception_list", Viewer, 200, ""),
    // There are none.
    ("exception_resolve", Operator, 404, "not_found"),
    ("provider_event_list", Viewer, 200, ""),
    ("provider_event_retry", Support, 404, "not_found"),
    ("user_create", Admin, 201, ""),
    ("user_list", Admin, 200, ""),
    ("user_token_issue", Admin, 201, ""),
    ("user_token_revoke", Admin, 200, ""),
    ("user_change", Admin, 200, ""),
    ("user_remove", Admin, 200, ""),
    ("account_read", Viewer, 200, ""),
    // The admin token is nobody's, and the scene's token is another's.
    ("account_token_issue", Viewer, 404, "not_found"),
    ("account_token_revoke", Viewer, 404, "not_found"),
    ("approval_list", Viewer, 200, ""),
    ("approval_read", Viewer, 404, "not_found"),
    ("approval_approve", Approver, 404, "not_found"),
    ("approval_deny", Approver, 404, "not_found"),
    ("audit_log", Admin, 200, ""),
    ("audit_log_export", Admin, 200, ""),
    // Every entry is proved.
    ("audit_log_accept", Admin, 404, "not_found"),
    ("customer_erase", Operator, 200, ""),
    ("audit", Viewer, 200, ""),
    ("rekey", Admin, 409, "no_previous_master_key"),
    ("doctor", Viewer, 200, ""),
    ("health", Open, 200, ""),
    ("ready", Open, 200, ""),
    // Behind a proxy they need a token of their own.
    ("metrics", Open, 401, "unauthenticated"),
    ("openapi", Open, 200, ""),
    ("docs", Open, 200, ""),
    ("docs_script", Open, 200, ""),
    ("error_reference", Open, 200, ""),
    ("browser_script", Open, 200, ""),
    // No version is of that name.
    ("browser_script_version", Open, 404, "not_found"),
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
        (Viewer | Support | Operator | Approver | Admin, Presented::AdminToken) => Expected::Answered,
        (SecretKey | Transfer | AnyKey, OtherOrganization | OtherEnvironment) => Expected::Stranger,
        (SecretKey | Transfer, Publishable) | (Transfer, Nothing) => secret_needed,
        _ => unauthenticated,
    }
}

/// An operation of the document with a request for it.
pub struct Request {
    pub name: String,
    pub method: String,
    pub path: String,
    pub body: Value,
    security: Value,
    /// Whether the path names something that belongs to a key's environment.
    has_reference: bool,
    /// Whether the path names something that belongs to an organization.
    has_organization: bool,
}

impl Request {
    pub fn send(&self, client: &mut Client) -> Answer {
        static SENT: AtomicU32 = AtomicU32::new(0);
        let body = if self.body.is_null() { String::new() } else { self.body.to_string() };
        // Another address each time: whoever presents wrong credentials is slowed down.
        let [_, b, c, d] = SENT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let address = format!("10.{b}.{c}.{d}");
        let mut headers = vec![("x-forwarded-for", address.as_str())];
        if !body.is_empty() {
            headers.push(("content-type", "application/json"));
        }
        client.send(&self.method, &self.path, &headers, body.as_bytes())
    }
}

pub fn requests(scene: &Scene) -> Vec<Request> {
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
                has_organization: ["{organization}", "{application}", "{environment}"]
                    .iter()
                    .any(|name| path.contains(name)),
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
        ("{user}", &scene.user),
        ("{token}", &scene.user_token),
        ("{event}", &scene.events[0]),
        ("{exception}", "exc_00000000000000000000000000"),
        ("{approval}", "apr_00000000000000000000000000"),
        ("{provider}", "card_provider_a"),
        ("{currency}", "USD"),
        ("{version}", "1"),
        ("{entry}", "1"),
        ("{script}", "tollgate-0000000000000000.js"),
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
    let people = people(&scene);
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
        if [Viewer, Support, Operator, Approver, Admin].contains(class) {
            for person in &people {
                check_person(person, request, *class, *status, &scene);
                tried += 1;
            }
        }
    }
    println!("{tried} combinations of {} operations", requests.len());
}

/// Who may open which page of the console. A page that is not here fails the test.
const PAGES: &[(&str, &str, Class)] = &[
    ("get", "/console/{environment}/", Viewer),
    ("get", "/console/{environment}/payments", Viewer),
    ("get", "/console/{environment}/payments.csv", Viewer),
    ("get", "/console/{environment}/payments/{reference}", Viewer),
    ("get", "/console/{environment}/payments/{reference}/capture", Operator),
    ("post", "/console/{environment}/payments/{reference}/capture", Operator),
    ("get", "/console/{environment}/payments/{reference}/void", Operator),
    ("post", "/console/{environment}/payments/{reference}/void", Operator),
    ("get", "/console/{environment}/payments/{reference}/cancel", Operator),
    ("post", "/console/{environment}/payments/{reference}/cancel", Operator),
    ("get", "/console/{environment}/payments/{reference}/refund", Support),
    ("post", "/console/{environment}/payments/{reference}/refund", Support),
    ("post", "/console/{environment}/payments/{reference}/corrected-account", Operator),
    ("post", "/console/{environment}/payments/{reference}/notes", Support),
    ("get", "/console/{environment}/customer", Viewer),
    ("get", "/console/{environment}/erase", Operator),
    ("post", "/console/{environment}/erase", Operator),
    ("get", "/console/{environment}/routing", Viewer),
    ("get", "/console/{environment}/fees", Viewer),
    ("get", "/console/{environment}/fee-report", Viewer),
    ("get", "/console/{environment}/fee-report.csv", Viewer),
    ("get", "/console/{environment}/fees/program", Operator),
    ("post", "/console/{environment}/fees/program", Operator),
    ("get", "/console/{environment}/fees/edit", Operator),
    ("post", "/console/{environment}/fees/edit", Operator),
    ("get", "/console/{environment}/rules/edit", Operator),
    ("post", "/console/{environment}/rules/edit", Operator),
    ("post", "/console/{environment}/rules/switch", Operator),
    ("get", "/console/{environment}/try", Viewer),
    ("get", "/console/{environment}/config", Operator),
    ("get", "/console/{environment}/config.json", Viewer),
    ("post", "/console/{environment}/config/review", Operator),
    ("post", "/console/{environment}/config/save", Operator),
    ("get", "/console/{environment}/config/history", Viewer),
    ("get", "/console/{environment}/config/history/{version}", Viewer),
    ("post", "/console/{environment}/config/history/{version}", Operator),
    ("get", "/console/{environment}/wallets", Viewer),
    ("get", "/console/{environment}/wallets/{currency}", Viewer),
    ("post", "/console/{environment}/wallets/{currency}", Operator),
    ("get", "/console/{environment}/providers", Viewer),
    ("post", "/console/{environment}/providers", Support),
    ("get", "/console/{environment}/providers/edit", Operator),
    ("post", "/console/{environment}/providers/edit", Operator),
    ("post", "/console/{environment}/providers/test", Operator),
    ("post", "/console/{environment}/providers/circuit", Operator),
    ("get", "/console/{environment}/keys", Viewer),
    ("post", "/console/{environment}/keys", Operator),
    ("get", "/console/{environment}/events", Viewer),
    ("get", "/console/{environment}/events/{event}", Viewer),
    ("post", "/console/{environment}/events/{event}", Support),
    ("get", "/console/{environment}/endpoints", Viewer),
    ("post", "/console/{environment}/endpoints", Operator),
    ("get", "/console/{environment}/deliveries", Viewer),
    ("post", "/console/{environment}/deliveries", Support),
    ("get", "/console/{environment}/requests", Viewer),
    ("get", "/console/{environment}/exceptions", Viewer),
    ("post", "/console/{environment}/exceptions", Operator),
    ("get", "/console/{environment}/approvals", Viewer),
    ("get", "/console/{environment}/approvals/{approval}", Viewer),
    ("post", "/console/{environment}/approvals", Approver),
    ("get", "/console/{environment}/disputes", Viewer),
    ("get", "/console/{environment}/statement", Viewer),
    ("get", "/console/{environment}/statement.csv", Viewer),
    ("get", "/console/{environment}/waiting", Viewer),
    ("get", "/console", Viewer),
    ("get", "/console/", Viewer),
    ("get", "/console/environments", Viewer),
    ("post", "/console/environments", Operator),
    ("get", "/console/audit-log", Admin),
    ("get", "/console/users", Admin),
    ("post", "/console/users", Admin),
    ("get", "/console/account", Viewer),
    ("post", "/console/account", Viewer),
];

/// The path of a page with what there is in the scene.
fn page_path(route: &PageRoute, scene: &Scene) -> String {
    let known = [("{event}", &scene.events[0]), ("{reference}", &scene.payments[0])];
    let path = known.into_iter().fold(route.path.to_owned(), |path, (name, id)| path.replace(name, id));
    filled(&path, scene)
}

#[test]
fn every_page_of_the_console_opens_for_whom_it_should() {
    let scene = Scene::start();
    // Signing out ends the session that the others need.
    let routes: Vec<_> = page_routes().filter(|route| route.path != "/console/sign-out").collect();
    let known: BTreeSet<_> = PAGES.iter().map(|(method, path, _)| (*method, *path)).collect();
    let served: BTreeSet<_> = routes.iter().map(|route| (route.method, route.path)).collect();
    assert_eq!(served, known, "pages without a row, or rows of no page");
    let mut tried = 0;
    for person in people(&scene) {
        let mut browser = Browser::sign_in(&scene.server, &person.token);
        let shown = String::from_utf8_lossy(&browser.get("/console/account").body).into_owned();
        let csrf =
            shown.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        for route in &routes {
            let path = page_path(route, &scene);
            let answer =
                if route.method == "get" { browser.get(&path) } else { browser.post(&path, &csrf, "") };
            let case = format!("{} {path} as {} of {:?}", route.method, person.role, person.limited_to);
            let body = String::from_utf8_lossy(&answer.body);
            let to_sign_in = answer.headers.get("location").is_some_and(|to| to.contains("/sign-in"));
            assert!(!to_sign_in && answer.status < 500, "{case}: {} {body}", answer.status);
            let of_page =
                |(method, path, _): &&(&str, &str, Class)| (*method, *path) == (route.method, route.path);
            let (.., class) = PAGES.iter().find(of_page).unwrap();
            let is_of_environment = route.path.contains("{environment}");
            if !person.allowed.contains(class) {
                assert_eq!(answer.status, 403, "{case}: {body}");
            } else if person.limited_to == Some(Organization::Other) && is_of_environment {
                assert_eq!(answer.status, 404, "{case}: {body}");
            } else {
                assert!(![401, 403].contains(&answer.status), "{case}: {} {body}", answer.status);
            }
            if person.limited_to == Some(Organization::Other) {
                assert!(!body.contains(&scene.organization), "{case}: it is somebody else's");
            }
            tried += 1;
        }
    }
    println!("{tried} combinations of {} pages", routes.len());
}

/// A user with a personal token.
struct Person {
    role: &'static str,
    allowed: &'static [Class],
    /// Whether their role is limited to the scene's organization, to another one, or not at all.
    limited_to: Option<Organization>,
    token: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Organization {
    Own,
    Other,
}

/// Somebody of every role, everywhere, in the scene's organization and in another. Admins cannot be limited.
fn people(scene: &Scene) -> Vec<Person> {
    let mut admin = scene.server.sandbox_client("adminToken");
    let other = admin.post("/admin/v1/organizations", &json!({"name": "Other"})).data(201);
    let other = other["id"].as_str().unwrap().to_owned();
    let mut people = Vec::new();
    for (role, allowed) in ROLES {
        for limited_to in [None, Some(Organization::Own), Some(Organization::Other)] {
            let email = format!("{role}-{}@example.com", people.len());
            let mut user = json!({"name": role, "email": email, "role": role});
            let organization = match limited_to {
                Some(Organization::Own) => Some(&scene.organization),
                Some(Organization::Other) => Some(&other),
                None => None,
            };
            if let Some(organization) = organization {
                user["organizations"] = json!([organization]);
            }
            if role == "admin" && organization.is_some() {
                assert_eq!(admin.post("/admin/v1/users", &user).failure(400), "invalid_body");
                continue;
            }
            let made = admin.post("/admin/v1/users", &user).data(201);
            let path = format!("/admin/v1/users/{}/tokens", made["id"].as_str().unwrap());
            let token = admin.post(&path, &json!({"name": "matrix"})).data(201);
            let token = token["token"].as_str().unwrap().to_owned();
            people.push(Person { role, allowed, limited_to, token });
        }
    }
    people
}

fn check_person(person: &Person, request: &Request, class: Class, status: u16, scene: &Scene) {
    let answer = request.send(&mut scene.server.client(&person.token));
    let case = format!("{} as {} of {:?}", request.name, person.role, person.limited_to);
    let body = String::from_utf8_lossy(&answer.body);
    let covers_all = OF_ALL_ORGANIZATIONS.contains(&request.name.as_str());
    if !person.allowed.contains(&class) || (covers_all && person.limited_to.is_some()) {
        assert_eq!(answer.failure(403), "forbidden", "{case}");
    } else if person.limited_to == Some(Organization::Other) && request.has_organization {
        assert_eq!(answer.failure(404), "not_found", "{case}");
    } else if request.method == "GET" {
        assert_eq!(answer.status, status, "{case}: {body}");
    } else {
        // What was done before cannot always be done again.
        assert!(![401, 403].contains(&answer.status) && answer.status < 500, "{case}: {body}");
    }
    if person.limited_to == Some(Organization::Other) {
        assert!(!body.contains(&scene.organization), "{case}: it is somebody else's\n{body}");
    }
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
        Viewer | Support | Operator | Approver | Admin => json!([{"adminToken": []}]),
    }
}
