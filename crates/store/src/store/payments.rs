//! Card payments, transactions, providers' events and discrepancies.

use async_trait::async_trait;
use tollgate_domain::{
    ProviderAccount, ServiceReference, Timestamp,
    card::CardOrder,
    id::{ApprovalId, EnvironmentId, ExceptionId, HoldActionId, PaymentId, RefundId, TransactionId},
    limit::LimitUse,
    transaction::Transaction,
};
use tollgate_engine::ports::{
    ApprovalQuery, CardPayment, Changed, Entry, Inserted, NewEvent, PaymentChange, PaymentFilter,
    PaymentReroute, PaymentStore, Progress, ProviderEvent, ProviderEventCursor, ProviderEventState, Received,
    RefundToApprove, Resolution, SettledProviderEvent, StoreError, StoredException, StoredProviderEvent,
    TransactionFilter, TransactionTotal,
};

use super::{SqlStore, port};
use crate::{
    record::Stored,
    session::{Driver, Mode, run},
    unit::Running,
    units::{
        accounts,
        claims::{self, Claim},
        events, exceptions, payment_change, payments, refund_approvals, reroute, timeline, transactions,
    },
    value::Id,
};

port! {
    impl PaymentStore {
        Write payments::insert_limited => insert_limited_payment(
            environment: EnvironmentId, order: &CardOrder, progress: &Progress, entries: &[Entry], new_events: &[NewEvent],
            limits: &[LimitUse]
        ) -> Inserted;
        Read payments::find => payment(environment: EnvironmentId, id: PaymentId) -> Option<CardPayment>;
        Read payments::of_object => payment_of_object(
            environment: EnvironmentId, provider: &str, object: &str
        ) -> Option<PaymentId>;
        Read payments::of_key => payment_of_key(environment: EnvironmentId, key: &[u8; 32]) -> Option<PaymentId>;
        Read refund_approvals::list => refund_approvals(
            environment: EnvironmentId, query: ApprovalQuery
        ) -> Vec<RefundToApprove>;
        Read refund_approvals::find => refund_approval(
            environment: EnvironmentId, id: ApprovalId
        ) -> Option<RefundToApprove>;
        Read payments::of_refund => payment_of_refund(environment: EnvironmentId, refund: RefundId) -> Option<PaymentId>;
        Read payments::of_hold_action => payment_of_hold_action(
            environment: EnvironmentId, action: HoldActionId
        ) -> Option<PaymentId>;
        Read payments::objects => objects_of_payment(environment: EnvironmentId, id: PaymentId) -> Vec<String>;
        Write reroute::reroute => reroute_payment(
            environment: EnvironmentId, id: PaymentId, reroute: &PaymentReroute
        ) -> Changed;
        Read payments::list => payments(
            environment: EnvironmentId, filter: PaymentFilter, before: Option<PaymentId>, limit: u32
        ) -> Vec<PaymentId>;
        Write accounts::set => set_account(
            environment: EnvironmentId, reference: ServiceReference, account: &ProviderAccount,
            from_revision: Option<u64>, entry: &Entry
        ) -> bool;

        Write timeline::add_line => add_to_timeline(
            environment: EnvironmentId, reference: ServiceReference, entry: &Entry
        ) -> bool;

        Read transactions::find => transaction(
            environment: EnvironmentId, reference: ServiceReference
        ) -> Option<Transaction>;
        Read transactions::list => transactions(
            environment: EnvironmentId, filter: &TransactionFilter, before: Option<TransactionId>, limit: u32
        ) -> Vec<Transaction>;
        Read transactions::totals => transaction_totals(
            environment: EnvironmentId, filter: &TransactionFilter, most: u32
        ) -> Option<Vec<TransactionTotal>>;
        Read timeline::of_reference => timeline(
            environment: EnvironmentId, reference: ServiceReference
        ) -> Vec<Entry>;

        WriteOnce events::receive => receive_provider_event(
            environment: EnvironmentId, event: &ProviderEvent, due: Timestamp
        ) -> Received;
        WriteOnce events::settle => settle_provider_event(environment: EnvironmentId, settled: &SettledProviderEvent) -> bool;
        WriteOnce events::retry => retry_stored_provider_event(
            environment: EnvironmentId, provider: &str, id: &str, now: Timestamp
        ) -> bool;

        Read exceptions::list => exceptions(
            environment: EnvironmentId, open_only: bool, before: Option<ExceptionId>, limit: u32
        ) -> Vec<StoredException>;
        Read exceptions::of_reference => exceptions_of(
            environment: EnvironmentId, reference: ServiceReference
        ) -> Vec<StoredException>;
        WriteOnce exceptions::resolve => resolve_exception(
            environment: EnvironmentId, id: ExceptionId, resolution: &Resolution
        ) -> bool;
    } and {
        async fn insert_payment(
            &self,
            environment: EnvironmentId,
            order: &CardOrder,
            progress: &Progress,
            entries: &[Entry],
            new_events: &[NewEvent],
        ) -> Result<Inserted, StoreError> {
            let store = self.together(order.id);
            run!(store, WriteOnce, payments::insert(environment, &order, &progress, &entries, &new_events)).await
        }

        async fn change_payment(
            &self,
            environment: EnvironmentId,
            id: PaymentId,
            change: &PaymentChange,
        ) -> Result<Changed, StoreError> {
            if change.counts.is_some() {
                return run!(self, Write, payment_change::change_and_count(environment, id, &change)).await;
            }
            run!(self.together(id), WriteOnce, payment_change::change(environment, id, &change)).await
        }

        async fn claim_payments(
            &self,
            now: Timestamp,
            until: Timestamp,
            limit: u32,
        ) -> Result<Vec<(EnvironmentId, PaymentId)>, StoreError> {
            claim(&*self.driver, claims::PAYMENTS, now, until, limit).await
        }

        async fn claim_follow_ups(
            &self,
            now: Timestamp,
            until: Timestamp,
            limit: u32,
        ) -> Result<Vec<(EnvironmentId, PaymentId)>, StoreError> {
            claim(&*self.driver, claims::FOLLOW_UPS, now, until, limit).await
        }

        async fn claim_provider_events(
            &self,
            now: Timestamp,
            until: Timestamp,
            limit: u32,
        ) -> Result<Vec<StoredProviderEvent>, StoreError> {
            if !run!(self.driver, Read, events::is_any_due(now)).await? {
                return Ok(Vec::new());
            }
            run!(self.driver, Write, events::claim(now, until, limit)).await
        }

        async fn provider_events(
            &self,
            environment: EnvironmentId,
            state: Option<ProviderEventState>,
            before: Option<&ProviderEventCursor>,
            limit: u32,
        ) -> Result<Vec<StoredProviderEvent>, StoreError> {
            let args = (environment, state, before.cloned(), limit);
            let list = self.driver.run(Mode::Snapshot, args, |session, (environment, state, before, limit)| {
                Running::reading(events::list(session, *environment, *state, before.as_ref(), *limit))
            });
            list.await
        }
    }
}

/// Asks first whether anything is due.
pub(super) async fn claim<D: Driver, T: Id + Stored + Ord + Send + Sync + 'static>(
    driver: &D,
    claim: Claim,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<(EnvironmentId, T)>, StoreError> {
    if !run!(driver, Read, claims::is_any_due(claim, now)).await? {
        return Ok(Vec::new());
    }
    run!(driver, Write, claims::claim(claim, now, until, limit)).await
}
