//! The people who operate the service: added, given tokens, recognized, removed.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};
use tollgate_domain::{
    Timestamp,
    id::{OrganizationId, TokenId, UserId},
    people::{Access, Identity, Role, SignOnSubject, User, UserToken},
    tenant::Organization,
};
use tollgate_vault::{
    AdminToken, AdminTokenError, Digest, RandomnessUnavailable, Secret, issue_personal_token,
    shape_of_personal_token,
};

use crate::{
    audit_log::Audited,
    configure::Origin,
    engine::Engine,
    key_meters::KeyMeters,
    ports::{AccessEnded, OperatorUse, Page, StoreError, SubjectBound, TokenIssued, UserCreated, UserState},
    rate_limiter::{AddressRateLimiter, RateLimitExceeded, RateLimiter},
    snapshot::{KeyRejection, LiveToken},
};

/// Valid tokens of one person. More than anybody has machines.
const MAX_TOKENS: u32 = 20;
/// Tokens that people make for themselves: so many at once, then one in this time, since each makes entries of the audit log.
const OWN_TOKENS_AT_ONCE: u64 = 20;
const OWN_TOKEN_EVERY: Duration = Duration::from_mins(5);
/// Uses of operators that are written in one unit of work.
const WRITTEN_AT_ONCE: usize = 100;

/// A person to be added.
#[derive(Debug, Clone)]
pub struct NewUser {
    pub name: String,
    pub email: String,
    pub access: Access,
}

/// What is to be different of a person.
#[derive(Debug, Clone, Default)]
pub struct UserChange {
    pub name: Option<String>,
    pub role: Option<Role>,
    /// `Some(None)` for all of them.
    pub organizations: Option<Option<Vec<OrganizationId>>>,
}

/// A token and the only sight of its text.
#[derive(Debug, Clone)]
pub struct NewUserToken {
    pub record: UserToken,
    pub token: Secret,
}

/// Why a user or token was not added or removed.
#[derive(Debug, thiserror::Error)]
pub enum UserError {
    #[error("user or token not found")]
    Missing,
    #[error("another user has this email address")]
    EmailTaken,
    /// Whoever adds users could add one without the limit.
    #[error("an admin cannot be limited to organizations")]
    LimitedAdmin,
    /// The issuer vouched for somebody else when the user first signed in.
    #[error("the user belongs to another account of the issuer")]
    OtherSubject,
    #[error("organization {0} not found")]
    OrganizationMissing(OrganizationId),
    #[error("the user has {MAX_TOKENS} valid tokens already; revoke one first")]
    TooManyTokens,
    #[error("too many tokens made in a short time")]
    TooManyNewTokens(RateLimitExceeded),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
}

/// Why an operator's credential opens nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    #[error("this personal token has expired; ask an admin for a new one")]
    Expired,
    #[error("this personal token is unknown; it may have been revoked")]
    UnknownToken,
    #[error("the personal token's checksum does not match: it was mistyped or cut off")]
    MistypedToken,
    #[error(transparent)]
    Admin(#[from] AdminTokenError),
}

/// What is known of operators while the service runs.
pub(crate) struct Operators {
    uses: Mutex<HashMap<(UserId, Option<TokenId>), KeyMeters>>,
    bad_credentials: AddressRateLimiter,
    own_tokens: Mutex<HashMap<UserId, RateLimiter>>,
}

impl Default for Operators {
    /// A wrong credential a second from an address, after a few at once.
    fn default() -> Self {
        Self {
            uses: Mutex::default(),
            bad_credentials: AddressRateLimiter::new(1_024, 1, 10),
            own_tokens: Mutex::default(),
        }
    }
}

impl Operators {
    fn take_own_token(&self, user: UserId) -> Result<(), RateLimitExceeded> {
        let mut all = self.own_tokens.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(user).or_default().take_slowly(OWN_TOKEN_EVERY, OWN_TOKENS_AT_ONCE)
    }
}

/// A user as the audit log describes them.
fn described(user: &User) -> Value {
    let organizations = user.access.organizations.as_ref();
    json!({
        "name": user.name,
        "email": user.email,
        "role": user.access.role.as_str(),
        "organizations": organizations.map(|ids| ids.iter().map(ToString::to_string).collect::<Vec<_>>()),
    })
}

impl Engine {
    /// Whose credential this is: the server's admin token or somebody's personal one. Asks no database.
    pub fn identify_operator(
        &self,
        admin_token: &AdminToken,
        presented: &str,
    ) -> Result<Identity, CredentialError> {
        let Some(is_whole) = shape_of_personal_token(presented) else {
            return Ok(admin_token.verify(presented).map(|()| Identity::Bootstrap)?);
        };
        let snapshot = self.directory.snapshot();
        let found = snapshot.personal_token(Digest::of(presented), self.clock.now());
        let identity = found.map(LiveToken::identity).map_err(|rejection| match rejection {
            KeyRejection::Expired => CredentialError::Expired,
            KeyRejection::Unknown if is_whole => CredentialError::UnknownToken,
            KeyRejection::Unknown => CredentialError::MistypedToken,
        })?;
        Ok(self.used(identity))
    }

    /// Slows down guessing: counts an invalid credential, at the API or the console's sign-in. A
    /// correct one is never refused because of it.
    pub fn count_bad_credential(&self, address: Option<IpAddr>) -> Result<(), RateLimitExceeded> {
        self.operators.bad_credentials.take(address)
    }

    fn used(&self, identity: Identity) -> Identity {
        if let Identity::User { user, token, .. } = &identity {
            let mut uses = self.operators.uses.lock().unwrap_or_else(PoisonError::into_inner);
            uses.entry((user.id, *token)).or_default().used(self.clock.now());
        }
        identity
    }

    /// Writes down when operators last did something.
    pub(crate) async fn record_operator_uses(&self) -> Result<(), StoreError> {
        let lock = || self.operators.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let take = |((user, token), meters): (&(UserId, Option<TokenId>), &KeyMeters)| {
            Some(OperatorUse { user: *user, token: *token, at: meters.take_use()? })
        };
        let uses: Vec<_> = lock().iter().filter_map(take).take(WRITTEN_AT_ONCE).collect();
        if uses.is_empty() {
            return Ok(());
        }
        let written = self.store.record_operator_uses(&uses).await;
        if written.is_err() {
            let known = lock();
            for meters in uses.iter().filter_map(|it| known.get(&(it.user, it.token))) {
                meters.put_back_use();
            }
        }
        written
    }

    /// Who signed in with this token, unless it was revoked or has expired since.
    pub fn identify_token(&self, token: TokenId) -> Option<Identity> {
        let snapshot = self.directory.snapshot();
        let found = snapshot.personal_token_of_id(token, self.clock.now()).map(LiveToken::identity);
        found.map(|identity| self.used(identity))
    }

    /// The user of this id after single sign-on, unless they were removed since.
    pub fn identify_user(&self, user: UserId) -> Option<Identity> {
        let snapshot = self.directory.snapshot();
        let user = Arc::clone(snapshot.user(user)?);
        Some(self.used(Identity::User { user, token: None, issuers: Arc::new([]) }))
    }

    /// Makes a user the issuer's subject that signs in as them for the first time; nobody else does from then on.
    pub async fn bind_subject(
        &self,
        user: UserId,
        subject: &SignOnSubject,
        origin: &Origin,
    ) -> Result<(), UserError> {
        let after = json!({ "issuer": subject.issuer, "subject": subject.subject });
        let audited = Audited::new("user.bind", user).after(after);
        match self.audited(origin, audited).bind_subject(user, subject).await? {
            SubjectBound::Done(version) => self.directory.catch_up(version).await,
            SubjectBound::Other => return Err(UserError::OtherSubject),
            SubjectBound::Missing => return Err(UserError::Missing),
        }
        Ok(())
    }

    /// The user who has this email address and was not removed.
    pub fn user_of_email(&self, email: &str) -> Option<UserId> {
        self.directory.snapshot().user_of_email(email).map(|user| user.id)
    }

    /// Adds a person. They can do nothing before they are given a token, or sign in by single sign-on.
    pub async fn create_user(&self, new: NewUser, origin: &Origin) -> Result<UserState, UserError> {
        let access = self.checked_access(new.access).await?;
        let user = User {
            id: self.new_id(UserId::new)?,
            name: new.name,
            email: new.email.to_lowercase(),
            access,
            created_at: self.clock.now(),
            removed_at: None,
            subject: None,
            last_used_at: None,
        };
        // For approvals, everybody who may have added a user counts as that user.
        let audited = Audited::new("user.create", user.id)
            .after(described(&user))
            .also_after("people", origin.people_text().into());
        match self.audited(origin, audited).create_user(&user).await? {
            UserCreated::Done(version) => self.directory.catch_up(version).await,
            UserCreated::EmailTaken => return Err(UserError::EmailTaken),
        }
        Ok(UserState { user, tokens: Vec::new() })
    }

    /// Changes what a person is called and may do: on this node at once, on others within a second.
    pub async fn change_user(
        &self,
        id: UserId,
        change: UserChange,
        origin: &Origin,
    ) -> Result<UserState, UserError> {
        let known = self.user(id).await?.user;
        let access = Access {
            role: change.role.unwrap_or(known.access.role),
            organizations: change.organizations.unwrap_or_else(|| known.access.organizations.clone()),
        };
        let access = self.checked_access(access).await?;
        let name = change.name.unwrap_or_else(|| known.name.clone());
        let changed = User { name, access, ..known.clone() };
        let audited = Audited::new("user.change", id).before(described(&known)).after(described(&changed));
        let done = self.audited(origin, audited).change_user(id, &changed.name, &changed.access).await?;
        self.settle_access(done).await?;
        self.user(id).await
    }

    async fn checked_access(&self, mut access: Access) -> Result<Access, UserError> {
        let Some(organizations) = &mut access.organizations else { return Ok(access) };
        if access.role == Role::Admin {
            return Err(UserError::LimitedAdmin);
        }
        organizations.sort_unstable();
        organizations.dedup();
        for organization in organizations {
            let known = self.store.organization(*organization).await?;
            known.ok_or(UserError::OrganizationMissing(*organization))?;
        }
        Ok(access)
    }

    /// Ends a person's access: on this node at once, on others within a second.
    pub async fn remove_user(&self, user: UserId, origin: &Origin) -> Result<UserState, UserError> {
        let store = self.audited(origin, Audited::new("user.remove", user));
        let ended = store.remove_user(user, self.clock.now()).await?;
        self.settle_access(ended).await?;
        self.user(user).await
    }

    /// Gives a person a token that is valid for so long.
    pub async fn issue_user_token(
        &self,
        user: UserId,
        name: String,
        lifetime: Duration,
        origin: &Origin,
    ) -> Result<NewUserToken, UserError> {
        let now = self.clock.now();
        self.issue_personal_token_until(user, name, (now, now.saturating_add(lifetime)), origin).await
    }

    async fn issue_personal_token_until(
        &self,
        user: UserId,
        name: String,
        (created_at, expires_at): (Timestamp, Timestamp),
        origin: &Origin,
    ) -> Result<NewUserToken, UserError> {
        let issued = issue_personal_token()?;
        let record = UserToken {
            id: self.new_id(TokenId::new)?,
            user,
            name,
            digest: issued.digest.to_bytes(),
            last_four: issued.last_four,
            created_at,
            expires_at,
            revoked_at: None,
            last_used_at: None,
            issuers: origin.people.clone(),
        };
        let audited = Audited::new("user_token.issue", record.id).after(json!({
            "userId": user.to_string(),
            "name": record.name,
            "lastFour": record.last_four,
        }));
        match self.audited(origin, audited).issue_user_token(&record, MAX_TOKENS).await? {
            TokenIssued::Done(version) => self.directory.catch_up(version).await,
            TokenIssued::UserMissing => return Err(UserError::Missing),
            TokenIssued::TooMany => return Err(UserError::TooManyTokens),
        }
        Ok(NewUserToken { record, token: issued.key })
    }

    /// Who this is, with their tokens; `None` for whoever holds the admin token.
    pub async fn own_account(&self, identity: &Identity) -> Result<Option<UserState>, StoreError> {
        match identity {
            Identity::Bootstrap => Ok(None),
            Identity::User { user, .. } => self.store.user(user.id).await,
        }
    }

    /// Gives somebody a token of their own making. One that is made with another does not outlive it: a stolen
    /// token could otherwise be renewed for ever.
    pub async fn issue_own_token(
        &self,
        identity: &Identity,
        name: String,
        lifetime: Duration,
        origin: &Origin,
    ) -> Result<NewUserToken, UserError> {
        let Identity::User { user, token, .. } = identity else { return Err(UserError::Missing) };
        self.operators.take_own_token(user.id).map_err(UserError::TooManyNewTokens)?;
        let now = self.clock.now();
        let used = token.and_then(|token| {
            let snapshot = self.directory.snapshot();
            snapshot.personal_token_of_id(token, now).map(LiveToken::expires_at)
        });
        let asked = now.saturating_add(lifetime);
        let expires_at = used.map_or(asked, |end| asked.min(end));
        self.issue_personal_token_until(user.id, name, (now, expires_at), origin).await
    }

    /// Revokes one of somebody's own tokens.
    pub async fn revoke_own_token(
        &self,
        identity: &Identity,
        token: TokenId,
        origin: &Origin,
    ) -> Result<(), UserError> {
        let Identity::User { user, .. } = identity else { return Err(UserError::Missing) };
        self.revoke_user_token(user.id, token, origin).await
    }

    /// Revokes a token: on this node at once, on others within a second.
    pub async fn revoke_user_token(
        &self,
        user: UserId,
        token: TokenId,
        origin: &Origin,
    ) -> Result<(), UserError> {
        let audited = Audited::new("user_token.revoke", token).after(json!({ "userId": user.to_string() }));
        let store = self.audited(origin, audited);
        let ended = store.revoke_user_token(user, token, self.clock.now()).await?;
        self.settle_access(ended).await
    }

    /// Users by id, removed ones included.
    pub async fn users(&self, page: Page<UserId>) -> Result<Vec<UserState>, StoreError> {
        self.store.users(page).await
    }

    /// The organizations somebody can see, by id.
    pub async fn organizations_seen_by(
        &self,
        identity: &Identity,
        page: Page<OrganizationId>,
    ) -> Result<Vec<Organization>, StoreError> {
        let Some(own) = identity.organizations() else { return self.store.organizations(page).await };
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let wanted = own.iter().filter(|id| page.after.is_none_or(|after| **id > after)).take(limit);
        let mut found = Vec::new();
        for id in wanted {
            found.extend(self.store.organization(*id).await?);
        }
        Ok(found)
    }

    async fn user(&self, id: UserId) -> Result<UserState, UserError> {
        self.store.user(id).await?.ok_or(UserError::Missing)
    }

    async fn settle_access(&self, ended: AccessEnded) -> Result<(), UserError> {
        match ended {
            AccessEnded::Done(version) => {
                self.directory.catch_up(version).await;
                Ok(())
            }
            AccessEnded::Missing => Err(UserError::Missing),
        }
    }
}
