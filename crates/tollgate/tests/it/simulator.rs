//! The simulated providers: at the sandbox's own address, and as a process of their own.

use serde_json::Value;

use crate::support::{Answer, Client, Server, Start};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

fn create_intent(client: &mut Client, prefix: &str) -> Answer {
    let body = b"amount=1999&currency=usd&automatic_payment_methods[enabled]=true";
    client.send("POST", &format!("{prefix}/stripe/v1/payment_intents"), &[FORM], body)
}

fn simulator_client(server: &Server, wire: &str) -> Client {
    server.client(server.sandbox_json()["simulators"][wire]["apiKey"].as_str().unwrap())
}

#[test]
fn the_sandbox_serves_all_providers_at_its_own_address() {
    let server = Start::sandbox().run();
    let mut stripe = simulator_client(&server, "stripe");
    let answer = create_intent(&mut stripe, "/simulator");
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    let intent: Value = answer.json();
    assert_eq!((intent["amount"].as_u64(), intent["object"].as_str()), (Some(1999), Some("payment_intent")));
    assert!(
        answer.headers["request-id"].starts_with("req_"),
        "the provider's own id stays: {:?}",
        answer.headers
    );
    let mut square = simulator_client(&server, "square");
    let body = br#"{"source_id":"cnon:card-nonce-ok","idempotency_key":"k1","amount_money":{"amount":500,"currency":"USD"},"location_id":"LDEMO"}"#;
    let answer =
        square.send("POST", "/simulator/square/v2/payments", &[("content-type", "application/json")], body);
    assert_eq!(answer.json()["payment"]["status"], "COMPLETED", "{}", String::from_utf8_lossy(&answer.body));
    let mut increase = simulator_client(&server, "increase");
    let balance = increase.get("/simulator/increase/accounts/account_sandbox/balance");
    assert_eq!(balance.status, 200, "{}", String::from_utf8_lossy(&balance.body));
    // Our own credentials open nothing there, and theirs nothing here.
    assert_eq!(create_intent(&mut server.sandbox_client("secretKey"), "/simulator").status, 401);
    assert_eq!(stripe.get("/admin/v1/organizations").failure(401), "unauthenticated");
}

#[test]
fn the_simulator_runs_alone_and_stops_when_told() {
    let mut simulator = Start::command(&["simulator", "--listen", "127.0.0.1:0"]).spawn();
    simulator.wait_listening();
    let output = simulator.output();
    let key =
        output.lines().find(|line| line.starts_with("stripe")).unwrap().split_whitespace().last().unwrap();
    let answer = create_intent(&mut simulator.client(key), "");
    assert_eq!(answer.status, 200, "{output}");
    assert!(simulator.terminate().success());
}
