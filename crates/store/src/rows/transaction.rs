//! Transactions, and the bounds of their lists.

use std::time::Duration;

use tollgate_domain::{
    Channel, Currency, PaymentMethod, ServiceReference, Timestamp,
    id::{EnvironmentId, TransactionId},
    transaction::{Dispute, Failure, Status, Transaction, TransactionState},
};
use tollgate_engine::ports::{CardTransaction, TransactionFilter};

use super::{fee, hold, is_unstorable, until_before, up_to_before};
use crate::prelude::*;

/// The columns that [`read`] takes, of transactions as `t`; the last ones are [`state_columns`].
macro_rules! transaction_columns {
    () => {
        "t.environment_id, t.method, t.reference, t.provider, t.channel, t.currency, t.principal_minor,
         t.platform_fee_minor, t.organization_fee_minor, t.fee_minor, t.total_debit_minor, t.fee_layers,
         t.description, t.metadata,
         coalesce(CASE t.method WHEN 'ach' THEN (
             SELECT f.revision FROM transfers f WHERE f.environment_id = t.environment_id AND f.transaction_id = t.id
         ) ELSE (
             SELECT p.revision FROM card_payments p WHERE p.environment_id = t.environment_id AND p.id = t.reference
         ) END, 0) AS revision, t.id, t.created_at, t.updated_at, t.status, t.provider_reference,
         t.failure_code, t.failure_message, t.refunded_minor, t.dispute_id, t.dispute_status, t.dispute_reason,
         t.dispute_amount_minor, t.dispute_respond_by, t.hold"
    };
}

/// The columns that [`read_if_any`] takes, of transactions as `t`.
macro_rules! state_columns {
    () => {
        "t.id, t.created_at, t.updated_at, t.status, t.provider_reference, t.failure_code, t.failure_message,
         t.refunded_minor, t.dispute_id, t.dispute_status, t.dispute_reason, t.dispute_amount_minor,
         t.dispute_respond_by, t.hold"
    };
}

/// How many there are of them.
pub(crate) const STATE_COLUMNS: usize = 14;

/// Records a payment's transaction with the payment's own columns, or replaces the state of the one recorded. The payment is
/// a row named `g`; the transaction's id, the moment and the values of its state are given as parameters.
macro_rules! record_card {
    ($from:literal, $id:literal, $created:literal, $at:literal, $state:literal) => {
        concat!(
            "INSERT INTO transactions (environment_id, id, method, reference, provider, channel, currency,
                 principal_minor, platform_fee_minor, organization_fee_minor, fee_minor, total_debit_minor,
                 fee_layers, description, metadata, created_at, updated_at, status, provider_reference,
                 failure_code, failure_message, refunded_minor, dispute_id, dispute_status, dispute_reason,
                 dispute_amount_minor, dispute_respond_by, hold)
             SELECT g.environment_id, ",
            $id,
            ", 'web_card', g.id, g.provider, g.channel, g.currency, g.principal_minor, g.platform_fee_minor,
                 g.organization_fee_minor, g.fee_minor, g.total_debit_minor, g.fee_layers, g.description, g.metadata, ",
            $created,
            ", ",
            $at,
            ", ",
            $state,
            " FROM ",
            $from,
            " ON CONFLICT (environment_id, method, reference) DO UPDATE SET updated_at = excluded.updated_at,
                 status = excluded.status, provider_reference = excluded.provider_reference,
                 failure_code = excluded.failure_code, failure_message = excluded.failure_message,
                 refunded_minor = excluded.refunded_minor, dispute_id = excluded.dispute_id,
                 dispute_status = excluded.dispute_status, dispute_reason = excluded.dispute_reason,
                 dispute_amount_minor = excluded.dispute_amount_minor,
                 dispute_respond_by = excluded.dispute_respond_by, hold = excluded.hold"
        )
    };
}

pub(crate) use {record_card, state_columns, transaction_columns};

/// The columns from `status` to `hold`, which only card payments have; all of them empty where there is no state.
pub(crate) fn card_state_values(state: Option<&TransactionState>) -> Vec<Value<'_>> {
    let mut values = state_values(state);
    values.push(state.and_then(|state| state.hold.as_ref()).map(hold::write).into());
    values
}

/// The columns from `status` to `dispute_respond_by`; all of them empty where there is no state. What was withdrawn for a
/// dispute is kept with the dispute alone.
pub(crate) fn state_values(state: Option<&TransactionState>) -> Vec<Value<'_>> {
    let Some(state) = state else { return vec![Value::Null; 10] };
    let (failure, dispute) = (state.failure.as_ref(), state.dispute.as_ref());
    row![
        state.status.as_str(),
        &state.provider_reference,
        failure.map(|failure| &failure.code),
        failure.map(|failure| &failure.message),
        state.refunded,
        dispute.map(|dispute| &dispute.id),
        dispute.map(|dispute| &dispute.status),
        dispute.and_then(|dispute| dispute.reason.as_ref()),
        dispute.and_then(|dispute| dispute.amount),
        dispute.and_then(|dispute| dispute.respond_by)
    ]
}

pub(crate) fn read(cells: &mut Cells<'_>) -> Result<Transaction, Fault> {
    let environment = EnvironmentId::from_bytes(cells.id()?);
    let method = cells.word("payment method", PaymentMethod::parse)?;
    let reference = ServiceReference::from_bytes(method, cells.id()?);
    let provider = cells.text()?;
    let channel = cells.word("channel", Channel::parse)?;
    let currency = cells.word("currency", Currency::parse)?;
    let fee = fee::read(cells)?;
    let (description, metadata) = (cells.text_or_none()?, cells.text()?);
    let revision = cells.count("revision")?;
    let CardTransaction { id, state, created_at, updated_at } =
        read_if_any(cells)?.ok_or(CorruptRow("transaction without an id"))?;
    Ok(Transaction {
        environment,
        id,
        revision,
        reference,
        provider,
        channel,
        currency,
        fee,
        description,
        metadata,
        state,
        created_at,
        updated_at,
    })
}

/// A payment's transaction, from columns that are all empty where it has none.
pub(crate) fn read_if_any(cells: &mut Cells<'_>) -> Result<Option<CardTransaction>, Fault> {
    let Some(id) = cells.id_or_none()? else {
        cells.skip(STATE_COLUMNS - 1);
        return Ok(None);
    };
    Ok(Some(CardTransaction {
        id: TransactionId::from_bytes(id),
        created_at: cells.moment()?,
        updated_at: cells.moment()?,
        state: read_state(cells)?,
    }))
}

fn read_state(cells: &mut Cells<'_>) -> Result<TransactionState, Fault> {
    let status = cells.word("status", Status::parse)?;
    let provider_reference = cells.text_or_none()?;
    let failure = match (cells.text_or_none()?, cells.text_or_none()?) {
        (Some(code), Some(message)) => Some(Failure { code, message }),
        (None, None) => None,
        _ => return Err(CorruptRow("half of a failure").into()),
    };
    let refunded = cells.amount()?;
    let (id, status_of_dispute) = (cells.text_or_none()?, cells.text_or_none()?);
    let (reason, amount) = (cells.text_or_none()?, cells.amount_or_none()?);
    let respond_by = cells.moment_or_none()?;
    let dispute = match (id, status_of_dispute) {
        (Some(id), Some(status)) => Some(Dispute { id, status, reason, amount, respond_by, withdrawn: None }),
        (None, None) => None,
        _ => return Err(CorruptRow("half of a dispute").into()),
    };
    let hold = cells.text_or_none()?.map(|stored| hold::read(&stored)).transpose()?;
    Ok(TransactionState { status, provider_reference, failure, refunded, dispute, hold })
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
