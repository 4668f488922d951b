//! Payments that are captured by hand: what is held of them, and each capture and void that was asked for.

use serde::{Deserialize, Serialize};
use tollgate_domain::{
    Timestamp,
    hold::{Hold, HoldAction, HoldActionKind},
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

fn write(hold: &Hold) -> String {
    // Texts and numbers under fixed names always make JSON.
    serde_json::to_string(&StoredHold::of(hold)).unwrap_or_default()
}

pub(crate) fn read(stored: &str) -> Result<Hold, CorruptRow> {
    let stored: StoredHold = serde_json::from_str(stored).map_err(|_| CorruptRow("hold"))?;
    stored.read()
}

texts! { Hold: write, read; }

record! {
    HOLD_ACTIONS, hold_action_columns = "hold_actions" as h of (environment_id: Id, payment_id: Id)
        "ON CONFLICT (environment_id, payment_id, id) DO UPDATE SET
             status = excluded.status, failure_code = excluded.failure_code,
             failure_message = excluded.failure_message, updated_at = excluded.updated_at";
    HoldAction ?_ {
        id: Id = id,
        kind: Text = kind,
        asked_minor: Number = asked,
        status: Text = status,
        failure_code: Text, failure_message: Text = failure,
        request: Text = request,
        created_at: Number = created_at,
        updated_at: Number = updated_at,
    }
}
