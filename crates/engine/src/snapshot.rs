//! What a node keeps in memory of organizations, keys and configurations: immutable, replaced whole.

mod people;

use std::{collections::HashMap, sync::Arc};

use tollgate_configuration::Configuration;
use tollgate_domain::{
    Timestamp,
    card::CardOrder,
    card_fee::{FeeDecision, PaymentFacts},
    id::{EnvironmentId, KeyId, TokenId, UserId},
    key_scope::KeyScope,
    people::User,
    tenant::{Environment, KeyKind, KeyRecord},
};
use tollgate_vault::Digest;

use crate::{
    key_meters::KeyMeters,
    ports::{Clock, DirectoryVersion, StoreError, UserState},
};
pub use people::LiveToken;
use people::People;

/// One environment with the current configuration.
#[derive(Debug)]
pub struct EnvironmentView {
    /// The environment itself.
    pub environment: Environment,
    /// The version of the configuration, kept with every decision made by it.
    pub config_version: u64,
    /// The configuration, which views of the same version share.
    pub configuration: Arc<Configuration>,
    /// A newer configuration that this process cannot use, so that the one before stays in force.
    pub unusable: Option<UnusableConfig>,
}

impl EnvironmentView {
    /// How much of a payment's card fee may be asked for with this card and payer, and why; `None` where the fee has no kind. The
    /// layers are those that the payment was prepared with.
    pub fn card_fee_decision(
        &self,
        order: &CardOrder,
        facts: PaymentFacts,
        clock: &dyn Clock,
    ) -> Option<FeeDecision> {
        let fees = &self.configuration.fees;
        let (_, kind) = fees.entry_with_kind(&order.provider, order.channel, order.currency);
        let configured = order.fee.entry().assess(order.fee.principal);
        let (today, provider) = (clock.now().utc_date(), &order.provider);
        Some(self.configuration.decide_card_fee(kind?, provider, &configured, order.flow, facts, today))
    }

    /// Fails while there is a newer configuration whose rules are not known here: what they would hold back cannot be told.
    pub(crate) fn known_rules(&self) -> Result<(), StoreError> {
        let Some(unusable) = &self.unusable else { return Ok(()) };
        let reason = format!("configuration version {} is not usable on this node", unusable.version);
        Err(StoreError::Unavailable(reason))
    }

    /// The configuration in force, for people.
    pub fn config_in_force(&self) -> String {
        match self.config_version {
            0 => "no configuration".to_owned(),
            version => format!("configuration {version}"),
        }
    }
}

/// A stored configuration that cannot be used here, as one with fields of a later release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableConfig {
    pub version: u64,
    pub reason: String,
}

/// A key that opens an environment.
#[derive(Debug, Clone)]
pub struct LiveKey {
    /// Its public name.
    pub id: KeyId,
    /// What it may do.
    pub kind: KeyKind,
    /// What it is limited to.
    pub scope: KeyScope,
    /// What it opens.
    pub environment: Arc<EnvironmentView>,
    /// What is counted of its use. Survives a change of the configuration.
    pub meters: Arc<KeyMeters>,
    digest: Digest,
    expires_at: Option<Timestamp>,
}

/// Why a credential opens nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyRejection {
    /// It was never issued here, or was revoked.
    Unknown,
    /// Its time is over: it was issued for so long, or it was rotated and the grace period has passed.
    Expired,
}

/// An environment, and where its keys are found.
#[derive(Debug, Clone)]
struct Held {
    view: Arc<EnvironmentView>,
    buckets: Vec<u64>,
}

/// The whole directory at one version.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    version: DirectoryVersion,
    environments: HashMap<EnvironmentId, Held>,
    /// By the digest's first eight bytes; the whole digest is then compared in constant time.
    keys: HashMap<u64, Vec<LiveKey>>,
    people: Arc<People>,
}

impl Snapshot {
    /// The directory's version it shows.
    pub fn version(&self) -> DirectoryVersion {
        self.version
    }

    /// The environment, if there is one.
    pub fn environment(&self, id: EnvironmentId) -> Option<&Arc<EnvironmentView>> {
        self.environments.get(&id).map(|held| &held.view)
    }

    /// Every environment, in the order of their ids.
    pub fn environments(&self) -> Vec<&Arc<EnvironmentView>> {
        let mut all: Vec<_> = self.environments.values().map(|held| &held.view).collect();
        all.sort_unstable_by_key(|view| view.environment.id);
        all
    }

    /// Whether this holds of an environment.
    pub fn any_environment(&self, holds: impl Fn(&EnvironmentView) -> bool) -> bool {
        self.environments.values().any(|held| holds(&held.view))
    }

    /// Every key that was not revoked.
    pub(crate) fn live_keys(&self) -> impl Iterator<Item = &LiveKey> {
        self.keys.values().flatten()
    }

    /// The key whose digest a caller's credential has, if it opens anything at this moment.
    pub fn authenticate(&self, presented: Digest, now: Timestamp) -> Result<&LiveKey, KeyRejection> {
        let candidates = self.keys.get(&presented.bucket()).map(Vec::as_slice).unwrap_or_default();
        let key = candidates.iter().find(|key| key.digest == presented).ok_or(KeyRejection::Unknown)?;
        if key.expires_at.is_some_and(|expiry| now >= expiry) {
            return Err(KeyRejection::Expired);
        }
        Ok(key)
    }

    /// The personal token whose digest an operator's credential has, if it is valid at this moment.
    pub fn personal_token(&self, presented: Digest, now: Timestamp) -> Result<&LiveToken, KeyRejection> {
        self.people.token(presented, now)
    }

    /// The personal token of this id, if it is valid at this moment.
    pub fn personal_token_of_id(&self, id: TokenId, now: Timestamp) -> Option<&LiveToken> {
        self.people.token_of_id(id, now)
    }

    /// The user, unless they were removed.
    pub fn user(&self, id: UserId) -> Option<&Arc<User>> {
        self.people.user(id)
    }

    /// The user who has this email address and was not removed.
    pub fn user_of_email(&self, email: &str) -> Option<&Arc<User>> {
        self.people.user_of_email(email)
    }

    /// The same directory with these users and their tokens replaced.
    #[must_use]
    pub(crate) fn with_users(mut self, users: Vec<UserState>) -> Self {
        if !users.is_empty() {
            self.people = Arc::new(People::clone(&self.people).with(users));
        }
        self
    }

    /// The same directory, known to be this version.
    #[must_use]
    pub(crate) fn at(mut self, version: DirectoryVersion) -> Self {
        self.version = version;
        self
    }

    /// The same directory with one environment and its keys replaced.
    #[must_use]
    pub(crate) fn with(mut self, view: EnvironmentView, records: &[KeyRecord]) -> Self {
        let id = view.environment.id;
        let view = Arc::new(view);
        let mut meters = self.take_keys_of(id);
        let mut buckets = Vec::new();
        for record in records.iter().filter(|record| record.revoked_at.is_none()) {
            let digest = Digest::from_bytes(record.digest);
            buckets.push(digest.bucket());
            self.keys.entry(digest.bucket()).or_default().push(LiveKey {
                id: record.id,
                kind: record.kind,
                scope: record.scope.clone(),
                environment: Arc::clone(&view),
                meters: meters.remove(&record.id).unwrap_or_default(),
                digest,
                expires_at: record.expires_at,
            });
        }
        self.environments.insert(id, Held { view, buckets });
        self
    }

    /// Takes out an environment's keys and keeps their meters. Looks nowhere but where they are: reading thousands of
    /// environments at start must not look through all keys for each.
    fn take_keys_of(&mut self, id: EnvironmentId) -> HashMap<KeyId, Arc<KeyMeters>> {
        let buckets = self.environments.get(&id).map(|held| held.buckets.as_slice()).unwrap_or_default();
        let mut meters = HashMap::new();
        for bucket in buckets {
            let Some(candidates) = self.keys.get_mut(bucket) else { continue };
            for key in candidates.extract_if(.., |key| key.environment.environment.id == id) {
                meters.insert(key.id, key.meters);
            }
            if candidates.is_empty() {
                self.keys.remove(bucket);
            }
        }
        meters
    }
}

#[cfg(test)]
mod tests {
    use tollgate_domain::{
        id::{ApplicationId, OrganizationId},
        tenant::EnvironmentName,
    };

    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis)
    }

    fn view(number: u8) -> EnvironmentView {
        let environment = Environment {
            id: EnvironmentId::new(at(1), [number; 10]),
            application: ApplicationId::new(at(1), [number; 10]),
            organization: OrganizationId::new(at(1), [number; 10]),
            name: EnvironmentName::parse("test").unwrap(),
            created_at: at(1),
        };
        EnvironmentView { environment, config_version: 0, configuration: Arc::default(), unusable: None }
    }

    fn record(environment: u8, text: &str) -> KeyRecord {
        KeyRecord {
            id: KeyId::new(at(1), *Digest::of(text).to_bytes().first_chunk().unwrap()),
            environment: view(environment).environment.id,
            kind: KeyKind::Secret,
            name: None,
            scope: KeyScope::default(),
            digest: Digest::of(text).to_bytes(),
            last_four: "last".to_owned(),
            created_at: at(1),
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
            replaced_by: None,
        }
    }

    fn opens(snapshot: &Snapshot, text: &str) -> Option<u8> {
        let key = snapshot.authenticate(Digest::of(text), at(100)).ok()?;
        (0..=9).find(|number| view(*number).environment.id == key.environment.environment.id)
    }

    #[test]
    fn replacing_an_environment_replaces_its_keys_and_nobody_elses() {
        let first = Snapshot::default()
            .with(view(1), &[record(1, "a"), record(1, "b")])
            .with(view(2), &[record(2, "c")]);
        assert_eq!([opens(&first, "a"), opens(&first, "b"), opens(&first, "c")], [Some(1), Some(1), Some(2)]);
        let revoked = KeyRecord { revoked_at: Some(at(50)), ..record(1, "b") };
        let second = first.clone().with(view(1), &[record(1, "a"), revoked, record(1, "d")]);
        assert_eq!(opens(&second, "b"), None);
        assert_eq!(
            [opens(&second, "a"), opens(&second, "c"), opens(&second, "d")],
            [Some(1), Some(2), Some(1)]
        );
        assert_eq!(opens(&first, "b"), Some(1), "the snapshot before is as it was");
        assert_eq!(second.keys.values().map(Vec::len).sum::<usize>(), 3);
    }

    #[test]
    fn a_key_ends_at_its_expiry_and_keeps_its_meters_until_then() {
        let expiring = KeyRecord { expires_at: Some(at(100)), ..record(1, "a") };
        let snapshot = Snapshot::default().with(view(1), &[record(1, "a")]);
        let meters = Arc::clone(&snapshot.authenticate(Digest::of("a"), at(0)).unwrap().meters);
        let snapshot = snapshot.with(view(1), &[expiring]);
        assert!(Arc::ptr_eq(&snapshot.authenticate(Digest::of("a"), at(99)).unwrap().meters, &meters));
        assert_eq!(snapshot.authenticate(Digest::of("a"), at(100)).unwrap_err(), KeyRejection::Expired);
    }
}
