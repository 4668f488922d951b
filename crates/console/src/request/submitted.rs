//! A form that was sent: bounded, from one of our own pages, by somebody signed in.

use std::time::Duration;

use axum::{
    body::{Body, to_bytes},
    extract::{FromRequest, FromRequestParts as _, Request},
    response::{IntoResponse, Response},
};
use tokio::time::timeout;
use tollgate_domain::{card_number::holds_card_number, people::Permission};
use tollgate_engine::NoRoomForBody;

use crate::{
    layout::page::PageError,
    request::{
        session::is_own_form,
        signed_in::{Anonymous, SignedIn},
    },
    state::SharedConsole,
};

/// A configuration of thousands of rules fits, each letter of it written as three.
const LARGEST_DOCUMENT: usize = 8 * 1024 * 1024;
/// Other forms have a few short fields.
const LARGEST: usize = 64 * 1024;
/// Fields that people write what they like in.
const TEXTS: [&str; 3] = ["name", "description", "note"];
/// How long a form may be on its way.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The form and who sent it.
pub(crate) struct Submitted {
    pub(crate) signed_in: SignedIn,
    fields: Vec<(String, String)>,
}

/// Why a form is not taken.
pub(crate) enum InvalidForm {
    Anonymous(Anonymous),
    Page(PageError),
}

impl IntoResponse for InvalidForm {
    fn into_response(self) -> Response {
        match self {
            Self::Anonymous(stranger) => stranger.into_response(),
            Self::Page(error) => error.into_response(),
        }
    }
}

impl FromRequest<SharedConsole> for Submitted {
    type Rejection = InvalidForm;

    async fn from_request(request: Request, console: &SharedConsole) -> Result<Self, InvalidForm> {
        let (mut parts, body) = request.into_parts();
        let signed_in =
            SignedIn::from_request_parts(&mut parts, console).await.map_err(InvalidForm::Anonymous)?;
        let is_configuring = signed_in.permission == Permission::Configure;
        let largest = if is_configuring { LARGEST_DOCUMENT } else { LARGEST };
        let fields = read(body, largest).await.map_err(InvalidForm::Page)?;
        let sent = fields.iter().find(|(name, _)| name == "csrf").map_or("", |(_, value)| value.as_str());
        if !is_own_form(&signed_in.session, sent) {
            return Err(InvalidForm::Page(PageError::Refused(
                "This form does not belong to your session. Go back, reload the page and submit it again."
                    .to_owned(),
            )));
        }
        let is_text = |name: &str| TEXTS.contains(&name);
        if fields.iter().any(|(name, value)| is_text(name) && holds_card_number(value)) {
            return Err(InvalidForm::Page(PageError::Refused(
                "The text contains a card number, which must not be stored here. Nothing was changed; remove it and \
                 submit the form again."
                    .to_owned(),
            )));
        }
        Ok(Self { signed_in, fields })
    }
}

/// The fields of a form of at most so many bytes.
pub(crate) async fn read(body: Body, largest: usize) -> Result<Vec<(String, String)>, PageError> {
    let lost = || PageError::Refused("The form is too large or incomplete. Nothing was changed.".to_owned());
    let bytes = timeout(BODY_TIMEOUT, to_bytes(body, largest)).await.map_err(|_| lost())?;
    let bytes =
        bytes.map_err(|error| if NoRoomForBody::caused(&error) { PageError::Busy } else { lost() })?;
    Ok(form_urlencoded::parse(&bytes).into_owned().collect())
}

impl Submitted {
    /// A field as it came, without the space around it.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.trim())
    }

    /// Every value of a field that may be there several times.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.trim())
    }

    /// Whether the review of what the form does was seen and confirmed.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.field("step") == "confirm"
    }

    /// What a review repeats of the form.
    pub(crate) fn repeated(&self) -> Vec<(String, String)> {
        self.fields.iter().filter(|(name, _)| !["csrf", "step"].contains(&name.as_str())).cloned().collect()
    }

    /// Whether a box was ticked.
    pub(crate) fn is_ticked(&self, name: &str) -> bool {
        !self.field(name).is_empty()
    }
}
