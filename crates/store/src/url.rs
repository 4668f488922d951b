//! Where the database is: `sqlite:PATH`, or `postgres://…` as every PostgreSQL client writes it.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

/// A database's address. It may hold a password, so neither `Debug` nor `Display` shows all of it.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(Place);

#[derive(Clone, PartialEq, Eq)]
enum Place {
    Sqlite(PathBuf),
    Postgres(String),
}

/// Why a text is not a database's address. It never repeats the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the database URL cannot be used: {reason}")]
pub struct InvalidDatabaseUrl {
    reason: String,
}

impl InvalidDatabaseUrl {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl DatabaseUrl {
    /// The file, where this is a SQLite database.
    pub fn sqlite_path(&self) -> Option<&Path> {
        match &self.0 {
            Place::Sqlite(path) => Some(path),
            Place::Postgres(_) => None,
        }
    }

    /// The whole URL with its password, where this is a PostgreSQL database.
    pub(crate) fn postgres_url(&self) -> Option<&str> {
        match &self.0 {
            Place::Sqlite(_) => None,
            Place::Postgres(url) => Some(url),
        }
    }
}

impl FromStr for DatabaseUrl {
    type Err = InvalidDatabaseUrl;

    fn from_str(text: &str) -> Result<Self, InvalidDatabaseUrl> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            // `sqlite:///srv/x.db` and `sqlite:/srv/x.db` mean the same file, as elsewhere.
            let path = path.strip_prefix("//").unwrap_or(path);
            if path.is_empty() || path.starts_with(":memory:") || path.contains('?') {
                return Err(InvalidDatabaseUrl::new(
                    "after `sqlite:` comes the path of a file, such as sqlite:tollgate-data/tollgate.db; \
                     databases in memory and parameters are not offered",
                ));
            }
            return Ok(Self(Place::Sqlite(PathBuf::from(path))));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self(Place::Postgres(text.to_owned())));
        }
        Err(InvalidDatabaseUrl::new("it must be sqlite:PATH, or postgres://USER:PASSWORD@HOST:PORT/DATABASE"))
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Place::Postgres(url) => f.write_str(&redacted(url)),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Keeps scheme, a plain user name, host and database. Whatever may be a secret or hide one is left out: what stands
/// before the last `@`, however badly a password was escaped, and every parameter.
fn redacted(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", ""));
    let (user_info, place) =
        rest.rsplit_once('@').map_or((None, rest), |(before, after)| (Some(before), after));
    let (place, parameters) = place.split_once('?').map_or((place, ""), |(place, _)| (place, "?…"));
    let user_info = user_info.map_or_else(String::new, |info| {
        let (user, password) = info.split_once(':').map_or((info, ""), |(user, _)| (user, ":…"));
        let plain = user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        if plain { format!("{user}{password}@") } else { "…@".to_owned() }
    });
    format!("{scheme}://{user_info}{place}{parameters}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<DatabaseUrl, InvalidDatabaseUrl> {
        text.parse()
    }

    #[test]
    fn sqlite_takes_a_path() {
        for (text, path) in [
            ("sqlite:data/a.db", "data/a.db"),
            ("sqlite:/srv/a.db", "/srv/a.db"),
            ("sqlite:///srv/a.db", "/srv/a.db"),
            ("sqlite://data/a.db", "data/a.db"),
        ] {
            assert_eq!(parse(text).unwrap().sqlite_path(), Some(Path::new(path)), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_without_being_repeated() {
        for text in
            ["", "sqlite:", "sqlite::memory:", "sqlite:a.db?mode=ro", "mysql://u:hunter2@h/d", "hunter2"]
        {
            let error = parse(text).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn no_password_is_ever_shown() {
        for (text, shown) in [
            ("postgres://me:hunter2@db:5432/pay", "postgres://me:…@db:5432/pay"),
            ("postgres://me@db/pay", "postgres://me@db/pay"),
            ("postgresql://db/pay?password=hunter2", "postgresql://db/pay?…"),
            ("postgres://me:hun@ter2@db/pay", "postgres://me:…@db/pay"),
            ("postgres://me:hun/ter2@db/pay", "postgres://me:…@db/pay"),
            ("postgres://me:hun?ter2@db/pay", "postgres://me:…@db/pay"),
            ("postgres://db/pay?password=hunter2@x", "postgres://…@x"),
            ("postgres://a,b:1,c/pay", "postgres://a,b:1,c/pay"),
        ] {
            let url = parse(text).unwrap();
            assert_eq!(url.to_string(), shown);
            assert_eq!(format!("{url:?}"), shown);
        }
    }
}
