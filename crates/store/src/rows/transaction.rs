//! Transactions, and the bounds of their lists.

use std::time::Duration;

use tollgate_domain::{
    PaymentMethod, ServiceReference, Timestamp,
    id::TransactionId,
    transaction::{Dispute, Failure, Status, Transaction, TransactionState},
};
use tollgate_engine::ports::{CardTransaction, TransactionFilter};

use super::{is_unstorable, until_before, up_to_before};
use crate::{
    prelude::*,
    table::{Column, columns},
};

/// The columns of a [`Transaction`] before those of [`CARD_TRANSACTIONS`], of transactions as `t`.
macro_rules! transaction_columns {
    () => {
            "t.environment_id, t.method, t.reference, t.provider, t.channel, t.currency, t.principal_minor,
             t.platform_fee_minor, t.organization_fee_minor, t.fee_minor, t.total_debit_minor, t.fee_layers,
             t.description, t.metadata,
             coalesce(CASE t.method WHEN 'ach' THEN (
                 SELECT f.revision FROM transfers f WHERE f.environment_id = t.environment_id AND f.transaction_id = t.id
             ) ELSE (
                 SELECT p.revision FROM card_payments p WHERE p.environment_id = t.environment_id AND p.id = t.reference
             ) END, 0) AS revision, "
    };
}

pub(crate) use transaction_columns;

stored! {
    Transaction {
        environment, reference, provider, channel, currency, fee, description, metadata, revision, id, created_at,
        updated_at, state,
    }
}

// Recorded with the payment's own columns; of one that is recorded already, the state is replaced.
record! {
    CARD_TRANSACTIONS, card_transaction_columns = "transactions" as t
        of (environment_id: Id, method: Text, reference: Id, provider: Text, channel: Text, currency: Text,
            principal_minor: Number, platform_fee_minor: Number, organization_fee_minor: Number, fee_minor: Number,
            total_debit_minor: Number, fee_layers: Text, description: Text, metadata: Text)
        "ON CONFLICT (environment_id, method, reference) DO UPDATE SET updated_at = excluded.updated_at,
             status = excluded.status, provider_reference = excluded.provider_reference,
             failure_code = excluded.failure_code, failure_message = excluded.failure_message,
             refunded_minor = excluded.refunded_minor, dispute_id = excluded.dispute_id,
             dispute_status = excluded.dispute_status, dispute_reason = excluded.dispute_reason,
             dispute_amount_minor = excluded.dispute_amount_minor, dispute_currency = excluded.dispute_currency,
             dispute_respond_by = excluded.dispute_respond_by,
             hold = excluded.hold, card = excluded.card, charged = excluded.charged";
    CardTransaction ?_ {
        id: Id = id,
        created_at: Number = created_at,
        updated_at: Number = updated_at,
        status: Text, provider_reference: Text, failure_code: Text, failure_message: Text, refunded_minor: Number,
            dispute_id: Text, dispute_status: Text, dispute_reason: Text, dispute_amount_minor: Number,
            dispute_currency: Text, dispute_respond_by: Number, hold: Text, card: Text, charged: Text = state,
    }
}

/// The columns of a [`TransactionState`].
pub(crate) const STATE: &[Column] = columns!(
    status: Text, provider_reference: Text, failure_code: Text, failure_message: Text, refunded_minor: Number,
    dispute_id: Text, dispute_status: Text, dispute_reason: Text, dispute_amount_minor: Number,
    dispute_currency: Text, dispute_respond_by: Number, hold: Text, card: Text, charged: Text
);

/// What was withdrawn for a dispute is kept with the dispute alone.
impl Stored for TransactionState {
    const WIDTH: usize = 14;

    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
        let dispute = self.dispute.as_ref();
        row.extend(row![
            self.status,
            &self.provider_reference,
            ..&self.failure,
            self.refunded,
            dispute.map(|dispute| &dispute.id),
            dispute.map(|dispute| &dispute.status),
            dispute.and_then(|dispute| dispute.reason.as_ref()),
            dispute.and_then(|dispute| dispute.amount),
            dispute.and_then(|dispute| dispute.currency.as_ref()),
            dispute.and_then(|dispute| dispute.respond_by),
            ..&self.hold,
            ..&self.card,
            ..&self.charged
        ]);
    }

    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
        let (status, provider_reference, failure, refunded) =
            (cells.get()?, cells.get()?, cells.get()?, cells.get()?);
        let (id, status_of_dispute) = (cells.get()?, cells.get()?);
        let (reason, amount) = (cells.get()?, cells.get()?);
        let (currency, respond_by) = (cells.get()?, cells.get()?);
        let dispute = match (id, status_of_dispute) {
            (Some(id), Some(status)) => {
                Some(Dispute { id, status, reason, amount, currency, respond_by, withdrawn: None })
            }
            (None, None) => None,
            _ => return Err(CorruptRow("half of a dispute").into()),
        };
        let (hold, card, charged) = (cells.get()?, cells.get()?, cells.get()?);
        Ok(Some(Self { status, provider_reference, failure, refunded, dispute, hold, card, charged }))
    }
}

impl Stored for Failure {
    const WIDTH: usize = 2;

    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
        row.extend(row![&self.code, &self.message]);
    }

    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
        match (cells.get()?, cells.get()?) {
            (Some(code), Some(message)) => Ok(Some(Self { code, message })),
            (None, None) => Ok(None),
            _ => Err(CorruptRow("half of a failure").into()),
        }
    }
}

/// The columns method and reference.
impl Stored for ServiceReference {
    const WIDTH: usize = 2;

    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
        row.extend(row![self.method(), *self]);
    }

    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
        let (method, id): (Option<PaymentMethod>, Option<[u8; 16]>) = (cells.get()?, cells.get()?);
        Ok(method.zip(id).map(|(method, id)| Self::from_bytes(method, id)))
    }
}

/// The kinds of transactions that a filter lets through, `None` for all of them. There are few, and each is a list of its
/// own in an index: whatever the filter is, the lists of its kinds are read in order, and nothing is read in vain.
pub(crate) fn kinds(filter: &TransactionFilter) -> Option<Vec<(&'static str, &'static str)>> {
    if filter.status.is_none() && filter.method.is_none() && filter.provider.is_none() {
        return None;
    }
    let methods = PaymentMethod::ALL.into_iter().filter(|one| filter.method.is_none_or(|it| it == *one));
    let of_method = |method: PaymentMethod| {
        let statuses = Status::ALL.into_iter().filter(|one| filter.status.is_none_or(|it| it == *one));
        statuses.map(move |status| (method.as_str(), status.as_str()))
    };
    Some(methods.flat_map(of_method).collect())
}

/// How far the moment in a transaction's id may be from its date: that of a transfer is made for the same change, but
/// perhaps by another clock.
const CLOCKS_DIFFER: Duration = Duration::from_hours(24);

/// Where in a list the wanted transactions can lie; all bounds are inclusive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The moments of recording.
    pub(crate) created: (i64, i64),
    /// The ids. They begin with the moment of their making, so a filter by time reads only its part of the list.
    pub(crate) ids: ([u8; 16], [u8; 16]),
}

impl Bounds {
    /// `None` if nothing can lie within.
    pub(crate) fn new(filter: &TransactionFilter, before: Option<TransactionId>) -> Option<Self> {
        if filter.provider.as_deref().is_some_and(is_unstorable) {
            return None;
        }
        let earliest = filter.created_from.map_or(i64::MIN, Timestamp::unix_millis);
        let latest = until_before(filter.created_before)?;
        let slack = i64::try_from(CLOCKS_DIFFER.as_millis()).unwrap_or(i64::MAX);
        let lowest = TransactionId::new(
            Timestamp::from_unix_millis(earliest.saturating_sub(slack).clamp(0, LAST_IN_IDS)),
            [0; 10],
        );
        let highest = TransactionId::new(
            Timestamp::from_unix_millis(latest.saturating_add(slack).clamp(0, LAST_IN_IDS)),
            [0xff; 10],
        );
        let below = up_to_before(before.map(TransactionId::to_bytes))?;
        Some(Self { created: (earliest, latest), ids: (lowest.to_bytes(), highest.to_bytes().min(below)) })
    }
}

/// The last moment that the 48 bits of an id can tell.
const LAST_IN_IDS: i64 = 0xffff_ffff_ffff;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis)
    }

    #[test]
    fn an_open_filter_leaves_everything_in() {
        let bounds = Bounds::new(&TransactionFilter::default(), None).unwrap();
        assert_eq!(bounds.created, (i64::MIN, i64::MAX));
        assert_eq!(bounds.ids, ([0; 16], [0xff; 16]));
    }

    #[test]
    fn a_filter_by_time_bounds_the_ids_too() {
        let day = 86_400_000;
        let filter = TransactionFilter {
            created_from: Some(at(10 * day)),
            created_before: Some(at(11 * day)),
            ..TransactionFilter::default()
        };
        let bounds = Bounds::new(&filter, None).unwrap();
        assert_eq!(bounds.created, (10 * day, 11 * day - 1));
        assert_eq!(bounds.ids.0, TransactionId::new(at(9 * day), [0; 10]).to_bytes());
        assert_eq!(bounds.ids.1, TransactionId::new(at(12 * day - 1), [0xff; 10]).to_bytes());
        let cursor = TransactionId::new(at(10 * day), [3; 10]);
        let below = Bounds::new(&filter, Some(cursor)).unwrap().ids.1;
        assert!(below < cursor.to_bytes() && below > TransactionId::new(at(10 * day), [2; 10]).to_bytes());
    }

    #[test]
    fn the_ends_of_time_are_no_bounds() {
        let never = TransactionFilter { created_before: Some(at(i64::MIN)), ..TransactionFilter::default() };
        assert!(Bounds::new(&never, None).is_none());
        let ever = TransactionFilter {
            created_from: Some(at(i64::MIN)),
            created_before: Some(at(i64::MAX)),
            ..TransactionFilter::default()
        };
        assert_eq!(Bounds::new(&ever, None).unwrap().ids, ([0; 16], [0xff; 16]));
        assert!(Bounds::new(&ever, Some(TransactionId::from_bytes([0; 16]))).is_none());
    }
}
