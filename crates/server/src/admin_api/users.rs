//! `/admin/v1/users`: the people who operate the service, and their personal tokens.

use std::time::Duration;

use serde::{Deserialize, Deserializer};
use tollgate_domain::{
    Timestamp,
    id::OrganizationId,
    people::{Access, Role, UserToken},
};
use tollgate_engine::{NewUser, UserChange, UserError, ports::UserState};
use utoipa::ToSchema;

use crate::{json::text::JsonText, prelude::*};

const MAX_NAME_LENGTH: usize = 120;
const MAX_ORGANIZATIONS: usize = 100;
const DEFAULT_LIFETIME_SECONDS: u64 = 90 * 86_400;
const MAX_LIFETIME_SECONDS: u64 = 366 * 86_400;

type NameText = scalars::Line<MAX_NAME_LENGTH>;

responses! {
    UserResponse as User {
        id: String,
        name: String,
        email: String,
        role: words::Role,
        /// The only organizations the role holds in; null for all of them.
        organizations: Option<Vec<String>>,
        created_at: Moment,
        /// From then on none of their tokens is valid.
        removed_at: Option<Moment>,
        /// To the minute; also by their tokens and sessions.
        last_used_at: Option<Moment>,
        /// Whether single sign-on has bound them to an account of the issuer.
        single_sign_on: bool,
        /// Those that are not revoked.
        tokens: Vec<UserTokenResponse>,
    }

    UserTokenResponse as UserToken {
        id: String,
        name: String,
        last_four: String,
        created_at: Moment,
        expires_at: Moment,
        expired: bool,
        /// To the minute.
        last_used_at: Option<Moment>,
    }

    /// Whose token this is.
    AccountResponse as Account {
        /// Null for the admin token, which belongs to no user.
        user: Option<UserResponse>,
    }

    /// The one answer that shows a token.
    NewTokenResponse<'a> as NewUserToken {
        token: &'a str,
        #[serde(flatten)]
        record: UserTokenResponse,
    }

    RevokedResponse as RevokedUserToken {
        id: String,
    }
}

impl UserResponse {
    fn of(state: UserState, now: Timestamp) -> Self {
        let UserState { user, tokens } = state;
        let organizations = user.access.organizations;
        Self {
            id: user.id.to_string(),
            name: user.name,
            email: user.email,
            role: user.access.role.as_str().into(),
            organizations: organizations.map(|ids| ids.iter().map(ToString::to_string).collect()),
            created_at: Moment(user.created_at),
            removed_at: user.removed_at.map(Moment),
            last_used_at: user.last_used_at.map(Moment),
            single_sign_on: user.subject.is_some(),
            tokens: tokens.into_iter().map(|token| UserTokenResponse::of(token, now)).collect(),
        }
    }
}

impl UserTokenResponse {
    fn of(token: UserToken, now: Timestamp) -> Self {
        Self {
            id: token.id.to_string(),
            name: token.name,
            last_four: token.last_four,
            created_at: Moment(token.created_at),
            expires_at: Moment(token.expires_at),
            expired: now >= token.expires_at,
            last_used_at: token.last_used_at.map(Moment),
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[schema(as = UserRequest)]
pub(crate) struct UserBody<'a> {
    #[serde(borrow)]
    #[schema(value_type = NameText, required, inline)]
    name: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = scalars::EmailInput, required)]
    email: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = words::Role, required)]
    role: Raw<'a>,
    /// Limits the role to these organizations: at most 100 of their IDs. An admin cannot be limited.
    #[serde(borrow)]
    #[schema(value_type = Option<Vec<String>>)]
    organizations: Raw<'a>,
}

/// What is left out stays as it is.
#[derive(Deserialize, ToSchema)]
#[schema(as = UserChangeRequest)]
pub(crate) struct UserChangeBody<'a> {
    #[serde(borrow)]
    #[schema(value_type = Option<NameText>, inline)]
    name: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = Option<words::Role>)]
    role: Raw<'a>,
    /// Limits the role to these organizations: at most 100 of their IDs; null for all of them. An admin cannot be limited.
    #[serde(borrow, default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<String>>)]
    organizations: Option<Raw<'a>>,
}

/// Tells null from what was left out.
fn given<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Raw<'a>>, D::Error> {
    Raw::deserialize(deserializer).map(Some)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserTokenRequest)]
pub(crate) struct TokenBody<'a> {
    /// What the token is for, such as the machine it is on.
    #[serde(borrow)]
    #[schema(value_type = NameText, required, inline)]
    name: Raw<'a>,
    /// How long it is valid; 90 days if omitted.
    #[serde(borrow)]
    #[schema(value_type = Option<u64>, maximum = 31_622_400)]
    lifetime_seconds: Raw<'a>,
}

pub(crate) async fn create(operator: Operator, body: JsonBody<UserBody<'static>>) -> Created<UserResponse> {
    let body = body.bytes(&operator.headers).await?;
    let engine = &operator.app.engine;
    let state = engine.create_user(read_user(&body)?, &operator.origin).await?;
    respond::created(&UserResponse::of(state, engine.clock().now()))
}

pub(crate) async fn change(
    operator: Operator,
    body: JsonBody<UserChangeBody<'static>>,
) -> Done<UserResponse> {
    let user = operator.path("user")?;
    let body = body.bytes(&operator.headers).await?;
    let engine = &operator.app.engine;
    let state = engine.change_user(user, read_change(&body)?, &operator.origin).await?;
    respond::ok(&UserResponse::of(state, engine.clock().now()))
}

pub(crate) async fn read_own(operator: Operator) -> Done<AccountResponse> {
    let engine = &operator.app.engine;
    let state = engine.own_account(&operator.identity).await?;
    let now = engine.clock().now();
    respond::ok(&AccountResponse { user: state.map(|state| UserResponse::of(state, now)) })
}

pub(crate) async fn issue_own_token(
    operator: Operator,
    body: JsonBody<TokenBody<'static>>,
) -> Created<NewTokenResponse<'static>> {
    let body = body.bytes(&operator.headers).await?;
    let (name, lifetime) = read_token(&body)?;
    let engine = &operator.app.engine;
    let new = engine.issue_own_token(&operator.identity, name, lifetime, &operator.origin).await?;
    let record = UserTokenResponse::of(new.record, engine.clock().now());
    respond::created(&NewTokenResponse { token: new.token.expose(), record })
}

pub(crate) async fn revoke_own_token(operator: Operator) -> Done<RevokedResponse> {
    let token = operator.path("token")?;
    operator.app.engine.revoke_own_token(&operator.identity, token, &operator.origin).await?;
    respond::ok(&RevokedResponse { id: token.to_string() })
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<UserResponse>> {
    let (page, limit) = operator.page()?;
    let engine = &operator.app.engine;
    let users = engine.users(page).await?;
    let now = engine.clock().now();
    respond::ok(&ListResponse::slice(users, limit, |it| UserResponse::of(it, now), |it| it.user.id))
}

pub(crate) async fn remove(operator: Operator) -> Done<UserResponse> {
    let engine = &operator.app.engine;
    let state = engine.remove_user(operator.path("user")?, &operator.origin).await?;
    respond::ok(&UserResponse::of(state, engine.clock().now()))
}

pub(crate) async fn issue_token(
    operator: Operator,
    body: JsonBody<TokenBody<'static>>,
) -> Created<NewTokenResponse<'static>> {
    let user = operator.path("user")?;
    let body = body.bytes(&operator.headers).await?;
    let (name, lifetime) = read_token(&body)?;
    let engine = &operator.app.engine;
    let new = engine.issue_user_token(user, name, lifetime, &operator.origin).await?;
    let record = UserTokenResponse::of(new.record, engine.clock().now());
    respond::created(&NewTokenResponse { token: new.token.expose(), record })
}

pub(crate) async fn revoke_token(operator: Operator) -> Done<RevokedResponse> {
    let (user, token) = (operator.path("user")?, operator.path("token")?);
    operator.app.engine.revoke_user_token(user, token, &operator.origin).await?;
    respond::ok(&RevokedResponse { id: token.to_string() })
}

fn read_user(body: &[u8]) -> Result<NewUser, ApiError> {
    let body: UserBody<'_> = body::parse_object(body)?;
    let mut errors = FieldErrors::default();
    let name = fields::required_text("name", body.name, MAX_NAME_LENGTH, &mut errors);
    let email = fields::required_email("email", body.email, &mut errors);
    let role = read_role(body.role, &mut errors);
    let organizations = read_organizations(body.organizations, &mut errors);
    if role == Some(Role::Admin) && organizations.is_some() {
        // Whoever adds users could add one without the limit.
        errors.add::<()>("organizations", "must be omitted for an admin, who cannot be limited");
    }
    let user = name.zip(email).zip(role).map(|((name, email), role)| NewUser {
        name,
        email,
        access: Access { role, organizations },
    });
    fields::complete(errors, user)
}

fn read_role(raw: Raw<'_>, errors: &mut FieldErrors) -> Option<Role> {
    let role = match raw.map(JsonText::of) {
        Some(JsonText::String(text)) => Role::parse(&text),
        _ => None,
    };
    role.or_else(|| errors.add("role", "must be one of: viewer, support, operator, approver, admin"))
}

fn read_change(body: &[u8]) -> Result<UserChange, ApiError> {
    let body: UserChangeBody<'_> = body::parse_object(body)?;
    let mut errors = FieldErrors::default();
    let change = UserChange {
        name: body.name.and_then(|_| fields::required_text("name", body.name, MAX_NAME_LENGTH, &mut errors)),
        role: body.role.and_then(|_| read_role(body.role, &mut errors)),
        organizations: body.organizations.map(|raw| read_organizations(raw, &mut errors)),
    };
    fields::complete(errors, Some(change))
}

fn read_organizations(raw: Raw<'_>, errors: &mut FieldErrors) -> Option<Vec<OrganizationId>> {
    let ids: Option<Vec<String>> = match JsonText::of(raw?) {
        JsonText::Array(text) => serde_json::from_str(text).ok(),
        _ => None,
    };
    let ids = ids.filter(|ids| (1..=MAX_ORGANIZATIONS).contains(&ids.len()));
    let ids = ids.and_then(|ids| ids.iter().map(|id| id.parse().ok()).collect());
    ids.or_else(|| errors.add("organizations", "must be a list of 1 to 100 IDs of organizations"))
}

fn read_token(body: &[u8]) -> Result<(String, Duration), ApiError> {
    let body: TokenBody<'_> = body::parse_object(body)?;
    let mut errors = FieldErrors::default();
    let name = fields::required_text("name", body.name, MAX_NAME_LENGTH, &mut errors);
    let (usual, longest) = (DEFAULT_LIFETIME_SECONDS, MAX_LIFETIME_SECONDS);
    let seconds = fields::whole_number("lifetimeSeconds", body.lifetime_seconds, usual, longest, &mut errors);
    fields::complete(errors, name.zip(seconds.map(Duration::from_secs)))
}

impl From<UserError> for ApiError {
    fn from(error: UserError) -> Self {
        match error {
            UserError::Missing => not_found_here(),
            UserError::EmailTaken => Self::new(
                ErrorCode::EmailTaken,
                "Another user has this email address; use that user, or remove it first.",
            ),
            UserError::OrganizationMissing(id) => {
                let message = format!("names {id}, which does not exist").into();
                Self::invalid(vec![Detail { field: "organizations".into(), message }])
            }
            UserError::LimitedAdmin => {
                let message = "must be null for an admin, who cannot be limited".into();
                Self::invalid(vec![Detail { field: "organizations".into(), message }])
            }
            UserError::OtherSubject => Self::internal(error.to_string()),
            UserError::TooManyTokens => Self::new(
                ErrorCode::TooManyTokens,
                "The user has 20 valid tokens, and cannot have more; revoke one first.",
            ),
            UserError::Store(error) => error.into(),
            UserError::Randomness(error) => Self::internal(error.to_string()),
        }
    }
}
