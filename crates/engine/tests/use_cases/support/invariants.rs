//! Invariants of a settled world, whatever went wrong before.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::sleep;
use tollgate_domain::{
    PaymentMethod, ServiceReference,
    ach::AchProviderStatus,
    approval::ApprovalState,
    card::{AttemptState, Preparation, ProviderStatus},
    event::EventKind,
    id::PaymentId,
    refund::RefundReport,
    routing::RouteOutcome,
    transaction::{ReportKind, Status, Transaction},
};
use tollgate_engine::ports::{
    ApprovalQuery, AuditLogFilter, AuditScope, CardPayment, DeliveryQuery, DeliveryState, Event, EventQuery,
    EventsFrom, PaymentFilter, ProviderEventState, TransactionFilter, Transfer,
};

use super::{
    faults::lock,
    provider::{BankTransfer, Records, given_back},
    world::World,
};

/// More than any test creates of anything.
const MANY: u32 = 100;
/// Seconds between rounds of the resolver: soon at first, and long enough for every retry.
const PAUSES: [u64; 17] =
    [1, 3, 10, 30, 60, 60, 120, 300, 300, 600, 600, 600, 600, 600, 3_600, 7 * 3_600, 24 * 3_600];

impl World {
    /// Runs resolver and delivery until there is nothing left to do.
    pub(crate) async fn settle(&self) {
        self.providers.records().unreachable.clear();
        let mut unsettled = Vec::new();
        for pause in PAUSES {
            sleep(Duration::from_secs(pause)).await;
            self.resolve().await;
            self.deliver().await;
            unsettled = self.unsettled().await;
            if unsettled.is_empty() {
                return;
            }
        }
        panic!("there is still: {}", unsettled.join("; "));
    }

    /// What is not finished.
    async fn unsettled(&self) -> Vec<String> {
        let (store, environment) = (&self.store, self.environment);
        let mut found = Vec::new();
        for state in [ProviderEventState::Waiting, ProviderEventState::Parked] {
            let events = store.provider_events(environment, Some(state), None, MANY).await.unwrap();
            found.extend(events.into_iter().map(|it| format!("event {} {}", it.event.id, it.note)));
        }
        for payment in self.payments().await {
            let is_charging = payment.attempts.iter().any(|attempt| attempt.state == AttemptState::Open);
            // What has left its provider waits for its caller.
            let has_left = payment.order.is_leaving() && payment.progress.object.is_none();
            let is_preparing = payment.progress.preparation == Preparation::Preparing && !has_left;
            let open = payment.refunds.iter().filter(|it| it.status.is_open() && !it.waits_for_approval());
            found.extend(open.map(|it| format!("refund {}", it.id)));
            let open = payment.hold_actions.iter().filter(|it| it.status.is_open());
            found.extend(open.map(|it| format!("{} {}", it.kind.as_str(), it.id)));
            let is_over = self.engine().clock().now() >= payment.order.expires_at
                && payment.progress.preparation == Preparation::Prepared
                && payment.transaction.is_none();
            if is_charging || is_preparing || is_over || payment.progress.waiting.is_some() {
                found.push(format!("{} {:?}", payment.order.id, payment.progress));
            }
        }
        for transfer in store.waiting_transfers(environment, None, MANY).await.unwrap() {
            found.push(format!("{} {:?}", transfer.order.id, transfer.progress.waiting));
        }
        let unannounced = self.waiting_for_people().await.into_iter().filter(|it| it.progress.due.is_some());
        found.extend(unannounced.map(|it| format!("{} waits for people who do not know", it.order.id)));
        found.extend(self.differences().await);
        let query = DeliveryQuery { state: Some(DeliveryState::Waiting), ..DeliveryQuery::default() };
        for delivery in store.deliveries(environment, query, None, MANY).await.unwrap() {
            found.push(format!("delivery of {}", delivery.event.id));
        }
        found
    }

    pub(crate) async fn transactions(&self) -> Vec<Transaction> {
        let filter = TransactionFilter::default();
        self.store.transactions(self.environment, &filter, None, MANY).await.unwrap()
    }

    pub(crate) async fn payments(&self) -> Vec<CardPayment> {
        let ids = self.store.payments(self.environment, PaymentFilter::default(), None, MANY).await.unwrap();
        let mut payments = Vec::new();
        for id in ids {
            payments.push(self.payment(id).await);
        }
        payments
    }

    /// How many discrepancies there are about a payment.
    pub(crate) async fn exceptions(&self, id: PaymentId) -> usize {
        let reference = ServiceReference::Card(id);
        self.store.exceptions_of(self.environment, reference).await.unwrap().len()
    }

    /// All events, oldest first.
    pub(crate) async fn events(&self) -> Vec<Event> {
        let listing =
            self.store.list_events(self.environment, EventQuery::default(), EventsFrom::Oldest, MANY);
        listing.await.unwrap().unwrap()
    }

    /// The types of one payment's events, oldest first.
    pub(crate) async fn event_kinds(&self, reference: ServiceReference) -> Vec<&'static str> {
        let events = self.events().await;
        events
            .iter()
            .filter(|event| event.reference == Some(reference))
            .map(|event| event.kind.as_str())
            .collect()
    }

    /// Checks every invariant.
    pub(crate) async fn check(&self) {
        for scope in [AuditScope::Recent, AuditScope::Everything] {
            let audit = self.store.audit(scope, self.engine().clock().now()).await.unwrap();
            assert!(audit.findings.is_empty(), "{scope:?}: {:?}", audit.findings);
        }
        assert_eq!(self.differences().await, Vec::<String>::new());
        self.check_preparations().await;
        self.check_events().await;
        self.check_deliveries().await;
        self.check_audit_log().await;
    }

    /// What operators asked of payments is in the audit log as often as it was recorded.
    async fn check_audit_log(&self) {
        for transaction in self.transactions().await {
            let reference = transaction.reference;
            let timeline = self.store.timeline(self.environment, reference).await.unwrap();
            let recorded = timeline.iter().filter(|line| match line.kind.as_str() {
                "refund_requested" | "hold_requested" => true,
                "cancel_requested" => !line.detail.contains("\"actor\":null"),
                _ => false,
            });
            assert_eq!(self.audited_requests(reference).await, recorded.count(), "{reference}: {timeline:?}");
        }
    }

    /// How often the audit log says that an operator asked something of a payment.
    pub(crate) async fn audited_requests(&self, reference: ServiceReference) -> usize {
        let (environment, subject) = (Some(self.environment), Some(reference.to_string()));
        let filter = AuditLogFilter { environment, subject, ..AuditLogFilter::default() };
        let entries = self.store.audit_log(&filter, None, MANY).await.unwrap();
        let asked = ["payment.refund", "payment.capture", "payment.void", "transfer.cancel"];
        entries.iter().filter(|found| asked.contains(&found.entry.action.as_str())).count()
    }

    async fn waiting_for_people(&self) -> Vec<Transfer> {
        let waiting = ApprovalQuery { state: Some(ApprovalState::Required), before: None, limit: MANY };
        self.store.approvals(self.environment, waiting).await.unwrap()
    }

    /// Where our status differs from the provider's record.
    async fn differences(&self) -> Vec<String> {
        let waiting = self.waiting_for_people().await;
        let waits = |reference| waiting.iter().any(|it| ServiceReference::Ach(it.order.id) == reference);
        let mut expected = accepted(&self.providers.records());
        let mut found = Vec::new();
        for transaction in self.transactions().await {
            let (reference, status) = (transaction.reference.to_string(), transaction.state.status);
            let at_provider = expected.remove(&reference);
            let fits = match at_provider {
                Some(taken) => taken == status,
                None if waits(transaction.reference) => status == Status::Pending,
                // The provider has nothing, and the status says so.
                None => matches!(status, Status::Failed | Status::Canceled),
            };
            if !fits {
                found.push(format!("{reference} is {status:?}, and at the provider {at_provider:?}"));
            }
        }
        found.extend(expected.into_iter().map(|taken| format!("only the provider has {taken:?}")));
        found
    }

    /// Only a prepared payment has a page that can be paid.
    async fn check_preparations(&self) {
        let payments = self.payments().await;
        let records = self.providers.records();
        for page in &records.pages {
            let payment = payments.iter().find(|payment| payment.order.id.to_string() == page.reference);
            let payment = payment.unwrap_or_else(|| panic!("there is no payment for {page:?}"));
            let is_payable = matches!(page.status, ProviderStatus::NotStarted | ProviderStatus::Failed(_));
            let is_prepared = payment.progress.preparation == Preparation::Prepared;
            assert!(is_prepared || !is_payable, "{page:?} can be paid, and is {:?}", payment.progress);
        }
    }

    /// Each payment's events are possible moves, and the last one is its status.
    async fn check_events(&self) {
        let mut statuses: BTreeMap<ServiceReference, Vec<Status>> = BTreeMap::new();
        let mut prepared: BTreeMap<ServiceReference, u32> = BTreeMap::new();
        for event in self.events().await {
            match (event.kind, event.reference) {
                (EventKind::Transaction(status), Some(reference)) => {
                    statuses.entry(reference).or_default().push(status);
                }
                (EventKind::PaymentPrepared, Some(reference)) => *prepared.entry(reference).or_default() += 1,
                _ => {}
            }
        }
        for transaction in self.transactions().await {
            let reference = transaction.reference;
            let reported = statuses.remove(&reference).unwrap_or_default();
            for (from, to) in reported.iter().zip(reported.iter().skip(1)) {
                assert!(is_possible(reference.method(), *from, *to), "{reference}: {reported:?}");
            }
            assert_eq!(reported.last(), Some(&transaction.state.status), "{reference}: {reported:?}");
        }
        assert!(statuses.is_empty(), "events of unknown payments: {statuses:?}");
        for payment in self.payments().await {
            let reported = prepared.remove(&ServiceReference::Card(payment.order.id)).unwrap_or_default();
            let was_prepared = payment.progress.prepared_at.is_some();
            // Once at every provider that it was switched away from.
            let left = payment.order.route.attempts.iter().filter(|it| it.outcome == RouteOutcome::Declined);
            let left = left.filter(|it| it.provider != payment.order.provider).count();
            let expected = usize::from(was_prepared) + left;
            assert_eq!(
                reported,
                u32::try_from(expected).unwrap(),
                "{} {:?}",
                payment.order.id,
                payment.progress
            );
        }
    }

    /// Every event was delivered at least once, always with the same body.
    async fn check_deliveries(&self) {
        if self.store.endpoints(self.environment).await.unwrap().is_empty() {
            return;
        }
        let events = self.events().await;
        let received = lock(&self.received);
        for event in &events {
            let id = event.id.to_string();
            let mut bodies: Vec<_> = received.iter().filter(|(known, _)| *known == id).collect();
            bodies.dedup();
            assert_eq!(bodies.len(), 1, "{id} {} arrived as {bodies:?}", event.kind);
        }
        let is_known = |id: &str| events.iter().any(|event| event.id.to_string() == id);
        assert!(received.iter().all(|(id, _)| is_known(id)), "unknown events were delivered: {received:?}");
    }
}

/// What the providers have accepted, by our reference, and the status it stands for.
fn accepted(records: &Records) -> BTreeMap<String, Status> {
    let mut found = BTreeMap::new();
    let mut take = |reference: &str, status| {
        let before = found.insert(reference.to_owned(), status);
        assert_eq!(before, None, "{reference} was accepted twice: {records:?}");
    };
    for transfer in &records.transfers {
        take(&transfer.key, transfer_status(transfer));
    }
    let paid = |amount: u64, refunds: &[RefundReport]| {
        if amount == given_back(refunds) { Status::Refunded } else { Status::Succeeded }
    };
    let pages = records.pages.iter().map(|it| (&it.status, &it.reference, it.amount, &it.refunds));
    let sales = records.sales.iter().map(|it| (&it.status, &it.reference, it.amount, &it.refunds));
    for (status, reference, amount, refunds) in pages.chain(sales) {
        match status {
            ProviderStatus::Succeeded => take(reference, paid(amount, refunds)),
            ProviderStatus::Authorized { .. } => take(reference, Status::Authorized),
            _ => {}
        }
    }
    found
}

fn transfer_status(transfer: &BankTransfer) -> Status {
    match transfer.status {
        AchProviderStatus::Settled => Status::Succeeded,
        AchProviderStatus::Returned { .. } | AchProviderStatus::Rejected(_) => Status::Failed,
        AchProviderStatus::Canceled => Status::Canceled,
        _ => Status::Processing,
    }
}

fn is_possible(method: PaymentMethod, from: Status, to: Status) -> bool {
    let is_declined_again = (method, from, to) == (PaymentMethod::WebCard, Status::Failed, Status::Failed);
    let is_returned = method == PaymentMethod::Ach && from.may_move_to(to, ReportKind::AchReturn);
    let is_refund_back = (from, to) == (Status::Refunded, Status::Succeeded);
    is_declined_again || is_refund_back || is_returned || from.may_move_to(to, ReportKind::of(method))
}
