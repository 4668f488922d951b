//! People and their tokens: recognized without the store, forgotten as soon as it says so.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tollgate_domain::{
    id::OrganizationId,
    people::{Access, Identity, Role},
};
use tollgate_engine::{CredentialError, NewUser, NewUserToken, UserError, ports::Page};
use tollgate_vault::{AdminToken, AdminTokenError, Secret};

use crate::support::{requests::origin, world::World};

const LIFETIME: Duration = Duration::from_hours(24);

fn admin_token() -> AdminToken {
    AdminToken::from_weak_setting(&Secret::new("a long admin token of a test")).unwrap()
}

/// No two users have the same address.
static NEXT: AtomicU64 = AtomicU64::new(1);

fn new_user(role: Role, organizations: Option<Vec<OrganizationId>>) -> NewUser {
    NewUser {
        name: "Ada Lovelace".to_owned(),
        email: format!("Ada.{}@Example.com", NEXT.fetch_add(1, Ordering::Relaxed)),
        access: Access { role, organizations },
    }
}

async fn user_with_token(world: &World) -> NewUserToken {
    let user = world.engine().create_user(new_user(Role::Support, None), &origin()).await.unwrap().user;
    world.engine().issue_user_token(user.id, "laptop".to_owned(), LIFETIME, &origin()).await.unwrap()
}

fn identify(world: &World, token: &NewUserToken) -> Result<Identity, CredentialError> {
    world.engine().identify_operator(&admin_token(), token.token.expose())
}

#[tokio::test(start_paused = true)]
async fn a_token_is_its_users_until_it_is_revoked() {
    let world = World::new().await;
    let (kept, revoked) = (user_with_token(&world).await, user_with_token(&world).await);
    let Identity::User { user, token, .. } = identify(&world, &kept).unwrap() else { panic!("not a user") };
    assert_eq!((user.id, token), (kept.record.user, Some(kept.record.id)));
    assert!(user.email.starts_with("ada.") && user.email.ends_with("@example.com"), "{}", user.email);
    assert!(world.engine().identify_token(revoked.record.id).is_some());

    world.engine().revoke_user_token(revoked.record.user, revoked.record.id, &origin()).await.unwrap();
    assert_eq!(identify(&world, &revoked), Err(CredentialError::UnknownToken));
    assert_eq!(world.engine().identify_token(revoked.record.id), None);
    assert!(identify(&world, &kept).is_ok(), "another's token stays");
    let of_another = world.engine().revoke_user_token(revoked.record.user, kept.record.id, &origin()).await;
    assert!(matches!(of_another, Err(UserError::Missing)), "{of_another:?}");
}

#[tokio::test(start_paused = true)]
async fn a_removed_user_has_no_token_left() {
    let world = World::new().await;
    let token = user_with_token(&world).await;
    let removed = world.engine().remove_user(token.record.user, &origin()).await.unwrap();
    assert!(removed.user.removed_at.is_some());
    assert_eq!(identify(&world, &token), Err(CredentialError::UnknownToken));
    let late =
        world.engine().issue_user_token(token.record.user, "new".to_owned(), LIFETIME, &origin()).await;
    assert!(matches!(late, Err(UserError::Missing)), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn a_user_is_found_by_email_until_they_are_removed() {
    let world = World::new().await;
    let new = NewUser { email: "Kim@Example.com".to_owned(), ..new_user(Role::Viewer, None) };
    let user = world.engine().create_user(new, &origin()).await.unwrap().user;
    assert_eq!(world.engine().user_of_email("KIM@example.com"), Some(user.id));
    let found = world.engine().identify_user(user.id).unwrap();
    assert!(matches!(found, Identity::User { user: known, token: None, .. } if *known == user));
    // A Kelvin sign becomes a small k in lower case, and is another letter all the same.
    for other in ["\u{212a}im@example.com", "kim@example.org", ""] {
        assert_eq!(world.engine().user_of_email(other), None, "{other}");
    }
    world.engine().remove_user(user.id, &origin()).await.unwrap();
    assert_eq!(world.engine().user_of_email("kim@example.com"), None);
    assert_eq!(world.engine().identify_user(user.id), None);
}

#[tokio::test(start_paused = true)]
async fn a_token_ends_by_itself() {
    let world = World::new().await;
    let token = user_with_token(&world).await;
    tokio::time::sleep(LIFETIME).await;
    assert_eq!(identify(&world, &token), Err(CredentialError::Expired));
    assert_eq!(world.engine().identify_token(token.record.id), None);
}

#[tokio::test(start_paused = true)]
async fn credentials_of_nobody_say_what_is_wrong() {
    let world = World::new().await;
    let identify = |text: &str| world.engine().identify_operator(&admin_token(), text);
    assert_eq!(identify("a long admin token of a test"), Ok(Identity::Bootstrap));
    assert_eq!(identify("pat_short"), Err(CredentialError::MistypedToken));
    let unknown = tollgate_vault::issue_personal_token().unwrap();
    assert_eq!(identify(unknown.key.expose()), Err(CredentialError::UnknownToken));
    assert_eq!(identify("something else"), Err(CredentialError::Admin(AdminTokenError::Unknown)));
}

#[tokio::test(start_paused = true)]
async fn a_role_is_limited_to_organizations_that_exist() {
    let world = World::new().await;
    let unknown = OrganizationId::from_bytes([9; 16]);
    let refused = world.engine().create_user(new_user(Role::Operator, Some(vec![unknown])), &origin()).await;
    assert!(matches!(refused, Err(UserError::OrganizationMissing(id)) if id == unknown), "{refused:?}");

    let own = world.engine().create_organization("Own".to_owned(), &origin()).await.unwrap();
    world.engine().create_organization("Other".to_owned(), &origin()).await.unwrap();
    let organizations = Some(vec![own.id, own.id]);
    let state = world.engine().create_user(new_user(Role::Operator, organizations), &origin()).await.unwrap();
    assert_eq!(state.user.access.organizations, Some(vec![own.id]));
    let token = world
        .engine()
        .issue_user_token(state.user.id, "laptop".to_owned(), LIFETIME, &origin())
        .await
        .unwrap();
    let identity = identify(&world, &token).unwrap();
    let seen = async |identity: &Identity, after| {
        let page = Page { after, limit: 100_000 };
        world.engine().organizations_seen_by(identity, page).await.unwrap()
    };
    assert_eq!(seen(&identity, None).await, std::slice::from_ref(&own));
    assert_eq!(seen(&identity, Some(own.id)).await, []);
    assert!(seen(&Identity::Bootstrap, None).await.len() > 1);
}
