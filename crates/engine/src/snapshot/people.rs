//! The people who operate the service, and their valid personal tokens, found by their digests.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use tollgate_domain::{
    Timestamp,
    id::{TokenId, UserId},
    people::{Identity, User},
};
use tollgate_vault::Digest;

use super::KeyRejection;
use crate::ports::UserState;

/// A token that opens the admin API for a person.
#[derive(Debug, Clone)]
pub struct LiveToken {
    pub id: TokenId,
    pub user: Arc<User>,
    digest: Digest,
    expires_at: Timestamp,
    issuers: Arc<[UserId]>,
}

impl LiveToken {
    /// Who presents it.
    pub fn identity(&self) -> Identity {
        let (user, issuers) = (Arc::clone(&self.user), Arc::clone(&self.issuers));
        Identity::User { user, token: Some(self.id), issuers }
    }

    pub(crate) fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    fn is_expired(&self, now: Timestamp) -> bool {
        now >= self.expires_at
    }
}

/// Everybody who was not removed, and their tokens.
#[derive(Debug, Clone, Default)]
pub(super) struct People {
    users: HashMap<UserId, Arc<User>>,
    tokens: HashMap<TokenId, LiveToken>,
    /// By the digest's first eight bytes; the whole digest is then compared in constant time.
    buckets: HashMap<u64, Vec<TokenId>>,
}

impl People {
    pub(super) fn token(&self, presented: Digest, now: Timestamp) -> Result<&LiveToken, KeyRejection> {
        let candidates = self.buckets.get(&presented.bucket()).map(Vec::as_slice).unwrap_or_default();
        let mut candidates = candidates.iter().filter_map(|id| self.tokens.get(id));
        let token = candidates.find(|token| token.digest == presented).ok_or(KeyRejection::Unknown)?;
        if token.is_expired(now) { Err(KeyRejection::Expired) } else { Ok(token) }
    }

    pub(super) fn user(&self, id: UserId) -> Option<&Arc<User>> {
        self.users.get(&id)
    }

    pub(super) fn user_of_email(&self, email: &str) -> Option<&Arc<User>> {
        // Only ASCII letters are alike in both cases here: others have look-alikes that become them.
        let email = email.to_ascii_lowercase();
        self.users.values().find(|user| user.email == email)
    }

    pub(super) fn token_of_id(&self, id: TokenId, now: Timestamp) -> Option<&LiveToken> {
        self.tokens.get(&id).filter(|token| !token.is_expired(now))
    }

    /// The same with these users as they are now.
    pub(super) fn with(mut self, users: Vec<UserState>) -> Self {
        let touched: HashSet<UserId> = users.iter().map(|state| state.user.id).collect();
        self.tokens.retain(|_, token| !touched.contains(&token.user.id));
        self.users.retain(|id, _| !touched.contains(id));
        for UserState { user, tokens } in users.into_iter().filter(|state| state.user.removed_at.is_none()) {
            let user = Arc::new(user);
            self.users.insert(user.id, Arc::clone(&user));
            for token in tokens.into_iter().filter(|token| token.revoked_at.is_none()) {
                let live = LiveToken {
                    id: token.id,
                    user: Arc::clone(&user),
                    digest: Digest::from_bytes(token.digest),
                    expires_at: token.expires_at,
                    issuers: token.issuers.into(),
                };
                self.tokens.insert(token.id, live);
            }
        }
        self.buckets.clear();
        for token in self.tokens.values() {
            self.buckets.entry(token.digest.bucket()).or_default().push(token.id);
        }
        self
    }
}
