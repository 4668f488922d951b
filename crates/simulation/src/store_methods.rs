//! Every method of the store's ports, led through [`UnreliableStore::call`]. Where a fault can be planted in what is
//! stored or read, the method is written out.

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

use crate::{
    plants,
    store::{Kind, UnreliableStore},
};

macro_rules! through {
    ($port:ident { $($kind:ident $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)* } $($written:tt)*) => {
        #[async_trait]
        impl $port for UnreliableStore {
            $(
                async fn $name(&self, $($argument: $type),*) -> Result<$result, StoreError> {
                    self.call(stringify!($name), Kind::$kind, self.inner.$name($($argument),*)).await
                }
            )*
            $($written)*
        }
    };
}

through! {
    Store {
        Claim probe() -> ();
        Write pin(name: &str, value: &str) -> String;
        Write create_organization(organization: &Organization) -> ();
        Write create_application(application: &Application) -> Created;
        Write create_environment(environment: &Environment) -> Created;
        Read organizations(page: Page<OrganizationId>) -> Vec<Organization>;
        Read organization(id: OrganizationId) -> Option<Organization>;
        Read application(id: ApplicationId) -> Option<Application>;
        Read applications(organization: OrganizationId, page: Page<ApplicationId>) -> Vec<Application>;
        Read environments(application: ApplicationId, page: Page<EnvironmentId>) -> Vec<Environment>;
        Read environment(id: EnvironmentId) -> Option<Environment>;
        Write issue_key(key: &KeyRecord) -> Issued;
        Write revoke_key(environment: EnvironmentId, key: KeyId, at: Timestamp) -> Revoked;
        Write rotate_key(
            environment: EnvironmentId, key: KeyId, replacement: &KeyRecord, old_ends_at: Timestamp
        ) -> Rotated;
        Read key(environment: EnvironmentId, key: KeyId) -> Option<KeyRecord>;
        Read keys(environment: EnvironmentId, page: Page<KeyId>) -> Vec<KeyRecord>;
        Write put_config(environment: EnvironmentId, change: &ConfigChange) -> ConfigPut;
        Read config(environment: EnvironmentId) -> Option<ConfigVersion>;
        Read config_version(environment: EnvironmentId, version: u64) -> Option<ConfigVersion>;
        Read config_history(
            environment: EnvironmentId, before: Option<u64>, limit: u32
        ) -> Vec<ConfigVersionSummary>;
        Write move_funds(environment: EnvironmentId, movement: &Movement) -> Moved;
        Read balances(environment: EnvironmentId, currency: Currency) -> Option<Balances>;
        Read wallet_currencies(environment: EnvironmentId) -> Vec<Currency>;
        Read ledger(
            environment: EnvironmentId, currency: Currency, before: Option<PostingId>, limit: u32
        ) -> Vec<LedgerLine>;
    }

    /// The clock of the machine that the database is on, which is right.
    async fn now(&self) -> Result<Timestamp, StoreError> {
        self.call("now", Kind::Read, async { Ok(self.life.world.clock(0)) }).await
    }

    async fn change_signal(&self) -> Result<Box<dyn ChangeSignal>, StoreError> {
        let inner = self.call("change_signal", Kind::Read, self.inner.change_signal()).await?;
        Ok(self.signal(inner))
    }

    async fn directory_since(&self, since: DirectoryVersion) -> Result<Delta, StoreError> {
        let delta = self.call("directory_since", Kind::Read, self.inner.directory_since(since)).await?;
        Ok(plants::directory(&self.life.world, since, delta))
    }
}

through! {
    PaymentStore {
        Read payment_of_object(environment: EnvironmentId, provider: &str, object: &str) -> Option<PaymentId>;
        Read payment_of_key(environment: EnvironmentId, key: &[u8; 32]) -> Option<PaymentId>;
        Read refund_approvals(environment: EnvironmentId, query: ApprovalQuery) -> Vec<RefundToApprove>;
        Read refund_approval(environment: EnvironmentId, id: ApprovalId) -> Option<RefundToApprove>;
        Read payment_of_refund(environment: EnvironmentId, refund: RefundId) -> Option<PaymentId>;
        Read payment_of_hold_action(environment: EnvironmentId, action: HoldActionId) -> Option<PaymentId>;
        Read objects_of_payment(environment: EnvironmentId, id: PaymentId) -> Vec<String>;
        Read payments(
            environment: EnvironmentId, filter: PaymentFilter, before: Option<PaymentId>, limit: u32
        ) -> Vec<PaymentId>;
        Read transaction(environment: EnvironmentId, reference: ServiceReference) -> Option<Transaction>;
        Read transactions(
            environment: EnvironmentId, filter: &TransactionFilter, before: Option<TransactionId>, limit: u32
        ) -> Vec<Transaction>;
        Read transaction_totals(
            environment: EnvironmentId, filter: &TransactionFilter, most: u32
        ) -> Option<Vec<tollgate_engine::ports::TransactionTotal>>;
        Write reroute_payment(environment: EnvironmentId, id: PaymentId, reroute: &PaymentReroute) -> Changed;
        Read timeline(environment: EnvironmentId, reference: ServiceReference) -> Vec<Entry>;
        Write receive_provider_event(environment: EnvironmentId, event: &ProviderEvent, due: Timestamp) -> Received;
        Claim claim_provider_events(now: Timestamp, until: Timestamp, limit: u32) -> Vec<StoredProviderEvent>;
        Write settle_provider_event(environment: EnvironmentId, settled: &SettledProviderEvent) -> bool;
        Read provider_events(
            environment: EnvironmentId, state: Option<ProviderEventState>, before: Option<&ProviderEventCursor>, limit: u32
        ) -> Vec<StoredProviderEvent>;
        Read exceptions(
            environment: EnvironmentId, open_only: bool, before: Option<ExceptionId>, limit: u32
        ) -> Vec<StoredException>;
        Read exceptions_of(
            environment: EnvironmentId, reference: ServiceReference
        ) -> Vec<StoredException>;
        Write resolve_exception(
            environment: EnvironmentId, id: ExceptionId, resolution: &Resolution
        ) -> bool;
        Write retry_stored_provider_event(environment: EnvironmentId, provider: &str, id: &str, now: Timestamp) -> bool;
        Claim claim_follow_ups(
            now: Timestamp, until: Timestamp, limit: u32
        ) -> Vec<(EnvironmentId, PaymentId)>;
        Write add_to_timeline(environment: EnvironmentId, reference: ServiceReference, entry: &Entry) -> bool;
        Write set_account(
            environment: EnvironmentId, reference: ServiceReference, account: &ProviderAccount,
            from_revision: Option<u64>, entry: &Entry
        ) -> bool;
        Write insert_payment(
            environment: EnvironmentId, order: &CardOrder, progress: &Progress, entries: &[Entry],
            new_events: &[NewEvent]
        ) -> Inserted;
        Write insert_limited_payment(
            environment: EnvironmentId, order: &CardOrder, progress: &Progress, entries: &[Entry], new_events: &[NewEvent],
            limits: &[LimitUse]
        ) -> Inserted;
    }

    async fn payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
    ) -> Result<Option<CardPayment>, StoreError> {
        let read = self.call("payment", Kind::Read, self.inner.payment(environment, id)).await?;
        Ok(plants::payment(&self.life.world, read))
    }

    async fn change_payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
        change: &PaymentChange,
    ) -> Result<Changed, StoreError> {
        let change = plants::payment_change(&self.life, change);
        self.call("change_payment", Kind::Write, self.inner.change_payment(environment, id, &change)).await
    }

    async fn claim_payments(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EnvironmentId, PaymentId)>, StoreError> {
        self.call("claim_payments", Kind::Claim, self.inner.claim_payments(now, until, limit)).await
    }
}

through! {
    TransferStore {
        Write keep_customer_token(environment: EnvironmentId, new: &KeyedToken) -> Option<KeyedToken>;
        Read transfer_of_object(environment: EnvironmentId, provider: &str, object: &str) -> Option<Transfer>;
        Write cancel_reservation(
            environment: EnvironmentId, id: TransferId, cancel: &ReservationCancel
        ) -> Changed;
        Read approvals(environment: EnvironmentId, query: ApprovalQuery) -> Vec<Transfer>;
        Read approval(environment: EnvironmentId, id: ApprovalId) -> Option<Transfer>;
        Read is_approved_account(environment: EnvironmentId, account: &[u8; 32]) -> bool;
        Read waiting_transfers(
            environment: EnvironmentId, before: Option<TransactionId>, limit: u32
        ) -> Vec<Transfer>;
        Write audit(scope: AuditScope, now: Timestamp) -> Audit;
    }

    async fn reserve_transfer(
        &self,
        environment: EnvironmentId,
        new: &NewTransfer,
    ) -> Result<Reserved, StoreError> {
        if self.life.world.is_planted(plants::Plant::AcknowledgeBeforeCommit) {
            let (later, new) = (self.clone(), new.clone());
            self.life.run(async move {
                sleep(Duration::from_millis(30)).await;
                let reserving = later.inner.reserve_transfer(environment, &new);
                let _ = later.call("reserve_transfer", Kind::Write, reserving).await;
            });
            return Ok(Reserved::Created);
        }
        self.call("reserve_transfer", Kind::Write, self.inner.reserve_transfer(environment, new)).await
    }

    async fn transfer(
        &self,
        environment: EnvironmentId,
        id: TransferId,
    ) -> Result<Option<Transfer>, StoreError> {
        let read = self.call("transfer", Kind::Read, self.inner.transfer(environment, id)).await?;
        Ok(plants::transfer(&self.life.world, read))
    }

    async fn change_transfer(
        &self,
        environment: EnvironmentId,
        id: TransferId,
        change: &TransferChange,
    ) -> Result<Changed, StoreError> {
        let Some(change) = plants::transfer_change(&self.life, change) else { return Ok(Changed::Done) };
        self.call("change_transfer", Kind::Write, self.inner.change_transfer(environment, id, &change)).await
    }

    async fn claim_transfers(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EnvironmentId, TransferId)>, StoreError> {
        let limit = plants::claimed(&self.life.world, limit);
        self.call("claim_transfers", Kind::Claim, self.inner.claim_transfers(now, until, limit)).await
    }
}

through! {
    OutboxStore {
        Write add_endpoint(environment: EnvironmentId, endpoint: &Endpoint, most: u32) -> EndpointAdded;
        Read endpoints(environment: EnvironmentId) -> Vec<Endpoint>;
        Read endpoint(environment: EnvironmentId, id: EndpointId) -> Option<Endpoint>;
        Write change_endpoint(environment: EnvironmentId, endpoint: &Endpoint) -> EndpointChanged;
        Write remove_endpoint(environment: EnvironmentId, id: EndpointId) -> bool;
        Read find_event(environment: EnvironmentId, id: EventId) -> Option<Event>;
        Read last_circuit_event(environment: EnvironmentId, provider: &str) -> Option<Event>;
        Write append_circuit_event(
            environment: EnvironmentId, event: &NewCircuitEvent, last: Option<EventId>
        ) -> bool;
        Read audit_head_subscribers() -> Vec<EnvironmentId>;
        Write append_audit_head_event(
            environment: EnvironmentId, event: &NewAuditHeadEvent, unless_since: Timestamp
        ) -> bool;
        Read deliveries(
            environment: EnvironmentId, query: DeliveryQuery, before: Option<(EventId, EndpointId)>, limit: u32
        ) -> Vec<EventDelivery>;
        Claim claim_deliveries(
            now: Timestamp, until: Timestamp, each: u32, limit: u32
        ) -> Vec<ClaimedDelivery>;
        Write settle_delivery(
            environment: EnvironmentId, endpoint: EndpointId, event: EventId, attempted: &Attempted
        ) -> bool;
        Write resend(environment: EnvironmentId, resend: Resend, now: Timestamp, limit: u32) -> Resent;
    }

    async fn list_events(
        &self,
        environment: EnvironmentId,
        query: EventQuery,
        from: EventsFrom,
        limit: u32,
    ) -> Result<Option<Vec<Event>>, StoreError> {
        if self.life.world.is_planted(plants::Plant::FollowedById) {
            let all = self.inner.list_events(environment, query, EventsFrom::Oldest, u32::MAX >> 1).await?;
            return Ok(all.map(|all| plants::by_id(from, limit, all)));
        }
        let listing = self.inner.list_events(environment, query, from, limit);
        self.call("out_events", Kind::Read, listing).await
    }
}

through! {
    ReportingStore {
        Claim index_events(limit: u32) -> u32;
        Read find_payments(
            environment: EnvironmentId, term: &str, before: Option<SearchCursor>, limit: u32
        ) -> Vec<SearchHit>;
        Read search_terms(environment: EnvironmentId, prefix: &str, limit: u32) -> Vec<String>;
        Read references_between(
            environment: EnvironmentId, first: ServiceReference, last: ServiceReference, limit: u32
        ) -> Vec<ServiceReference>;
        Read payment_of_request(environment: EnvironmentId, request: RequestId) -> Option<ServiceReference>;
        Read transfers_of_objects(environment: EnvironmentId, prefix: &str, limit: u32) -> Vec<TransferId>;
        Read payment_of_dispute(environment: EnvironmentId, dispute: &str) -> Option<PaymentId>;
        Read customers_of(
            environment: EnvironmentId, references: &[ServiceReference]
        ) -> Vec<PaymentCustomer>;
        Read return_counts(environment: EnvironmentId, from: Timestamp, until: Timestamp) -> ReturnCounts;
        Read activity(environment: EnvironmentId, from: Timestamp, until: Timestamp) -> Vec<Activity>;
        Read charged_payments(
            environment: EnvironmentId, from: Timestamp, until: Timestamp,
            after: Option<tollgate_domain::id::TransactionId>, limit: u32
        ) -> Vec<tollgate_engine::ports::ChargedPayment>;
        Read past_payments(
            environment: EnvironmentId, method: Option<tollgate_domain::PaymentMethod>, limit: u32
        ) -> Vec<PastPayment>;
    }

    // A help for people, of which nothing else depends: no fault is drawn for it.
    async fn index_payment(&self, environment: EnvironmentId, id: PaymentId) -> Result<(), StoreError> {
        self.inner.index_payment(environment, id).await
    }
}

through! {
    RequestLogStore {
        Write record_requests(requests: &[LoggedRequest], quotes: &[QuoteCount], uses: &[KeyUse]) -> ();
        Read requests(
            environment: EnvironmentId, filter: &RequestFilter, before: Option<RequestId>, limit: u32
        ) -> Vec<LoggedRequest>;
        Read request_errors(environment: EnvironmentId, since: Timestamp, most: u32) -> Vec<ErrorGroup>;
        Read quote_counts(environment: EnvironmentId, from: Timestamp) -> Vec<QuoteCount>;
        Write forget_requests(environment: EnvironmentId, before: Timestamp, limit: u32) -> u64;
    }
}

through! {
    InspectionStore {
        Read diagnose(now: Timestamp) -> Diagnosis;
        Read backlog(now: Timestamp) -> Vec<Backlog>;
        Read environment_health(query: &HealthQuery) -> Vec<EnvironmentHealth>;
        Read postings_of(
            environment: EnvironmentId, currency: Currency, reference: ServiceReference
        ) -> Vec<LedgerLine>;
        Write put_provider_check(environment: EnvironmentId, record: &ProviderCheckRecord) -> bool;
        Read provider_checks(environment: EnvironmentId) -> Vec<ProviderCheckRecord>;
        Write put_credential_account(environment: EnvironmentId, credential: &str, account: &str) -> bool;
        Read credential_account(environment: EnvironmentId, credential: &str) -> Option<String>;
    }

    fn queued_units(&self) -> usize {
        self.inner.queued_units()
    }
}

through! {
    BooksStore {
        Read card_postings(environment: EnvironmentId, id: PaymentId) -> Vec<NewCardPosting>;
        Read statement(environment: EnvironmentId, month: Month) -> Vec<StatementLine>;
        Write add_up_statements() -> ();
        Read open_disputes(environment: EnvironmentId, limit: u32) -> Vec<(PaymentId, Dispute)>;
        Read unposted_payments(limit: u32) -> Vec<(EnvironmentId, PaymentId)>;
        Write list_unposted_payments(now: Timestamp) -> ();
        Write post_payment(
            environment: EnvironmentId, id: PaymentId, revision: u64, postings: &[NewCardPosting]
        ) -> bool;
    }
}

through! {
    LimitStore {
        Write forget_limit_uses(now: Timestamp, limit: u32) -> u64;
    }
}

through! {
    ErasureStore {
        Read payment_customers(
            environment: EnvironmentId, method: PaymentMethod, after: Option<[u8; 16]>, limit: u32
        ) -> Vec<StoredCustomer>;
        Write erase_payment(
            environment: EnvironmentId, reference: ServiceReference, entry: &Entry
        ) -> Erased;
        Read erasure_wishes(
            environment: EnvironmentId, method: PaymentMethod, after: Option<[u8; 16]>, limit: u32
        ) -> Vec<(ServiceReference, String)>;
        Read customer_tokens(environment: EnvironmentId, after: Option<[u8; 32]>, limit: u32) -> Vec<KeyedToken>;
        Write forget_customer_token(environment: EnvironmentId, key: &[u8; 32]) -> ();
        Write forget_provider_events(
            environment: EnvironmentId, state: ProviderEventState, before: Timestamp, limit: u32
        ) -> u64;
        Write overwrite_erased() -> ();
    }
}

through! {
    SealedStore {
        Read pinned(name: &str) -> Option<String>;
        Write set_pin(name: &str, value: &str) -> ();
        Read sealed_values(kind: SealedKind, key: &str, after: SealedPlace, limit: u32) -> Vec<SealedValue>;
        Write replace_sealed(kind: SealedKind, value: &SealedValue, text: &str) -> bool;
    }
}

through! {
    SecurityStore {
        Write put_sealing_keys(keys: &[SealingKey]) -> ();
        Read sealing_key(id: SealingKeyId) -> Option<SealingKey>;
        Read sealing_keys_in_use() -> Vec<SealingKeyId>;
        Write destroy_sealing_keys(made_before: Timestamp) -> u64;
        Write end_session(session: &[u8; 16], until: Timestamp, now: Timestamp) -> ();
        Read is_session_ended(session: &[u8; 16]) -> bool;
        Read key_changes(environment: EnvironmentId, first: KeyId, last: KeyId) -> Vec<KeyChange>;
    }
}

through! {
    AuditLogStore {
        Write key_audit_log(key: &Digester, at: Timestamp) -> bool;
        Read audit_head() -> AuditHead;
        Write add_audit_entries(entries: &[NewAuditEntry]) -> ();
        Read audit_log(filter: &AuditLogFilter, before: Option<u64>, limit: u32) -> Vec<AuditEntry>;
        Read verify_audit_log() -> AuditChain;
    }

    fn audited(&self, entries: Vec<NewAuditEntry>) -> Arc<dyn Store> {
        Arc::new(Self { inner: self.inner.audited(entries), life: Arc::clone(&self.life) })
    }
}

through! {
    ProposalStore {
        Write propose_config(proposal: &ConfigProposal, event: EventId, most: u32) -> Proposed;
        Read config_proposals(environment: EnvironmentId, query: ApprovalQuery) -> Vec<ConfigProposal>;
        Read config_proposal(environment: EnvironmentId, id: ApprovalId) -> Option<ConfigProposal>;
        Write decide_config_proposal(
            environment: EnvironmentId, approval: &Approval, actor: &str, at: Timestamp,
            circuits: &[NewCircuitEvent]
        ) -> ProposalDecided;
        Write request_funds(request: &FundRequest, event: EventId, most: u32) -> FundsRequested;
        Read fund_requests(environment: EnvironmentId, query: ApprovalQuery) -> Vec<FundRequest>;
        Read fund_request(environment: EnvironmentId, id: ApprovalId) -> Option<FundRequest>;
        Write decide_funds(seen: &FundRequest, decision: &FundsDecision) -> FundsDecided;
    }
}

through! {
    PeopleStore {
        Write create_user(user: &User) -> UserCreated;
        Write change_user(user: UserId, name: &str, access: &Access) -> AccessEnded;
        Write bind_subject(user: UserId, subject: &SignOnSubject) -> SubjectBound;
        Write record_operator_uses(uses: &[OperatorUse]) -> ();
        Read people_behind(users: &[UserId]) -> Vec<UserId>;
        Write remove_user(user: UserId, at: Timestamp) -> AccessEnded;
        Write issue_user_token(token: &UserToken, most: u32) -> TokenIssued;
        Write revoke_user_token(user: UserId, token: TokenId, at: Timestamp) -> AccessEnded;
        Read users(page: Page<UserId>) -> Vec<UserState>;
        Read user(id: UserId) -> Option<UserState>;
    }
}
