//! The people who operate the service, and their tokens, of which only digests are kept.

use std::collections::BTreeMap;

use tollgate_domain::{
    Timestamp,
    id::{OrganizationId, TokenId, UserId},
    people::{Access, SignOnSubject, User, UserToken},
};
use tollgate_engine::ports::{
    AccessEnded, DirectoryVersion, OperatorUse, Page, SubjectBound, TokenIssued, UserCreated, UserState,
};

use super::{audit_log, directory};
use crate::prelude::*;

record! {
    USERS, user_columns = "users" as u of () "";
    User {
        id: Id = id,
        name: Text = name,
        email: Text = email,
        role: Text, organizations: Text = access,
        created_at: Number = created_at,
        removed_at: Number = removed_at,
        subject: Text = subject,
        last_used_at: Number = last_used_at,
    }
    + (directory_version: Number)
}

record! {
    TOKENS, token_columns = "user_tokens" as t of () "";
    UserToken {
        id: Id = id,
        user_id: Id = user,
        name: Text = name,
        digest: Bytes = digest,
        last_four: Text = last_four,
        created_at: Number = created_at,
        expires_at: Number = expires_at,
        revoked_at: Number = revoked_at,
        last_used_at: Number = last_used_at,
        issuers: Text = issuers,
    }
}

stored! { Access { role, organizations } }

texts! {
    Vec<OrganizationId>: write_organizations, read_organizations;
    SignOnSubject: subject_text, read_subject;
}

fn write_organizations(ids: &[OrganizationId]) -> String {
    rows::list_of_ids(ids)
}

fn read_organizations(stored: &str) -> Result<Vec<OrganizationId>, CorruptRow> {
    rows::ids(Some(stored.to_owned()), "organizations of a user")
}

/// The issuers of a token, of whom none is known where the column is empty.
impl Stored for Vec<UserId> {
    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
        row.push(rows::list_of_ids(self).into());
    }

    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
        Ok(Some(rows::ids(cells.get()?, "issuers of a token")?))
    }
}

fn read_subject(stored: &str) -> Result<SignOnSubject, CorruptRow> {
    let (issuer, subject) = stored.split_once(' ').ok_or(CorruptRow("subject of a user"))?;
    Ok(SignOnSubject { issuer: issuer.to_owned(), subject: subject.to_owned() })
}

/// An issuer is a URL, which has no spaces.
fn subject_text(SignOnSubject { issuer, subject }: &SignOnSubject) -> String {
    format!("{issuer} {subject}")
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
    s.insert(&USERS, vec![row![..new, rows::version(version.0)]]).await?;
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
    let sql = "UPDATE users SET name = $2, role = $3, organizations = $4 WHERE id = $1";
    s.execute(sql, &row![user, name, ..access]).await?;
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
        Some(bound) if bound == *subject => return Ok(Effect::Nothing(SubjectBound::Done(stamp))),
        Some(bound) if bound.issuer == subject.issuer => {
            return Ok(Effect::Nothing(SubjectBound::Other));
        }
        _ => {}
    }
    let sql = "UPDATE users SET subject = $2 WHERE id = $1";
    s.execute(sql, &row![user, ..subject]).await?;
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
        let mut others: Vec<UserId> = s.query(sql, values![user], read).await?;
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
    let count: u32 = s.query_one(sql, values![new.user, new.created_at], read).await?;
    if count >= most {
        return Ok(Effect::Nothing(TokenIssued::TooMany));
    }
    s.insert(&TOKENS, vec![row![..new]]).await?;
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
    let users: Vec<User> = s.query(sql, values![first, page.limit], read).await?;
    let (Some(first), Some(last)) = (users.first(), users.last()) else { return Ok(Vec::new()) };
    let sql = concat!(
        "SELECT ",
        token_columns!(),
        " FROM user_tokens t WHERE t.user_id >= $1 AND t.user_id <= $2 AND t.revoked_at IS NULL
         ORDER BY t.user_id, t.id"
    );
    let tokens = s.query(sql, values![first.id, last.id], read).await?;
    Ok(with_tokens(users, tokens))
}

pub(crate) async fn find<S: Session>(s: &mut S, id: UserId) -> Result<Option<UserState>, Fault> {
    let sql = concat!("SELECT ", user_columns!(), " FROM users u WHERE u.id = $1");
    let user = s.query_opt(sql, values![id], read).await?;
    let sql = concat!(
        "SELECT ",
        token_columns!(),
        " FROM user_tokens t WHERE t.user_id = $1 AND t.revoked_at IS NULL ORDER BY t.id"
    );
    let tokens = s.query(sql, values![id], read).await?;
    Ok(user.map(|user| UserState { user, tokens }))
}

/// Every user touched after this version of the directory.
pub(super) async fn since<S: Session>(s: &mut S, since: i64) -> Result<Vec<UserState>, Fault> {
    let sql = concat!("SELECT ", user_columns!(), " FROM users u WHERE u.directory_version > $1");
    let users: Vec<User> = s.query(sql, values![since], read).await?;
    if users.is_empty() {
        return Ok(Vec::new());
    }
    let sql = concat!(
        "SELECT ",
        token_columns!(),
        " FROM users u JOIN user_tokens t ON t.user_id = u.id
         WHERE u.directory_version > $1 AND t.revoked_at IS NULL ORDER BY t.user_id, t.id"
    );
    let tokens = s.query(sql, values![since], read).await?;
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
