//! The books of card payments, and disputes.

use tollgate_domain::{
    Currency, Timestamp,
    books::{Amounts, CardPosting, CardPostingKind},
    id::{EnvironmentId, PaymentId},
    transaction::Dispute,
};
use tollgate_engine::ports::NewCardPosting;

use crate::{
    prelude::*,
    table::{Table, columns},
};

/// Whose postings they are.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) environment: EnvironmentId,
    pub(crate) payment: PaymentId,
    pub(crate) provider: String,
    pub(crate) currency: Currency,
}

/// How many of the columns of [`CARD_POSTINGS`] say whose posting it is.
pub(crate) const OWNER: usize = 4;

/// The columns that say whose posting it is come first, those of all accounts last.
pub(crate) static CARD_POSTINGS: Table = Table::new(
    "card_postings",
    columns!(
        environment_id: Id, payment_id: Id, provider: Text, currency: Text, id: Id, at: Number, kind: Text,
        subject: Text, due_from_provider_minor: Number, disputes_held_minor: Number, refunds_given_minor: Number,
        disputes_lost_minor: Number, principal_minor: Number, platform_fees_minor: Number,
        organization_fees_minor: Number
    ),
    "",
);

pub(crate) fn card_posting_row<'a>(
    owner: &'a Owner,
    new: &'a NewCardPosting,
) -> Result<Vec<Value<'a>>, Fault> {
    let mut row = row![owner.environment, owner.payment, &owner.provider, owner.currency.code()];
    row.extend(behind_owner(new)?);
    Ok(row)
}

/// The values behind those that say whose posting it is.
pub(crate) fn behind_owner(new: &NewCardPosting) -> Result<Vec<Value<'_>>, Fault> {
    let mut row = row![new.id, new.at, new.posting.kind.as_str(), &new.posting.subject];
    for (_, amount) in new.posting.amounts.accounts() {
        let amount = i64::try_from(amount);
        row.push(amount.map_err(|_| Fault::Misuse("a posting is larger than any payment"))?.into());
    }
    Ok(row)
}

/// The columns that [`read_card_posting`] takes.
macro_rules! card_posting_columns {
    () => {
        "id, at, kind, subject, due_from_provider_minor, disputes_held_minor, refunds_given_minor,
         disputes_lost_minor, principal_minor, platform_fees_minor, organization_fees_minor"
    };
}

pub(crate) fn read_card_posting(cells: &mut Cells<'_>) -> Result<NewCardPosting, Fault> {
    Ok(NewCardPosting {
        id: cells.id()?,
        at: cells.moment()?,
        posting: CardPosting {
            kind: cells.word("kind of a posting", CardPostingKind::parse)?,
            subject: cells.text_or_none()?,
            amounts: read_amounts(|| cells.number().map(i128::from))?,
        },
    })
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

table! {
    DISPUTES = "disputes" (
        "ON CONFLICT (environment_id, payment_id, id) DO UPDATE SET
             status = excluded.status, reason = excluded.reason, amount_minor = excluded.amount_minor,
             respond_by = excluded.respond_by, updated_at = excluded.updated_at, closed_at = excluded.closed_at,
             withdrawn_minor = excluded.withdrawn_minor"
    );
    fn dispute_row(environment: EnvironmentId, payment: PaymentId, at: Timestamp, dispute: &'a Dispute) {
        environment_id: Id = environment,
        payment_id: Id = payment,
        id: Text = &dispute.id,
        status: Text = &dispute.status,
        reason: Text = &dispute.reason,
        amount_minor: Number = dispute.amount,
        respond_by: Number = dispute.respond_by,
        opened_at: Number = at,
        updated_at: Number = at,
        closed_at: Number = dispute.is_closed().then_some(at),
        withdrawn_minor: Number = dispute.withdrawn,
    }
}

/// The columns that [`read_dispute`] takes, of disputes as `d`.
macro_rules! dispute_columns {
    () => {
        "d.id, d.status, d.reason, d.amount_minor, d.respond_by, d.withdrawn_minor"
    };
}

/// Of disputes as `d`: evidence is wanted, by a date.
macro_rules! wants_evidence {
    () => {
        "(d.respond_by IS NOT NULL
             AND (lower(d.status) LIKE '%needs_response' OR lower(d.status) LIKE '%evidence_required'))"
    };
}

pub(crate) use {card_posting_columns, dispute_columns, wants_evidence};

/// A dispute, from columns that are all empty if there is none.
pub(crate) fn read_dispute(cells: &mut Cells<'_>) -> Result<Option<Dispute>, Fault> {
    let Some(id) = cells.text_or_none()? else {
        cells.skip(5);
        return Ok(None);
    };
    Ok(Some(Dispute {
        id,
        status: cells.text()?,
        reason: cells.text_or_none()?,
        amount: cells.amount_or_none()?,
        respond_by: cells.moment_or_none()?,
        withdrawn: cells.amount_or_none()?,
    }))
}
