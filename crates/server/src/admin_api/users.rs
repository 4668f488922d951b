//! `/admin/v1/users`: the people who operate the service, and their personal tokens.

use std::time::Duration;

use serde::{Deserialize, Deserializer};
use tollgate_domain::{
    Timestamp,
    people::{Access, Role, UserToken},
};
use tollgate_engine::{NewUser, UserChange, UserError, ports::UserState};
use utoipa::ToSchema;

use crate::prelude::*;

const MAX_NAME_LENGTH: usize = 120;
const DEFAULT_LIFETIME: Duration = Duration::from_hours(90 * 24);
const MAX_LIFETIME_SECONDS: u64 = 366 * 86_400;

type Lifetime = scalars::Seconds<MAX_LIFETIME_SECONDS>;
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

requests! {
    UserBody as UserRequest {
        name: NameText,
        email: scalars::EmailInput,
        role: words::Role,
        /// Limits the role to these organizations: at most 100 of their IDs. An admin cannot be limited.
        organizations: Option<scalars::OrganizationIds>,
    } => |form| {
        if role == Some(Role::Admin) && organizations.as_ref().is_some_and(Option::is_some) {
            // Whoever adds users could add one without the limit.
            form.errors.add::<()>("organizations", "must be omitted for an admin, who cannot be limited");
        }
    }

    TokenBody as UserTokenRequest {
        /// What the token is for, such as the machine it is on.
        name: NameText,
        /// How long it is valid; 90 days if omitted.
        lifetime_seconds: Option<Lifetime>,
    }
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

pub(crate) async fn create(operator: Operator, body: JsonBody<UserBody>) -> Created<UserResponse> {
    let UserBody { name, email, role, organizations } = body.read(&operator).await?;
    let engine = &operator.app.engine;
    let new = NewUser { name, email, access: Access { role, organizations } };
    let state = engine.create_user(new, &operator.origin).await?;
    respond::created(&UserResponse::of(state, engine.clock().now()))
}

pub(crate) async fn change(
    operator: Operator,
    body: JsonBody<UserChangeBody<'static>>,
) -> Done<UserResponse> {
    let user = operator.path("user")?;
    let body = body.bytes(&operator.headers).await?;
    let engine = &operator.app.engine;
    let form = Form::new(&operator, &body);
    let state = engine.change_user(user, read_change(form)?, &operator.origin).await?;
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
    body: JsonBody<TokenBody>,
) -> Created<NewTokenResponse<'static>> {
    let TokenBody { name, lifetime_seconds } = body.read(&operator).await?;
    let lifetime = lifetime_seconds.unwrap_or(DEFAULT_LIFETIME);
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
    body: JsonBody<TokenBody>,
) -> Created<NewTokenResponse<'static>> {
    let user = operator.path("user")?;
    let TokenBody { name, lifetime_seconds } = body.read(&operator).await?;
    let lifetime = lifetime_seconds.unwrap_or(DEFAULT_LIFETIME);
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

fn read_change(mut form: Form<'_>) -> Result<UserChange, ApiError> {
    let body: UserChangeBody<'_> = body::parse_object(form.body)?;
    let change = UserChange {
        name: body.name.and_then(|name| NameText::read("name", name, &mut form)),
        role: body.role.and_then(|role| words::Role::read("role", role, &mut form)),
        organizations: body
            .organizations
            .map(|raw| raw.and_then(|raw| scalars::OrganizationIds::read("organizations", raw, &mut form))),
    };
    fields::complete(form.errors, Some(change))
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
            UserError::TooManyNewTokens(exceeded) => Self::rate_limited(
                "You have made many tokens in a short time; make the next one later.",
                exceeded.retry_after,
            ),
            UserError::Store(error) => error.into(),
            UserError::Randomness(error) => Self::internal(error.to_string()),
        }
    }
}
