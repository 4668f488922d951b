//! The books of card payments, and disputes.

use tollgate_domain::{
    Timestamp,
    books::{Amounts, CardPosting},
    transaction::Dispute,
};
use tollgate_engine::ports::NewCardPosting;

use crate::prelude::*;

record! {
    CARD_POSTINGS, card_posting_columns = "card_postings" as p
        of (environment_id: Id, payment_id: Id, provider: Text, currency: Text) "";
    NewCardPosting {
        id: Id = id,
        at: Number = at,
        kind: Text, subject: Text, due_from_provider_minor: Number, disputes_held_minor: Number,
            refunds_given_minor: Number, disputes_lost_minor: Number, principal_minor: Number,
            platform_fees_minor: Number, organization_fees_minor: Number = posting,
    }
}

stored! { CardPosting { kind, subject, amounts } }

/// A posting is never larger than any payment, as [`checked`] has seen.
impl Stored for Amounts {
    const WIDTH: usize = 7;

    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
        row.extend(self.accounts().map(|(_, amount)| i64::try_from(amount).ok().into()));
    }

    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
        read_amounts(|| cells.number().map(i128::from)).map(Some)
    }
}

/// Postings that fit the columns.
pub(crate) fn checked(postings: &[NewCardPosting]) -> Result<&[NewCardPosting], Fault> {
    let fits = |new: &NewCardPosting| {
        new.posting.amounts.accounts().into_iter().all(|(_, amount)| i64::try_from(amount).is_ok())
    };
    if postings.iter().all(fits) {
        Ok(postings)
    } else {
        Err(Fault::Misuse("a posting is larger than any payment"))
    }
}

/// The amounts of all accounts, one after the other.
pub(crate) fn read_amounts(mut next: impl FnMut() -> Result<i128, Fault>) -> Result<Amounts, Fault> {
    Ok(Amounts {
        due_from_provider: next()?,
        disputes_held: next()?,
        refunds_given: next()?,
        disputes_lost: next()?,
        principal: next()?,
        platform_fees: next()?,
        organization_fees: next()?,
    })
}

record! {
    DISPUTES, dispute_columns = "disputes" as d of (environment_id: Id, payment_id: Id)
        "ON CONFLICT (environment_id, payment_id, id) DO UPDATE SET
             status = excluded.status, reason = excluded.reason, amount_minor = excluded.amount_minor, currency = excluded.currency,
             respond_by = excluded.respond_by, updated_at = excluded.updated_at, closed_at = excluded.closed_at,
             withdrawn_minor = excluded.withdrawn_minor";
    Dispute ?_ {
        id: Text = id,
        status: Text = status,
        reason: Text = reason,
        amount_minor: Number = amount,
        currency: Text = currency,
        respond_by: Number = respond_by,
        withdrawn_minor: Number = withdrawn,
    }
    + (opened_at: Number, updated_at: Number, closed_at: Number)
}

/// A dispute's values, at the moment it is recorded or changes.
pub(crate) fn dispute_values(dispute: &Dispute, at: Timestamp) -> Vec<Value<'_>> {
    row![..dispute, at, at, dispute.is_closed().then_some(at)]
}

/// Of disputes as `d`: evidence is wanted, by a date.
macro_rules! wants_evidence {
    () => {
        "(d.respond_by IS NOT NULL
             AND (lower(d.status) LIKE '%needs_response' OR lower(d.status) LIKE '%evidence_required'))"
    };
}

pub(crate) use wants_evidence;
