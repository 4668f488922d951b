//! The audit log: a chain in which every entry's hash covers the one before, under a key that the database does not have.
//!
//! Entries from before there was a key are chained by plain hashes. Whoever can write to the database can make such a chain, too,
//! so that wherever the head turns out not to be proved, an entry under the key says so. It stays a finding until an operator
//! accepts it, which is an entry under the key as well.

use std::{collections::BTreeSet, net::IpAddr};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use tollgate_domain::{
    Timestamp,
    audit_log::{ActorKind, AuditActor, AuditChain, AuditEntry, AuditHead, NewAuditEntry},
    id::{EnvironmentId, KeyId, UserId},
};
use tollgate_engine::ports::{AUDIT_ACCEPTED, AUDIT_UNPROVED, AuditLogFilter, KeyAction, KeyChange};
use tollgate_vault::Digester;

use crate::prelude::*;

/// Entries that are verified at a time.
const BATCH: u32 = 1_000;
/// Beyond this many changes of one page of keys the oldest are enough.
const MAX_KEY_CHANGES: u32 = 1_000;

record! {
    AUDIT_LOG, entry_columns = "audit_log" as a of () "";
    AuditEntry {
        sequence: Number = sequence,
        at: Number, actor_kind: Text, user_id: Id, actor: Text, address: Text, request: Text, action: Text,
            organization_id: Id, environment_id: Id, subject: Text, before_json: Text, after_json: Text,
            token_id: Id = entry,
        hash: Bytes = hash,
    }
}

stored! {
    NewAuditEntry {
        at, actor, address, request, action, organization, environment, subject, before, after, token,
    }
}

impl Stored for AuditActor {
    const WIDTH: usize = 3;

    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
        row.extend(row![self.kind.as_str(), self.kind.user(), &self.name]);
    }

    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
        let (kind, user, name): (String, _, _) = cells.get()?;
        let kind = ActorKind::parse(&kind, user).ok_or(CorruptRow("actor of an audit log entry"))?;
        Ok(Some(Self { kind, name }))
    }
}

fn read_address(stored: &str) -> Result<IpAddr, CorruptRow> {
    stored.parse().map_err(|_| CorruptRow("address of an audit log entry"))
}

texts! { IpAddr: ToString::to_string, read_address; }

const HEAD: &str = "SELECT entries, head_hash, proof FROM audit_head";

/// What the log ends with, and what proves it.
struct StoredHead {
    head: AuditHead,
    proof: Option<Vec<u8>>,
}

fn read_head(cells: &mut Cells<'_>) -> Result<StoredHead, Fault> {
    let head = AuditHead { entries: cells.get()?, hash: cells.get()? };
    Ok(StoredHead { head, proof: cells.get()? })
}

/// Without it, the last entries could be taken out and the head moved back.
fn proof(key: &Digester, head: &AuditHead) -> [u8; 32] {
    key.digest(&[b"head", &head.entries.to_be_bytes(), &head.hash])
}

impl StoredHead {
    fn is_proved(&self, key: &Digester) -> bool {
        self.proof.as_deref() == Some(&proof(key, &self.head))
    }
}

/// Says under the key what the head was when it was found without its proof.
fn unproved(at: Timestamp, head: &AuditHead) -> NewAuditEntry {
    let found = serde_json::json!({ "entries": head.entries, "hash": HEXLOWER.encode(&head.hash) });
    NewAuditEntry {
        at,
        actor: AuditActor { kind: ActorKind::System, name: "tollgate".to_owned() },
        token: None,
        address: None,
        request: String::new(),
        action: AUDIT_UNPROVED.to_owned(),
        organization: None,
        environment: None,
        subject: String::new(),
        before: Some(found.to_string()),
        after: None,
    }
}

/// The hash of an entry in this place, under the key if there is one. Where one field ends and the next begins counts, and
/// so does what is left out.
fn chained(key: Option<&Digester>, before: &[u8; 32], sequence: u64, entry: &NewAuditEntry) -> [u8; 32] {
    let mut hashed = Vec::with_capacity(512);
    hashed.extend(before);
    hashed.extend(sequence.to_be_bytes());
    hashed.extend(entry.at.unix_millis().to_be_bytes());
    let user = entry.actor.kind.user().map(|id| id.to_string());
    let address = entry.address.map(|address| address.to_string());
    let organization = entry.organization.map(|id| id.to_string());
    let environment = entry.environment.map(|id| id.to_string());
    let fields = [
        Some(entry.actor.kind.as_str()),
        user.as_deref(),
        Some(entry.actor.name.as_str()),
        address.as_deref(),
        Some(entry.request.as_str()),
        Some(entry.action.as_str()),
        organization.as_deref(),
        environment.as_deref(),
        Some(entry.subject.as_str()),
        entry.before.as_deref(),
        entry.after.as_deref(),
    ];
    let token = entry.token.map(|id| id.to_string());
    for field in fields.into_iter().chain(key.map(|_| token.as_deref())) {
        let length = field.and_then(|text| u64::try_from(text.len()).ok()).unwrap_or(u64::MAX);
        hashed.extend(length.to_be_bytes());
        hashed.extend(field.unwrap_or_default().as_bytes());
    }
    match key {
        Some(key) => key.digest(&[b"entry", &hashed]),
        None => Sha256::digest(&hashed).into(),
    }
}

/// Adds entries at the end. The head stays locked until the unit is done, so that this comes last in it. Under a key, what
/// is there is only continued if its head is proved: otherwise the first entry to be added says that it is not.
pub(crate) async fn append<S: Session>(
    s: &mut S,
    key: Option<&Digester>,
    entries: &[NewAuditEntry],
) -> Result<(), Fault> {
    let stored = s.query_one(&S::DIALECT.locked(HEAD), values![], read_head).await?;
    let is_proved = key.is_none_or(|key| stored.is_proved(key));
    let first = entries.first().filter(|_| !is_proved).map(|first| unproved(first.at, &stored.head));
    extend(s, key, stored.head, first.iter().chain(entries)).await
}

/// Adds entries behind a head that is locked.
async fn extend<'a, S: Session>(
    s: &mut S,
    key: Option<&Digester>,
    mut head: AuditHead,
    entries: impl Iterator<Item = &'a NewAuditEntry> + Send,
) -> Result<(), Fault> {
    let mut rows = Vec::new();
    for entry in entries {
        let sequence = head.entries.saturating_add(1);
        head = AuditHead { entries: sequence, hash: chained(key, &head.hash, sequence, entry) };
        rows.push(row![rows::version(sequence), ..entry, head.hash]);
    }
    s.insert(&AUDIT_LOG, rows).await?;
    let sql = "UPDATE audit_head SET entries = $1, head_hash = $2, proof = $3";
    let proof = key.map(|key| proof(key, &head));
    s.execute(sql, values![rows::version(head.entries), &head.hash, proof]).await?;
    Ok(())
}

/// Adds entries that go with no other change.
pub(crate) async fn add<S: Session>(
    s: &mut S,
    key: Option<&Digester>,
    entries: &[NewAuditEntry],
) -> Result<Effect<()>, Fault> {
    append(s, key, entries).await?;
    Ok(Effect::Written(()))
}

/// Chains the log under the key from now on. Returns whether it said so in an entry, because what it found was not proved. The
/// log of a database in which nothing was made yet begins under the key.
pub(crate) async fn adopt<S: Session>(
    s: &mut S,
    key: &Digester,
    at: Timestamp,
) -> Result<Effect<bool>, Fault> {
    let stored = s.query_one(&S::DIALECT.locked(HEAD), values![], read_head).await?;
    if stored.is_proved(key) {
        return Ok(Effect::Nothing(false));
    }
    let count = "SELECT COUNT(*) FROM environments";
    let made: u64 = s.query_one(count, values![], read).await?;
    let is_new = stored.proof.is_none() && stored.head.entries == 0 && made == 0;
    let first = (!is_new).then(|| unproved(at, &stored.head));
    extend(s, Some(key), stored.head, first.iter()).await?;
    Ok(Effect::Written(!is_new))
}

pub(crate) async fn head<S: Session>(s: &mut S) -> Result<AuditHead, Fault> {
    Ok(s.query_one(HEAD, values![], read_head).await?.head)
}

/// The statement of a list, and the values its conditions ask for.
pub(crate) fn list_sql(filter: &AuditLogFilter, before: Option<u64>, limit: u32) -> (String, Vec<Value<'_>>) {
    let mut sql = String::from(concat!(
        "SELECT ",
        entry_columns!(),
        " FROM audit_log a WHERE sequence < $1 AND at >= $2 AND at < $3"
    ));
    let from = filter.from.map_or(i64::MIN, |from| from.unix_millis());
    let until = filter.until.map_or(i64::MAX, |until| until.unix_millis());
    let mut values: Vec<Value<'_>> =
        vec![before.map_or(i64::MAX, rows::version).into(), from.into(), until.into()];
    let conditions: [(&str, Option<Value<'_>>); 4] = [
        ("user_id", filter.user.map(Value::from)),
        ("action", filter.action.as_deref().map(Value::from)),
        ("environment_id", filter.environment.map(Value::from)),
        ("subject", filter.subject.as_deref().map(Value::from)),
    ];
    for (column, value) in conditions {
        let Some(value) = value else { continue };
        values.push(value);
        sql.extend([format!(" AND {column} = ${}", values.len())]);
    }
    values.push(limit.into());
    sql.extend([format!(" ORDER BY sequence DESC LIMIT ${}", values.len())]);
    (sql, values)
}

pub(crate) async fn list<S: Session>(
    s: &mut S,
    filter: &AuditLogFilter,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<AuditEntry>, Fault> {
    let (sql, values) = list_sql(filter, before, limit);
    s.query(&sql, &values, read).await
}

/// The texts of ids sort as the ids do.
pub(crate) const OF_KEYS: &str =
    "SELECT subject, action, user_id, after_json, actor, request, at FROM audit_log
     WHERE environment_id = $1 AND subject >= $2 AND subject <= $3 AND action IN ($4, $5, $6)
     ORDER BY subject, sequence LIMIT $7";

/// What was done to the keys from `first` to `last`.
pub(crate) async fn of_keys<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    first: KeyId,
    last: KeyId,
) -> Result<Vec<KeyChange>, Fault> {
    let [issued, rotated, revoked] = KeyAction::ALL.map(KeyAction::audited);
    let (first, last) = (first.to_string(), last.to_string());
    let values = values![environment, first, last, issued, rotated, revoked, MAX_KEY_CHANGES];
    s.query(OF_KEYS, values, read_key_change).await
}

pub(crate) const CREATORS: &str =
    "SELECT user_id, after_json FROM audit_log WHERE subject = $1 AND action = 'user.create'";

/// Everybody who may have added this user.
pub(super) async fn creators<S: Session>(s: &mut S, user: UserId) -> Result<Vec<UserId>, Fault> {
    let read = |cells: &mut Cells<'_>| people(cells);
    Ok(s.query(CREATORS, values![user.to_string()], read).await?.into_iter().flatten().collect())
}

/// What an entry says about who may have made the change, in the columns user_id and after_json.
fn people(cells: &mut Cells<'_>) -> Result<Vec<UserId>, Fault> {
    #[derive(Default, serde::Deserialize)]
    struct After {
        #[serde(default)]
        people: Vec<String>,
    }
    const CORRUPT: CorruptRow = CorruptRow("people of an audit log entry");
    let (user, after): (Option<UserId>, Option<String>) = cells.get()?;
    let after: After =
        after.map_or(Ok(After::default()), |it| serde_json::from_str(&it)).map_err(|_| CORRUPT)?;
    let others: Result<Vec<UserId>, _> =
        after.people.iter().map(|id| id.parse().map_err(|_| CORRUPT)).collect();
    let others = others?.into_iter().filter(|other| Some(*other) != user);
    Ok(user.into_iter().chain(others).collect())
}

fn read_key_change(cells: &mut Cells<'_>) -> Result<KeyChange, Fault> {
    Ok(KeyChange {
        key: cells.word("id of a key", |text| text.parse().ok())?,
        action: cells.word("change of a key", KeyAction::parse)?,
        people: people(cells)?,
        actor: cells.get()?,
        request: cells.get()?,
        at: cells.get()?,
    })
}

/// Walks the chain from its first entry to its head, and says what is wrong first.
pub(crate) async fn verify<S: Session>(s: &mut S, key: Option<&Digester>) -> Result<AuditChain, Fault> {
    let stored = s.query_one(HEAD, values![], read_head).await?;
    let head = stored.head;
    let mut verified = AuditHead { entries: 0, hash: [0; 32] };
    // From the first entry under the key on, all are.
    let mut is_keyed = false;
    let mut not_accepted = BTreeSet::new();
    let mut problem = None;
    while problem.is_none() {
        let sql = concat!(
            "SELECT ",
            entry_columns!(),
            " FROM audit_log a WHERE sequence > $1 ORDER BY sequence LIMIT $2"
        );
        let entries: Vec<AuditEntry> =
            match s.query(sql, values![rows::version(verified.entries), BATCH], read).await {
                Err(Fault::CorruptRow(row)) => {
                    problem = Some(format!("an entry after {} cannot be read: {row}", verified.entries));
                    break;
                }
                entries => entries?,
            };
        if entries.is_empty() {
            break;
        }
        for AuditEntry { sequence, entry, hash } in entries {
            let expected = verified.entries.saturating_add(1);
            if sequence != expected {
                problem = Some(format!("entry {expected} is missing"));
                break;
            }
            let is_of = |key: Option<&Digester>| chained(key, &verified.hash, sequence, &entry) == hash;
            is_keyed = is_keyed || key.is_some_and(|key| is_of(Some(key)));
            let is_whole = match key {
                Some(key) if is_keyed => is_of(Some(key)),
                _ => entry.token.is_none() && is_of(None),
            };
            match entry.action.as_str() {
                AUDIT_UNPROVED if is_keyed => {
                    not_accepted.insert(sequence);
                }
                AUDIT_ACCEPTED if is_keyed => {
                    if let Ok(accepted) = entry.subject.parse() {
                        not_accepted.remove::<u64>(&accepted);
                    }
                }
                _ => {}
            }
            if !is_whole {
                problem = Some(format!("entry {sequence} was changed, or the one before it was"));
                break;
            }
            verified = AuditHead { entries: sequence, hash };
        }
    }
    if problem.is_none() && verified != head {
        problem = Some(format!(
            "the log ends with entry {}, and its head says that entry {} is the last",
            verified.entries, head.entries
        ));
    }
    let is_proved = key.is_none_or(|key| stored.is_proved(key));
    if problem.is_none() && !is_proved {
        problem = Some(format!(
            "the head was not written by this service: entries after {} were taken out, or the log was written anew",
            head.entries
        ));
    }
    if let (None, Some(entry)) = (&problem, not_accepted.first()) {
        problem = Some(format!(
            "entry {entry} says that the {} before it ended without proof that this service wrote them. Right after an upgrade from \
             a version that had no key for the log, or after entries were restored, this is expected: read them, then run `tollgate \
             audit --accept {entry}`. Otherwise somebody has rewritten the log",
            entry.saturating_sub(1)
        ));
    }
    Ok(AuditChain { entries: head.entries, head: head.hash, problem })
}
