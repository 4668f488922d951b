//! What a transfer or a change waits for: its votes as JSON, beside the columns by which it is found.

use serde::{Deserialize, Serialize};
use tollgate_domain::{
    Timestamp,
    approval::{Approval, ApprovalState, Vote},
    id::ApprovalId,
};

use crate::prelude::*;

#[derive(Serialize, Deserialize)]
struct StoredApproval {
    count: u32,
    reasons: Vec<String>,
    maker: Option<String>,
    makers: String,
    votes: Vec<StoredVote>,
}

#[derive(Serialize, Deserialize)]
struct StoredVote {
    user: String,
    name: String,
    people: String,
    approves: bool,
    at: i64,
}

pub(crate) fn write(approval: &Approval) -> Option<String> {
    let vote = |vote: &Vote| StoredVote {
        user: vote.user.to_string(),
        name: vote.name.clone(),
        people: rows::list_of_ids(&vote.people),
        approves: vote.approves,
        at: vote.at.unix_millis(),
    };
    let stored = StoredApproval {
        count: approval.count,
        reasons: approval.reasons.clone(),
        maker: approval.maker.map(|key| key.to_string()),
        makers: rows::list_of_ids(&approval.makers),
        votes: approval.votes.iter().map(vote).collect(),
    };
    // Texts and numbers are always JSON, so this cannot fail.
    serde_json::to_string(&stored).ok()
}

/// The digest of an account as a text.
pub(crate) fn account(digest: &[u8; 32]) -> String {
    let mut text = String::with_capacity(64);
    for byte in digest {
        text.extend(
            [byte >> 4, byte & 15].into_iter().filter_map(|digit| char::from_digit(u32::from(digit), 16)),
        );
    }
    text
}

/// The columns `approval_id`, `approval_state` and `approval`.
impl Stored for Approval {
    const WIDTH: usize = 3;

    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
        row.extend(row![self.id.to_string(), self.state, write(self)]);
    }

    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
        let (id, state, stored) = (cells.text_or_none()?, cells.text_or_none()?, cells.text_or_none()?);
        let (Some(id), Some(state), Some(stored)) = (id, state, stored) else { return Ok(None) };
        let id = id.parse().map_err(|_| CorruptRow("ID of an approval"))?;
        Ok(Some(parse(id, &state, &stored)?))
    }
}

/// The column `approval_account`.
pub(crate) fn read_account(cells: &mut Cells<'_>) -> Result<Option<[u8; 32]>, Fault> {
    let account = cells.text_or_none()?.map(|text| digest(&text).ok_or(CorruptRow("approved account")));
    Ok(account.transpose()?)
}

/// What [`write`] wrote.
pub(crate) fn parse(id: ApprovalId, state: &str, stored: &str) -> Result<Approval, CorruptRow> {
    const CORRUPT: CorruptRow = CorruptRow("approval");
    let stored: StoredApproval = serde_json::from_str(stored).map_err(|_| CORRUPT)?;
    let vote = |vote: StoredVote| {
        Ok(Vote {
            user: vote.user.parse().map_err(|_| CORRUPT)?,
            name: vote.name,
            people: rows::ids(Some(vote.people), "people of a vote")?,
            approves: vote.approves,
            at: Timestamp::from_unix_millis(vote.at),
        })
    };
    Ok(Approval {
        id,
        state: ApprovalState::parse(state).ok_or(CORRUPT)?,
        count: stored.count,
        reasons: stored.reasons,
        maker: stored.maker.map(|key| key.parse()).transpose().map_err(|_| CORRUPT)?,
        makers: rows::ids(Some(stored.makers), "makers of a change")?,
        votes: stored.votes.into_iter().map(vote).collect::<Result<_, CorruptRow>>()?,
        account: None,
    })
}

fn digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (place, byte) in digest.iter_mut().enumerate() {
        let at = place.saturating_mul(2);
        *byte = u8::from_str_radix(text.get(at..at.saturating_add(2))?, 16).ok()?;
    }
    Some(digest)
}
