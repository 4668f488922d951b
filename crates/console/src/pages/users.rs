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
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

/// More are found through the admin API.
const MOST: u32 = 200;
const MAX_TEXT_LENGTH: usize = 120;
const MAX_EMAIL_LENGTH: usize = 254;
const TOKEN_LIFETIME: Duration = Duration::from_hours(90 * 24);

struct Row {
    id: String,
    name: String,
    email: String,
    role: &'static str,
    /// The names of the organizations the role is limited to.
    organizations: Vec<String>,
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
    roles: Vec<&'static str>,
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
    page::render(&AccountPage { frame: signed_in.bare_frame("Your account"), user, issued })
}

pub(crate) async fn change_account(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let (engine, identity) = (&signed_in.console.engine, &signed_in.identity);
    let origin = signed_in.origin();
    match form.field("do") {
        "issue" => {
            let name = text(&form, "name")?;
            let new = engine.issue_own_token(identity, name, TOKEN_LIFETIME, &origin).await?;
            show_account(signed_in, Some(new.token.expose().to_owned())).await
        }
        "revoke" => {
            let token = form.field("token").parse::<TokenId>().map_err(|_| PageError::Missing)?;
            engine.revoke_own_token(identity, token, &origin).await?;
            Ok(signed_in.back("/console/account", "Token revoked; it is no longer valid."))
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
    page::render(&UsersPage {
        frame: signed_in.bare_frame("Users"),
        users,
        roles: Role::ALL.map(Role::as_str).to_vec(),
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
        Self {
            id: user.id.to_string(),
            role: user.access.role.as_str(),
            organizations: user.access.organizations.iter().flatten().map(name_of).collect(),
            organization_ids: user.access.organizations.iter().flatten().map(ToString::to_string).collect(),
            name: user.name,
            email: user.email,
            added: second(user.created_at),
            removed: user.removed_at.map(second),
            last_used: user.last_used_at.map_or_else(|| "never".to_owned(), second),
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
    let back = |said: &str| Ok(signed_in.back("/console/users", said));
    match form.field("do") {
        "add" => {
            let state = engine.create_user(read_user(&form)?, &origin).await?;
            back(&format!("{} added; issue a token for them.", state.user.name))
        }
        "change" => {
            let name = Some(text(&form, "name")?);
            let role = Some(read_role(&form)?);
            let change = UserChange { name, role, organizations: Some(read_organizations(&form)?) };
            let state = engine.change_user(user()?, change, &origin).await?;
            back(&format!("{} changed; it holds from now on.", state.user.name))
        }
        "remove" => {
            let state = engine.remove_user(user()?, &origin).await?;
            back(&format!("{} removed; their tokens and sessions are no longer valid.", state.user.name))
        }
        "issue" => {
            let name = text(&form, "name")?;
            let new = engine.issue_user_token(user()?, name, TOKEN_LIFETIME, &origin).await?;
            show(signed_in, Some(new.token.expose().to_owned())).await
        }
        "revoke" => {
            let token = form.field("token").parse::<TokenId>().map_err(|_| PageError::Missing)?;
            engine.revoke_user_token(user()?, token, &origin).await?;
            back("Token revoked; it is no longer valid.")
        }
        _ => Err(PageError::Refused("Unknown action.".to_owned())),
    }
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
