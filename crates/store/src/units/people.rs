//! The people who operate the service, and their tokens, of which only digests are kept.

use std::collections::BTreeMap;

use tollgate_domain::{
    Timestamp,
    id::{TokenId, UserId},
    people::{Access, Role, SignOnSubject, User, UserToken},
};
use tollgate_engine::ports::{
    AccessEnded, DirectoryVersion, OperatorUse, Page, SubjectBound, TokenIssued, UserCreated, UserState,
};

use super::{audit_log, directory};
use crate::prelude::*;

/// The columns that [`read_user`] takes, of users as `u`.
macro_rules! user_columns {
    () => {
        "u.id, u.name, u.email, u.role, u.organizations, u.created_at, u.removed_at, u.subject, u.last_used_at"
    };
}

/// The columns that [`read_token`] takes, of user_tokens as `t`.
macro_rules! token_columns {
    () => {
        "t.id, t.user_id, t.name, t.digest, t.last_four, t.created_at, t.expires_at, t.revoked_at,
         t.last_used_at, t.issuers"
    };
}

fn read_user(cells: &mut Cells<'_>) -> Result<User, Fault> {
    Ok(User {
        id: cells.id()?,
        name: cells.text()?,
        email: cells.text()?,
        access: Access {
            role: cells.word("role", Role::parse)?,
            organizations: match cells.text_or_none()? {
                None => None,
                ids => Some(rows::ids(ids, "organizations of a user")?),
            },
        },
        created_at: cells.moment()?,
        removed_at: cells.moment_or_none()?,
        subject: cells.text_or_none()?.map(|stored| read_subject(&stored)).transpose()?,
        last_used_at: cells.moment_or_none()?,
    })
}

fn read_subject(stored: &str) -> Result<SignOnSubject, CorruptRow> {
    let (issuer, subject) = stored.split_once(' ').ok_or(CorruptRow("subject of a user"))?;
    Ok(SignOnSubject { issuer: issuer.to_owned(), subject: subject.to_owned() })
}

/// An issuer is a URL, which has no spaces.
fn subject_text(SignOnSubject { issuer, subject }: &SignOnSubject) -> String {
    format!("{issuer} {subject}")
}

fn read_token(cells: &mut Cells<'_>) -> Result<UserToken, Fault> {
    Ok(UserToken {
        id: cells.id()?,
        user: cells.id()?,
        name: cells.text()?,
        digest: cells.digest()?,
        last_four: cells.text()?,
        created_at: cells.moment()?,
        expires_at: cells.moment()?,
        revoked_at: cells.moment_or_none()?,
        last_used_at: cells.moment_or_none()?,
        issuers: rows::ids(cells.text_or_none()?, "issuers of a token")?,
    })
}

/// The version of the user's last change; `None` if there is none such.
async fn stamp<S: Session>(s: &mut S, user: UserId) -> Result<Option<DirectoryVersion>, Fault> {
    let sql = "SELECT directory_version FROM users WHERE id = $1";
    s.query_opt(sql, values![user], directory::read_version).await
}

async fn touch<S: Session>(s: &mut S, user: UserId) -> Result<DirectoryVersion, Fault> {
    let version = directory::advance(s).await?;
    let sql = "UPDATE users SET directory_version = $2 WHERE id = $1";
    s.execute(sql, values![user, rows::version(version.0)]).await?;
    Ok(version)
}

pub(crate) async fn create<S: Session>(s: &mut S, new: &User) -> Result<Effect<UserCreated>, Fault> {
    directory::lock(s).await?;
    if let Some(stamp) = stamp(s, new.id).await? {
        return Ok(Effect::Nothing(UserCreated::Done(stamp)));
    }
    let sql = "SELECT 1 FROM users WHERE email = $1 AND removed_at IS NULL";
    if s.exists(sql, values![&new.email]).await? {
        return Ok(Effect::Nothing(UserCreated::EmailTaken));
    }
    let version = directory::advance(s).await?;
    let organizations = new.access.organizations.as_deref().map(rows::list_of_ids);
    let sql =
        "INSERT INTO users (id, name, email, role, organizations, created_at, removed_at, directory_version)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let values = values![
        new.id,
        &new.name,
        &new.email,
        new.access.role.as_str(),
        organizations.as_deref(),
        new.created_at,
        new.removed_at,
        rows::version(version.0)
    ];
    s.execute(sql, values).await?;
    Ok(Effect::Directory(UserCreated::Done(version)))
}

pub(crate) async fn remove<S: Session>(
    s: &mut S,
    user: UserId,
    at: Timestamp,
) -> Result<Effect<AccessEnded>, Fault> {
    directory::lock(s).await?;
    let Some(stamp) = stamp(s, user).await? else { return Ok(Effect::Nothing(AccessEnded::Missing)) };
    let sql = "UPDATE users SET removed_at = $2 WHERE id = $1 AND removed_at IS NULL";
    if s.execute(sql, values![user, at]).await? == 0 {
        return Ok(Effect::Nothing(AccessEnded::Done(stamp)));
    }
    Ok(Effect::Directory(AccessEnded::Done(touch(s, user).await?)))
}

pub(crate) async fn change<S: Session>(
    s: &mut S,
    user: UserId,
    name: &str,
    access: &Access,
) -> Result<Effect<AccessEnded>, Fault> {
    directory::lock(s).await?;
    let found = find(s, user).await?.filter(|found| found.user.removed_at.is_none());
    let (Some(UserState { user: found, .. }), Some(stamp)) = (found, stamp(s, user).await?) else {
        return Ok(Effect::Nothing(AccessEnded::Missing));
    };
    if found.name == name && found.access == *access {
        return Ok(Effect::Nothing(AccessEnded::Done(stamp)));
    }
    let organizations = access.organizations.as_deref().map(rows::list_of_ids);
    let sql = "UPDATE users SET name = $2, role = $3, organizations = $4 WHERE id = $1";
    s.execute(sql, values![user, name, access.role.as_str(), organizations.as_deref()]).await?;
    Ok(Effect::Directory(AccessEnded::Done(touch(s, user).await?)))
}

pub(crate) async fn bind_subject<S: Session>(
    s: &mut S,
    user: UserId,
    subject: &SignOnSubject,
) -> Result<Effect<SubjectBound>, Fault> {
    directory::lock(s).await?;
    let found = find(s, user).await?.filter(|found| found.user.removed_at.is_none());
    let (Some(found), Some(stamp)) = (found, stamp(s, user).await?) else {
        return Ok(Effect::Nothing(SubjectBound::Missing));
    };
    match found.user.subject {
        Some(known) if known == *subject => return Ok(Effect::Nothing(SubjectBound::Done(stamp))),
        Some(known) if known.issuer == subject.issuer => {
            return Ok(Effect::Nothing(SubjectBound::Other));
        }
        _ => {}
    }
    let sql = "UPDATE users SET subject = $2 WHERE id = $1";
    s.execute(sql, values![user, subject_text(subject)]).await?;
    Ok(Effect::Directory(SubjectBound::Done(touch(s, user).await?)))
}

/// The same people under other ids, those who added them, and so on.
pub(crate) async fn behind<S: Session>(s: &mut S, users: &[UserId]) -> Result<Vec<UserId>, Fault> {
    let mut found: Vec<UserId> = users.to_vec();
    let mut place = 0;
    while let Some(user) = found.get(place).copied() {
        place = place.saturating_add(1);
        let sql = "SELECT other.id FROM users u JOIN users other ON other.email = u.email OR other.subject = u.subject
             WHERE u.id = $1 ORDER BY other.id";
        let mut others = s.query(sql, values![user], |cells| cells.id()).await?;
        others.extend(audit_log::creators(s, user).await?);
        for other in others {
            if !found.contains(&other) {
                found.push(other);
            }
        }
    }
    Ok(found)
}

/// When operators last did something. Nobody waits for this, so the directory's version stays as it is.
pub(crate) async fn record_uses<S: Session>(s: &mut S, uses: &[OperatorUse]) -> Result<Effect<()>, Fault> {
    for OperatorUse { user, token, at } in uses {
        let sql = "UPDATE users SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)";
        s.execute(sql, values![*user, *at]).await?;
        let sql = "UPDATE user_tokens SET last_used_at = $3
             WHERE user_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at < $3)";
        if let Some(token) = token {
            s.execute(sql, values![*user, *token, *at]).await?;
        }
    }
    Ok(Effect::Written(()))
}

pub(crate) async fn issue_token<S: Session>(
    s: &mut S,
    new: &UserToken,
    most: u32,
) -> Result<Effect<TokenIssued>, Fault> {
    directory::lock(s).await?;
    let sql = "SELECT directory_version FROM users WHERE id = $1 AND removed_at IS NULL";
    let Some(stamp) = s.query_opt(sql, values![new.user], directory::read_version).await? else {
        return Ok(Effect::Nothing(TokenIssued::UserMissing));
    };
    let sql = "SELECT 1 FROM user_tokens WHERE user_id = $1 AND id = $2";
    if s.exists(sql, values![new.user, new.id]).await? {
        return Ok(Effect::Nothing(TokenIssued::Done(stamp)));
    }
    let sql =
        "SELECT count(*) FROM user_tokens WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $2";
    let count: u32 =
        s.query_one(sql, values![new.user, new.created_at], |cells| cells.count("count")).await?;
    if count >= most {
        return Ok(Effect::Nothing(TokenIssued::TooMany));
    }
    let sql =
        "INSERT INTO user_tokens (user_id, id, name, digest, last_four, created_at, expires_at, revoked_at, issuers)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let values = values![
        new.user,
        new.id,
        &new.name,
        &new.digest,
        &new.last_four,
        new.created_at,
        new.expires_at,
        new.revoked_at,
        rows::list_of_ids(&new.issuers)
    ];
    s.execute(sql, values).await?;
    Ok(Effect::Directory(TokenIssued::Done(touch(s, new.user).await?)))
}

pub(crate) async fn revoke_token<S: Session>(
    s: &mut S,
    user: UserId,
    token: TokenId,
    at: Timestamp,
) -> Result<Effect<AccessEnded>, Fault> {
    directory::lock(s).await?;
    let sql = "SELECT 1 FROM user_tokens WHERE user_id = $1 AND id = $2";
    let is_known = s.exists(sql, values![user, token]).await?;
    let Some(stamp) = stamp(s, user).await?.filter(|_| is_known) else {
        return Ok(Effect::Nothing(AccessEnded::Missing));
    };
    let sql = "UPDATE user_tokens SET revoked_at = $3 WHERE user_id = $1 AND id = $2 AND revoked_at IS NULL";
    if s.execute(sql, values![user, token, at]).await? == 0 {
        return Ok(Effect::Nothing(AccessEnded::Done(stamp)));
    }
    Ok(Effect::Directory(AccessEnded::Done(touch(s, user).await?)))
}

pub(crate) async fn list<S: Session>(s: &mut S, page: Page<UserId>) -> Result<Vec<UserState>, Fault> {
    let Some(first) = rows::from_after(page.after) else { return Ok(Vec::new()) };
    let sql = concat!("SELECT ", user_columns!(), " FROM users u WHERE u.id >= $1 ORDER BY u.id LIMIT $2");
    let users = s.query(sql, values![first, page.limit], read_user).await?;
    let (Some(first), Some(last)) = (users.first(), users.last()) else { return Ok(Vec::new()) };
    let sql = concat!(
        "SELECT ",
        token_columns!(),
        " FROM user_tokens t WHERE t.user_id >= $1 AND t.user_id <= $2 AND t.revoked_at IS NULL
         ORDER BY t.user_id, t.id"
    );
    let tokens = s.query(sql, values![first.id, last.id], read_token).await?;
    Ok(with_tokens(users, tokens))
}

pub(crate) async fn find<S: Session>(s: &mut S, id: UserId) -> Result<Option<UserState>, Fault> {
    let sql = concat!("SELECT ", user_columns!(), " FROM users u WHERE u.id = $1");
    let user = s.query_opt(sql, values![id], read_user).await?;
    let sql = concat!(
        "SELECT ",
        token_columns!(),
        " FROM user_tokens t WHERE t.user_id = $1 AND t.revoked_at IS NULL ORDER BY t.id"
    );
    let tokens = s.query(sql, values![id], read_token).await?;
    Ok(user.map(|user| UserState { user, tokens }))
}

/// Every user touched after this version of the directory.
pub(super) async fn since<S: Session>(s: &mut S, since: i64) -> Result<Vec<UserState>, Fault> {
    let sql = concat!("SELECT ", user_columns!(), " FROM users u WHERE u.directory_version > $1");
    let users = s.query(sql, values![since], read_user).await?;
    if users.is_empty() {
        return Ok(Vec::new());
    }
    let sql = concat!(
        "SELECT ",
        token_columns!(),
        " FROM users u JOIN user_tokens t ON t.user_id = u.id
         WHERE u.directory_version > $1 AND t.revoked_at IS NULL ORDER BY t.user_id, t.id"
    );
    let tokens = s.query(sql, values![since], read_token).await?;
    Ok(with_tokens(users, tokens))
}

/// Each user with their own tokens, by id.
fn with_tokens(users: Vec<User>, tokens: Vec<UserToken>) -> Vec<UserState> {
    let states = users.into_iter().map(|user| (user.id, UserState { user, tokens: Vec::new() }));
    let mut states: BTreeMap<_, _> = states.collect();
    for token in tokens {
        if let Some(state) = states.get_mut(&token.user) {
            state.tokens.push(token);
        }
    }
    states.into_values().collect()
}
