//! What a provider says of a payment, and what changes by it.
//!
//! Whatever is learnt of a payment (an answer, a webhook, a look by the resolver) arrives here as a [`Sighting`], and
//! [`judge`] says what changes. It compares before it believes: a sighting whose amount, currency or reference is not
//! that of the preparation moves nothing.

use super::CardOrder;
use crate::{
    money::Minor,
    transaction::{Failure, Report, Status, TransactionState},
};

/// What a provider says of a payment, in words common to all providers. Each adapter has one table that leads here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nobody has tried to pay.
    Untouched,
    /// The customer has to act, such as to prove who they are.
    Acting,
    /// Submitted; the outcome comes later.
    Processing,
    /// Paid.
    Succeeded,
    /// The last try failed; the customer may try again.
    Failed(Failure),
    /// Taken back before it was paid.
    Canceled,
    /// A word this version does not know: still open, look again.
    Unrecognized(String),
}

impl Standing {
    /// The status a transaction takes from it.
    pub const fn status(&self) -> Status {
        match self {
            Self::Untouched | Self::Acting | Self::Unrecognized(_) => Status::Pending,
            Self::Processing => Status::Processing,
            Self::Succeeded => Status::Succeeded,
            Self::Failed(_) => Status::Failed,
            Self::Canceled => Status::Canceled,
        }
    }
}

/// A payment as its provider has it at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// The provider's own name for the payment; a hosted page has none until somebody pays.
    pub payment: Option<String>,
    /// Where it stands.
    pub standing: Standing,
    /// What the customer is debited, where the provider said it.
    pub amount: Option<Minor>,
    /// In which currency, as the provider wrote it, in capitals.
    pub currency: Option<String>,
    /// Our reference, as the provider has it.
    pub reference: Option<String>,
    /// How much has been paid back so far.
    pub refunded: Minor,
    /// Whether the customer's bank contests or has contested it, where the provider said so.
    pub disputed: bool,
}

/// What does not fit together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// What about.
    pub kind: DisagreementKind,
    /// What our books say.
    pub expected: String,
    /// What the provider says.
    pub found: String,
}

/// What a disagreement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DisagreementKind {
    /// The amount debited.
    Amount,
    /// The currency.
    Currency,
    /// The reference.
    Reference,
    /// A status that cannot follow the one recorded.
    Status,
    /// A second payment for what was paid already.
    SecondPayment,
    /// Less has been paid back than was recorded as paid back in full.
    Refund,
    /// The configuration no longer leads to the account the payment was sent to.
    Account,
}

impl DisagreementKind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Amount,
        Self::Currency,
        Self::Reference,
        Self::Status,
        Self::SecondPayment,
        Self::Refund,
        Self::Account,
    ];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Amount => "amount_mismatch",
            Self::Currency => "currency_mismatch",
            Self::Reference => "reference_mismatch",
            Self::Status => "status_conflict",
            Self::SecondPayment => "second_payment",
            Self::Refund => "refund_reversed",
            Self::Account => "account_changed",
        }
    }

    /// The kind of this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What a sighting means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// The transaction from now on; `None` where it stays as it is.
    pub next: Option<TransactionState>,
    /// What a person has to look at.
    pub disagreements: Vec<Disagreement>,
}

/// Whether a payment that nobody touched is worth a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// The caller confirms: there is a transaction from now on, whatever its status.
    Confirm,
    /// Anything else: a page nobody has paid on is no transaction.
    Notice,
}

/// What a provider claims about a payment's numbers, against the numbers it was prepared with.
pub fn disagreements(
    order: &CardOrder,
    amount: Option<Minor>,
    currency: Option<&str>,
    reference: Option<&str>,
) -> Vec<Disagreement> {
    let mut found = Vec::new();
    let mut compare = |kind, expected: String, claimed: Option<String>| {
        if let Some(claimed) = claimed.filter(|claimed| *claimed != expected) {
            found.push(Disagreement { kind, expected, found: claimed });
        }
    };
    compare(
        DisagreementKind::Amount,
        order.fee.total_debit.to_string(),
        amount.map(|amount| amount.to_string()),
    );
    compare(DisagreementKind::Currency, order.currency.to_string(), currency.map(str::to_owned));
    compare(DisagreementKind::Reference, order.id.to_string(), reference.map(str::to_owned));
    found
}

/// What a sighting means for a payment whose transaction, if there is one yet, is `current`.
pub fn judge(
    order: &CardOrder,
    current: Option<&TransactionState>,
    sighting: &Sighting,
    occasion: Occasion,
) -> Verdict {
    let disagreements =
        disagreements(order, sighting.amount, sighting.currency.as_deref(), sighting.reference.as_deref());
    if !disagreements.is_empty() {
        return Verdict { next: None, disagreements };
    }
    let seen = seen_state(order, current, sighting);
    let Some(current) = current else {
        let worth = match sighting.standing {
            Standing::Untouched => occasion == Occasion::Confirm,
            // What was taken back before anybody paid has only expired.
            Standing::Canceled => false,
            _ => true,
        };
        return Verdict { next: worth.then_some(seen), disagreements };
    };
    match conflict(current, &seen) {
        Some(conflict) => Verdict { next: None, disagreements: vec![conflict] },
        None => Verdict { next: followed(current, seen), disagreements },
    }
}

/// The transaction as the sighting alone would have it.
fn seen_state(
    order: &CardOrder,
    current: Option<&TransactionState>,
    sighting: &Sighting,
) -> TransactionState {
    let paid_back = sighting.refunded >= order.fee.total_debit && sighting.standing == Standing::Succeeded;
    TransactionState {
        status: if paid_back { Status::Refunded } else { sighting.standing.status() },
        provider_reference: sighting.payment.clone(),
        failure: match &sighting.standing {
            Standing::Failed(failure) => Some(failure.clone()),
            _ => None,
        },
        refunded: sighting.refunded,
        dispute: current.and_then(|current| current.dispute.clone()),
    }
}

/// What cannot be true together with what is recorded.
fn conflict(current: &TransactionState, seen: &TransactionState) -> Option<Disagreement> {
    let was_paid = matches!(current.status, Status::Succeeded | Status::Refunded);
    let is_paid = matches!(seen.status, Status::Succeeded | Status::Refunded);
    let disagreement = |kind, expected: &str, found: &str| {
        Some(Disagreement { kind, expected: expected.to_owned(), found: found.to_owned() })
    };
    if was_paid && is_paid && current.provider_reference != seen.provider_reference {
        let name = |state: &TransactionState| state.provider_reference.clone().unwrap_or_default();
        return disagreement(DisagreementKind::SecondPayment, &name(current), &name(seen));
    }
    if current.status == Status::Refunded && is_paid && seen.refunded < current.refunded {
        let (expected, found) = (current.refunded.to_string(), seen.refunded.to_string());
        return disagreement(DisagreementKind::Refund, &expected, &found);
    }
    let same_payment = current.provider_reference == seen.provider_reference;
    let impossible = match current.status {
        Status::Canceled => is_paid || seen.status == Status::Processing,
        Status::Succeeded | Status::Refunded => {
            same_payment && matches!(seen.status, Status::Failed | Status::Canceled)
        }
        Status::Pending | Status::Processing | Status::Failed => false,
    };
    if impossible {
        return disagreement(DisagreementKind::Status, current.status.as_str(), seen.status.as_str());
    }
    None
}

/// The state after `current`, where `seen` adds anything and may follow it.
fn followed(current: &TransactionState, seen: TransactionState) -> Option<TransactionState> {
    // A payment can be seen paid and paid back at once, though the step between was missed.
    let caught_up =
        seen.status == Status::Refunded && current.status.may_move_to(Status::Succeeded, Report::Card);
    if current.status != seen.status && !current.status.may_move_to(seen.status, Report::Card) && !caught_up {
        return None;
    }
    let next = TransactionState {
        provider_reference: seen.provider_reference.or_else(|| current.provider_reference.clone()),
        ..seen
    };
    (next != *current).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        currency::Currency,
        fee::FeeEntry,
        id::{EnvironmentId, PaymentId},
        money::Principal,
        payment::{Channel, Flow},
        time::Timestamp,
    };

    fn order() -> CardOrder {
        let at = Timestamp::from_unix_millis(1_790_000_000_000);
        CardOrder {
            environment: EnvironmentId::new(at, [1; 10]),
            id: PaymentId::new(at, [2; 10]),
            flow: Flow::PaymentComponent,
            provider: "card_provider_a".to_owned(),
            adapter: "stripe".to_owned(),
            account: None,
            channel: Channel::WebCard,
            matched: None,
            config_version: 1,
            currency: Currency::USD,
            fee: FeeEntry::default().assess(Principal::new(1_000).unwrap()),
            description: None,
            customer_name: None,
            customer_email: None,
            metadata: "{}".to_owned(),
            success_url: None,
            cancel_url: None,
            request: "req".to_owned(),
            created_at: at,
            expires_at: at,
        }
    }

    fn minor(amount: u64) -> Minor {
        Minor::new(amount).unwrap()
    }

    fn sighting(standing: Standing) -> Sighting {
        Sighting {
            payment: Some("pi_1".to_owned()),
            standing,
            amount: Some(minor(1_000)),
            currency: Some("USD".to_owned()),
            reference: Some(order().id.to_string()),
            refunded: Minor::ZERO,
            disputed: false,
        }
    }

    fn failed() -> Standing {
        Standing::Failed(Failure { code: "card_declined".to_owned(), message: "Declined.".to_owned() })
    }

    fn after(standings: &[Standing]) -> (Option<TransactionState>, Vec<DisagreementKind>) {
        let (mut current, mut found) = (None, Vec::new());
        for standing in standings {
            let verdict = judge(&order(), current.as_ref(), &sighting(standing.clone()), Occasion::Notice);
            current = verdict.next.or(current);
            found.extend(verdict.disagreements.iter().map(|it| it.kind));
        }
        (current, found)
    }

    #[test]
    fn what_nobody_touched_is_a_transaction_only_once_it_is_confirmed() {
        let untouched = sighting(Standing::Untouched);
        assert_eq!(judge(&order(), None, &untouched, Occasion::Notice), Verdict::default());
        let confirmed = judge(&order(), None, &untouched, Occasion::Confirm).next.unwrap();
        assert_eq!(confirmed.status, Status::Pending);
        let canceled = judge(&order(), None, &sighting(Standing::Canceled), Occasion::Confirm);
        assert_eq!(canceled, Verdict::default(), "what was never paid has only expired");
    }

    #[test]
    fn reports_in_any_order_end_where_the_truth_is() {
        use Standing::{Acting, Processing, Succeeded, Untouched};
        for (standings, status) in [
            (vec![Acting, Processing, Succeeded], Status::Succeeded),
            (vec![Succeeded, Processing, Acting, Untouched], Status::Succeeded),
            (vec![failed(), Succeeded], Status::Succeeded),
            (vec![failed(), Acting], Status::Failed),
            (vec![Acting, failed(), failed()], Status::Failed),
            (vec![Processing, Standing::Canceled], Status::Canceled),
            (vec![Standing::Unrecognized("new".to_owned()), Succeeded], Status::Succeeded),
        ] {
            let (state, found) = after(&standings);
            assert_eq!((state.unwrap().status, found), (status, vec![]), "{standings:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_shown_to_a_person_and_changes_nothing() {
        use Standing::{Canceled, Succeeded};
        for (standings, status) in [
            (vec![Standing::Acting, Canceled, Succeeded], Status::Canceled),
            (vec![Succeeded, Canceled], Status::Succeeded),
            (vec![Succeeded, failed()], Status::Succeeded),
        ] {
            let (state, found) = after(&standings);
            assert_eq!(
                (state.unwrap().status, found),
                (status, vec![DisagreementKind::Status]),
                "{standings:?}"
            );
        }
    }

    #[test]
    fn numbers_that_disagree_move_nothing() {
        let right = sighting(Standing::Succeeded);
        for (wrong, kind) in [
            (Sighting { amount: Some(minor(1_001)), ..right.clone() }, DisagreementKind::Amount),
            (Sighting { currency: Some("EUR".to_owned()), ..right.clone() }, DisagreementKind::Currency),
            (
                Sighting { reference: Some("pay_other".to_owned()), ..right.clone() },
                DisagreementKind::Reference,
            ),
        ] {
            let verdict = judge(&order(), None, &wrong, Occasion::Confirm);
            assert_eq!((verdict.next, verdict.disagreements[0].kind), (None, kind));
        }
    }

    #[test]
    fn refunds_are_counted_and_a_full_one_is_final() {
        let paid = judge(&order(), None, &sighting(Standing::Succeeded), Occasion::Notice).next.unwrap();
        let refunded = |amount| Sighting { refunded: minor(amount), ..sighting(Standing::Succeeded) };
        let part = judge(&order(), Some(&paid), &refunded(400), Occasion::Notice).next.unwrap();
        assert_eq!((part.status, part.refunded), (Status::Succeeded, minor(400)));
        let less = judge(&order(), Some(&part), &refunded(100), Occasion::Notice).next.unwrap();
        assert_eq!((less.status, less.refunded), (Status::Succeeded, minor(100)), "a refund may fail later");
        let whole = judge(&order(), Some(&less), &refunded(1_000), Occasion::Notice).next.unwrap();
        assert_eq!((whole.status, whole.refunded), (Status::Refunded, minor(1_000)));
        let reversed = judge(&order(), Some(&whole), &refunded(0), Occasion::Notice);
        assert_eq!((reversed.next, reversed.disagreements[0].kind), (None, DisagreementKind::Refund));
        let missed = judge(&order(), Some(&TransactionState::pending()), &refunded(1_000), Occasion::Notice);
        assert_eq!(missed.next.unwrap().status, Status::Refunded, "both steps at once");
        assert_eq!(
            judge(&order(), Some(&whole), &refunded(1_000), Occasion::Notice),
            Verdict::default(),
            "told again"
        );
    }

    #[test]
    fn a_second_payment_is_not_taken_for_the_first() {
        let paid = judge(&order(), None, &sighting(Standing::Succeeded), Occasion::Notice).next.unwrap();
        let other = Sighting { payment: Some("pi_2".to_owned()), ..sighting(Standing::Succeeded) };
        let verdict = judge(&order(), Some(&paid), &other, Occasion::Notice);
        assert_eq!((verdict.next, verdict.disagreements[0].kind), (None, DisagreementKind::SecondPayment));
        let declined = judge(&order(), None, &sighting(failed()), Occasion::Notice).next.unwrap();
        let retried = judge(&order(), Some(&declined), &other, Occasion::Notice).next.unwrap();
        assert_eq!(
            (retried.status, retried.provider_reference.as_deref()),
            (Status::Succeeded, Some("pi_2"))
        );
        let late = judge(&order(), Some(&retried), &sighting(failed()), Occasion::Notice);
        assert_eq!(late, Verdict::default(), "the declined first try changes nothing when told late");
    }
}
