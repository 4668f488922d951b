//! Why a command stopped, in a sentence for whoever started it.

use std::{fmt, io, path::Path};

use tollgate_vault::RandomnessUnavailable;

/// A sentence that says what is wrong and what to do.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// Something about a file or folder did not work.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self(format!("cannot {doing} {}: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! failure_from {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self(error.to_string())
            }
        }
    )*};
}

failure_from!(
    RandomnessUnavailable,
    tollgate_store::OpenError,
    tollgate_store::InvalidDatabaseUrl,
    tollgate_engine::StartError,
    tollgate_providers::SetupError,
    tollgate_engine::TenantError,
    tollgate_engine::KeyError,
    tollgate_engine::ConfigureError,
    tollgate_engine::MoveError,
    tollgate_vault::MasterKeyFault,
    tollgate_vault::AdminTokenFault,
);
