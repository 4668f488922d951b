//! Nothing is revoked, paused or withdrawn with one click: a review says what would happen, and what was done is in the
//! audit log.

use serde_json::json;

use crate::{
    people::{Browser, page, user},
    support::{Server, Start},
};

/// Somebody at the console of a sandbox.
struct Visit {
    browser: Browser,
    csrf: String,
    base: String,
}

impl Visit {
    fn of(server: &Server, token: &str) -> Self {
        let mut browser = Browser::sign_in(server, token);
        let shown = page(&browser.get("/console/account"));
        let csrf =
            shown.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let base = format!("/console/{}", server.sandbox_json()["environmentId"].as_str().unwrap());
        Self { browser, csrf, base }
    }

    fn post(&mut self, path: &str, fields: &str) -> String {
        let path =
            if path.starts_with("/console") { path.to_owned() } else { format!("{}{path}", self.base) };
        let answer = self.browser.post(&path, &self.csrf, fields);
        match answer.headers.get("location") {
            Some(to) => page(&self.browser.get(to)),
            None => page(&answer),
        }
    }

    /// Sends a form, sees that it only asks, and confirms it.
    fn confirm(&mut self, path: &str, fields: &str) -> String {
        let review = self.post(path, fields);
        for words in ["Who is affected", "What cannot be undone", "value=\"confirm\"", ">Back<"] {
            assert!(review.contains(words), "{fields}: no {words}: {review}");
        }
        self.post(path, &format!("{fields}&step=confirm"))
    }

    /// The audit log's entry that a page leads to.
    fn entry(&mut self, shown: &str) -> String {
        let number = shown.split("/console/audit-log?entry=").nth(1).unwrap().split('"').next().unwrap();
        page(&self.browser.get(&format!("/console/audit-log?entry={number}")))
    }
}

#[test]
fn what_has_a_consequence_is_reviewed_first_and_leads_to_its_audit_entry() {
    let server = Start::sandbox().run();
    let mut admin = server.sandbox_client("adminToken");
    let token = server.sandbox_json()["adminToken"].as_str().unwrap().to_owned();
    let mut visit = Visit::of(&server, &token);

    let key = admin.post(&server.sandbox_path("/keys"), &json!({"kind": "secret"})).data(201);
    let (id, secret) = (key["id"].as_str().unwrap(), key["key"].as_str().unwrap());
    let quote = json!({"amountMinor": "1", "currency": "USD"});
    let is_valid = || server.client(secret).post("/client/v1/fees/quote", &quote).status == 200;
    let asked = visit.post("/keys", &format!("do=revoke&key={id}"));
    assert!(asked.contains("refused within a second") && is_valid(), "{asked}");
    let shown = visit.confirm("/keys", &format!("do=revoke&key={id}"));
    assert!(shown.contains("Key revoked") && !is_valid(), "{shown}");
    let entry = visit.entry(&shown);
    assert!(entry.contains("key.revoke") && entry.contains(id), "{entry}");
    assert_eq!(entry.matches("<td class=\"number\">").count(), 1, "that entry alone: {entry}");

    let shown = visit.confirm("/providers/circuit", "provider=card_provider_a&state=open");
    assert!(shown.contains("paused by an operator") && shown.contains("Resume provider…"), "{shown}");
    assert!(visit.entry(&shown).contains("circuit.force"));
    let shown = visit.confirm("/providers/circuit", "provider=card_provider_a&state=automatic");
    assert!(shown.contains("Pause provider…"), "{shown}");

    let (vera, vera_token, _) =
        user(&mut admin, &json!({"name": "Vera", "email": "vera@example.com", "role": "viewer"}));
    let shown = visit.confirm("/console/users", &format!("do=access&user={vera}&role=support"));
    assert!(shown.contains("Vera is support from now on"), "{shown}");
    let shown = visit.confirm("/console/users", &format!("do=revoke&user={vera}&token={vera_token}"));
    assert!(shown.contains("Token revoked"), "{shown}");
    let shown = visit.confirm("/console/users", &format!("do=remove&user={vera}"));
    assert!(shown.contains("Vera removed") && visit.entry(&shown).contains("user.remove"), "{shown}");

    let span = "from=2026-01-01&until=2026-01-02&parked=1";
    assert!(visit.confirm("/deliveries", span).contains("0 deliveries queued"));
    // More than there is has no button.
    let refused = visit.post("/wallets/USD", "cause=withdraw&amount=999999999.00&reference=too+much");
    assert!(refused.contains("nothing was withdrawn") && !refused.contains("class=\"danger\""), "{refused}");
}

#[test]
fn only_who_may_read_the_audit_log_is_led_to_it() {
    let server = Start::sandbox().run();
    let mut admin = server.sandbox_client("adminToken");
    let (.., token) =
        user(&mut admin, &json!({"name": "Otto", "email": "otto@example.com", "role": "operator"}));
    let mut otto = Visit::of(&server, &token);
    let shown = otto.confirm("/wallets/USD", "cause=fund&amount=5.00&reference=by+Otto");
    assert!(shown.contains("5.00 USD added. Audit entry "), "{shown}");
    assert!(!shown.contains("/console/audit-log"), "{shown}");
}
