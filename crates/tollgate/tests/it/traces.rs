//! Traces as a collector gets them: whole, part of the caller's trace, and without a word that is nobody's business.

use std::time::Duration;

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value as AnyValue},
    trace::v1::Span,
};
use prost::Message as _;
use serde_json::json;

use crate::support::{
    ADMIN_TOKEN, BANK_API_KEY, BANK_WAIT_TIMEOUT, BankStore, BankWorld, Desk, GOOD_BANK, MASTER_KEY, On,
    QUOTE, Receiver, Start, Subscription, TRANSFERS, Trap, on_each_store, wait_until,
};

const COLLECTOR: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const DELAY: &str = "OTEL_BSP_SCHEDULE_DELAY";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

fn traceparent() -> String {
    format!("00-{TRACE}-{CALLER}-01")
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

/// All spans that came.
fn spans(collector: &Receiver) -> Vec<Span> {
    let requests = collector.parcels().into_iter().map(|parcel| {
        assert_eq!(parcel.path, "/v1/traces");
        assert_eq!(parcel.headers["content-type"], "application/x-protobuf");
        ExportTraceServiceRequest::decode(parcel.body.as_slice()).unwrap()
    });
    let resources = requests.flat_map(|request| request.resource_spans);
    resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
}

fn text(attributes: &[KeyValue], name: &str) -> Option<String> {
    let found = attributes.iter().find(|it| it.key == name)?;
    match found.value.as_ref()?.value.as_ref()? {
        AnyValue::StringValue(text) => Some(text.clone()),
        AnyValue::IntValue(number) => Some(number.to_string()),
        other => panic!("{name}: {other:?}"),
    }
}

/// Waits for a span of the caller's trace.
#[track_caller]
fn wait_span(collector: &Receiver, name: &str) -> Span {
    let find = || spans(collector).into_iter().find(|it| it.name == name && hex(&it.trace_id) == TRACE);
    wait_until(&format!("{name} has come"), BANK_WAIT_TIMEOUT, || find().is_some());
    find().unwrap()
}

fn a_transfer_is_one_trace_from_its_caller_to_the_provider(on: On) {
    let collector = Receiver::open();
    let world = BankWorld::start_with(on, |store| {
        let start = store.serve_without_looks().with(COLLECTOR, &collector.url("")).with(DELAY, "50");
        start.with("TOLLGATE_ALLOW_PRIVATE_ENDPOINTS", "true")
    });
    let trap = Trap::before(world.simulator.address());
    let desk = Desk::open_at(&world.server, &world.simulator, trap.address);
    let receiver = Receiver::open();
    let subscription = Subscription::create(&mut desk.admin(), &desk.path(""), &receiver.url("/"), &["*"]);
    let body = desk.body("traced-transfer", 10_000);
    let answer = desk.client().post_with(("traceparent", &traceparent()), TRANSFERS, &body);
    assert_eq!(answer.data(201)["transaction"]["status"], "processing");

    let request = wait_span(&collector, "transfer_make");
    assert_eq!(hex(&request.parent_span_id), CALLER);
    for (name, expected) in [
        ("operation", "transfer_make"),
        ("http.request.method", "POST"),
        ("http.route", TRANSFERS),
        ("http.response.status_code", "201"),
        ("request_id", &answer.headers["request-id"]),
        ("environment", &desk.environment),
    ] {
        assert_eq!(text(&request.attributes, name).as_deref(), Some(expected), "{name}");
    }
    let provider = wait_span(&collector, &world.simulator.rail.operation("create"));
    for (name, expected) in [("provider", "ach_provider_a"), ("outcome", "done"), ("tries", "1")] {
        assert_eq!(text(&provider.attributes, name).as_deref(), Some(expected), "{name}");
    }
    let phases = ["authenticate", "open token", "quote", "seal account", "transfers::reserve"];
    let phases = phases.map(|name| wait_span(&collector, name));
    for child in phases.iter().chain([&provider]) {
        assert_eq!(child.parent_span_id, request.span_id, "{}", child.name);
    }
    let header = format!("traceparent: 00-{TRACE}-{}-01\r\n", hex(&provider.span_id));
    assert!(trap.sent().contains(&header), "{header} is not in {}", trap.sent());

    let parcel = receiver.wait_count(1).remove(0);
    let sent = parcel.headers["traceparent"].clone();
    let named = |span: &Span| format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id)) == sent;
    wait_until("the delivery has come", BANK_WAIT_TIMEOUT, || {
        spans(&collector).iter().any(|span| span.name == "deliver" && named(span))
    });
    let delivered = spans(&collector).into_iter().find(named).unwrap();
    assert_eq!(text(&delivered.attributes, "status").as_deref(), Some("200"));
    assert_eq!(text(&delivered.attributes, "event"), Some(parcel.kind()));

    let everything = collector.parcels().into_iter().flat_map(|parcel| parcel.body).collect::<Vec<_>>();
    let everything = String::from_utf8_lossy(&everything);
    assert!(everything.contains("tollgate"), "the service has a name");
    let (secret, token) = (desk.secret.as_str(), desk.token.as_str());
    for private in [
        "000123456789",
        GOOD_BANK,
        "Ada Example",
        "ada@example.com",
        "First Example Bank",
        "customer-1",
        secret,
        token,
        ADMIN_TOKEN,
        MASTER_KEY,
        BANK_API_KEY,
        &subscription.secret,
        &desk.webhook_secret(),
        &receiver.url("/"),
    ] {
        assert!(!everything.contains(private), "{private} is in a trace");
    }
}

on_each_store! { a_transfer_is_one_trace_from_its_caller_to_the_provider }

/// A quote of a sandbox with the caller's trace.
fn quote(server: &crate::support::Server) {
    let body = json!({"amountMinor": "100", "currency": "USD"});
    let mut client = server.sandbox_client("secretKey");
    client.post_with(("traceparent", &traceparent()), QUOTE, &body).data(200);
}

#[test]
fn what_waits_is_sent_when_a_node_stops() {
    let collector = Receiver::open();
    let mut server = Start::sandbox().with(COLLECTOR, &collector.url("")).with(DELAY, "600000").run();
    quote(&server);
    assert_eq!(collector.count(), 0);
    assert!(server.terminate().success());
    let quoted: Vec<_> = spans(&collector).into_iter().filter(|it| hex(&it.trace_id) == TRACE).collect();
    let names: Vec<_> = quoted.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["authenticate", "fee_quote"]);
}

#[test]
fn a_collector_that_is_away_disturbs_nobody() {
    let collector = Receiver::open();
    let address = collector.url("");
    drop(collector);
    let mut server = Start::sandbox().with(COLLECTOR, &address).with(DELAY, "50").run();
    for _ in 0..50 {
        quote(&server);
    }
    wait_until("it is logged", BANK_WAIT_TIMEOUT, || server.log().contains("traces cannot be exported"));
    std::thread::sleep(Duration::from_millis(500));
    quote(&server);
    assert_eq!(server.log().matches("traces cannot be exported").count(), 1, "{}", server.log());
    assert!(server.terminate().success());
}

#[test]
fn nothing_is_traced_unless_asked_for() {
    let world = BankWorld::start_with(On::Sqlite, BankStore::serve);
    let trap = Trap::before(world.simulator.address());
    let desk = Desk::open_at(&world.server, &world.simulator, trap.address);
    desk.client()
        .post_with(("traceparent", &traceparent()), TRANSFERS, &desk.body("untraced", 10_000))
        .data(201);
    assert!(trap.sent().contains("idempotency-key: ") && !trap.sent().contains("traceparent"));
}
