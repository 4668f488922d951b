//! A sandbox in which there is one of everything that the document's paths can name.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Client, Key, Server, Start, Tenant};

/// A running sandbox and what there is in it.
pub struct Scene {
    pub server: Server,
    pub document: Value,
    pub environment: String,
    pub organization: String,
    pub application: String,
    /// The card payments and the bank transfer.
    pub payments: Vec<String>,
    pub transfer: String,
    pub keys: Vec<String>,
    pub endpoints: Vec<String>,
    pub events: Vec<String>,
    pub customer_token: String,
    pub user: String,
    pub user_token: String,
}

impl Scene {
    pub fn start() -> Self {
        // Whoever presents wrong credentials is slowed down by address.
        let server = Start::sandbox().with("TOLLGATE_TRUSTED_PROXIES", "127.0.0.1").run();
        let (mut admin, mut backend) =
            (server.sandbox_client("adminToken"), server.sandbox_client("secretKey"));
        let document = server.client("").get("/openapi.json").json();
        let read = admin.get(&server.sandbox_path("")).data(200);
        let customer = json!({"externalCustomerId": "customer-1", "email": "ada@example.com", "firstName": "Ada",
                              "lastName": "Lovelace"});
        let customer_token =
            text(&backend.post("/client/v1/ach/customer-tokens", &customer).data(201), "customerToken");
        let mut prepare = |amount: &str| {
            let order = json!({"amountMinor": amount, "currency": "USD"});
            text(&backend.post("/client/v1/payments/component", &order).data(201), "serviceReference")
        };
        // One with each of the card providers.
        let payments = vec![prepare("1999"), prepare("200000")];
        let order = json!({"idempotencyKey": "scene-transfer", "amountMinor": "1999", "currency": "USD",
                           "customerToken": customer_token, "routingNumber": "021000021", "accountNumber": "123456789",
                           "bankAccountType": "checking", "bankName": "First Bank", "accountName": "Ada Lovelace"});
        let made = backend.post("/client/v1/ach/transfers", &order).data(201);
        let transfer = text(&made["transaction"], "serviceReference");
        let keys = (0..3).map(|_| issue(&server, &mut admin, "secret").id).collect();
        let endpoint = json!({"url": "http://127.0.0.1:9/", "events": ["*"]});
        let endpoints = (0..3)
            .map(|_| text(&admin.post(&server.sandbox_path("/event-endpoints"), &endpoint).data(201), "id"));
        let endpoints = endpoints.collect();
        let listed = admin.get(&server.sandbox_path("/events")).data(200);
        let events = listed["items"].as_array().unwrap().iter().map(|event| text(event, "id")).collect();
        let user = json!({"name": "Scene", "email": "scene@example.com", "role": "viewer"});
        let user = text(&admin.post("/admin/v1/users", &user).data(201), "id");
        let path = format!("/admin/v1/users/{user}/tokens");
        let user_token = text(&admin.post(&path, &json!({"name": "laptop"})).data(201), "id");
        Self {
            environment: text(&read, "id"),
            organization: text(&read, "organizationId"),
            application: text(&read, "applicationId"),
            server,
            document,
            payments,
            transfer,
            keys,
            endpoints,
            events,
            customer_token,
            user,
            user_token,
        }
    }

    /// A new key of the sandbox's environment.
    pub fn issue(&self, kind: &str) -> Key {
        issue(&self.server, &mut self.server.sandbox_client("adminToken"), kind)
    }

    /// A key that opens nothing anymore.
    pub fn revoked(&self) -> Key {
        let key = self.issue("secret");
        let path = self.server.sandbox_path(&format!("/keys/{}", key.id));
        self.server.sandbox_client("adminToken").delete(&path).data(200);
        key
    }

    /// The secret key of another organization.
    pub fn of_another_organization(&self) -> Key {
        let mut admin = self.server.sandbox_client("adminToken");
        Tenant::create(&mut admin).issue(&mut admin)
    }

    /// The secret key of another environment of the same application.
    pub fn of_another_environment(&self) -> Key {
        let mut admin = self.server.sandbox_client("adminToken");
        let path = format!("/admin/v1/applications/{}/environments", self.application);
        let environment = text(&admin.post(&path, &json!({"name": "live"})).data(201), "id");
        Tenant { environment }.issue(&mut admin)
    }

    /// The ids there are, by the formats that the document gives them.
    pub fn ids_by_format(&self) -> BTreeMap<&'static str, Vec<String>> {
        let mut references = self.payments.clone();
        references.push(self.transfer.clone());
        BTreeMap::from([
            ("pay-or-ach-id", references),
            ("pay-id", self.payments.clone()),
            ("env-id", vec![self.environment.clone()]),
            ("org-id", vec![self.organization.clone()]),
            ("app-id", vec![self.application.clone()]),
            ("key-id", self.keys.clone()),
            ("ep-id", self.endpoints.clone()),
            ("evt-id", self.events.clone()),
            ("usr-id", vec![self.user.clone()]),
            ("tok-id", vec![self.user_token.clone()]),
            ("exc-id", Vec::new()),
            ("apr-id", Vec::new()),
            ("txn-id", Vec::new()),
            ("post-id", Vec::new()),
        ])
    }
}

fn issue(server: &Server, admin: &mut Client, kind: &str) -> Key {
    Key::of(&admin.post(&server.sandbox_path("/keys"), &json!({ "kind": kind })))
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_else(|| panic!("no {field}: {value}")).to_owned()
}
