//! The people who operate the service, and their tokens.

use tollgate_domain::{
    id::{OrganizationId, TokenId, UserId},
    people::{Access, Role, User, UserToken},
};
use tollgate_engine::ports::{AccessEnded, DirectoryVersion, Page, TokenIssued, UserCreated, UserState};

use super::{ALL, Nodes, at};

impl Nodes {
    pub fn new_user(&self, email: &str) -> User {
        let (created_at, random) = self.next();
        let own = vec![OrganizationId::from_bytes([1; 16]), OrganizationId::from_bytes([2; 16])];
        User {
            id: UserId::new(created_at, random),
            name: "Ada Lovelace".to_owned(),
            email: email.to_owned(),
            access: Access { role: Role::Support, organizations: Some(own) },
            created_at,
            removed_at: None,
        }
    }

    pub fn new_user_token(&self, user: UserId) -> UserToken {
        let (created_at, random) = self.next();
        let mut digest = [0x6b; 32];
        digest[..10].copy_from_slice(&random);
        UserToken {
            id: TokenId::new(created_at, random),
            user,
            name: "laptop".to_owned(),
            digest,
            last_four: "wxyz".to_owned(),
            created_at,
            expires_at: at(90_000),
            revoked_at: None,
            issuers: vec![user],
        }
    }

    pub async fn user(&self, email: &str) -> User {
        let user = self.new_user(email);
        done(self.one.create_user(&user).await.unwrap());
        user
    }

    async fn state(&self, user: UserId) -> UserState {
        self.two.user(user).await.unwrap().unwrap()
    }

    /// What a node that knows nothing yet is told.
    async fn told(&self) -> Vec<UserState> {
        self.two.directory_since(DirectoryVersion::default()).await.unwrap().users
    }
}

fn done(created: UserCreated) -> DirectoryVersion {
    let UserCreated::Done(version) = created else { panic!("not created: {created:?}") };
    version
}

pub async fn a_user_goes_round(nodes: &Nodes) {
    let limited = nodes.user("ada@example.com").await;
    let everywhere = User {
        access: Access { role: Role::Admin, organizations: None },
        ..nodes.new_user("grace@example.com")
    };
    let version = done(nodes.one.create_user(&everywhere).await.unwrap());
    assert_eq!(
        done(nodes.two.create_user(&everywhere).await.unwrap()),
        version,
        "a repetition changes nothing"
    );
    let all = [limited, everywhere].map(|user| UserState { user, tokens: Vec::new() });
    assert_eq!(nodes.two.users(Page { after: None, limit: ALL }).await.unwrap(), all);
    let page = Page { after: Some(all[0].user.id), limit: 1 };
    assert_eq!(nodes.two.users(page).await.unwrap(), all[1..]);
    assert_eq!(nodes.state(all[1].user.id).await, all[1]);
    assert_eq!(nodes.two.user(UserId::from_bytes([9; 16])).await.unwrap(), None);
    assert_eq!(nodes.told().await, all);
    assert_eq!(nodes.two.directory_since(version).await.unwrap().users, []);
}

pub async fn an_address_belongs_to_one_user(nodes: &Nodes) {
    let first = nodes.user("ada@example.com").await;
    let second = nodes.new_user("ada@example.com");
    assert_eq!(nodes.two.create_user(&second).await.unwrap(), UserCreated::EmailTaken);
    nodes.one.remove_user(first.id, at(5)).await.unwrap();
    done(nodes.two.create_user(&second).await.unwrap());
    let third = nodes.new_user("ada@example.com");
    assert_eq!(nodes.two.create_user(&third).await.unwrap(), UserCreated::EmailTaken);
}

pub async fn tokens_come_and_go(nodes: &Nodes) {
    let (user, other) = (nodes.user("ada@example.com").await, nodes.user("grace@example.com").await);
    let (kept, revoked) = (nodes.new_user_token(user.id), nodes.new_user_token(user.id));
    for token in [&kept, &revoked, &kept] {
        let issued = nodes.one.issue_user_token(token, 9).await.unwrap();
        assert!(matches!(issued, TokenIssued::Done(_)), "{issued:?}");
    }
    assert_eq!(nodes.state(user.id).await.tokens, [kept.clone(), revoked.clone()]);
    assert_eq!(nodes.state(other.id).await.tokens, []);
    let stranger = nodes.new_user_token(UserId::from_bytes([9; 16]));
    assert_eq!(nodes.one.issue_user_token(&stranger, 9).await.unwrap(), TokenIssued::UserMissing);

    let before = nodes.two.directory_since(DirectoryVersion::default()).await.unwrap().version;
    let of_another = nodes.one.revoke_user_token(other.id, revoked.id, at(7)).await.unwrap();
    assert_eq!(of_another, AccessEnded::Missing);
    for node in [&nodes.one, &nodes.two] {
        let ended = node.revoke_user_token(user.id, revoked.id, at(7)).await.unwrap();
        assert!(matches!(ended, AccessEnded::Done(version) if version > before), "{ended:?}");
    }
    let news = nodes.two.directory_since(before).await.unwrap().users;
    assert_eq!(news, [UserState { user: user.clone(), tokens: vec![kept.clone()] }]);
    let all = nodes.two.users(Page { after: None, limit: ALL }).await.unwrap();
    assert_eq!(all.iter().map(|state| state.tokens.len()).collect::<Vec<_>>(), [1, 0]);
}

pub async fn access_ends_everywhere(nodes: &Nodes) {
    let user = nodes.user("ada@example.com").await;
    let token = nodes.new_user_token(user.id);
    nodes.one.issue_user_token(&token, 9).await.unwrap();
    for millis in [20, 30] {
        let ended = nodes.two.remove_user(user.id, at(millis)).await.unwrap();
        assert!(matches!(ended, AccessEnded::Done(_)), "{ended:?}");
    }
    assert_eq!(nodes.state(user.id).await.user.removed_at, Some(at(20)), "the first time stays");
    assert!(nodes.told().await.iter().all(|state| state.user.removed_at.is_some()));
    assert_eq!(
        nodes.one.remove_user(UserId::from_bytes([9; 16]), at(1)).await.unwrap(),
        AccessEnded::Missing
    );
    let late = nodes.new_user_token(user.id);
    assert_eq!(nodes.one.issue_user_token(&late, 9).await.unwrap(), TokenIssued::UserMissing);
}

pub async fn there_are_never_too_many_tokens(nodes: &Nodes) {
    let user = nodes.user("ada@example.com").await;
    let expired = UserToken { expires_at: at(0), ..nodes.new_user_token(user.id) };
    let (first, second, third) =
        (nodes.new_user_token(user.id), nodes.new_user_token(user.id), nodes.new_user_token(user.id));
    for token in [&expired, &first, &second] {
        let issued = nodes.one.issue_user_token(token, 2).await.unwrap();
        assert!(matches!(issued, TokenIssued::Done(_)), "{issued:?}");
    }
    assert_eq!(nodes.two.issue_user_token(&third, 2).await.unwrap(), TokenIssued::TooMany);
    nodes.one.revoke_user_token(user.id, first.id, at(7)).await.unwrap();
    assert!(matches!(nodes.two.issue_user_token(&third, 2).await.unwrap(), TokenIssued::Done(_)));
}
