//! What operators see and do: people, proposals, secrets, the audit log, and the log of requests.

use std::sync::Arc;

use async_trait::async_trait;
use tollgate_domain::{
    Currency, ServiceReference, Timestamp,
    approval::Approval,
    audit_log::{AuditChain, AuditEntry, AuditHead, NewAuditEntry},
    id::{ApprovalId, EnvironmentId, EventId, KeyId, RequestId, SealingKeyId, TokenId, UserId},
    people::{Access, SignOnSubject, User, UserToken},
};
use tollgate_engine::ports::{
    AccessEnded, ApprovalQuery, AuditLogFilter, AuditLogStore, Backlog, ConfigProposal, Diagnosis,
    EnvironmentHealth, ErrorGroup, FundRequest, FundsDecided, FundsDecision, FundsRequested, HealthQuery,
    InspectionStore, KeyChange, KeyUse, LedgerLine, LoggedRequest, NewCircuitEvent, OperatorUse, Page,
    PeopleStore, ProposalDecided, ProposalStore, Proposed, ProviderCheckRecord, QuoteCount, RequestFilter,
    RequestLogStore, SealedKind, SealedPlace, SealedStore, SealedValue, SealingKey, SecurityStore, Store,
    StoreError, SubjectBound, TokenIssued, UserCreated, UserState,
};
use tollgate_vault::Digester;

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::{
        audit_log, diagnosis, funds, health, people, proposals, provider_checks, request_log, sealed,
        sealing_keys, sessions,
    },
};

port! {
    impl SecurityStore {
        Write sealing_keys::put => put_sealing_keys(keys: &[SealingKey]) -> ();
        Read sealing_keys::find => sealing_key(id: SealingKeyId) -> Option<SealingKey>;
        Read sealing_keys::in_use => sealing_keys_in_use() -> Vec<SealingKeyId>;
        Write sessions::end => end_session(session: &[u8; 16], until: Timestamp, now: Timestamp) -> ();
        Read sessions::is_ended => is_session_ended(session: &[u8; 16]) -> bool;
        Read audit_log::of_keys => key_changes(
            environment: EnvironmentId, first: KeyId, last: KeyId
        ) -> Vec<KeyChange>;
    } and {
        async fn destroy_sealing_keys(&self, made_before: Timestamp) -> Result<u64, StoreError> {
            let destroyed = run!(self.driver, Write, sealing_keys::destroy(made_before)).await?;
            if destroyed > 0 {
                self.driver.erase_deleted().await?;
            }
            Ok(destroyed)
        }
    }
}

port! {
    impl PeopleStore {
        Write people::create => create_user(user: &User) -> UserCreated;
        Write people::change => change_user(user: UserId, name: &str, access: &Access) -> AccessEnded;
        Write people::bind_subject => bind_subject(user: UserId, subject: &SignOnSubject) -> SubjectBound;
        Write people::record_uses => record_operator_uses(uses: &[OperatorUse]) -> ();
        Snapshot people::behind => people_behind(users: &[UserId]) -> Vec<UserId>;
        Write people::remove => remove_user(user: UserId, at: Timestamp) -> AccessEnded;
        Write people::issue_token => issue_user_token(token: &UserToken, most: u32) -> TokenIssued;
        Write people::revoke_token => revoke_user_token(
            user: UserId, token: TokenId, at: Timestamp
        ) -> AccessEnded;
        Read people::list => users(page: Page<UserId>) -> Vec<UserState>;
        Read people::find => user(id: UserId) -> Option<UserState>;
    } and {}
}

port! {
    impl ProposalStore {
        Write proposals::propose => propose_config(
            proposal: &ConfigProposal, event: EventId, most: u32
        ) -> Proposed;
        Read proposals::list => config_proposals(
            environment: EnvironmentId, query: ApprovalQuery
        ) -> Vec<ConfigProposal>;
        Read proposals::find => config_proposal(
            environment: EnvironmentId, id: ApprovalId
        ) -> Option<ConfigProposal>;
        Write proposals::decide => decide_config_proposal(
            environment: EnvironmentId, approval: &Approval, actor: &str, at: Timestamp, circuits: &[NewCircuitEvent]
        ) -> ProposalDecided;
        Write funds::request => request_funds(
            request: &FundRequest, event: EventId, most: u32
        ) -> FundsRequested;
        Read funds::list => fund_requests(environment: EnvironmentId, query: ApprovalQuery) -> Vec<FundRequest>;
        Read funds::find => fund_request(environment: EnvironmentId, id: ApprovalId) -> Option<FundRequest>;
        Write funds::decide => decide_funds(seen: &FundRequest, decision: &FundsDecision) -> FundsDecided;
    } and {}
}

port! {
    impl SealedStore {
        Read sealed::pinned => pinned(name: &str) -> Option<String>;
        WriteOnce sealed::set_pin => set_pin(name: &str, value: &str) -> ();
        Audit sealed::find => sealed_values(
            kind: SealedKind, key: &str, after: SealedPlace, limit: u32
        ) -> Vec<SealedValue>;
        WriteOnce sealed::replace => replace_sealed(kind: SealedKind, value: &SealedValue, text: &str) -> bool;
    } and {}
}

port! {
    impl AuditLogStore {
        Read audit_log::list => audit_log(
            filter: &AuditLogFilter, before: Option<u64>, limit: u32
        ) -> Vec<AuditEntry>;
        Read audit_log::head => audit_head() -> AuditHead;
    } and {
        async fn key_audit_log(&self, key: &Digester, at: Timestamp) -> Result<bool, StoreError> {
            let adopted = run!(self, Write, audit_log::adopt(&key, at)).await?;
            // Every engine on this store derives the same one.
            let _ = self.audit_key.set(key.clone());
            Ok(adopted)
        }

        async fn add_audit_entries(&self, entries: &[NewAuditEntry]) -> Result<(), StoreError> {
            let key = self.audit_key.get().cloned();
            self.run(crate::session::Mode::Write, (key, entries.to_owned()), |session, (key, entries)| {
                crate::unit::Running::writing(audit_log::add(session, key.as_ref(), entries))
            })
            .await
        }

        async fn verify_audit_log(&self) -> Result<AuditChain, StoreError> {
            let key = self.audit_key.get().cloned();
            self.run(crate::session::Mode::Audit, (key,), |session, (key,)| {
                crate::unit::Running::reading(audit_log::verify(session, key.as_ref()))
            })
            .await
        }

        fn audited(&self, entries: Vec<NewAuditEntry>) -> Arc<dyn Store> {
            let (driver, audit_key) = (Arc::clone(&self.driver), Arc::clone(&self.audit_key));
            Arc::new(Self { driver, audit: entries, audit_key })
        }
    }
}

port! {
    impl RequestLogStore {
        Write request_log::record => record_requests(
            requests: &[LoggedRequest], quotes: &[QuoteCount], uses: &[KeyUse]
        ) -> ();
        Read request_log::list => requests(
            environment: EnvironmentId, filter: &RequestFilter, before: Option<RequestId>, limit: u32
        ) -> Vec<LoggedRequest>;
        Read request_log::errors => request_errors(
            environment: EnvironmentId, since: Timestamp, most: u32
        ) -> Vec<ErrorGroup>;
        Read request_log::quotes => quote_counts(environment: EnvironmentId, from: Timestamp) -> Vec<QuoteCount>;
        Write request_log::forget => forget_requests(
            environment: EnvironmentId, before: Timestamp, limit: u32
        ) -> u64;
    } and {}
}

port! {
    impl InspectionStore {
        Read diagnosis::backlog => backlog(now: Timestamp) -> Vec<Backlog>;
        Read health::health => environment_health(query: &HealthQuery) -> Vec<EnvironmentHealth>;
        Read diagnosis::postings_of => postings_of(
            environment: EnvironmentId, currency: Currency, reference: ServiceReference
        ) -> Vec<LedgerLine>;
        Write provider_checks::put => put_provider_check(
            environment: EnvironmentId, record: &ProviderCheckRecord
        ) -> bool;
        Read provider_checks::list => provider_checks(environment: EnvironmentId) -> Vec<ProviderCheckRecord>;
        Write provider_checks::put_account => put_credential_account(
            environment: EnvironmentId, credential: &str, account: &str
        ) -> bool;
        Read provider_checks::account => credential_account(
            environment: EnvironmentId, credential: &str
        ) -> Option<String>;
    } and {
        async fn diagnose(&self, now: Timestamp) -> Result<Diagnosis, StoreError> {
            self.driver.diagnose(now).await
        }

        fn queued_units(&self) -> usize {
            self.driver.queued_units()
        }
    }
}
