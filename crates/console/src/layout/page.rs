//! Answers: a page, or why there is none.

use askama::Template;
use axum::{
    body::Body,
    response::{Html, IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use tollgate_engine::{
    ConfigureError, EndpointError, EraseError, KeyError, MoveError, ProviderCheckError, ReadError,
    ResendError, TenantError, TooManyReads, UserError, ports::StoreError,
};
use tracing::error;

use crate::layout::frame::Frame;

/// What a handler answers.
pub(crate) type Page = Result<Response, PageError>;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// There is nothing at this address, or it belongs elsewhere.
    #[error("Not found; it may belong to another environment.")]
    Missing,
    /// The role does not include it.
    #[error("Your role does not allow this. Ask somebody whose role does, or an admin for another role.")]
    Forbidden,
    /// What was sent cannot be done, and why.
    #[error("{0}")]
    Refused(String),
    /// The store did not respond.
    #[error("The database is not responding, and nothing is known to have changed. Try again in a moment.")]
    Unavailable(String),
    /// More is being received at once than there is room for.
    #[error("This server is receiving too much at once, and nothing was changed. Try again in a moment.")]
    Busy,
    /// A defect.
    #[error("Something went wrong; see the log for details.")]
    Broken(String),
}

/// A page.
pub(crate) fn render(template: &impl Template) -> Page {
    let text = template.render().map_err(|error| PageError::Broken(error.to_string()))?;
    Ok(Html(text).into_response())
}

/// A file to be saved.
pub(crate) fn file(name: &str, kind: &'static str, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let disposition = format!("attachment; filename=\"{name}\"");
    if let Ok(value) = HeaderValue::try_from(disposition) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (status, title) = match &self {
            Self::Missing => (StatusCode::NOT_FOUND, "Not found"),
            Self::Forbidden => (StatusCode::FORBIDDEN, "Not allowed"),
            Self::Refused(_) => (StatusCode::BAD_REQUEST, "Not changed"),
            Self::Unavailable(reason) => {
                error!(reason, "page not rendered: store unavailable");
                (StatusCode::SERVICE_UNAVAILABLE, "Database unavailable")
            }
            Self::Busy => (StatusCode::SERVICE_UNAVAILABLE, "Too much at once"),
            Self::Broken(reason) => {
                error!(reason, "page not rendered");
                (StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong")
            }
        };
        let shown = ShownError { title, message: self.to_string() };
        let frame = Frame { title: title.to_owned(), ..Frame::default() };
        let mut response = shown.page(frame).unwrap_or_else(|error| error.to_string().into_response());
        *response.status_mut() = status;
        response.extensions_mut().insert(shown);
        response
    }
}

/// What the page of an error says, for whoever puts the menu around it.
#[derive(Debug, Clone)]
pub(crate) struct ShownError {
    pub(crate) title: &'static str,
    message: String,
}

impl ShownError {
    pub(crate) fn page(&self, frame: Frame) -> Page {
        #[derive(Template)]
        #[template(path = "error.html")]
        struct ErrorPage<'a> {
            frame: Frame,
            message: &'a str,
        }

        render(&ErrorPage { frame, message: &self.message })
    }
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Broken(reason) => Self::Broken(reason),
            StoreError::Unavailable(reason) | StoreError::Unknown(reason) => Self::Unavailable(reason),
        }
    }
}

impl From<TooManyReads> for PageError {
    fn from(_: TooManyReads) -> Self {
        Self::Busy
    }
}

impl From<ReadError> for PageError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Missing => Self::Missing,
            ReadError::Store(error) => error.into(),
        }
    }
}

impl From<MoveError> for PageError {
    fn from(error: MoveError) -> Self {
        match error {
            MoveError::Missing => Self::Missing,
            MoveError::ReferenceReused { amount } => Self::Refused(format!(
                "This reference was already used for {amount} (minor units); use a new one."
            )),
            MoveError::Insufficient { available } => Self::Refused(format!(
                "Only {available} (minor units) is available in this wallet; nothing was withdrawn."
            )),
            MoveError::TooMuch => {
                Self::Refused("The balance would exceed the maximum; nothing was added.".to_owned())
            }
            MoveError::TooManyRequests => Self::Refused(
                "Too many movements of this wallet wait for approval; approve or deny one first.".to_owned(),
            ),
            MoveError::Store(error) => error.into(),
            MoveError::Randomness(error) => Self::Unavailable(error.to_string()),
        }
    }
}

impl From<EraseError> for PageError {
    fn from(error: EraseError) -> Self {
        match error {
            EraseError::Missing => Self::Missing,
            EraseError::Store(error) => error.into(),
            EraseError::Randomness(error) => Self::Unavailable(error.to_string()),
        }
    }
}

impl From<KeyError> for PageError {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Missing => Self::Missing,
            KeyError::NotLive => Self::Refused(
                "The key is revoked, expired or already rotated; issue a new one instead.".to_owned(),
            ),
            KeyError::Store(error) => error.into(),
            KeyError::Randomness(error) => Self::Unavailable(error.to_string()),
        }
    }
}

impl From<UserError> for PageError {
    fn from(error: UserError) -> Self {
        match error {
            UserError::Missing => Self::Missing,
            UserError::Store(error) => error.into(),
            UserError::Randomness(error) => Self::Unavailable(error.to_string()),
            other => Self::Refused(format!("Nothing changed: {other}.")),
        }
    }
}

impl From<TenantError> for PageError {
    fn from(error: TenantError) -> Self {
        match error {
            TenantError::Store(error) => error.into(),
            other => Self::Refused(other.to_string()),
        }
    }
}

impl From<ProviderCheckError> for PageError {
    fn from(error: ProviderCheckError) -> Self {
        match error {
            ProviderCheckError::Missing => Self::Missing,
            ProviderCheckError::Configure(error) => error.into(),
            ProviderCheckError::Store(error) => error.into(),
        }
    }
}

impl From<EndpointError> for PageError {
    fn from(error: EndpointError) -> Self {
        match error {
            EndpointError::Missing => Self::Missing,
            EndpointError::TooMany | EndpointError::Busy => {
                Self::Refused(format!("Nothing changed: {error}."))
            }
            EndpointError::Store(error) => error.into(),
            EndpointError::Seal(error) => Self::Broken(error.to_string()),
            EndpointError::Randomness(error) => Self::Unavailable(error.to_string()),
        }
    }
}

impl From<ResendError> for PageError {
    fn from(error: ResendError) -> Self {
        match error {
            ResendError::Missing => Self::Missing,
            ResendError::Disabled => Self::Refused("The endpoint is disabled; enable it first.".to_owned()),
            ResendError::Store(error) => error.into(),
        }
    }
}

impl From<ConfigureError> for PageError {
    fn from(error: ConfigureError) -> Self {
        match error {
            ConfigureError::Missing => Self::Missing,
            ConfigureError::Stale { current } => Self::Refused(format!(
                "Version {current} is now current; review it, then make your change again."
            )),
            ConfigureError::TooManyProposals => Self::Refused(
                "Nothing was changed: too many changes wait for approval. Approve or deny one first."
                    .to_owned(),
            ),
            ConfigureError::Store(error) => error.into(),
            ConfigureError::Faulty(errors) => {
                let first = errors.iter().next();
                let first = first.map(|fault| format!("{} {}", fault.field, fault.message));
                let more = match errors.count() {
                    0 | 1 => String::new(),
                    count => format!(" This is the first of {count} errors."),
                };
                Self::Refused(format!("Nothing was changed: {}.{more}", first.unwrap_or_default()))
            }
            other => Self::Broken(other.to_string()),
        }
    }
}
