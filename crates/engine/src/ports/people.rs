//! The people who operate the service, and their tokens.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{TokenId, UserId},
    people::{User, UserToken},
};

use super::{DirectoryVersion, Page, StoreError};

/// A person with their tokens that are not revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserState {
    pub user: User,
    pub tokens: Vec<UserToken>,
}

/// The outcome of a new user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserCreated {
    /// They are stored (also when this very id was there before).
    Done(DirectoryVersion),
    /// Somebody who was not removed has the address.
    EmailTaken,
}

/// The outcome of a new token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenIssued {
    Done(DirectoryVersion),
    /// No such user, or they were removed.
    UserMissing,
    /// The user has as many tokens as one can have.
    TooMany,
}

/// The outcome of removing a user or revoking a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessEnded {
    /// It is over; the moment of the first time stays.
    Done(DirectoryVersion),
    Missing,
}

/// The part of the store that knows people. They belong to the whole deployment rather than to an environment.
#[async_trait]
pub trait PeopleStore: Send + Sync + 'static {
    /// Stores a new user.
    async fn create_user(&self, user: &User) -> Result<UserCreated, StoreError>;

    /// Ends a user's access. Their record stays, so that what they did stays attributed.
    async fn remove_user(&self, user: UserId, at: Timestamp) -> Result<AccessEnded, StoreError>;

    /// Stores a new token, unless its user has `most` others that are neither revoked nor expired when it is made.
    async fn issue_user_token(&self, token: &UserToken, most: u32) -> Result<TokenIssued, StoreError>;

    /// Revokes a token.
    async fn revoke_user_token(
        &self,
        user: UserId,
        token: TokenId,
        at: Timestamp,
    ) -> Result<AccessEnded, StoreError>;

    /// Users by id, removed ones included.
    async fn users(&self, page: Page<UserId>) -> Result<Vec<UserState>, StoreError>;

    /// The user, also one who was removed.
    async fn user(&self, id: UserId) -> Result<Option<UserState>, StoreError>;
}
