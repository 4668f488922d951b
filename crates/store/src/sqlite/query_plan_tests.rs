//! Lists and claims read only their part of a table: SQLite is asked how it would run the very statements.

use rusqlite::Connection;
use tollgate_domain::{
    PaymentMethod, ServiceReference,
    card::Preparation,
    event::EventKind,
    id::{EnvironmentId, PaymentId, UserId},
    statement::Month,
    transaction::Status,
};
use tollgate_engine::ports::{
    AuditLogFilter, DeliveryQuery, DeliveryState, EventQuery, EventsFrom, PaymentFilter, TransactionFilter,
};

use super::migrate;
use crate::{
    rows::out_event::Slice,
    session::Dialect,
    units::{
        audit_log, circuit_events, claims, deliveries, diagnosis, digest, endpoints, erasure, events,
        exceptions, funds, health, out_events, payments, proposals, records, refund_approvals, request_log,
        resend, statement::Scope, timeline, transactions, transfer_approvals, transfers,
    },
};

/// The plans of all lists of transactions, each merged from those of its kinds.
#[test]
fn lists_of_transactions_are_merged_as_they_are_read() {
    let connection = Connection::open_in_memory().unwrap();
    migrate::migrate(&connection).unwrap();
    for status in [None, Some(Status::Failed)] {
        for method in [None, Some(PaymentMethod::Ach)] {
            for provider in [None, Some("stripe".to_owned())] {
                let by_kind = status.is_some() || method.is_some() || provider.is_some();
                let (index, range) = match (by_kind, &provider) {
                    (false, _) => ("sqlite_autoindex_transactions_1", "environment_id=? AND id>? AND id<?"),
                    (true, None) => ("transactions_by_kind", "method=? AND status=? AND id>? AND id<?"),
                    (true, Some(_)) => {
                        ("transactions_by_provider", "provider=? AND method=? AND status=? AND id>? AND id<?")
                    }
                };
                let kinds = match (by_kind, status, method) {
                    (false, ..) => 1,
                    (true, status, method) => {
                        status.map_or(Status::ALL.len(), |_| 1)
                            * method.map_or(PaymentMethod::ALL.len(), |_| 1)
                    }
                };
                let filter = TransactionFilter { status, method, provider, ..TransactionFilter::default() };
                let plan = plan(&connection, &transactions::list_sql(Dialect::Sqlite, &filter));
                assert_eq!(
                    (plan.matches(index).count(), plan.matches(range).count()),
                    (kinds, kinds),
                    "{plan}"
                );
                assert_eq!(plan.matches("MERGE (UNION ALL)").count(), kinds - 1, "{plan}");
                assert!(!plan.contains("TEMP B-TREE") && !plan.contains("SCAN"), "{plan}");
            }
        }
    }
}

/// Lists of the few transactions with something particular about them read an index of those alone.
#[test]
fn particular_transactions_have_their_own_lists() {
    let connection = Connection::open_in_memory().unwrap();
    migrate::migrate(&connection).unwrap();
    for (is_partly_refunded, is_disputed, index) in [
        (true, false, "transactions_partly_refunded"),
        (false, true, "transactions_disputed"),
        (true, true, "transactions_disputed"),
    ] {
        for (status, method, provider) in [
            (None, None, None),
            (Some(Status::Succeeded), Some(PaymentMethod::WebCard), Some("stripe".to_owned())),
        ] {
            let filter = TransactionFilter {
                status,
                method,
                provider,
                is_partly_refunded,
                is_disputed,
                ..TransactionFilter::default()
            };
            let plan = plan(&connection, &transactions::list_sql(Dialect::Sqlite, &filter));
            assert!(plan.contains(index) && plan.contains("environment_id=? AND id>? AND id<?"), "{plan}");
            assert!(!plan.contains("TEMP B-TREE") && !plan.contains("SCAN"), "{plan}");
        }
    }
}

/// The steps of a plan, one after the other.
fn plan(connection: &Connection, sql: &str) -> String {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let count = statement.parameter_count();
    let nothing = vec![rusqlite::types::Null; count];
    let steps = statement
        .query_map(rusqlite::params_from_iter(nothing), |row| row.get::<_, String>(3))
        .unwrap()
        .collect::<Result<Vec<_>, _>>()
        .unwrap();
    steps.join("; ")
}

/// Each statement, the index it uses and the range of it.
fn assert_indexed(rows: &[(&str, &str, &str)]) {
    let connection = Connection::open_in_memory().unwrap();
    migrate::migrate(&connection).unwrap();
    for &(sql, index, range) in rows {
        let plan = plan(&connection, sql);
        assert!(plan.contains(index) && plan.contains(range), "{sql}\n{plan}");
        // A few of one payment may be sorted, and what came in one moment; never a whole list.
        let sorts = plan.contains("TEMP B-TREE FOR ORDER BY") && sql != exceptions::OF_REFERENCE;
        let scans = ["SCAN card", "SCAN prov", "SCAN t", "SCAN f"].iter().any(|scan| plan.contains(scan));
        assert!(!scans && !sorts, "{sql}\n{plan}");
    }
}

/// Its parts follow one another: with a join of them all, thirty each of refunds and disputes would be 900 rows.
#[test]
fn a_payment_is_read_part_by_part() {
    let connection = Connection::open_in_memory().unwrap();
    migrate::migrate(&connection).unwrap();
    let plan = plan(&connection, &payments::find_sql(Dialect::Sqlite));
    assert_eq!((plan.matches("UNION ALL").count(), plan.matches("LEFT-JOIN").count()), (4, 1), "{plan}");
    for part in ["a", "d", "h", "r"] {
        let look_up = format!("SEARCH {part} USING PRIMARY KEY (environment_id=? AND payment_id=?)");
        assert!(plan.contains(&look_up), "{part}: {plan}");
    }
}

#[test]
fn every_list_and_claim_has_its_index() {
    let of = |preparation, waiting| payments::list_sql(PaymentFilter { preparation, waiting });
    let told = |kind, reference| {
        out_events::list_sql(
            Dialect::Sqlite,
            EventQuery { kind, reference },
            Slice::new(EventsFrom::Newest, None).unwrap(),
        )
    };
    let (kind, payment) =
        (Some(EventKind::PaymentPrepared), Some(ServiceReference::Card(PaymentId::from_bytes([1; 16]))));
    let sent = |state| deliveries::list_sql(DeliveryQuery { state, ..DeliveryQuery::default() });
    let (delivered, parked) = (Some(DeliveryState::Delivered), Some(DeliveryState::Parked));
    assert_indexed(&[
        (claims::PAYMENTS.any, "card_payments_due", "due_at<?"),
        (claims::PAYMENTS.due, "card_payments_due", "due_at<?"),
        (claims::FOLLOW_UPS.any, "card_payments_follow_ups", "follow_up_at<?"),
        (claims::FOLLOW_UPS.due, "card_payments_follow_ups", "follow_up_at<?"),
        (&of(None, false), "sqlite_autoindex_card_payments_1", "environment_id=? AND id<?"),
        (&of(Some(Preparation::Prepared), false), "sqlite_autoindex_card_payments_1", "id<?"),
        (&of(Some(Preparation::Expired), false), "card_payments_by_preparation", "preparation=? AND id<?"),
        (&of(None, true), "card_payments_waiting", "environment_id=? AND id<?"),
        (timeline::ALONE, "PRIMARY KEY", "environment_id=? AND method=? AND reference=?"),
        (timeline::OF_CARD, "card_payments_1", "environment_id=? AND id=?"),
        (timeline::OF_TRANSFER, "transfers_1", "environment_id=? AND transaction_id=?"),
        (transfers::FIND, "sqlite_autoindex_transactions_2", "environment_id=? AND method=? AND reference=?"),
        (transfers::FIND, "sqlite_autoindex_transfers_1", "environment_id=? AND transaction_id=?"),
        (transfers::OF_OBJECT, "transactions_by_object", "environment_id=? AND provider_reference=?"),
        (transfers::WAITING, "transfers_waiting", "environment_id=? AND transaction_id<?"),
        (claims::TRANSFERS.any, "transfers_due", "due_at<?"),
        (claims::TRANSFERS.due, "transfers_due", "due_at<?"),
        (events::ANY_DUE, "provider_events_due", "due_at<?"),
        (events::DUE, "provider_events_due", "due_at<?"),
        (events::LIST, "provider_events_by_state", "environment_id=? AND state=? AND received_at<?"),
        (exceptions::LIST, "sqlite_autoindex_reconciliation_exceptions_1", "environment_id=? AND id<?"),
        (exceptions::LIST_OPEN, "reconciliation_exceptions_open", "environment_id=? AND id<?"),
        (
            exceptions::OF_REFERENCE,
            "sqlite_autoindex_reconciliation_exceptions_2",
            "environment_id=? AND method=? AND reference=?",
        ),
        (records::FAILED_BY_CODE, "transactions_by_kind", "method=? AND status=? AND id>?"),
        (records::SENT, "PRIMARY KEY", "environment_id=? AND hour>? AND hour<?"),
        (out_events::deliver(Dialect::Sqlite), "event_endpoints", "environment_id=?"),
        (out_events::insert(Dialect::Sqlite), "out_events_by_sequence", "environment_id=?"),
        (circuit_events::LAST[0], "out_events_by_reference", "environment_id=? AND method=? AND reference=?"),
        (&told(None, None), "out_events_by_sequence", "environment_id=? AND sequence>? AND sequence<?"),
        (&told(kind, None), "out_events_by_kind_sequence", "kind=? AND sequence>? AND sequence<?"),
        (&told(None, payment), "out_events_by_reference", "reference=? AND sequence>? AND sequence<?"),
        (&told(kind, payment), "out_events_by_reference", "reference=? AND sequence>? AND sequence<?"),
        (endpoints::LIST, "sqlite_autoindex_event_endpoints_1", "environment_id=?"),
        (&sent(None), "PRIMARY KEY", "environment_id=? AND endpoint_id=? AND event_id<?"),
        (&sent(delivered), "PRIMARY KEY", "environment_id=? AND endpoint_id=? AND event_id<?"),
        (&sent(parked), "event_deliveries_by_state", "endpoint_id=? AND state=? AND event_id<?"),
        (deliveries::NEXT_WAITED_FOR, "event_deliveries_due", "(environment_id,endpoint_id)>(?,?)"),
        (deliveries::DUE, "event_deliveries_due", "environment_id=? AND endpoint_id=? AND due_at<?"),
        (endpoints::PARK, "event_deliveries_by_state", "environment_id=? AND endpoint_id=? AND state=?"),
        (resend::OF_SPAN, "PRIMARY KEY", "environment_id=? AND id>? AND id<?"),
        (
            &resend::parked_sql(Dialect::Sqlite, &EventKind::ALL),
            "event_deliveries_by_state",
            "endpoint_id=? AND state=? AND event_id>?",
        ),
        (digest::UNDIGESTED, "undigested_events", ""),
        (erasure::CARD_CUSTOMERS, "sqlite_autoindex_card_payments_1", "environment_id=? AND id>?"),
        (
            erasure::CARD_CUSTOMERS,
            "sqlite_autoindex_transactions_2",
            "environment_id=? AND method=? AND reference=?",
        ),
        (
            erasure::TRANSFER_CUSTOMERS,
            "sqlite_autoindex_transfers_1",
            "environment_id=? AND transaction_id>?",
        ),
        (erasure::TRANSFER_CUSTOMERS, "sqlite_autoindex_transactions_1", "environment_id=? AND id=?"),
        (
            erasure::OLD_PROVIDER_EVENTS,
            "provider_events_by_state",
            "environment_id=? AND state=? AND received_at<?",
        ),
        (digest::CARD, "sqlite_autoindex_card_payments_1", "environment_id=? AND id=?"),
        (digest::CARD, "sqlite_autoindex_transactions_2", "environment_id=? AND method=? AND reference=?"),
        (
            digest::TRANSFER,
            "sqlite_autoindex_transactions_2",
            "environment_id=? AND method=? AND reference=?",
        ),
        (digest::TRANSFER, "sqlite_autoindex_transfers_1", "environment_id=? AND transaction_id=?"),
    ]);
}

#[test]
fn search_and_reports_have_their_indexes() {
    let logged = |filter: AuditLogFilter| audit_log::list_sql(&filter, None, 1).0;
    let by_user = AuditLogFilter { user: Some(UserId::from_bytes([1; 16])), ..AuditLogFilter::default() };
    let by_subject = AuditLogFilter { subject: Some("key".to_owned()), ..AuditLogFilter::default() };
    // The sum that never overflows is not defined here, and reads the same.
    let added_up =
        |scope: Scope<'_>| scope.statements(Dialect::Sqlite).map(|sql| sql.replace("exact_sum", "sum"));
    let [recent_cards, recent_transfers] = added_up(Scope::Since("7"));
    let [cards, transfers] =
        added_up(Scope::Of(EnvironmentId::from_bytes([1; 16]), Month::parse("2026-11").unwrap()));
    assert_indexed(&[
        (records::FIND, "PRIMARY KEY", "environment_id=? AND term=? AND place<?"),
        (records::NEXT_TERM, "PRIMARY KEY", "environment_id=? AND term>?"),
        (records::CARDS_BETWEEN, "sqlite_autoindex_card_payments_1", "environment_id=? AND id>? AND id<?"),
        (
            records::TRANSFERS_BETWEEN,
            "sqlite_autoindex_transactions_2",
            "environment_id=? AND method=? AND reference>? AND reference<?",
        ),
        (records::CARD_MADE, "sqlite_autoindex_card_payments_1", "environment_id=? AND id>? AND id<?"),
        (
            records::TRANSFER_MADE,
            "sqlite_autoindex_transfers_1",
            "environment_id=? AND transaction_id>? AND transaction_id<?",
        ),
        (
            records::OF_OBJECTS,
            "transactions_by_object",
            "environment_id=? AND provider_reference>? AND provider_reference<?",
        ),
        (records::DISPUTED, "disputes_by_id", "environment_id=? AND id=?"),
        (request_log::LAST, "request_log_by_code", "environment_id=? AND code=? AND id>?"),
        (records::ACTIVITY, "PRIMARY KEY", "environment_id=? AND hour>? AND hour<?"),
        (records::PAST_CARDS, "sqlite_autoindex_card_payments_1", "environment_id=?"),
        (records::PAST_TRANSFERS, "sqlite_autoindex_transfers_1", "environment_id=?"),
        (&health::ATTENTION, "card_payments_waiting", "environment_id=?"),
        (&health::ATTENTION, "transfers_waiting", "environment_id=?"),
        (&health::ATTENTION, "reconciliation_exceptions_open", "environment_id=?"),
        (&health::ATTENTION, "event_deliveries_by_state", "environment_id=? AND endpoint_id=? AND state=?"),
        (&health::ATTENTION, "provider_events_by_state", "environment_id=? AND state=?"),
        (&health::ATTENTION, "disputes_open", "environment_id=?"),
        (&health::ATTENTION, "transfers_to_approve", "environment_id=?"),
        (&health::ATTENTION, "config_proposals_open", "environment_id=?"),
        (&health::ATTENTION, "refunds_to_approve", "environment_id=?"),
        (&health::ATTENTION, "fund_requests_open", "environment_id=?"),
        (health::WALLETS, "PRIMARY KEY", "environment_id=?"),
        (health::SPENT, "PRIMARY KEY", "environment_id=? AND hour>? AND hour<?"),
        (diagnosis::BACKLOG, "card_payments_due", "due_at<?"),
        (diagnosis::BACKLOG, "transfers_due", "due_at<?"),
        (diagnosis::BACKLOG, "provider_events_due", "due_at<?"),
        (diagnosis::BACKLOG, "undigested_events", "event_id<?"),
        (&proposals::LIST, "sqlite_autoindex_config_proposals_1", "environment_id=? AND id<?"),
        (&proposals::LIST_OPEN, "config_proposals_open", "environment_id=? AND id<?"),
        (&funds::LIST, "sqlite_autoindex_fund_requests_1", "environment_id=? AND id<?"),
        (&funds::LIST_OPEN, "fund_requests_open", "environment_id=? AND id<?"),
        (
            &refund_approvals::LIST,
            "refunds_approvals",
            "environment_id=? AND approval_id>? AND approval_id<?",
        ),
        (&refund_approvals::LIST_OPEN, "refunds_to_approve", "environment_id=? AND approval_id<?"),
        (
            &transfer_approvals::LIST,
            "transfers_approvals",
            "environment_id=? AND approval_id>? AND approval_id<?",
        ),
        (&transfer_approvals::LIST_OPEN, "transfers_to_approve", "environment_id=? AND approval_id<?"),
        (
            transfer_approvals::APPROVED_ACCOUNT,
            "transfers_approved_accounts",
            "environment_id=? AND approval_account=?",
        ),
        (audit_log::OF_KEYS, "audit_log_by_place", "environment_id=? AND subject>? AND subject<?"),
        (&logged(AuditLogFilter::default()), "PRIMARY KEY", "rowid<?"),
        (&logged(by_user), "audit_log_by_user", "user_id=? AND sequence<?"),
        (&logged(by_subject), "audit_log_by_subject", "subject=? AND sequence<?"),
        (&recent_cards, "PRIMARY KEY", "rowid>?"),
        (&recent_transfers, "PRIMARY KEY", "rowid>?"),
        (&cards, "PRIMARY KEY", "environment_id=? AND id>? AND id<?"),
        (&transfers, "", "environment_id=? AND currency=?"),
    ]);
}
