//! A client of one OpenID Connect issuer: the authorization code flow with PKCE, up to a verified email address.
//!
//! It asks the issuer where its endpoints and keys are, exchanges a code for an ID token, and checks that token in full.
//! Who may sign in, and what they may do, is for others to say.

mod discovery;
mod id_token;
mod issuer;
mod keys;

use std::time::Duration;

use tollgate_vault::Secret;

pub use discovery::is_acceptable_issuer;
pub use id_token::TokenFault;
pub use issuer::{Issuer, plain_word};

/// Whom to ask, and as whom.
#[derive(Debug, Clone)]
pub struct OidcSettings {
    /// Exactly as the issuer writes itself in its tokens.
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Secret,
    pub assurance: Assurance,
}

/// How the issuer has to authenticate people. It is asked for that, and its answer is checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assurance {
    /// `acr_values`, of which the ID token must name one; any if empty.
    pub contexts: Vec<String>,
    /// Methods, such as `mfa`, of which the ID token's `amr` must name one; any if empty.
    pub methods: Vec<String>,
    /// How long ago they may have proved who they are.
    pub max_age: Option<Duration>,
}

/// One sign-in between its start and its end. Everything in it is this sign-in's alone.
#[derive(Debug, Clone)]
pub struct SignInAttempt {
    /// Where the issuer sends the browser back to.
    pub redirect_uri: String,
    /// Proves that the answer belongs to this browser's question.
    pub state: String,
    /// Proves that the ID token was made for this question.
    pub nonce: String,
    /// Proves to the issuer that whoever redeems the code asked for it.
    pub verifier: Secret,
}

/// Whom the issuer vouches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The issuer's own name for them.
    pub subject: String,
    /// Which the issuer has verified.
    pub email: String,
}

/// Why the person could not be identified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OidcError {
    /// The issuer does not answer, or with a failure of its own.
    #[error("the issuer is not responding: {0}")]
    Unreachable(String),
    /// What the issuer says does not fit the settings or the standard.
    #[error("{0}")]
    Misconfigured(String),
    /// The code was used before, is too old or was made up.
    #[error("the issuer refused the code ({0})")]
    CodeRefused(String),
    #[error("the ID token is not valid: {0}")]
    InvalidToken(#[from] TokenFault),
    #[error("the issuer gave no email address")]
    NoEmail,
    #[error("the issuer has not verified the email address")]
    UnverifiedEmail(String),
}
