//! What a provider says of a transfer, and what changes by it.

use super::{TransferOrder, return_reason};
use crate::{
    card::{Disagreement, DisagreementKind},
    ledger::TransferStep,
    money::Minor,
    transaction::{Failure, Report, Status, TransactionState},
};

/// What a provider says of a transfer, in words common to all providers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AchStanding {
    /// Taken; nothing has been sent yet.
    Accepted,
    /// Taken, and a person at the provider looks at it first.
    Attention,
    /// On its way.
    Sent,
    /// Arrived.
    Settled,
    /// Sent back by the receiving bank, under the network's code.
    Returned {
        /// Such as `R03`.
        code: String,
    },
    /// Refused by the provider or the network before it arrived.
    Rejected(Failure),
    /// Called off before it was sent.
    Canceled,
    /// A word this version does not know: still open, look again.
    Unrecognized(String),
}

/// A transfer as its provider has it at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AchSighting {
    /// The provider's own name for it.
    pub transfer: String,
    /// Where it stands.
    pub standing: AchStanding,
    /// What is paid out, where the provider said it.
    pub amount: Option<Minor>,
    /// Our reference, as the provider has it.
    pub reference: Option<String>,
    /// The day the provider expects it to arrive, as `YYYY-MM-DD`.
    pub expected_on: Option<String>,
    /// What the receiving bank asks to be corrected next time, as JSON text; nothing failed by it.
    pub corrections: Vec<String>,
}

/// What a sighting means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// The transaction from now on; `None` where it stays as it is.
    pub next: Option<TransactionState>,
    /// What becomes of the funds with it.
    pub step: Option<TransferStep>,
    /// What a person has to look at.
    pub disagreements: Vec<Disagreement>,
}

/// What a sighting means for a transfer whose transaction is `current`.
pub fn judge(order: &TransferOrder, current: &TransactionState, sighting: &AchSighting) -> Verdict {
    let disagreements = disagreements(order, current, sighting);
    if !disagreements.is_empty() {
        return Verdict { disagreements, ..Verdict::default() };
    }
    let status = status(&sighting.standing);
    let seen = TransactionState {
        status,
        provider_reference: Some(sighting.transfer.clone()),
        failure: failure(&sighting.standing),
        ..current.clone()
    };
    if current.status == status {
        // A transfer that failed once has its reason; a later word of the same does not replace it.
        let learnt = current.provider_reference.is_none() && status != Status::Failed;
        return Verdict { next: learnt.then_some(seen), ..Verdict::default() };
    }
    let returned = matches!(sighting.standing, AchStanding::Returned { .. });
    let report = if returned { Report::AchReturn } else { Report::Ach };
    if !current.status.may_move_to(status, report) {
        return Verdict { disagreements: conflict(current, status), ..Verdict::default() };
    }
    Verdict { next: Some(seen), step: step(current.status, status), disagreements }
}

/// What becomes of the funds when a transfer moves. They are set aside while it is open.
fn step(from: Status, to: Status) -> Option<TransferStep> {
    match (from, to) {
        (Status::Pending | Status::Processing, Status::Succeeded) => Some(TransferStep::Settle),
        (Status::Pending | Status::Processing, Status::Failed | Status::Canceled) => {
            Some(TransferStep::Release)
        }
        (Status::Succeeded, Status::Failed) => Some(TransferStep::Reverse),
        _ => None,
    }
}

fn status(standing: &AchStanding) -> Status {
    match standing {
        AchStanding::Accepted | AchStanding::Attention | AchStanding::Sent | AchStanding::Unrecognized(_) => {
            Status::Processing
        }
        AchStanding::Settled => Status::Succeeded,
        AchStanding::Returned { .. } | AchStanding::Rejected(_) => Status::Failed,
        AchStanding::Canceled => Status::Canceled,
    }
}

fn failure(standing: &AchStanding) -> Option<Failure> {
    match standing {
        AchStanding::Rejected(failure) => Some(failure.clone()),
        AchStanding::Returned { code } => {
            let sentence = return_reason(code).map(|reason| reason.sentence);
            let message = sentence.unwrap_or("The receiving bank sent it back.").to_owned();
            Some(Failure { code: code.clone(), message })
        }
        _ => None,
    }
}

fn disagreements(
    order: &TransferOrder,
    current: &TransactionState,
    sighting: &AchSighting,
) -> Vec<Disagreement> {
    let mut found = Vec::new();
    let mut compare = |kind, expected: Option<String>, claimed: Option<String>| {
        if let (Some(expected), Some(claimed)) = (expected, claimed)
            && expected != claimed
        {
            found.push(Disagreement { kind, expected, found: claimed });
        }
    };
    let principal = order.fee.principal.to_string();
    compare(DisagreementKind::Amount, Some(principal), sighting.amount.map(|amount| amount.to_string()));
    compare(DisagreementKind::Reference, Some(order.id.to_string()), sighting.reference.clone());
    compare(
        DisagreementKind::SecondPayment,
        current.provider_reference.clone(),
        Some(sighting.transfer.clone()),
    );
    found
}

/// Money that moved although our books say it did not is for a person to look at; a late word about what is over by
/// now is not.
fn conflict(current: &TransactionState, seen: Status) -> Vec<Disagreement> {
    let impossible = match current.status {
        Status::Failed | Status::Canceled => matches!(seen, Status::Processing | Status::Succeeded),
        Status::Succeeded => seen == Status::Canceled || seen == Status::Failed,
        Status::Pending | Status::Processing | Status::Refunded => false,
    };
    // A transfer that failed after the provider took it is seen as it was; only one that never was there is strange.
    let was_known = current.provider_reference.is_some();
    if !impossible || (was_known && seen == Status::Processing) {
        return Vec::new();
    }
    let (expected, found) = (current.status.as_str().to_owned(), seen.as_str().to_owned());
    vec![Disagreement { kind: DisagreementKind::Status, expected, found }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ach::BankAccountType,
        currency::Currency,
        fee::FeeEntry,
        id::{EnvironmentId, TransferId},
        money::Principal,
        payment::Channel,
        time::Timestamp,
    };

    fn order() -> TransferOrder {
        let text = || "x".to_owned();
        TransferOrder {
            environment: EnvironmentId::from_bytes([1; 16]),
            id: TransferId::from_bytes([2; 16]),
            provider: text(),
            adapter: text(),
            account: None,
            channel: Channel::StandardAch,
            matched: None,
            config_version: 1,
            currency: Currency::USD,
            fee: FeeEntry::default().assess(Principal::new(1_000).unwrap()),
            external_customer_id: text(),
            customer_name: text(),
            customer_email: text(),
            bank_name: text(),
            account_name: text(),
            account_type: BankAccountType::Checking,
            last_four: "6789".to_owned(),
            description: None,
            metadata: "{}".to_owned(),
            remittance: None,
            request: text(),
            created_at: Timestamp::from_unix_millis(0),
        }
    }

    fn sighting(standing: AchStanding) -> AchSighting {
        AchSighting {
            transfer: "ach_transfer_1".to_owned(),
            standing,
            amount: Minor::new(1_000),
            reference: Some(order().id.to_string()),
            expected_on: None,
            corrections: Vec::new(),
        }
    }

    fn returned() -> AchStanding {
        AchStanding::Returned { code: "R03".to_owned() }
    }

    fn rejected() -> AchStanding {
        AchStanding::Rejected(Failure { code: "rejected".to_owned(), message: "No.".to_owned() })
    }

    /// The status at the end, every step on the way, and the disagreements.
    fn after(standings: &[AchStanding]) -> (Status, Vec<TransferStep>, usize) {
        let (mut state, mut steps, mut strange) = (TransactionState::pending(), Vec::new(), 0);
        for standing in standings {
            let verdict = judge(&order(), &state, &sighting(standing.clone()));
            steps.extend(verdict.step);
            strange += verdict.disagreements.len();
            state = verdict.next.unwrap_or(state);
        }
        (state.status, steps, strange)
    }

    #[test]
    fn funds_follow_the_transfer_once_in_every_order() {
        use AchStanding::{Accepted, Attention, Canceled, Sent, Settled};
        use TransferStep::{Release, Reverse, Settle};
        for (standings, status, steps) in [
            (vec![Accepted, Sent, Settled], Status::Succeeded, vec![Settle]),
            (vec![Settled, Settled, Sent, Accepted], Status::Succeeded, vec![Settle]),
            (vec![Sent, returned(), returned()], Status::Failed, vec![Release]),
            (vec![Settled, returned(), Settled], Status::Failed, vec![Settle, Reverse]),
            (vec![rejected(), rejected()], Status::Failed, vec![Release]),
            (vec![Accepted, Canceled, Canceled], Status::Canceled, vec![Release]),
            (vec![Attention, Accepted], Status::Processing, vec![]),
            (vec![AchStanding::Unrecognized("?".to_owned()), Settled], Status::Succeeded, vec![Settle]),
        ] {
            let (found, taken, _) = after(&standings);
            assert_eq!((found, taken), (status, steps), "{standings:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_for_a_person() {
        for standings in [
            vec![rejected(), AchStanding::Settled],
            vec![AchStanding::Settled, AchStanding::Canceled],
            vec![AchStanding::Canceled, AchStanding::Settled],
        ] {
            assert_eq!(after(&standings).2, 1, "{standings:?}");
        }
        for wrong in [
            AchSighting { amount: Minor::new(999), ..sighting(AchStanding::Settled) },
            AchSighting { reference: Some("ach_other".to_owned()), ..sighting(AchStanding::Settled) },
        ] {
            let verdict = judge(&order(), &TransactionState::pending(), &wrong);
            assert_eq!((verdict.next, verdict.step, verdict.disagreements.len()), (None, None, 1));
        }
    }

    #[test]
    fn a_return_says_why_in_plain_words() {
        let verdict = judge(&order(), &TransactionState::pending(), &sighting(returned()));
        let failure = verdict.next.unwrap().failure.unwrap();
        assert_eq!(failure.code, "R03");
        assert!(failure.message.starts_with("There is no such account"), "{}", failure.message);
    }
}
