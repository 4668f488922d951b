//! The people who operate the service.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{TokenId, UserId},
    people::{Access, SignOnSubject, User, UserToken},
};
use tollgate_engine::ports::{
    AccessEnded, OperatorUse, Page, PeopleStore, StoreError, SubjectBound, TokenIssued, UserCreated,
    UserState,
};

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::people,
};

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
