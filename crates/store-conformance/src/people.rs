//! The people who operate the service, and their tokens.

use tollgate_domain::{
    audit_log::{ActorKind, AuditActor, NewAuditEntry},
    id::{OrganizationId, TokenId, UserId},
    people::{Access, Role, SignOnSubject, User, UserToken},
};
use tollgate_engine::ports::{
    AccessEnded, DirectoryVersion, OperatorUse, Page, SubjectBound, TokenIssued, UserCreated, UserState,
};

use super::{ALL, Nodes, at, audit_log::new_entry};

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
            subject: None,
            last_used_at: None,
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
            last_used_at: None,
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

pub async fn a_role_changes_in_place(nodes: &Nodes) {
    let user = nodes.user("ada@example.com").await;
    let access = Access { role: Role::Approver, organizations: None };
    let before = nodes.two.directory_since(DirectoryVersion::default()).await.unwrap().version;
    let changed = nodes.one.change_user(user.id, "Ada King", &access).await.unwrap();
    assert!(matches!(changed, AccessEnded::Done(version) if version > before), "{changed:?}");
    assert_eq!(nodes.two.change_user(user.id, "Ada King", &access).await.unwrap(), changed, "a repetition");
    let expected = User { name: "Ada King".to_owned(), access: access.clone(), ..user.clone() };
    assert_eq!(nodes.two.directory_since(before).await.unwrap().users[0].user, expected);
    nodes.one.remove_user(user.id, at(20)).await.unwrap();
    for missing in [user.id, UserId::from_bytes([9; 16])] {
        assert_eq!(nodes.one.change_user(missing, "Eve", &access).await.unwrap(), AccessEnded::Missing);
    }
}

fn subject(issuer: &str, subject: &str) -> SignOnSubject {
    SignOnSubject { issuer: format!("https://{issuer}.example.com"), subject: subject.to_owned() }
}

pub async fn a_user_is_one_subject_of_an_issuer(nodes: &Nodes) {
    let user = nodes.user("ada@example.com").await;
    let first = nodes.one.bind_subject(user.id, &subject("id", "a b")).await.unwrap();
    assert!(matches!(first, SubjectBound::Done(_)), "{first:?}");
    assert_eq!(nodes.two.bind_subject(user.id, &subject("id", "a b")).await.unwrap(), first);
    assert_eq!(nodes.two.bind_subject(user.id, &subject("id", "c")).await.unwrap(), SubjectBound::Other);
    assert_eq!(nodes.state(user.id).await.user.subject, Some(subject("id", "a b")));
    // Another issuer was trusted instead.
    let moved = nodes.two.bind_subject(user.id, &subject("other", "c")).await.unwrap();
    assert!(matches!(moved, SubjectBound::Done(_)), "{moved:?}");
    nodes.one.remove_user(user.id, at(20)).await.unwrap();
    let late = nodes.one.bind_subject(user.id, &subject("other", "c")).await.unwrap();
    assert_eq!(late, SubjectBound::Missing);
}

pub async fn people_are_known_across_their_users(nodes: &Nodes) {
    let created_by = async |email: &str, creator: Option<&User>| {
        let user = nodes.new_user(email);
        let kind = creator.map_or(ActorKind::Bootstrap, |creator| ActorKind::User(creator.id));
        let actor = AuditActor { kind, name: "somebody".to_owned() };
        let entry = NewAuditEntry { actor, ..new_entry("user.create", &user.id.to_string()) };
        done(nodes.one.audited(vec![entry]).create_user(&user).await.unwrap());
        user
    };
    let root = created_by("root@example.com", None).await;
    let before = created_by("ada@example.com", Some(&root)).await;
    let other = created_by("grace@example.com", None).await;
    assert_eq!(nodes.two.people_behind(&[before.id]).await.unwrap(), [before.id, root.id]);
    assert_eq!(nodes.two.people_behind(&[other.id]).await.unwrap(), [other.id]);
    // Back after a removal, and known under another address by the same subject.
    nodes.one.remove_user(before.id, at(5)).await.unwrap();
    let back = created_by("ada@example.com", None).await;
    let renamed = created_by("countess@example.com", None).await;
    for user in [&back, &renamed] {
        nodes.one.bind_subject(user.id, &subject("id", "ada")).await.unwrap();
    }
    let mut behind = nodes.two.people_behind(&[renamed.id]).await.unwrap();
    assert_eq!(behind[0], renamed.id);
    behind.sort_unstable();
    assert_eq!(behind, [root.id, before.id, back.id, renamed.id]);
    assert_eq!(nodes.two.people_behind(&[]).await.unwrap(), []);
}

pub async fn the_last_use_is_kept(nodes: &Nodes) {
    let user = nodes.user("ada@example.com").await;
    let token = nodes.new_user_token(user.id);
    nodes.one.issue_user_token(&token, 9).await.unwrap();
    let used = |token, millis| OperatorUse { user: user.id, token, at: at(millis) };
    nodes.one.record_operator_uses(&[used(Some(token.id), 50), used(None, 70)]).await.unwrap();
    nodes.two.record_operator_uses(&[used(Some(token.id), 40)]).await.unwrap();
    let state = nodes.state(user.id).await;
    assert_eq!((state.user.last_used_at, state.tokens[0].last_used_at), (Some(at(70)), Some(at(50))));
}
