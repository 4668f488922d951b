//! Writing and reading the audit log.

use std::{
    collections::BTreeMap,
    fmt::Display,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use tokio::time::Instant;
use tollgate_domain::{
    Timestamp,
    audit_log::{AuditActor, AuditChain, AuditEntry, AuditHead, NewAuditEntry},
    id::{EnvironmentId, EventId, OrganizationId, UserId},
};
use tollgate_vault::Digester;

use crate::{
    configure::Origin,
    engine::Engine,
    ports::{AUDIT_ACCEPTED, AUDIT_UNPROVED, AuditLogFilter, NewAuditHeadEvent, Store, StoreError},
    rate_limiter::RateLimiter,
};

/// Something worth an entry.
#[derive(Debug, Clone)]
pub struct Audited {
    action: &'static str,
    subject: String,
    organization: Option<OrganizationId>,
    environment: Option<EnvironmentId>,
    before: Option<Value>,
    after: Option<Value>,
}

impl Audited {
    /// This was done to that.
    pub fn new(action: &'static str, subject: impl Display) -> Self {
        let subject = subject.to_string();
        Self { action, subject, organization: None, environment: None, before: None, after: None }
    }

    #[must_use]
    pub fn in_organization(mut self, organization: OrganizationId) -> Self {
        self.organization = Some(organization);
        self
    }

    #[must_use]
    pub fn in_environment(mut self, environment: EnvironmentId) -> Self {
        self.environment = Some(environment);
        self
    }

    /// How many like it were not recorded before it.
    fn with_left_out(self, left_out: u64) -> Self {
        if left_out > 0 { self.also_after("leftOut", left_out.into()) } else { self }
    }

    /// One more thing that there is afterwards.
    pub(crate) fn also_after(mut self, name: &str, value: Value) -> Self {
        if let Value::Object(fields) = self.after.get_or_insert_with(|| json!({})) {
            fields.insert(name.to_owned(), value);
        }
        self
    }

    /// What there was before. No secret belongs here.
    #[must_use]
    pub fn before(mut self, before: Value) -> Self {
        self.before = Some(before);
        self
    }

    /// What there is afterwards, or what was asked for. No secret belongs here.
    #[must_use]
    pub fn after(mut self, after: Value) -> Self {
        self.after = Some(after);
        self
    }
}

/// What an entry says of a list that was looked at: its filters, and only that there was a search.
pub fn list_query(fields: &[(String, String)]) -> Value {
    const SEARCHES: [&str; 2] = ["search", "q"];
    const FILTERS: [&str; 9] = [
        "status",
        "state",
        "paymentMethod",
        "method",
        "provider",
        "from",
        "to",
        "createdFrom",
        "createdBefore",
    ];
    let shown = fields.iter().filter(|(_, value)| !value.is_empty()).filter_map(|(name, value)| {
        if SEARCHES.contains(&name.as_str()) {
            return Some(("search".to_owned(), Value::Bool(true)));
        }
        let is_plain = FILTERS.contains(&name.as_str()) && value.len() <= 64;
        is_plain.then(|| (name.clone(), value.as_str().into()))
    });
    Value::Object(shown.collect())
}

/// How often the end of the log is reported.
pub(crate) const AUDIT_HEAD_EVERY: Duration = Duration::from_mins(10);
/// Entries of one operator and action that are recorded at once, and then one a second.
const REPEATED_BURST: u64 = 20;
/// Beyond this, operators without unrecorded entries are dropped.
const MAX_REPEATED: usize = 10_000;

/// For so long after one view of something, others of it by the same operator are only counted.
const VIEWED_AGAIN: Duration = Duration::from_mins(1);

/// Actions that operators can repeat without limit.
pub(crate) struct Repeated {
    /// The runtime's clock counts from here, so that a simulation replays the same run.
    began: Instant,
    all: Mutex<BTreeMap<What, Repetition>>,
}

impl Default for Repeated {
    fn default() -> Self {
        Self { began: Instant::now(), all: Mutex::default() }
    }
}

/// Who, as the kind of actor and its user, and an action; where views of one thing are counted, also that. All who could not be
/// recognized are one.
type What = (&'static str, Option<UserId>, &'static str, Option<String>);

#[derive(Default)]
struct Repetition {
    limiter: RateLimiter,
    left_out: u64,
    last: Option<(Origin, Audited)>,
}

/// What was not recorded: how many, and the last of them.
struct LeftOut {
    what: What,
    count: u64,
    last: Option<(Origin, Audited)>,
}

impl Repetition {
    fn is_due(&self, now: Duration, is_view: bool) -> bool {
        let (gap, burst) = if is_view { (VIEWED_AGAIN, 1) } else { (Duration::from_secs(1), REPEATED_BURST) };
        self.limiter.take_at_time(now, gap, burst).is_ok()
    }

    fn leave_out(&mut self, origin: &Origin, done: &Audited) {
        self.left_out = self.left_out.saturating_add(1);
        self.last = Some((origin.clone(), done.clone()));
    }

    fn take(&mut self, what: What) -> LeftOut {
        LeftOut { what, count: std::mem::take(&mut self.left_out), last: self.last.take() }
    }
}

impl Repeated {
    /// What was left out before this one, if it is to be recorded.
    fn due(&self, origin: &Origin, done: &Audited, is_view: bool) -> Option<LeftOut> {
        let now = self.began.elapsed();
        let mut all = self.all();
        if all.len() >= MAX_REPEATED {
            all.retain(|_, one| one.left_out > 0);
        }
        let (kind, user) = (origin.kind.as_str(), origin.kind.user());
        let viewed = is_view.then(|| (kind, user, done.action, Some(done.subject.clone())));
        // A view that is due has to be within the operator's limit, too.
        if let Some(again) = viewed.as_ref().and_then(|viewed| all.get_mut(viewed))
            && (again.left_out > 0 || !again.is_due(now, true))
        {
            again.leave_out(origin, done);
            return None;
        }
        let what = (kind, user, done.action, None);
        let one = all.entry(what.clone()).or_default();
        if !one.is_due(now, false) {
            one.leave_out(origin, done);
            return None;
        }
        let left_out = one.take(what);
        if let Some(viewed) = viewed {
            let _ = all.entry(viewed).or_default().is_due(now, true);
        }
        Some(left_out)
    }

    /// All that was left out, as far as it is time.
    fn take_left_out(&self, is_last: bool) -> Vec<LeftOut> {
        let now = self.began.elapsed();
        let mut all = self.all();
        let open = all
            .iter_mut()
            .filter(|((.., viewed), one)| one.left_out > 0 && (is_last || one.is_due(now, viewed.is_some())));
        open.map(|(what, one)| one.take(what.clone())).collect()
    }

    /// It could not be recorded, and is counted with what is left out from now on.
    fn put_back(&self, left_out: LeftOut) {
        if left_out.count == 0 {
            return;
        }
        let mut all = self.all();
        let one = all.entry(left_out.what).or_default();
        one.left_out = one.left_out.saturating_add(left_out.count);
        one.last = one.last.take().or(left_out.last);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<What, Repetition>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the store chain the log under this key, which rotations of the master key do not change.
pub(crate) async fn key(store: &dyn Store, key: &Digester, now: Timestamp) -> Result<(), StoreError> {
    if store.key_audit_log(key, now).await? {
        tracing::warn!(
            "the audit log was not under this service's key; expected once, after an upgrade. `tollgate audit` fails until it is accepted"
        );
    }
    Ok(())
}

impl Engine {
    /// The store, whose next change is recorded in the same transaction.
    pub(crate) fn audited(&self, origin: &Origin, done: Audited) -> Arc<dyn Store> {
        self.audited_all(origin, [done])
    }

    /// As [`Engine::audited`], of a change that is more than one thing.
    pub(crate) fn audited_all(
        &self,
        origin: &Origin,
        done: impl IntoIterator<Item = Audited>,
    ) -> Arc<dyn Store> {
        self.store.audited(done.into_iter().map(|done| self.audit_entry(origin, done)).collect())
    }

    /// Records what is not a change of the store by itself, before it is done.
    pub async fn record_action(&self, origin: &Origin, done: Audited) -> Result<(), StoreError> {
        self.store.add_audit_entries(&[self.audit_entry(origin, done)]).await
    }

    /// Records an action that can be repeated without limit, such as a refusal or a view of a list: a few at once,
    /// then one a second of each operator and action. What is left out is counted in the next, or by itself later.
    pub async fn record_repeatable(&self, origin: &Origin, done: Audited) -> Result<(), StoreError> {
        self.record_at_most(origin, done, false).await
    }

    /// Records that something was viewed, before it is shown: as [`Engine::record_repeatable`], and once a minute for each
    /// thing and operator.
    pub async fn record_view(&self, origin: &Origin, viewed: Audited) -> Result<(), StoreError> {
        self.record_at_most(origin, viewed, true).await
    }

    async fn record_at_most(&self, origin: &Origin, done: Audited, is_view: bool) -> Result<(), StoreError> {
        let Some(left_out) = self.repeated.due(origin, &done, is_view) else { return Ok(()) };
        let recorded = self.record_action(origin, done.with_left_out(left_out.count)).await;
        if recorded.is_err() {
            self.repeated.put_back(left_out);
        }
        recorded
    }

    /// Records how many entries were left out and not counted yet: where it is time, or all of them, before the process ends.
    pub(crate) async fn record_left_out(&self, is_last: bool) -> Result<(), StoreError> {
        let mut outcome = Ok(());
        for left_out in self.repeated.take_left_out(is_last) {
            if outcome.is_ok() {
                outcome = self.record_last(&left_out).await;
            }
            if outcome.is_err() {
                self.repeated.put_back(left_out);
            }
        }
        outcome
    }

    /// Records the last that was left out, with how many there were before it.
    async fn record_last(&self, left_out: &LeftOut) -> Result<(), StoreError> {
        let Some((origin, done)) = &left_out.last else { return Ok(()) };
        self.record_action(origin, done.clone().with_left_out(left_out.count.saturating_sub(1))).await
    }

    /// Entries, newest first.
    pub async fn audit_log(
        &self,
        filter: &AuditLogFilter,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        self.store.audit_log(filter, before, limit).await
    }

    /// Reports what the audit log ends with, in this process' log and to endpoints that ask for it: kept elsewhere, it shows
    /// later that entries were cut off or the database was set back.
    pub async fn report_audit_head(&self) {
        let head = match self.store.audit_head().await {
            Ok(head) => head,
            Err(error) => return tracing::warn!(%error, "the audit log's head cannot be read"),
        };
        tracing::info!(entries = head.entries, hash = HEXLOWER.encode(&head.hash), "audit log head");
        if let Err(error) = self.send_audit_head(head).await {
            tracing::warn!(%error, "events about the audit log's head not written; will retry");
        }
    }

    async fn send_audit_head(&self, head: AuditHead) -> Result<(), StoreError> {
        for environment in self.store.audit_head_subscribers().await? {
            let at = self.clock.now();
            let random = self.random().map_err(|error| StoreError::Unavailable(error.to_string()))?;
            let event = NewAuditHeadEvent { id: EventId::new(at, random), at, head };
            // Half of the interval: neither another node's report nor a restart makes a second one.
            let unless_since = at.saturating_sub(AUDIT_HEAD_EVERY / 2);
            if self.store.append_audit_head_event(environment, &event, unless_since).await? {
                self.outbox_notify.notify_one();
            }
        }
        Ok(())
    }

    /// What the log ends with.
    pub async fn audit_head(&self) -> Result<AuditHead, StoreError> {
        self.store.audit_head().await
    }

    /// Checks the whole chain.
    pub async fn verify_audit_log(&self) -> Result<AuditChain, StoreError> {
        self.store.verify_audit_log().await
    }

    /// Accepts what an entry says was not proved. `false` if it says no such thing.
    pub async fn accept_audit_entry(&self, entry: u64, origin: &Origin) -> Result<bool, StoreError> {
        let filter = AuditLogFilter { action: Some(AUDIT_UNPROVED.to_owned()), ..AuditLogFilter::default() };
        let found = self.store.audit_log(&filter, Some(entry.saturating_add(1)), 1).await?;
        let is_there = found.first().is_some_and(|found| found.sequence == entry);
        if is_there {
            self.record_action(origin, Audited::new(AUDIT_ACCEPTED, entry)).await?;
        }
        Ok(is_there)
    }

    pub(crate) fn audit_entry(&self, origin: &Origin, done: Audited) -> NewAuditEntry {
        let of_environment = || Some(self.view(done.environment?)?.environment.organization);
        NewAuditEntry {
            at: self.clock.now(),
            actor: AuditActor { kind: origin.kind, name: origin.actor.clone() },
            token: origin.token,
            address: origin.address,
            request: origin.request.clone(),
            action: done.action.to_owned(),
            organization: done.organization.or_else(of_environment),
            environment: done.environment,
            // Not every database holds control characters, and no list shows them.
            subject: done.subject.chars().filter(|letter| !letter.is_control()).collect(),
            before: done.before.map(|value| value.to_string()),
            after: done.after.map(|value| value.to_string()),
        }
    }
}
