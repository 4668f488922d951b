//! The real store, reached through [`Faults`].

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::time::sleep;
use tollgate_domain::{
    Currency, PaymentMethod, ProviderAccount, ServiceReference, Timestamp,
    approval::Approval,
    audit_log::{AuditChain, AuditEntry, AuditHead, NewAuditEntry},
    card::CardOrder,
    id::{
        ApplicationId, ApprovalId, EndpointId, EnvironmentId, EventId, ExceptionId, HoldActionId, KeyId,
        OrganizationId, PaymentId, PostingId, RefundId, RequestId, SealingKeyId, TokenId, TransactionId,
        TransferId, UserId,
    },
    ledger::{Balances, Movement},
    limit::LimitUse,
    people::{Access, SignOnSubject, User, UserToken},
    statement::{Month, StatementLine},
    tenant::{Application, Environment, KeyRecord, Organization},
    transaction::{Dispute, Transaction},
};
use tollgate_engine::ports::*;
use tollgate_vault::Digester;

use super::{
    clock::TestClock,
    faults::{CallKind, Fault, Faults, Life},
};

/// More than a quarter of a lease.
const LATE: Duration = Duration::from_secs(15);

/// One process's connection to the store.
pub(crate) struct FaultyStore {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) life: Arc<Life>,
    pub(crate) clock: TestClock,
}

impl FaultyStore {
    async fn call<T>(
        &self,
        name: &'static str,
        kind: CallKind,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        if self.life.is_over() {
            return self.life.die().await;
        }
        let fault = self.faults.strike(name, kind);
        let unknown = || Err(StoreError::Unknown("its answer was lost".to_owned()));
        match fault {
            Some(Fault::StoreUnavailable | Fault::StoreGone) => {
                return Err(StoreError::Unavailable("it is away".to_owned()));
            }
            Some(Fault::StoreUnknown { committed: false }) => return unknown(),
            Some(Fault::StoreLate) => sleep(LATE).await,
            _ => {}
        }
        let done = work.await;
        match fault {
            Some(Fault::StoreUnknown { committed: true }) => unknown(),
            Some(Fault::Crash) => self.life.die().await,
            _ => done,
        }
    }
}

macro_rules! through {
    ($port:ident { $($kind:ident $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)* } $($written:item)*) => {
        #[async_trait]
        impl $port for FaultyStore {
            $(
                async fn $name(&self, $($argument: $type),*) -> Result<$result, StoreError> {
                    self.call(stringify!($name), CallKind::$kind, self.inner.$name($($argument),*)).await
                }
            )*
            $($written)*
        }
    };
}

through! {
    Store {
        StoreRead probe() -> ();
        StoreWrite pin(name: &str, value: &str) -> String;
        StoreRead change_signal() -> Box<dyn ChangeSignal>;
        StoreWrite create_organization(organization: &Organization) -> ();
        StoreWrite create_application(application: &Application) -> Created;
        StoreWrite create_environment(environment: &Environment) -> Created;
        StoreRead organizations(page: Page<OrganizationId>) -> Vec<Organization>;
        StoreRead organization(id: OrganizationId) -> Option<Organization>;
        StoreRead application(id: ApplicationId) -> Option<Application>;
        StoreRead applications(organization: OrganizationId, page: Page<ApplicationId>) -> Vec<Application>;
        StoreRead environments(application: ApplicationId, page: Page<EnvironmentId>) -> Vec<Environment>;
        StoreRead environment(id: EnvironmentId) -> Option<Environment>;
        StoreWrite issue_key(key: &KeyRecord) -> Issued;
        StoreWrite revoke_key(environment: EnvironmentId, key: KeyId, at: Timestamp) -> Revoked;
        StoreWrite rotate_key(
            environment: EnvironmentId, key: KeyId, replacement: &KeyRecord, old_ends_at: Timestamp
        ) -> Rotated;
        StoreRead key(environment: EnvironmentId, key: KeyId) -> Option<KeyRecord>;
        StoreRead keys(environment: EnvironmentId, page: Page<KeyId>) -> Vec<KeyRecord>;
        StoreWrite put_config(environment: EnvironmentId, change: &ConfigChange) -> ConfigPut;
        StoreRead config(environment: EnvironmentId) -> Option<ConfigVersion>;
        StoreRead config_version(environment: EnvironmentId, version: u64) -> Option<ConfigVersion>;
        StoreRead config_history(
            environment: EnvironmentId, before: Option<u64>, limit: u32
        ) -> Vec<ConfigVersionSummary>;
        StoreWrite move_funds(environment: EnvironmentId, movement: &Movement) -> Moved;
        StoreRead balances(environment: EnvironmentId, currency: Currency) -> Option<Balances>;
        StoreRead wallet_currencies(environment: EnvironmentId) -> Vec<Currency>;
        StoreRead ledger(
            environment: EnvironmentId, currency: Currency, before: Option<PostingId>, limit: u32
        ) -> Vec<LedgerLine>;
    }

    async fn now(&self) -> Result<Timestamp, StoreError> {
        self.call("now", CallKind::StoreRead, async { Ok(self.clock.time()) }).await
    }

    async fn directory_since(&self, since: DirectoryVersion) -> Result<Delta, StoreError> {
        let reading = self.inner.directory_since(since);
        let mut delta = self.call("directory_since", CallKind::StoreRead, reading).await?;
        // Earlier runs have left their environments in the same store.
        delta.environments.retain(|it| self.clock.is_ours(it.environment.created_at));
        Ok(delta)
    }
}

through! {
    PaymentStore {
        StoreWrite insert_payment(
            environment: EnvironmentId, order: &CardOrder, progress: &Progress, entries: &[Entry], new_events: &[NewEvent]
        ) -> Inserted;
        StoreWrite insert_limited_payment(
            environment: EnvironmentId, order: &CardOrder, progress: &Progress, entries: &[Entry],
            new_events: &[NewEvent], limits: &[LimitUse]
        ) -> Inserted;
        StoreRead payment(environment: EnvironmentId, id: PaymentId) -> Option<CardPayment>;
        StoreRead payment_of_object(
            environment: EnvironmentId, provider: &str, object: &str
        ) -> Option<PaymentId>;
        StoreRead payment_of_key(environment: EnvironmentId, key: &[u8; 32]) -> Option<PaymentId>;
        StoreRead refund_approvals(environment: EnvironmentId, query: ApprovalQuery) -> Vec<RefundToApprove>;
        StoreRead refund_approval(environment: EnvironmentId, id: ApprovalId) -> Option<RefundToApprove>;
        StoreRead payment_of_refund(environment: EnvironmentId, refund: RefundId) -> Option<PaymentId>;
        StoreRead payment_of_hold_action(
            environment: EnvironmentId, action: HoldActionId
        ) -> Option<PaymentId>;
        StoreRead objects_of_payment(environment: EnvironmentId, id: PaymentId) -> Vec<String>;
        StoreWrite reroute_payment(
            environment: EnvironmentId, id: PaymentId, reroute: &PaymentReroute
        ) -> Changed;
        StoreWrite change_payment(
            environment: EnvironmentId, id: PaymentId, change: &PaymentChange
        ) -> Changed;
        StoreRead payments(
            environment: EnvironmentId, filter: PaymentFilter, before: Option<PaymentId>, limit: u32
        ) -> Vec<PaymentId>;
        StoreWrite claim_payments(
            now: Timestamp, until: Timestamp, limit: u32
        ) -> Vec<(EnvironmentId, PaymentId)>;
        StoreWrite claim_follow_ups(
            now: Timestamp, until: Timestamp, limit: u32
        ) -> Vec<(EnvironmentId, PaymentId)>;
        StoreRead transaction(environment: EnvironmentId, reference: ServiceReference) -> Option<Transaction>;
        StoreRead transactions(
            environment: EnvironmentId, filter: &TransactionFilter, before: Option<TransactionId>, limit: u32
        ) -> Vec<Transaction>;
        StoreRead transaction_totals(
            environment: EnvironmentId, filter: &TransactionFilter, most: u32
        ) -> Option<Vec<TransactionTotal>>;
        StoreRead timeline(environment: EnvironmentId, reference: ServiceReference) -> Vec<Entry>;
        StoreWrite receive_provider_event(
            environment: EnvironmentId, event: &ProviderEvent, due: Timestamp
        ) -> Received;
        StoreWrite claim_provider_events(
            now: Timestamp, until: Timestamp, limit: u32
        ) -> Vec<StoredProviderEvent>;
        StoreWrite settle_provider_event(environment: EnvironmentId, settled: &SettledProviderEvent) -> bool;
        StoreWrite retry_stored_provider_event(
            environment: EnvironmentId, provider: &str, id: &str, now: Timestamp
        ) -> bool;
        StoreRead provider_events(
            environment: EnvironmentId, state: Option<ProviderEventState>, before: Option<&ProviderEventCursor>, limit: u32
        ) -> Vec<StoredProviderEvent>;
        StoreRead exceptions(
            environment: EnvironmentId, open_only: bool, before: Option<ExceptionId>, limit: u32
        ) -> Vec<StoredException>;
        StoreRead exceptions_of(
            environment: EnvironmentId, reference: ServiceReference
        ) -> Vec<StoredException>;
        StoreWrite resolve_exception(
            environment: EnvironmentId, id: ExceptionId, resolution: &Resolution
        ) -> bool;
        StoreWrite add_to_timeline(environment: EnvironmentId, reference: ServiceReference, entry: &Entry) -> bool;
        StoreWrite set_account(
            environment: EnvironmentId, reference: ServiceReference, account: &ProviderAccount,
            from_revision: Option<u64>, entry: &Entry
        ) -> bool;
    }
}

through! {
    TransferStore {
        StoreWrite reserve_transfer(environment: EnvironmentId, new: &NewTransfer) -> Reserved;
        StoreWrite keep_customer_token(environment: EnvironmentId, new: &KeyedToken) -> Option<KeyedToken>;
        StoreRead transfer(environment: EnvironmentId, id: TransferId) -> Option<Transfer>;
        StoreRead transfer_of_object(
            environment: EnvironmentId, provider: &str, object: &str
        ) -> Option<Transfer>;
        StoreWrite change_transfer(
            environment: EnvironmentId, id: TransferId, change: &TransferChange
        ) -> Changed;
        StoreWrite cancel_reservation(
            environment: EnvironmentId, id: TransferId, cancel: &ReservationCancel
        ) -> Changed;
        StoreWrite claim_transfers(
            now: Timestamp, until: Timestamp, limit: u32
        ) -> Vec<(EnvironmentId, TransferId)>;
        StoreRead approvals(environment: EnvironmentId, query: ApprovalQuery) -> Vec<Transfer>;
        StoreRead approval(environment: EnvironmentId, id: ApprovalId) -> Option<Transfer>;
        StoreRead is_approved_account(environment: EnvironmentId, account: &[u8; 32]) -> bool;
        StoreRead waiting_transfers(
            environment: EnvironmentId, before: Option<TransactionId>, limit: u32
        ) -> Vec<Transfer>;
        StoreWrite audit(scope: AuditScope, now: Timestamp) -> Audit;
    }
}

through! {
    OutboxStore {
        StoreWrite add_endpoint(environment: EnvironmentId, endpoint: &Endpoint, most: u32) -> EndpointAdded;
        StoreRead endpoints(environment: EnvironmentId) -> Vec<Endpoint>;
        StoreRead endpoint(environment: EnvironmentId, id: EndpointId) -> Option<Endpoint>;
        StoreWrite change_endpoint(environment: EnvironmentId, endpoint: &Endpoint) -> EndpointChanged;
        StoreWrite remove_endpoint(environment: EnvironmentId, id: EndpointId) -> bool;
        StoreRead list_events(
            environment: EnvironmentId, query: EventQuery, from: EventsFrom, limit: u32
        ) -> Option<Vec<Event>>;
        StoreRead find_event(environment: EnvironmentId, id: EventId) -> Option<Event>;
        StoreRead last_circuit_event(environment: EnvironmentId, provider: &str) -> Option<Event>;
        StoreWrite append_circuit_event(
            environment: EnvironmentId, event: &NewCircuitEvent, last: Option<EventId>
        ) -> bool;
        StoreRead audit_head_subscribers() -> Vec<EnvironmentId>;
        StoreWrite append_audit_head_event(
            environment: EnvironmentId, event: &NewAuditHeadEvent, unless_since: Timestamp
        ) -> bool;
        StoreRead deliveries(
            environment: EnvironmentId, query: DeliveryQuery, before: Option<(EventId, EndpointId)>, limit: u32
        ) -> Vec<EventDelivery>;
        StoreWrite claim_deliveries(
            now: Timestamp, until: Timestamp, each: u32, limit: u32
        ) -> Vec<ClaimedDelivery>;
        StoreWrite settle_delivery(
            environment: EnvironmentId, endpoint: EndpointId, event: EventId, attempted: &Attempted
        ) -> bool;
        StoreWrite resend(environment: EnvironmentId, resend: Resend, now: Timestamp, limit: u32) -> Resent;
    }
}

through! {
    ReportingStore {
        StoreWrite index_events(limit: u32) -> u32;
        StoreWrite index_payment(environment: EnvironmentId, id: PaymentId) -> ();
        StoreRead charged_payments(environment: EnvironmentId, from: Timestamp, until: Timestamp, after: Option<TransactionId>, limit: u32) -> Vec<ChargedPayment>;
        StoreRead find_payments(
            environment: EnvironmentId, term: &str, before: Option<SearchCursor>, limit: u32
        ) -> Vec<SearchHit>;
        StoreRead search_terms(environment: EnvironmentId, prefix: &str, limit: u32) -> Vec<String>;
        StoreRead references_between(
            environment: EnvironmentId, first: ServiceReference, last: ServiceReference, limit: u32
        ) -> Vec<ServiceReference>;
        StoreRead payment_of_request(environment: EnvironmentId, request: RequestId) -> Option<ServiceReference>;
        StoreRead transfers_of_objects(environment: EnvironmentId, prefix: &str, limit: u32) -> Vec<TransferId>;
        StoreRead payment_of_dispute(environment: EnvironmentId, dispute: &str) -> Option<PaymentId>;
        StoreRead customers_of(
            environment: EnvironmentId, references: &[ServiceReference]
        ) -> Vec<PaymentCustomer>;
        StoreRead return_counts(environment: EnvironmentId, from: Timestamp, until: Timestamp) -> ReturnCounts;
        StoreRead activity(environment: EnvironmentId, from: Timestamp, until: Timestamp) -> Vec<Activity>;
        StoreRead past_payments(
            environment: EnvironmentId, method: Option<PaymentMethod>, limit: u32
        ) -> Vec<PastPayment>;
    }
}

through! {
    RequestLogStore {
        StoreWrite record_requests(requests: &[LoggedRequest], quotes: &[QuoteCount], uses: &[KeyUse]) -> ();
        StoreRead requests(
            environment: EnvironmentId, filter: &RequestFilter, before: Option<RequestId>, limit: u32
        ) -> Vec<LoggedRequest>;
        StoreRead request_errors(environment: EnvironmentId, since: Timestamp, most: u32) -> Vec<ErrorGroup>;
        StoreRead quote_counts(environment: EnvironmentId, from: Timestamp) -> Vec<QuoteCount>;
        StoreWrite forget_requests(environment: EnvironmentId, before: Timestamp, limit: u32) -> u64;
    }
}

through! {
    InspectionStore {
        StoreRead diagnose(now: Timestamp) -> Diagnosis;
        StoreRead backlog(now: Timestamp) -> Vec<Backlog>;
        StoreRead environment_health(query: &HealthQuery) -> Vec<EnvironmentHealth>;
        StoreRead postings_of(
            environment: EnvironmentId, currency: Currency, reference: ServiceReference
        ) -> Vec<LedgerLine>;
        StoreWrite put_provider_check(environment: EnvironmentId, record: &ProviderCheckRecord) -> bool;
        StoreRead provider_checks(environment: EnvironmentId) -> Vec<ProviderCheckRecord>;
        StoreWrite put_credential_account(
            environment: EnvironmentId, credential: &str, account: &str
        ) -> bool;
        StoreRead credential_account(environment: EnvironmentId, credential: &str) -> Option<String>;
    }

    fn queued_units(&self) -> usize {
        self.inner.queued_units()
    }
}

through! {
    BooksStore {
        StoreRead card_postings(environment: EnvironmentId, id: PaymentId) -> Vec<NewCardPosting>;
        StoreRead statement(environment: EnvironmentId, month: Month) -> Vec<StatementLine>;
        StoreWrite add_up_statements() -> ();
        StoreRead open_disputes(environment: EnvironmentId, limit: u32) -> Vec<(PaymentId, Dispute)>;
        StoreRead unposted_payments(limit: u32) -> Vec<(EnvironmentId, PaymentId)>;
        StoreWrite list_unposted_payments(now: Timestamp) -> ();
        StoreWrite post_payment(
            environment: EnvironmentId, id: PaymentId, revision: u64, postings: &[NewCardPosting]
        ) -> bool;
    }
}

through! {
    LimitStore {
        StoreWrite forget_limit_uses(now: Timestamp, limit: u32) -> u64;
    }
}

through! {
    ErasureStore {
        StoreRead payment_customers(
            environment: EnvironmentId, method: PaymentMethod, after: Option<[u8; 16]>, limit: u32
        ) -> Vec<StoredCustomer>;
        StoreWrite erase_payment(
            environment: EnvironmentId, reference: ServiceReference, entry: &Entry
        ) -> Erased;
        StoreRead erasure_wishes(
            environment: EnvironmentId, method: PaymentMethod, after: Option<[u8; 16]>, limit: u32
        ) -> Vec<(ServiceReference, String)>;
        StoreRead customer_tokens(environment: EnvironmentId, after: Option<[u8; 32]>, limit: u32) -> Vec<KeyedToken>;
        StoreWrite forget_customer_token(environment: EnvironmentId, key: &[u8; 32]) -> ();
        StoreWrite forget_provider_events(
            environment: EnvironmentId, state: ProviderEventState, before: Timestamp, limit: u32
        ) -> u64;
        StoreWrite overwrite_erased() -> ();
    }
}

through! {
    SealedStore {
        StoreRead pinned(name: &str) -> Option<String>;
        StoreWrite set_pin(name: &str, value: &str) -> ();
        StoreRead sealed_values(kind: SealedKind, key: &str, after: SealedPlace, limit: u32) -> Vec<SealedValue>;
        StoreWrite replace_sealed(kind: SealedKind, value: &SealedValue, text: &str) -> bool;
    }
}

through! {
    SecurityStore {
        StoreWrite put_sealing_keys(keys: &[SealingKey]) -> ();
        StoreRead sealing_key(id: SealingKeyId) -> Option<SealingKey>;
        StoreRead sealing_keys_in_use() -> Vec<SealingKeyId>;
        StoreWrite destroy_sealing_keys(made_before: Timestamp) -> u64;
        StoreWrite end_session(session: &[u8; 16], until: Timestamp, now: Timestamp) -> ();
        StoreRead is_session_ended(session: &[u8; 16]) -> bool;
        StoreRead key_changes(environment: EnvironmentId, first: KeyId, last: KeyId) -> Vec<KeyChange>;
    }
}

through! {
    AuditLogStore {
        StoreWrite key_audit_log(key: &Digester, at: Timestamp) -> bool;
        StoreRead audit_head() -> AuditHead;
        StoreWrite add_audit_entries(entries: &[NewAuditEntry]) -> ();
        StoreRead audit_log(
            filter: &AuditLogFilter, before: Option<u64>, limit: u32
        ) -> Vec<AuditEntry>;
        StoreRead verify_audit_log() -> AuditChain;
    }

    fn audited(&self, entries: Vec<NewAuditEntry>) -> Arc<dyn Store> {
        Arc::new(Self {
            inner: self.inner.audited(entries),
            faults: Arc::clone(&self.faults),
            life: Arc::clone(&self.life),
            clock: self.clock.clone(),
        })
    }
}

through! {
    ProposalStore {
        StoreWrite propose_config(proposal: &ConfigProposal, event: EventId, most: u32) -> Proposed;
        StoreRead config_proposals(environment: EnvironmentId, query: ApprovalQuery) -> Vec<ConfigProposal>;
        StoreRead config_proposal(environment: EnvironmentId, id: ApprovalId) -> Option<ConfigProposal>;
        StoreWrite decide_config_proposal(
            environment: EnvironmentId, approval: &Approval, actor: &str, at: Timestamp,
            circuits: &[NewCircuitEvent]
        ) -> ProposalDecided;
        StoreWrite request_funds(request: &FundRequest, event: EventId, most: u32) -> FundsRequested;
        StoreRead fund_requests(environment: EnvironmentId, query: ApprovalQuery) -> Vec<FundRequest>;
        StoreRead fund_request(environment: EnvironmentId, id: ApprovalId) -> Option<FundRequest>;
        StoreWrite decide_funds(seen: &FundRequest, decision: &FundsDecision) -> FundsDecided;
    }
}

through! {
    PeopleStore {
        StoreWrite create_user(user: &User) -> UserCreated;
        StoreWrite change_user(user: UserId, name: &str, access: &Access) -> AccessEnded;
        StoreWrite bind_subject(user: UserId, subject: &SignOnSubject) -> SubjectBound;
        StoreWrite record_operator_uses(uses: &[OperatorUse]) -> ();
        StoreRead people_behind(users: &[UserId]) -> Vec<UserId>;
        StoreWrite remove_user(user: UserId, at: Timestamp) -> AccessEnded;
        StoreWrite issue_user_token(token: &UserToken, most: u32) -> TokenIssued;
        StoreWrite revoke_user_token(user: UserId, token: TokenId, at: Timestamp) -> AccessEnded;
        StoreRead users(page: Page<UserId>) -> Vec<UserState>;
        StoreRead user(id: UserId) -> Option<UserState>;
    }
}
