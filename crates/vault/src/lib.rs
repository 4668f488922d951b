//! Keys, hashes and sealed fields: bytes in, bytes out.
//!
//! No storage, no configuration and no clock here. Whatever is secret has a type that cannot print itself.

mod admin_token;
mod api_key;
mod checksum;
mod customer_token;
mod digest;
mod keyed_digest;
mod personal_token;
mod random;
mod seal;
mod secret;
mod signing_secret;
mod strength;

pub use admin_token::{AdminToken, AdminTokenError};
pub use api_key::{ApiKeyError, IssuedKey, contains_secret_key, shape_of_key};
pub use customer_token::{InvalidToken, MAX_TOKEN_LENGTH, TokenKey, token_generation};
pub use digest::Digest;
pub use keyed_digest::Digester;
pub use personal_token::{issue_personal_token, shape_of_personal_token};
pub use random::{RandomnessUnavailable, fill_random, random_bytes};
pub use seal::{MasterKey, MasterKeyError, SealError, Sealer, sealed_with};
pub use secret::Secret;
pub use signing_secret::{NoSigningSecret, SigningSecret};
