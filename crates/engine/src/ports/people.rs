//! The people who operate the service, and their tokens.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{TokenId, UserId},
    people::{Access, SignOnSubject, User, UserToken},
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

/// The outcome of a sign-in with an issuer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectBound {
    /// The user is this subject's, as before or from now on.
    Done(DirectoryVersion),
    /// The issuer has vouched for somebody else as this user before.
    Other,
    /// No such user, or they were removed.
    Missing,
}

/// When an operator last did something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorUse {
    pub user: UserId,
    /// What they did it with; none after single sign-on.
    pub token: Option<TokenId>,
    pub at: Timestamp,
}

/// The outcome of changing or removing a user or revoking a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessEnded {
    /// It is changed or over; the moment of the first time stays.
    Done(DirectoryVersion),
    Missing,
}

/// The part of the store that knows people. They belong to the whole deployment rather than to an environment.
#[async_trait]
pub trait PeopleStore: Send + Sync + 'static {
    /// Stores a new user.
    async fn create_user(&self, user: &User) -> Result<UserCreated, StoreError>;

    /// Changes what a user is called and may do.
    async fn change_user(&self, user: UserId, name: &str, access: &Access)
    -> Result<AccessEnded, StoreError>;

    /// Makes the user this subject's, unless the same issuer has vouched for another.
    async fn bind_subject(&self, user: UserId, subject: &SignOnSubject) -> Result<SubjectBound, StoreError>;

    /// Notes the latest use of users and their tokens.
    async fn record_operator_uses(&self, uses: &[OperatorUse]) -> Result<(), StoreError>;

    /// Everybody who may be behind these users, themselves first: the same person under another id (by address or
    /// subject, removed ones included), whoever added them as a user, and so on.
    async fn people_behind(&self, users: &[UserId]) -> Result<Vec<UserId>, StoreError>;

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
