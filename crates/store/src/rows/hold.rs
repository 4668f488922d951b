//! Payments that are captured by hand: what is held of them, and each capture and void that was asked for.

use serde::{Deserialize, Serialize};
use tollgate_domain::{
    Minor, Principal, Timestamp,
    hold::{Hold, HoldAction, HoldActionKind, HoldActionStatus},
    id::{EnvironmentId, HoldActionId, PaymentId},
    transaction::Failure,
};

use super::fee::StoredFee;
use crate::prelude::*;

/// What is held or was captured; what is not there is left out.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredHold {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    capture_before: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    captured: Option<StoredFee>,
}

impl StoredHold {
    pub(crate) fn of(hold: &Hold) -> Self {
        Self {
            capture_before: hold.capture_before.map(Timestamp::unix_millis),
            pending: hold.pending.map(|kind| kind.as_str().to_owned()),
            captured: hold.captured.as_ref().map(StoredFee::of),
        }
    }

    pub(crate) fn read(self) -> Result<Hold, CorruptRow> {
        let kind = |text: String| HoldActionKind::parse(&text).ok_or(CorruptRow("pending capture or void"));
        Ok(Hold {
            capture_before: self.capture_before.map(Timestamp::from_unix_millis),
            pending: self.pending.map(kind).transpose()?,
            captured: self.captured.map(StoredFee::read).transpose()?,
        })
    }
}

/// As JSON.
pub(crate) fn write(hold: &Hold) -> String {
    // Texts and numbers under fixed names always make JSON.
    serde_json::to_string(&StoredHold::of(hold)).unwrap_or_default()
}

pub(crate) fn read(stored: &str) -> Result<Hold, CorruptRow> {
    let stored: StoredHold = serde_json::from_str(stored).map_err(|_| CorruptRow("hold"))?;
    stored.read()
}

table! {
    HOLD_ACTIONS = "hold_actions" (
        "ON CONFLICT (environment_id, payment_id, id) DO UPDATE SET
             status = excluded.status, failure_code = excluded.failure_code,
             failure_message = excluded.failure_message, updated_at = excluded.updated_at"
    );
    fn hold_action_row(environment: EnvironmentId, payment: PaymentId, action: &'a HoldAction) {
        environment_id: Id = environment,
        payment_id: Id = payment,
        id: Id = action.id,
        kind: Text = action.kind.as_str(),
        asked_minor: Number = action.asked.map(Minor::from),
        status: Text = action.status.as_str(),
        failure_code: Text = action.failure.as_ref().map(|failure| &failure.code),
        failure_message: Text = action.failure.as_ref().map(|failure| &failure.message),
        request: Text = &action.request,
        created_at: Number = action.created_at,
        updated_at: Number = action.updated_at,
    }
}

/// The columns that [`read_action`] takes, of hold_actions as `h`.
macro_rules! hold_action_columns {
    () => {
        "h.id, h.kind, h.asked_minor, h.status, h.failure_code, h.failure_message, h.request, h.created_at, h.updated_at"
    };
}

/// How many there are of them.
const COLUMNS: usize = 9;

pub(crate) use hold_action_columns;

/// A capture or void, from columns that are all empty if there is none.
pub(crate) fn read_action(cells: &mut Cells<'_>) -> Result<Option<HoldAction>, Fault> {
    let Some(id) = cells.id_or_none()? else {
        cells.skip(COLUMNS - 1);
        return Ok(None);
    };
    let kind = cells.word("kind of a capture or void", HoldActionKind::parse)?;
    let asked = cells.amount_or_none()?;
    let asked = asked.map(|asked| Principal::new(asked.get()).ok_or(CorruptRow("amount of a capture")));
    let status = cells.word("status of a capture or void", HoldActionStatus::parse)?;
    let (code, message) = (cells.text_or_none()?, cells.text_or_none()?);
    Ok(Some(HoldAction {
        id: HoldActionId::from_bytes(id),
        kind,
        asked: asked.transpose()?,
        status,
        failure: code.zip(message).map(|(code, message)| Failure { code, message }),
        request: cells.text()?,
        created_at: cells.moment()?,
        updated_at: cells.moment()?,
    }))
}
