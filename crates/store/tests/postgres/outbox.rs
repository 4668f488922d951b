//! Events and deliveries where only a server can go: an older schema, much that waits, and endpoints that go away in the
//! very moment something happens.

use tollgate_domain::{
    PaymentMethod,
    card::Preparation,
    event::EventKind,
    id::{EndpointId, EnvironmentId, EventId},
    transaction::Status,
};
use tollgate_engine::ports::{
    DeliveryQuery, DeliveryState, Endpoint, EndpointEffect, EventQuery, EventsFrom, HealthQuery,
    PaymentFilter, ProviderEventState, Resend, ResendWhich,
};
use tollgate_store_conformance::{
    Nodes, at,
    outbox_samples::{FAILED, SUCCEEDED, attempted, taken},
    upgrade,
};

use crate::server::{Database, PLANS, with_empty_database, with_sessions};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_there_before_is_found_and_counted() {
    with_empty_database(async |database| {
        let store = database.open().await;
        let before = upgrade::before(&Nodes::new(store.clone(), store)).await;
        let writer = "ALTER TABLE ledger_postings DROP COLUMN written_by";
        database.stranger.batch_execute(writer).await.unwrap();
        database.stranger.batch_execute(upgrade::UNDO).await.unwrap();
        let nodes = Nodes::new(database.open().await, database.open().await);
        upgrade::after(&nodes, &before).await;
    })
    .await;
}

/// Whoever writes an event may not know yet that the endpoint is disabled, or gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stragglers_are_tidied_up() {
    with_empty_database(async |database| {
        let nodes = Nodes::new(database.open().await, database.open().await);
        let environment = nodes.environment().await.id;
        let disabled = nodes.endpoint(environment, &["*"]).await;
        let removed = nodes.endpoint(environment, &["*"]).await;
        let well = nodes.endpoint(environment, &["*"]).await;
        let resting = nodes.endpoint(environment, &["*"]).await;
        let event = nodes.append_event(environment, SUCCEEDED).await;
        let rests = attempted(DeliveryState::Waiting, Some(event.at), EndpointEffect::Rests(at(9_000)));
        nodes.settle(environment, resting.id, event.id, &rests).await;
        let off = Endpoint { disabled: Some("no".to_owned()), ..disabled.clone() };
        nodes.one.change_endpoint(environment, &off).await.unwrap();
        nodes.one.remove_endpoint(environment, removed.id).await.unwrap();
        let late = format!(
            "UPDATE event_deliveries SET state = 'waiting', due_at = {at} WHERE state = 'parked';
             INSERT INTO event_deliveries SELECT environment_id, '{removed}', event_id, state, since, due_at, tries
             FROM event_deliveries WHERE endpoint_id = '{well}'",
            at = event.at.unix_millis(),
            removed = uuid::Uuid::from_bytes(removed.id.to_bytes()),
            well = uuid::Uuid::from_bytes(well.id.to_bytes()),
        );
        database.stranger.batch_execute(&late).await.unwrap();
        let waits = "SELECT count(*) FROM event_deliveries WHERE due_at IS NOT NULL";
        assert_eq!(database.count(waits).await, 4);

        let claimed = nodes.one.claim_deliveries(at(8_000), at(9_000), 9, 9).await.unwrap();
        assert_eq!(taken(&claimed), [(well.id, event.id)]);
        assert_eq!(database.count(waits).await, 2, "what rests still waits");
        assert_eq!(database.count("SELECT count(*) FROM event_deliveries").await, 3);
        let parked = nodes.delivery(environment, disabled.id, event.id).await;
        assert_eq!((parked.state, parked.due), (DeliveryState::Parked, None));
    })
    .await;
}

/// How many rows and entries of indexes were read, as the server counts it.
async fn read(database: &Database) -> i64 {
    // What this session itself has read is told now, and not at some later time.
    database.count("SELECT 1::bigint FROM (SELECT pg_stat_force_next_flush()) AS flushed").await;
    let tables = "'out_events', 'event_sequence', 'unsequenced_events', 'undigested_events', 'event_endpoints', 'event_deliveries', 'search_terms',
                  'activity', 'card_payments', 'transactions', 'transfers', 'provider_events',
                  'reconciliation_exceptions'";
    let sql = format!(
        "SELECT ((SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname IN ({tables}))
             + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname IN ({tables})))::bigint"
    );
    database.count(&sql).await
}

const MANY: i64 = 20_000;

/// Twenty thousand events of one kind, all of them due for an endpoint that rests, parked for another and delivered to a
/// third; as many payments and transfers, terms, and hours.
const FILL: &str = "
    CREATE TEMPORARY TABLE many AS
        SELECT n, (lpad(to_hex(1800000000000 + n), 12, '0') || lpad(to_hex(n), 20, '0'))::uuid AS id
        FROM generate_series(1, 20000) AS n;
    INSERT INTO out_events (environment_id, id, kind, method, reference, at)
        SELECT e.environment_id, many.id, 'transaction.succeeded', 'web_card', many.id, 1800000000000 + many.n
        FROM many CROSS JOIN (SELECT DISTINCT environment_id FROM event_endpoints) e;
    INSERT INTO event_deliveries (environment_id, endpoint_id, event_id, state, since, due_at, tries)
        SELECT e.environment_id, e.id, many.id, e.state, 0, CASE WHEN e.state = 'waiting' THEN 1800000000000 END, 0
        FROM many CROSS JOIN (SELECT environment_id, id, description AS state FROM event_endpoints) e
        WHERE e.state <> 'few';
    INSERT INTO search_terms (environment_id, term, place)
        SELECT e.environment_id, 'text:same', many.id
        FROM many CROSS JOIN (SELECT DISTINCT environment_id FROM event_endpoints) e;
    INSERT INTO activity (environment_id, hour, currency, method, provider, kind, count, principal_minor,
            platform_fee_minor, organization_fee_minor)
        SELECT e.environment_id, many.n::bigint * 3600000, 'USD', 'ach', 'p', 'transaction.failed', 1, 1, 1, 1
        FROM many CROSS JOIN (SELECT DISTINCT environment_id FROM event_endpoints) e;
    INSERT INTO card_payments
        SELECT (jsonb_populate_record(p, jsonb_build_object('id', many.id))).* FROM card_payments p CROSS JOIN many;
    INSERT INTO transfers
        SELECT (jsonb_populate_record(f, jsonb_build_object('transaction_id', many.id))).*
        FROM transfers f CROSS JOIN many;
    INSERT INTO transactions
        SELECT (jsonb_populate_record(t, jsonb_build_object('id', many.id, 'reference', many.id))).*
        FROM transactions t CROSS JOIN many WHERE t.method = 'ach';
    INSERT INTO undigested_events SELECT id, environment_id FROM out_events ON CONFLICT DO NOTHING;
    ANALYZE";

/// What everything is asked with.
struct Asked {
    environment: EnvironmentId,
    few: EndpointId,
    event: EventId,
}

async fn filled(database: &Database) -> Asked {
    let mut asked = None;
    with_sessions(database, async |nodes| {
        let environment = nodes.environment().await.id;
        nodes.fund(environment, 5_000, "f").await;
        nodes.payment(environment).await;
        nodes.reserve(&nodes.new_transfer(environment)).await;
        let mut few = None;
        for (description, rests) in
            [("waiting", true), ("parked", false), ("delivered", false), ("few", false)]
        {
            let endpoint = Endpoint {
                description: Some(description.to_owned()),
                rests_until: rests.then(|| at(90_000_000)),
                ..nodes.new_endpoint(&["transaction.failed"])
            };
            nodes.one.add_endpoint(environment, &endpoint, 9).await.unwrap();
            few = Some(endpoint.id);
        }
        // On a session that ends, and tells what it read before anything is counted.
        database.visitor().await.batch_execute(FILL).await.unwrap();
        let few = few.unwrap();
        let [parked, event] = [
            nodes.append_event(environment, FAILED).await.id,
            nodes.append_event(environment, FAILED).await.id,
        ];
        nodes.park(environment, few, parked).await;
        // What nobody has listed yet is numbered in bounded steps.
        let unnumbered = "SELECT count(*) FROM unsequenced_events";
        while database.count(unnumbered).await > 0 {
            nodes.one.list_events(environment, EventQuery::default(), EventsFrom::Newest, 1).await.unwrap();
        }
        asked = Some(Asked { environment, few, event });
    })
    .await;
    with_sessions(database, async |_| {
        database.visitor().await.batch_execute("VACUUM (ANALYZE)").await.unwrap();
    })
    .await;
    asked.unwrap()
}

/// Everything that [`ask`] knows to ask.
const ASKING: [&str; 32] = [
    "events",
    "events after",
    "events of a kind",
    "events of a kind that is not there",
    "events of a payment",
    "deliveries",
    "deliveries to one",
    "deliveries before",
    "deliveries of an event",
    "deliveries that wait",
    "deliveries to one that were parked",
    "a claim",
    "a settlement",
    "a repetition",
    "a repetition of a span",
    "a repetition of what was parked",
    "a search",
    "a search further on",
    "an hour",
    "past payments",
    "past transfers",
    "attention",
    "a digest",
    "an event",
    "card payments",
    "card payments that expired",
    "card payments that wait",
    "transfers that wait",
    "card payments due",
    "transfers due",
    "providers' events",
    "exceptions",
];

/// Nothing was to be found.
fn none(found: usize) -> usize {
    assert_eq!(found, 0);
    1
}

async fn ask(nodes: &Nodes, what: &str, Asked { environment, few, event }: &Asked) {
    let (node, environment, endpoint, event) = (&nodes.one, *environment, Some(*few), *event);
    let all = DeliveryQuery::default();
    let newest = EventsFrom::Newest;
    // The ten-thousandth.
    let middle = EventId::new(at(10_000), [0, 0, 0, 0, 0, 0, 0, 0, 0x27, 0x10]);
    let span =
        |parked_only| ResendWhich::Between { from: at(0), until: at(90_000_000), parked_only, after: None };
    let found = match what {
        "events" => {
            node.list_events(environment, EventQuery::default(), newest, 5).await.unwrap().unwrap().len()
        }
        "events after" => {
            let after = EventsFrom::After(middle);
            node.list_events(environment, EventQuery::default(), after, 5).await.unwrap().unwrap().len()
        }
        "events of a kind" => {
            let query = EventQuery { kind: Some(FAILED), reference: None };
            node.list_events(environment, query, newest, 5).await.unwrap().unwrap().len()
        }
        "events of a kind that is not there" => {
            let query = EventQuery { kind: Some(EventKind::Transaction(Status::Refunded)), reference: None };
            assert!(node.list_events(environment, query, newest, 5).await.unwrap().unwrap().is_empty());
            1
        }
        "events of a payment" => {
            let reference = node.find_event(environment, event).await.unwrap().unwrap().reference;
            let query = EventQuery { kind: Some(FAILED), reference };
            node.list_events(environment, query, newest, 5).await.unwrap().unwrap().len()
        }
        "deliveries" => node.deliveries(environment, all, None, 5).await.unwrap().len(),
        "deliveries to one" => {
            let query = DeliveryQuery { endpoint, ..all };
            node.deliveries(environment, query, None, 5).await.unwrap().len()
        }
        "deliveries before" => {
            let before = Some((middle, *few));
            node.deliveries(environment, all, before, 5).await.unwrap().len()
        }
        "deliveries of an event" => {
            let query = DeliveryQuery { event: Some(event), ..all };
            node.deliveries(environment, query, None, 5).await.unwrap().len()
        }
        "deliveries that wait" => {
            let query = DeliveryQuery { state: Some(DeliveryState::Waiting), ..all };
            node.deliveries(environment, query, None, 5).await.unwrap().len()
        }
        "deliveries to one that were parked" => {
            let query = DeliveryQuery { endpoint, state: Some(DeliveryState::Parked), ..all };
            node.deliveries(environment, query, None, 5).await.unwrap().len()
        }
        "a claim" => node.claim_deliveries(at(80_000_000), at(80_000_001), 5, 5).await.unwrap().len(),
        "a settlement" => {
            let rests = attempted(DeliveryState::Delivered, None, EndpointEffect::Rests(at(1)));
            usize::from(node.settle_delivery(environment, *few, event, &rests).await.unwrap())
        }
        "a repetition" => {
            let wish = Resend { endpoint: None, which: ResendWhich::Event(event) };
            node.resend(environment, wish, at(9), 5).await.map(|_| 1).unwrap()
        }
        "a repetition of a span" => {
            let wish = Resend { endpoint: None, which: span(false) };
            node.resend(environment, wish, at(9), 5).await.map(|_| 1).unwrap()
        }
        "a repetition of what was parked" => {
            let wish = Resend { endpoint, which: span(true) };
            node.resend(environment, wish, at(9), 5).await.map(|_| 1).unwrap()
        }
        "a search" => node.find_payments(environment, "text:same", None, 5).await.unwrap().len(),
        "a search further on" => {
            let before = Some(middle.to_bytes());
            node.find_payments(environment, "text:same", before, 5).await.unwrap().len()
        }
        "an hour" => {
            let hour = |n: i64| tollgate_domain::Timestamp::from_unix_millis(n * 3_600_000);
            node.activity(environment, hour(700), hour(703)).await.unwrap().len()
        }
        "past payments" => node.past_payments(environment, None, 5).await.unwrap().len(),
        "past transfers" => node.past_payments(environment, Some(PaymentMethod::Ach), 5).await.unwrap().len(),
        "attention" => {
            let (environments, spending) = (vec![environment], at(0)..at(1));
            let query = HealthQuery { environments, most: 5, failing_from: 3, spending };
            let found = node.environment_health(&query).await.unwrap();
            usize::try_from(found[0].attention.parked_deliveries).unwrap()
        }
        "a digest" => usize::try_from(node.index_events(5).await.unwrap()).unwrap(),
        "an event" => usize::from(!nodes.append_event(environment, SUCCEEDED).await.id.to_bytes().is_empty()),
        other => ask_of_payments(nodes, other, environment).await,
    };
    assert!(found > 0, "{what}");
}

async fn ask_of_payments(nodes: &Nodes, what: &str, environment: EnvironmentId) -> usize {
    let node = &nodes.one;
    match what {
        "card payments" => node.payments(environment, PaymentFilter::default(), None, 5).await.unwrap().len(),
        "card payments that expired" => {
            let expired = PaymentFilter { preparation: Some(Preparation::Expired), waiting: false };
            none(node.payments(environment, expired, None, 5).await.unwrap().len())
        }
        "card payments that wait" => {
            let waiting = PaymentFilter { preparation: None, waiting: true };
            none(node.payments(environment, waiting, None, 5).await.unwrap().len())
        }
        "transfers that wait" => none(node.waiting_transfers(environment, None, 5).await.unwrap().len()),
        "card payments due" => {
            node.claim_payments(at(80_000_000), at(80_000_001), 5).await.map(|_| 1).unwrap()
        }
        "transfers due" => node.claim_transfers(at(80_000_000), at(80_000_001), 5).await.map(|_| 1).unwrap(),
        "providers' events" => none(
            node.provider_events(environment, Some(ProviderEventState::Waiting), None, 5)
                .await
                .unwrap()
                .len(),
        ),
        "exceptions" => none(node.exceptions(environment, true, None, 5).await.unwrap().len()),
        other => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_much_only_little_is_read() {
    for mode in PLANS {
        with_empty_database(async |database| {
            let asked = filled(database).await;
            database.plan(mode).await;
            for what in ASKING {
                let before = read(database).await;
                with_sessions(database, async |nodes| ask(&nodes, what, &asked).await).await;
                let some = read(database).await - before;
                println!("{mode}: {what}: {some}");
                assert!(some <= 150, "{mode}: {what} read {some} rows and entries");
            }
            assert!(database.count("SELECT count(*) FROM event_deliveries").await > 3 * MANY);
        })
        .await;
    }
}
