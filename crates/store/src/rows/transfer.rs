//! Bank transfers and what they post.

use tollgate_domain::{
    Minor, PaymentMethod,
    ach::TransferOrder,
    event::EventKind,
    id::{EventId, PostingId, TransferId},
    ledger::{self, Account},
    transaction::{Status, TransactionState},
};
use tollgate_engine::ports::{NewEvent, NewTransfer, Transfer, TransferProgress};

use super::{approval, version};
use crate::{
    prelude::*,
    table::{Column, columns},
};

/// Whom the postings of transfers name as the one who asked.
pub(crate) const ACTOR: &str = "transfer";

/// The columns that [`read`] takes, of transfers as `f` and transactions as `t`.
macro_rules! transfer_columns {
    () => {
        "f.revision, t.id, t.updated_at, t.environment_id, t.reference, t.provider, f.adapter, t.channel, f.matched,
         f.config_version, t.currency, t.principal_minor, t.platform_fee_minor, t.organization_fee_minor, t.fee_minor,
         t.total_debit_minor, t.fee_layers, f.external_customer_id, f.customer_name, f.customer_email, f.bank_name,
         f.account_name, f.account_type, f.last_four, t.description, t.metadata, f.remittance, f.recipient_kind,
         f.purpose, f.statement_descriptor, f.rail, f.request, t.created_at, f.account, f.route, f.fingerprints,
         f.sealed_account, f.expected_on, f.corrections, f.due_at, f.tries, f.waiting, f.cancel_requested_at,
         f.approval_id, f.approval_state, f.approval, t.status, t.provider_reference, t.failure_code,
         t.failure_message, t.refunded_minor, t.dispute_id, t.dispute_status, t.dispute_reason,
         t.dispute_amount_minor, t.dispute_currency, t.dispute_respond_by, t.hold, t.card, t.charged, f.approval_account"
    };
}

pub(crate) use transfer_columns;

stored! {
    Transfer { revision, transaction, updated_at, order, fingerprints, progress, state }
    TransferOrder {
        environment, id, provider, adapter, channel, matched, config_version, currency, fee, external_customer_id,
        customer_name, customer_email, bank_name, account_name, account_type, last_four, description, metadata,
        remittance, recipient_kind, purpose, statement_descriptor, rail, request, created_at, account, route,
    }
    TransferProgress { sealed_account, expected_on, corrections, due, tries, waiting, cancel_requested_at, approval }
}

/// What changes of a transfer.
pub(crate) const PROGRESS: &[Column] = columns!(
    sealed_account: Text, expected_on: Text, corrections: Text, due_at: Number, tries: Number, waiting: Text,
    cancel_requested_at: Number, approval_id: Text, approval_state: Text, approval: Text
);

table! {
    TRANSACTIONS = "transactions" ("");
    fn transaction_row(new: &'a NewTransfer) {
        environment_id: Id = new.order.environment,
        id: Id = new.transaction,
        method: Text = PaymentMethod::Ach,
        reference: Id = new.order.id,
        provider: Text = &new.order.provider,
        channel: Text = new.order.channel,
        currency: Text = new.order.currency.code(),
        principal_minor: Number | platform_fee_minor: Number | organization_fee_minor: Number | fee_minor: Number
            | total_debit_minor: Number | fee_layers: Text => &new.order.fee,
        description: Text = &new.order.description,
        metadata: Text = &new.order.metadata,
        created_at: Number = new.order.created_at,
        updated_at: Number = new.order.created_at,
        status: Text = Status::Pending,
        refunded_minor: Number = Minor::ZERO,
    }
}

table! {
    TRANSFERS = "transfers" ("");
    fn transfer_row(new: &'a NewTransfer) {
        environment_id: Id = new.order.environment,
        transaction_id: Id = new.transaction,
        reference: Text = new.order.id.to_string(),
        adapter: Text = &new.order.adapter,
        matched: Text => &new.order.matched,
        config_version: Number = version(new.order.config_version),
        external_customer_id: Text = &new.order.external_customer_id,
        customer_name: Text = &new.order.customer_name,
        customer_email: Text = &new.order.customer_email,
        bank_name: Text = &new.order.bank_name,
        account_name: Text = &new.order.account_name,
        account_type: Text = new.order.account_type,
        last_four: Text = &new.order.last_four,
        remittance: Text = &new.order.remittance,
        recipient_kind: Text = new.order.recipient_kind,
        purpose: Text = new.order.purpose,
        statement_descriptor: Text = &new.order.statement_descriptor,
        rail: Text = new.order.rail,
        request: Text = &new.order.request,
        fingerprints: Text = &new.fingerprints,
        sealed_account: Text | expected_on: Text | corrections: Text | due_at: Number | tries: Number | waiting: Text
            | cancel_requested_at: Number | approval_id: Text | approval_state: Text | approval: Text => &new.progress,
        approval_account: Text = new.progress.approval.as_ref().and_then(|it| it.account.as_ref()).map(approval::account),
        account: Text => &new.order.account,
        route: Text => &new.order.route,
        revision: Number = 0_u32,
    }
}

pub(crate) fn read(cells: &mut Cells<'_>) -> Result<Transfer, Fault> {
    let mut transfer: Transfer = cells.get()?;
    if let Some(approval) = &mut transfer.progress.approval {
        approval.account = approval::read_account(cells)?;
    }
    Ok(transfer)
}

/// A transfer as it is right after its reservation.
pub(crate) fn begun(new: &NewTransfer) -> Transfer {
    Transfer {
        revision: 0,
        transaction: new.transaction,
        updated_at: new.order.created_at,
        order: new.order.clone(),
        fingerprints: new.fingerprints.clone(),
        progress: new.progress.clone(),
        state: TransactionState::pending(),
    }
}

/// The event that a transfer is pending, with its state at that time.
pub(crate) fn pending_event(id: EventId) -> (NewEvent, TransactionState) {
    let state = TransactionState::pending();
    (NewEvent { id, kind: EventKind::Transaction(state.status), revision: 0, refund: None }, state)
}

/// What the two postings of a reservation that was taken back are called: the reference itself may be reserved again.
pub(crate) fn not_sent(transfer: TransferId, release: PostingId) -> String {
    format!("{transfer} (not sent, {release})")
}

/// How much a transfer's posting moves: what it adds to accounts, which is what it takes from others. `None` for entries
/// that make no such posting: none at all, empty ones, two for one account, such as do not sum to zero, and any for the
/// outside world, which transfers never touch.
fn amount_moved(entries: &[ledger::Entry]) -> Option<i64> {
    let (mut added, mut taken) = (0_i64, 0_i64);
    for (place, entry) in entries.iter().enumerate() {
        let twice = entries.iter().take(place).any(|before| before.account == entry.account);
        if twice || entry.amount_minor == 0 || entry.account == Account::Funding {
            return None;
        }
        let sum = if entry.amount_minor > 0 { &mut added } else { &mut taken };
        *sum = sum.checked_add(entry.amount_minor)?;
    }
    (added > 0 && taken.checked_neg() == Some(added)).then_some(added)
}

/// As [`amount_moved`], of a posting that is to be written.
pub(crate) fn moved(entries: &[ledger::Entry]) -> Result<i64, Fault> {
    amount_moved(entries).ok_or(Fault::Misuse("the entries of a transfer's posting do not balance"))
}

#[cfg(test)]
mod tests {
    use tollgate_domain::ledger::Entry;

    use super::*;

    fn moved_by(entries: &[(Account, i64)]) -> Option<i64> {
        let entries: Vec<Entry> = entries
            .iter()
            .map(|(account, amount_minor)| Entry { account: *account, amount_minor: *amount_minor })
            .collect();
        amount_moved(&entries)
    }

    #[test]
    fn only_what_balances_is_a_posting() {
        use Account::{Available, Funding, PlatformFees, Reserved, SettledOut};
        assert_eq!(moved_by(&[(Available, -5), (Reserved, 5)]), Some(5));
        assert_eq!(moved_by(&[(Reserved, -7), (SettledOut, 5), (PlatformFees, 2)]), Some(7));
        for wrong in [
            &[][..],
            &[(Available, -5), (Reserved, 5), (SettledOut, 0)],
            &[(Available, -5), (Reserved, 4)],
            &[(Available, -5), (Available, 5)],
            &[(Funding, -5), (Available, 5)],
            &[(Available, i64::MIN), (Reserved, i64::MAX)],
            &[(Available, i64::MAX), (Reserved, i64::MAX), (SettledOut, 2)],
        ] {
            assert_eq!(moved_by(wrong), None, "{wrong:?}");
        }
    }
}
