//! A database from before events were kept: what is in it is found and counted like all that comes after.
//!
//! Each store's own tests put the schema back in between.

use tollgate_domain::{
    PaymentMethod, ServiceReference,
    books::{PaymentRecords, unposted},
    event::EventKind,
    id::{EnvironmentId, PaymentId, PostingId},
    ledger::TransferStep,
    search::{amount_term, customer_term},
    statement::Month,
    transaction::Status,
};
use tollgate_engine::ports::{Event, NewCardPosting, Resend, ResendWhich, Resent};

use super::{
    ALL, Nodes, at, minor,
    outbox_samples::SUCCEEDED,
    samples::{card, in_status},
    transfer_samples::ach,
};

/// Takes the tables of that migration away and what later ones did, and their lines in the record; works on both
/// databases.
pub const UNDO: &str = "ALTER TABLE transactions DROP COLUMN dispute_currency;
     ALTER TABLE disputes DROP COLUMN currency;
     DROP INDEX transactions_partly_refunded;
     DROP INDEX transactions_disputed;
     DROP INDEX transactions_charged;
     ALTER TABLE transactions DROP COLUMN charged;
     ALTER TABLE card_payments DROP COLUMN card_fee;
     ALTER TABLE transactions DROP COLUMN card;
     ALTER TABLE transfers DROP COLUMN timeline;
     ALTER TABLE card_payments DROP COLUMN timeline;
     INSERT INTO ledger_entries (environment_id, currency, posting_id, account, amount_minor)
         SELECT environment_id, currency, posting_id, account, amount_minor FROM posting_entries;
     DROP VIEW posting_entries;
     ALTER TABLE ledger_postings DROP COLUMN funding_minor;
     ALTER TABLE ledger_postings DROP COLUMN available_minor;
     ALTER TABLE ledger_postings DROP COLUMN reserved_minor;
     ALTER TABLE ledger_postings DROP COLUMN settled_out_minor;
     ALTER TABLE ledger_postings DROP COLUMN platform_fees_minor;
     ALTER TABLE ledger_postings DROP COLUMN organization_fees_minor;
     DROP TABLE statement_position;
     DROP TABLE statement_sums;
     DROP TABLE audit_checkpoint;
     DROP TABLE audit_balances;
     DROP TABLE audit_log;
     DROP TABLE audit_head;
     ALTER TABLE card_payments DROP COLUMN erased_at;
     ALTER TABLE transfers DROP COLUMN erased_at;
     DROP TABLE request_log;
     DROP TABLE quote_counts;
     ALTER TABLE card_payments DROP COLUMN route;
     ALTER TABLE transfers DROP COLUMN route;
     ALTER TABLE transfers DROP COLUMN recipient_kind;
     ALTER TABLE transfers DROP COLUMN purpose;
     ALTER TABLE transfers DROP COLUMN statement_descriptor;
     ALTER TABLE transfers DROP COLUMN cancel_requested_at;
     ALTER TABLE transfers DROP COLUMN rail;
     ALTER TABLE api_keys DROP COLUMN name;
     ALTER TABLE api_keys DROP COLUMN endpoints;
     ALTER TABLE api_keys DROP COLUMN addresses;
     ALTER TABLE api_keys DROP COLUMN last_used_at;
     DROP TABLE fund_requests;
     DROP INDEX refunds_approvals;
     DROP INDEX refunds_to_approve;
     ALTER TABLE refunds DROP COLUMN approval_id;
     ALTER TABLE refunds DROP COLUMN approval_state;
     ALTER TABLE refunds DROP COLUMN approval;
     DROP TABLE config_proposals;
     DROP INDEX transfers_approvals;
     DROP INDEX transfers_to_approve;
     DROP INDEX transfers_approved_accounts;
     ALTER TABLE transfers DROP COLUMN approval_id;
     ALTER TABLE transfers DROP COLUMN approval_state;
     ALTER TABLE transfers DROP COLUMN approval;
     ALTER TABLE transfers DROP COLUMN approval_account;
     ALTER TABLE user_tokens DROP COLUMN issuers;
     DROP TABLE user_tokens;
     DROP TABLE users;
     DROP TABLE limit_uses;
     DROP TABLE limit_totals;
     DROP TABLE sealing_keys;
     DROP INDEX transfers_with_bank_details;
     DROP TABLE ended_sessions;
     DROP TABLE card_postings;
     DROP TABLE unposted_payments;
     DROP TABLE disputes;
     ALTER TABLE transactions DROP COLUMN dispute_respond_by;
     ALTER TABLE ledger_postings DROP COLUMN provider;
     DROP TABLE customer_tokens;
     DROP TABLE provider_checks;
     DROP TABLE credential_accounts;
     DROP TABLE erasure_wishes;
     DROP TABLE refunds;
     DROP TABLE hold_actions;
     ALTER TABLE card_payments DROP COLUMN capture;
     ALTER TABLE transactions DROP COLUMN hold;
     DROP INDEX card_payments_by_key;
     ALTER TABLE card_payments DROP COLUMN key_digest;
     DROP INDEX provider_objects_by_payment;
     DROP INDEX card_payments_follow_ups;
     ALTER TABLE card_payments DROP COLUMN follow_up_at;
     ALTER TABLE card_payments DROP COLUMN account;
     ALTER TABLE card_attempts DROP COLUMN account;
     ALTER TABLE transfers DROP COLUMN account;
     DROP INDEX transactions_by_kind;
     DROP INDEX transactions_by_provider;
     CREATE INDEX transactions_by_status ON transactions (environment_id, status, id);
     DROP TABLE out_events;
     DROP TABLE IF EXISTS event_sequence;
     DROP TABLE IF EXISTS unsequenced_events;
     DROP TABLE undigested_events;
     DROP TABLE event_deliveries;
     DROP TABLE event_endpoints;
     DROP TABLE search_terms;
     DROP TABLE activity;
     DROP TABLE schema_changes;
     DELETE FROM schema_migrations WHERE version >= 5";

/// What was there before.
pub struct Before {
    environment: EnvironmentId,
    payment: PaymentId,
    paid: ServiceReference,
    sent: ServiceReference,
}

pub async fn before(nodes: &Nodes) -> Before {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 5_000, "f").await;
    let id = nodes.payment(environment).await;
    nodes.record(environment, id, in_status(Status::Processing)).await;
    nodes.record(environment, id, in_status(Status::Succeeded)).await;
    // Nothing came of this one, so there is nothing to tell.
    nodes.payment(environment).await;
    let new = nodes.new_transfer(environment);
    nodes.reserve(&new).await;
    nodes.change_transfer(&new, &nodes.transfer_step(0, TransferStep::Settle, &new.order.fee)).await;
    Before { environment, payment: id, paid: card(id), sent: ach(new.order.id) }
}

pub async fn after(nodes: &Nodes, before: &Before) {
    let environment = before.environment;
    let told = nodes.all_events(environment).await;
    let told: Vec<_> = told.iter().map(|event| (event.kind, event.reference, event.state.clone())).collect();
    assert_eq!(told, [(SUCCEEDED, Some(before.paid), None), (SUCCEEDED, Some(before.sent), None)]);
    for Event { reference, at, id, .. } in nodes.all_events(environment).await {
        let transaction = nodes.two.transaction(environment, reference.unwrap()).await.unwrap().unwrap();
        assert_eq!(at, transaction.updated_at);
        let millis = u64::try_from(at.unix_millis()).unwrap().to_be_bytes();
        assert_eq!(id.to_bytes()[..6], millis[2..], "the id begins with the event's moment");
    }
    assert!(nodes.all_deliveries(environment).await.is_empty());
    assert_eq!(nodes.two.index_events(9).await.unwrap(), 2);
    let found = async |term: Option<String>| {
        let found = nodes.two.find_payments(environment, &term.unwrap(), None, ALL).await.unwrap();
        found.into_iter().map(|found| found.reference).collect::<Vec<_>>()
    };
    assert_eq!(found(Some(amount_term(minor(10_000)))).await, [before.paid]);
    assert_eq!(found(customer_term("lovelace")).await, [before.sent]);
    let counted = nodes.two.activity(environment, at(-1), at(1)).await.unwrap();
    let counted: Vec<_> = counted.iter().map(|line| (line.kind, line.count)).collect();
    assert_eq!(counted, [(SUCCEEDED, 1), (SUCCEEDED, 1)], "of either method");
    // What was paid before there were books is on the list, until it is posted once.
    assert_eq!(nodes.two.unposted_payments(9).await.unwrap(), [(environment, before.payment)]);
    nodes.audit_is_clean().await;
    let payment = nodes.read(environment, before.payment).await;
    let records = PaymentRecords {
        fee: &payment.order.fee,
        status: payment.transaction.as_ref().map(|transaction| transaction.state.status),
        refunds: &[],
        disputes: &[],
    };
    let posting = unposted(records, &[]).remove(0);
    let posting = [NewCardPosting { id: PostingId::new(at(1), [3; 10]), at: at(1), posting }];
    let post = async |revision: u64| {
        nodes.one.post_payment(environment, before.payment, revision, &posting).await.unwrap()
    };
    assert!(!post(payment.revision + 1).await, "the payment has changed meanwhile");
    assert!(post(payment.revision).await);
    assert!(!post(payment.revision).await, "once is enough");
    assert_eq!(nodes.two.unposted_payments(9).await.unwrap(), []);
    assert_eq!(nodes.two.card_postings(environment, before.payment).await.unwrap(), posting);
    nodes.audit_is_clean().await;
    // A transfer's fees are found by provider.
    let lines = nodes.two.statement(environment, Month::of(at(0))).await.unwrap();
    let providers: Vec<_> = lines.iter().map(|line| (line.method, line.provider.is_empty())).collect();
    assert_eq!(providers, [(PaymentMethod::WebCard, false), (PaymentMethod::Ach, false)]);
    // Work goes on, and what was before can be sent, too.
    nodes.endpoint(environment, &["*"]).await;
    nodes.append_event(environment, EventKind::PaymentPrepared).await;
    let which = ResendWhich::Between { from: at(0), until: at(90_000), parked_only: false, after: None };
    let resent = nodes.one.resend(environment, Resend { endpoint: None, which }, at(9), 9).await.unwrap();
    assert!(matches!(resent, Resent::Done { deliveries: 3, .. }), "{resent:?}");
    assert_eq!(nodes.all_deliveries(environment).await.len(), 3);
}
