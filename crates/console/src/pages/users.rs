//! The people who operate the service: added, changed, given tokens, removed; and one's own account. A token is shown once.

use std::time::Duration;

use askama::Template;
use axum::response::Response;
use tollgate_domain::{
    Timestamp,
    id::{OrganizationId, TokenId, UserId},
    people::{Access, Role, UserToken},
    tenant::Organization,
};
use tollgate_engine::{
    NewUser, UserChange,
    ports::{Page as Slice, UserState},
};

use crate::{
    layout::{
        format::second,
        frame::Frame,
        page::{self, Page, PageError},
        review::{Choice, Review},
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

/// More are found through the admin API.
const MOST: u32 = 200;
/// Whom nothing is chosen for yet.
const NO_IDS: &[String] = &[];
const MAX_TEXT_LENGTH: usize = 120;
const MAX_EMAIL_LENGTH: usize = 254;
const TOKEN_LIFETIME: Duration = Duration::from_hours(90 * 24);

struct Row {
    id: String,
    name: String,
    email: String,
    role: &'static str,
    can: &'static str,
    /// The names of the organizations the role is limited to, or that it is not.
    organizations: String,
    organization_ids: Vec<String>,
    added: String,
    removed: Option<String>,
    last_used: String,
    is_bound: bool,
    tokens: Vec<Token>,
}

struct Token {
    id: String,
    name: String,
    hint: String,
    expires: String,
    is_expired: bool,
    last_used: String,
}

#[derive(Template)]
#[template(path = "users.html")]
struct UsersPage {
    frame: Frame,
    users: Vec<Row>,
    /// Each with what it can do.
    roles: [(&'static str, &'static str); 5],
    organizations: Vec<(String, String)>,
    /// Shown this once.
    issued: Option<String>,
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    frame: Frame,
    /// None for whoever holds the admin token.
    user: Option<Row>,
    /// Shown this once.
    issued: Option<String>,
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    show(&signed_in, None).await
}

/// What a role can do.
fn role_words(role: Role) -> &'static str {
    match role {
        Role::Viewer => "Reads everything but users and the audit log.",
        Role::Support => "As viewer, and refunds payments, resends events and writes notes.",
        Role::Operator => {
            "As support, and captures, voids and cancels payments, moves funds, issues and revokes keys, changes the \
             configuration and erases customers."
        }
        Role::Approver => "Reads, and approves or denies what others have asked for.",
        Role::Admin => "Everything in every organization, also users, organizations and the audit log.",
    }
}

pub(crate) async fn account(signed_in: SignedIn) -> Page {
    show_account(&signed_in, None).await
}

async fn show_account(signed_in: &SignedIn, issued: Option<String>) -> Page {
    let engine = &signed_in.console.engine;
    let state = engine.own_account(&signed_in.identity).await?;
    let own = Slice { after: None, limit: MOST };
    let organizations = engine.organizations_seen_by(&signed_in.identity, own).await?;
    let now = engine.clock().now();
    let user = state.map(|state| Row::of(state, &organizations, now));
    let mut frame = signed_in.service_frame("Your account", "").await?;
    if issued.is_some() {
        frame.said = Some("Token issued.".to_owned());
        frame.entry = signed_in.audit_entry().await;
    }
    page::render(&AccountPage { frame, user, issued })
}

pub(crate) async fn change_account(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let (engine, identity) = (&signed_in.console.engine, &signed_in.identity);
    let origin = signed_in.origin();
    if form.field("do") == "revoke" && !form.is_confirmed() {
        let state = engine.own_account(identity).await?.ok_or(PageError::Missing)?;
        let review = token_review(&form, &state, "/console/account")?;
        return review.page(signed_in.service_frame("Revoke a token", "").await?);
    }
    match form.field("do") {
        "issue" => {
            let name = text(&form, "name")?;
            let new = engine.issue_own_token(identity, name, TOKEN_LIFETIME, &origin).await?;
            show_account(signed_in, Some(new.token.expose().to_owned())).await
        }
        "revoke" => {
            let token = form.field("token").parse::<TokenId>().map_err(|_| PageError::Missing)?;
            engine.revoke_own_token(identity, token, &origin).await?;
            Ok(signed_in.done("/console/account", "Token revoked; it is no longer valid.").await)
        }
        _ => Err(PageError::Refused("Unknown action.".to_owned())),
    }
}

async fn show(signed_in: &SignedIn, issued: Option<String>) -> Page {
    let engine = &signed_in.console.engine;
    let users = engine.users(Slice { after: None, limit: MOST }).await?;
    let all = Slice { after: None, limit: MOST };
    let organizations = engine.organizations_seen_by(&signed_in.identity, all).await?;
    let now = engine.clock().now();
    let users = users.into_iter().map(|state| Row::of(state, &organizations, now)).collect();
    let organizations =
        organizations.iter().map(|organization| (organization.id.to_string(), organization.name.clone()));
    let mut frame = signed_in.service_frame("Users", "users").await?;
    if issued.is_some() {
        frame.said = Some("Token issued.".to_owned());
        frame.entry = signed_in.audit_entry().await;
    }
    page::render(&UsersPage {
        frame,
        users,
        roles: Role::ALL.map(|role| (role.as_str(), role_words(role))),
        organizations: organizations.collect(),
        issued,
    })
}

impl Row {
    fn of(state: UserState, organizations: &[Organization], now: Timestamp) -> Self {
        let UserState { user, tokens } = state;
        let name_of = |id: &OrganizationId| {
            let known = organizations.iter().find(|organization| organization.id == *id);
            known.map_or_else(|| id.to_string(), |organization| organization.name.clone())
        };
        let last_used = tokens.iter().filter_map(|token| token.last_used_at).chain(user.last_used_at).max();
        Self {
            id: user.id.to_string(),
            role: user.access.role.as_str(),
            can: role_words(user.access.role),
            organizations: match &user.access.organizations {
                None => "all organizations".to_owned(),
                Some(ids) => ids.iter().map(name_of).collect::<Vec<_>>().join(", "),
            },
            organization_ids: user.access.organizations.iter().flatten().map(ToString::to_string).collect(),
            name: user.name,
            email: user.email,
            added: second(user.created_at),
            removed: user.removed_at.map(second),
            last_used: last_used.map_or_else(|| "never".to_owned(), second),
            is_bound: user.subject.is_some(),
            tokens: tokens.into_iter().map(|token| Token::of(token, now)).collect(),
        }
    }
}

impl Token {
    fn of(token: UserToken, now: Timestamp) -> Self {
        Self {
            id: token.id.to_string(),
            hint: format!("pat_…{}", token.last_four),
            name: token.name,
            expires: second(token.expires_at),
            is_expired: now >= token.expires_at,
            last_used: token.last_used_at.map_or_else(|| "never".to_owned(), second),
        }
    }
}

pub(crate) async fn change(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let engine = &signed_in.console.engine;
    let origin = signed_in.origin();
    let user = || form.field("user").parse::<UserId>().map_err(|_| PageError::Missing);
    if ["access", "remove", "revoke"].contains(&form.field("do")) && !form.is_confirmed() {
        let state = find(signed_in, user()?).await?;
        let review = match form.field("do") {
            "access" => access_review(&form, &state)?,
            "remove" => removal_review(&form, &state),
            _ => token_review(&form, &state, "/console/users")?,
        };
        return review.page(signed_in.service_frame(&state.user.name, "users").await?);
    }
    let said = match form.field("do") {
        "add" => {
            let state = engine.create_user(read_user(&form)?, &origin).await?;
            format!("{} added; issue a token for them.", state.user.name)
        }
        "rename" => {
            let change = UserChange { name: Some(text(&form, "name")?), ..UserChange::default() };
            format!("{} has a new name.", engine.change_user(user()?, change, &origin).await?.user.name)
        }
        "access" => {
            let (role, organizations) = (Some(read_role(&form)?), Some(read_organizations(&form)?));
            let change = UserChange { role, organizations, ..UserChange::default() };
            let changed = engine.change_user(user()?, change, &origin).await?.user;
            format!("{} is {} from now on.", changed.name, changed.access.role.as_str())
        }
        "remove" => {
            let state = engine.remove_user(user()?, &origin).await?;
            format!("{} removed; their tokens and sessions are no longer valid.", state.user.name)
        }
        "issue" => {
            let name = text(&form, "name")?;
            let new = engine.issue_user_token(user()?, name, TOKEN_LIFETIME, &origin).await?;
            return show(signed_in, Some(new.token.expose().to_owned())).await;
        }
        "revoke" => {
            let token = form.field("token").parse::<TokenId>().map_err(|_| PageError::Missing)?;
            engine.revoke_user_token(user()?, token, &origin).await?;
            "Token revoked; it is no longer valid.".to_owned()
        }
        _ => return Err(PageError::Refused("Unknown action.".to_owned())),
    };
    Ok(signed_in.done("/console/users", &said).await)
}

async fn find(signed_in: &SignedIn, user: UserId) -> Result<UserState, PageError> {
    let users = signed_in.console.engine.users(Slice { after: None, limit: MOST }).await?;
    users.into_iter().find(|state| state.user.id == user).ok_or(PageError::Missing)
}

fn back_to(page: &str) -> (String, String) {
    ("Back".to_owned(), page.to_owned())
}

/// What somebody can do afterwards.
fn access_review(form: &Submitted, state: &UserState) -> Result<Review, PageError> {
    let (name, role) = (&state.user.name, read_role(form)?);
    let mut review = Review::of(form, format!("{name} will be {}", role.as_str()));
    let now = state.user.access.role;
    review.facts = vec![
        ("Now", format!("{}: {}", now.as_str(), role_words(now))),
        ("Then", format!("{}: {}", role.as_str(), role_words(role))),
        (
            "Organizations",
            match read_organizations(form)? {
                None => "all of them".to_owned(),
                Some(chosen) => format!("{} chosen; the others do not exist for them", chosen.len()),
            },
        ),
    ];
    review.affected =
        format!("{name} <{}>, with every token and session, within a second", state.user.email).into();
    review.permanent =
        "Nothing: it can be changed back at any time. What they did stays attributed to them.".into();
    review.choices = vec![Choice::plain("Change the role")];
    review.back = back_to("/console/users");
    Ok(review)
}

fn removal_review(form: &Submitted, state: &UserState) -> Review {
    let name = &state.user.name;
    let mut review = Review::of(form, format!("{name} will no longer be able to sign in"));
    let valid = state.tokens.iter().filter(|token| token.revoked_at.is_none()).count();
    review.facts = vec![("Role", state.user.access.role.as_str().to_owned()), ("Tokens", valid.to_string())];
    review.affected = format!(
        "{name} <{}>: every token and session is refused within a second. Keys that they issued stay valid.",
        state.user.email
    )
    .into();
    review.permanent =
        "A removed user does not come back: added again, they are another user. What they did stays attributed to them."
            .into();
    review.choices = vec![Choice::danger(format!("Remove {name}"))];
    review.back = back_to("/console/users");
    review
}

fn token_review(form: &Submitted, state: &UserState, page: &str) -> Result<Review, PageError> {
    let id = form.field("token").parse::<TokenId>().map_err(|_| PageError::Missing)?;
    let token = state.tokens.iter().find(|token| token.id == id).ok_or(PageError::Missing)?;
    let mut review = Review::of(form, "This token will no longer be valid");
    review.facts = vec![
        ("Token", format!("pat_…{}, {}", token.last_four, token.name)),
        ("Last used (UTC)", token.last_used_at.map_or_else(|| "never".to_owned(), second)),
    ];
    review.affected = format!(
        "{}, and whatever else uses it: requests and sessions of the token are refused within a second.",
        state.user.name
    )
    .into();
    review.permanent = "A revoked token never becomes valid again; issue a new one instead.".into();
    review.choices = vec![Choice::danger("Revoke the token")];
    review.back = back_to(page);
    Ok(review)
}

fn text(form: &Submitted, name: &str) -> Result<String, PageError> {
    let text = form.field(name);
    if text.is_empty() || text.chars().count() > MAX_TEXT_LENGTH || text.chars().any(char::is_control) {
        return Err(PageError::Refused("Enter a name of 1 to 120 characters.".to_owned()));
    }
    Ok(text.to_owned())
}

fn read_role(form: &Submitted) -> Result<Role, PageError> {
    Role::parse(form.field("role")).ok_or_else(|| PageError::Refused("Choose a role.".to_owned()))
}

/// None chosen: all of them.
fn read_organizations(form: &Submitted) -> Result<Option<Vec<OrganizationId>>, PageError> {
    let chosen = form.all("organization").filter(|id| !id.is_empty());
    let organizations: Result<Vec<OrganizationId>, _> = chosen.map(str::parse).collect();
    let organizations = organizations.map_err(|_| PageError::Missing)?;
    Ok((!organizations.is_empty()).then_some(organizations))
}

fn read_user(form: &Submitted) -> Result<NewUser, PageError> {
    let refused = |why: &str| PageError::Refused(why.to_owned());
    let email = form.field("email");
    let plain = email_address::Options::default().without_display_text();
    if email.len() > MAX_EMAIL_LENGTH
        || email_address::EmailAddress::parse_with_options(email, plain).is_err()
    {
        return Err(refused("Enter an email address, such as ada@example.com."));
    }
    let (role, organizations) = (read_role(form)?, read_organizations(form)?);
    Ok(NewUser { name: text(form, "name")?, email: email.to_owned(), access: Access { role, organizations } })
}
