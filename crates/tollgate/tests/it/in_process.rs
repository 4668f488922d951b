//! The service within this process, where a test can hold what requests wait for and choose where they come from.

use std::{net::IpAddr, sync::Arc};

use axum::{body::Body, body::to_bytes};
use http::{Request, header};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tollgate_console::Console;
use tollgate_engine::{Engine, Options, SystemClock, ports::AuditLogFilter};
use tollgate_providers::{ProviderSettings, Providers};
use tollgate_server::{ApiEventBodies, App, Service};
use tollgate_store::sqlite::SqliteStore;
use tollgate_vault::{AdminToken, MasterKey, Secret};

use crate::support::{ADMIN_TOKEN, MASTER_KEY};

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const FORM: &str = "application/x-www-form-urlencoded";

struct Answer {
    status: u16,
    cookie: Option<String>,
    text: String,
}

impl Answer {
    #[track_caller]
    fn data(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        serde_json::from_str::<Value>(&self.text).unwrap()["data"].take()
    }
}

async fn service() -> Service {
    let adapters =
        Providers::new(ProviderSettings { allow_other_hosts: true, ..ProviderSettings::default() });
    let mut options = Options::at("http://localhost");
    options.allow_other_provider_hosts = true;
    let master_key = MasterKey::from_weak_setting(&Secret::new(MASTER_KEY)).unwrap();
    let store = Arc::new(SqliteStore::in_memory().unwrap());
    let (clock, adapters) = (Arc::new(SystemClock), Arc::new(adapters.unwrap()));
    let engine = Engine::start(store, clock, &master_key, adapters, options).await.unwrap();
    let token = AdminToken::from_weak_setting(&Secret::new(ADMIN_TOKEN)).unwrap();
    let app = App::new(engine, token);
    let console = Console::new(Arc::clone(app.engine()), token, Arc::new(ApiEventBodies), false);
    Service::new(app.with_console("/console", tollgate_console::router(console)))
}

async fn send(
    service: &Service,
    peer: IpAddr,
    (method, path): (&str, &str),
    headers: &[(header::HeaderName, &str)],
    body: String,
) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    let answer = service.answer(peer, request.body(Body::from(body)).unwrap()).await;
    let status = answer.status().as_u16();
    let cookie = answer.headers().get(header::SET_COOKIE).map(|value| value.to_str().unwrap().to_owned());
    let text = to_bytes(answer.into_body(), 16 << 20).await.unwrap();
    Answer { status, cookie, text: String::from_utf8(text.to_vec()).unwrap() }
}

/// A call with this credential; without a body it reads.
async fn call(service: &Service, credential: &str, path: &str, body: Option<Value>) -> Answer {
    let credential = format!("Bearer {credential}");
    let headers = [(header::AUTHORIZATION, credential.as_str()), (header::CONTENT_TYPE, "application/json")];
    let method = match &body {
        None => "GET",
        Some(_) if path.ends_with("/config") => "PUT",
        Some(_) => "POST",
    };
    send(service, HERE, (method, path), &headers, body.map(|body| body.to_string()).unwrap_or_default()).await
}

async fn sign_in(service: &Service, peer: IpAddr, token: &str) -> Answer {
    let form = form_urlencoded::Serializer::new(String::new()).append_pair("token", token).finish();
    send(service, peer, ("POST", "/console/sign-in"), &[(header::CONTENT_TYPE, FORM)], form).await
}

/// One fee, and a provider that nobody listens for.
fn document(fixed: &str) -> Value {
    let layer = json!({"enabled": true, "fixedFeeMinor": fixed, "percentFeeBps": 0});
    let target = json!({"provider": "cards", "channel": "web_card"});
    json!({
        "providers": {"cards": {
            "adapter": "stripe", "baseUrl": "http://127.0.0.1:1",
            "credentials": {"secretKey": "sk_test_1", "publishableKey": "pk_test_1", "webhookSecret": "whsec_1"},
        }},
        "routing": {"web_card": {"enabled": true, "rules": [], "default": target}},
        "fees": [{"provider": "cards", "paymentMethod": "web_card", "channel": "none", "currency": "USD",
            "platform": layer, "organization": layer}],
    })
}

/// An environment, and a payment that was decided by its first configuration and one by its second.
async fn two_payments(service: &Service) -> (String, [String; 2]) {
    let made =
        async |path: String, body: Value| call(service, ADMIN_TOKEN, &path, Some(body)).await.data(201);
    let id = |made: &Value| made["id"].as_str().unwrap().to_owned();
    let named = json!({"name": "test"});
    let organization = id(&made("/admin/v1/organizations".to_owned(), named.clone()).await);
    let path = format!("/admin/v1/organizations/{organization}/applications");
    let application = id(&made(path, named.clone()).await);
    let environment = id(&made(format!("/admin/v1/applications/{application}/environments"), named).await);
    let base = format!("/admin/v1/environments/{environment}");
    let key =
        made(format!("{base}/keys"), json!({"kind": "secret"})).await["key"].as_str().unwrap().to_owned();
    for fixed in ["10", "20"] {
        call(service, ADMIN_TOKEN, &format!("{base}/config"), Some(document(fixed))).await.data(200);
        let order = json!({"amountMinor": "12500", "currency": "USD"});
        let failed = call(service, &key, "/client/v1/payments", Some(order)).await;
        assert_eq!(failed.status, 503, "{}", failed.text);
    }
    let listed = call(service, ADMIN_TOKEN, &format!("{base}/payments"), None).await.data(200);
    let reference = |place: usize| listed["items"][place]["serviceReference"].as_str().unwrap().to_owned();
    (environment, [reference(1), reference(0)])
}

#[test]
fn stored_configurations_are_opened_two_at_a_time_and_current_payments_wait_for_none() {
    Runtime::new().unwrap().block_on(async {
        let service = service().await;
        let (environment, [older, current]) = two_payments(&service).await;
        let cookie = sign_in(&service, HERE, ADMIN_TOKEN).await.cookie.unwrap();
        let session = cookie.split(';').next().unwrap();
        let engine = service.engine();
        let turns = (engine.config_read_turn().await.unwrap(), engine.config_read_turn().await.unwrap());
        let page = async |rest: &str| {
            let path = format!("/console/{environment}{rest}");
            send(&service, HERE, ("GET", &path), &[(header::COOKIE, session)], String::new()).await
        };
        let read = async |reference: &str| {
            let path = format!("/admin/v1/environments/{environment}/payments/{reference}");
            call(&service, ADMIN_TOKEN, &path, None).await
        };
        read(&current).await.data(200);
        assert_eq!(page(&format!("/payments/{current}")).await.status, 200);
        let own = format!("/payments/{older}");
        // Each waits for ten seconds.
        let (answer, payment, routing, fee, rule, provider, program, config) = tokio::join!(
            read(&older),
            page(&own),
            page("/routing"),
            page("/fees/edit?fee=0"),
            page("/rules/edit?method=web_card"),
            page("/providers/edit?provider=cards"),
            page("/fees/program"),
            page("/config"),
        );
        assert_eq!(answer.status, 503);
        assert!(answer.text.contains("server_busy"), "{}", answer.text);
        let pages = [payment, routing, fee, rule, provider, program, config];
        assert_eq!(pages.map(|page| page.status), [503; 7]);
        drop(turns);
        read(&older).await.data(200);
        for rest in [&own, "/routing", "/fees/edit?fee=0", "/rules/edit?method=web_card", "/fees/program"] {
            assert_eq!(page(rest).await.status, 200, "{rest}");
        }
    });
}

#[test]
fn failed_sign_ins_from_many_addresses_do_not_flood_the_audit_log() {
    Runtime::new().unwrap().block_on(async {
        let service = service().await;
        for host in 0..200 {
            let refused = sign_in(&service, [192, 0, 2, host].into(), "a wrong token").await;
            assert_eq!(refused.status, 401, "{}", refused.text);
            let of_host = (header::AUTHORIZATION, "Bearer a wrong token");
            let path = ("GET", "/admin/v1/organizations");
            let refused = send(&service, [192, 0, 2, host].into(), path, &[of_host], String::new()).await;
            assert!([401, 429].contains(&refused.status), "{}", refused.text);
        }
        for action in ["session.refuse", "access.refuse"] {
            let filter = AuditLogFilter { action: Some(action.to_owned()), ..AuditLogFilter::default() };
            let recorded = service.engine().audit_log(&filter, None, 1_000).await.unwrap().len();
            assert!((20..100).contains(&recorded), "{recorded} of {action}");
        }
        // One subscriber of IPv6 is slowed down, whatever addresses it has.
        let mut answers = Vec::new();
        for host in 0..40_u16 {
            let peer = IpAddr::from([0x2001, 0xdb8, 1, 2, 0, 0, 0, host]);
            answers.push(sign_in(&service, peer, "a wrong token").await.status);
        }
        assert!(answers.contains(&429), "{answers:?}");
    });
}
