//! What a provider says of a transfer, and what changes by it.

use super::{Correction, TransferOrder, return_reason};
use crate::{
    card::{Discrepancy, DiscrepancyKind},
    ledger::TransferStep,
    money::Minor,
    transaction::{Failure, ReportKind, Status, TransactionState},
};

/// What a provider says of a transfer, in words common to all providers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AchProviderStatus {
    /// Taken; nothing has been sent yet.
    Accepted,
    /// Taken, and a person at the provider looks at it first.
    Attention,
    /// Taken, and somebody of ours has to approve it at the provider first.
    AwaitingApproval,
    /// Taken, and somebody of ours has to confirm the session it belongs to at the provider first.
    AwaitingConfirmation,
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

impl AchProviderStatus {
    /// Those in which a person has to act before anything happens.
    const HELD: [Self; 3] = [Self::Attention, Self::AwaitingApproval, Self::AwaitingConfirmation];

    /// Whom it waits for, where a person has to act before anything happens.
    pub const fn waits_for(&self) -> Option<&'static str> {
        match self {
            Self::Attention => Some("under review by the provider"),
            Self::AwaitingApproval => Some("waiting for a person to approve it in the provider's dashboard"),
            Self::AwaitingConfirmation => {
                Some("waiting for a person to confirm its transfer session in the provider's dashboard")
            }
            _ => None,
        }
    }

    /// The same, told from any other reason to wait.
    pub fn waiting_for_person(reason: &str) -> Option<&'static str> {
        Self::HELD.iter().filter_map(Self::waits_for).find(|known| *known == reason)
    }
}

/// A transfer as its provider has it at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AchProviderReport {
    /// The provider's own name for it.
    pub transfer: String,
    pub provider_status: AchProviderStatus,
    /// What is paid out, where the provider said it.
    pub amount: Option<Minor>,
    /// The currency's code in capital letters, where the provider said it.
    pub currency: Option<String>,
    /// Our reference, as the provider has it.
    pub reference: Option<String>,
    /// The day the provider expects it to arrive, as `YYYY-MM-DD`.
    pub expected_on: Option<String>,
    /// What the receiving bank asks to be corrected next time, all of it, in the order in which it came.
    pub corrections: Vec<Correction>,
}

/// What a provider report means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatusDecision {
    /// The transaction from now on; `None` if it stays as it is.
    pub next: Option<TransactionState>,
    /// What becomes of the funds with it.
    pub step: Option<TransferStep>,
    /// What a person has to look at.
    pub discrepancies: Vec<Discrepancy>,
}

/// What a provider report means for a transfer whose transaction is `current`.
pub fn decide_status(
    order: &TransferOrder,
    current: &TransactionState,
    report: &AchProviderReport,
) -> StatusDecision {
    let discrepancies = discrepancies(order, current, report);
    if !discrepancies.is_empty() {
        return StatusDecision { discrepancies, ..StatusDecision::default() };
    }
    let status = status(&report.provider_status);
    let seen = TransactionState {
        hold: None,
        card: None,
        charged: None,
        status,
        provider_reference: Some(report.transfer.clone()),
        failure: failure(&report.provider_status),
        ..current.clone()
    };
    if current.status == status {
        // A transfer that failed once has its reason; a later word of the same does not replace it.
        let learnt = current.provider_reference.is_none() && status != Status::Failed;
        return StatusDecision { next: learnt.then_some(seen), ..StatusDecision::default() };
    }
    let returned = matches!(report.provider_status, AchProviderStatus::Returned { .. });
    let report = if returned { ReportKind::AchReturn } else { ReportKind::Ach };
    if !current.status.may_move_to(status, report) {
        return StatusDecision { discrepancies: conflict(current, status), ..StatusDecision::default() };
    }
    StatusDecision { next: Some(seen), step: step(current.status, status), discrepancies }
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

fn status(provider_status: &AchProviderStatus) -> Status {
    match provider_status {
        AchProviderStatus::Accepted
        | AchProviderStatus::Attention
        | AchProviderStatus::AwaitingApproval
        | AchProviderStatus::AwaitingConfirmation
        | AchProviderStatus::Sent
        | AchProviderStatus::Unrecognized(_) => Status::Processing,
        AchProviderStatus::Settled => Status::Succeeded,
        AchProviderStatus::Returned { .. } | AchProviderStatus::Rejected(_) => Status::Failed,
        AchProviderStatus::Canceled => Status::Canceled,
    }
}

fn failure(provider_status: &AchProviderStatus) -> Option<Failure> {
    match provider_status {
        AchProviderStatus::Rejected(failure) => Some(failure.clone()),
        AchProviderStatus::Returned { code } => {
            let sentence = return_reason(code).map(|reason| reason.sentence);
            let message = sentence.unwrap_or("The receiving bank returned it.").to_owned();
            Some(Failure { code: code.clone(), message })
        }
        _ => None,
    }
}

fn discrepancies(
    order: &TransferOrder,
    current: &TransactionState,
    report: &AchProviderReport,
) -> Vec<Discrepancy> {
    let mut found = Vec::new();
    let mut compare = |kind, expected: Option<String>, claimed: Option<String>| {
        if let (Some(expected), Some(claimed)) = (expected, claimed)
            && expected != claimed
        {
            found.push(Discrepancy { kind, expected, found: claimed });
        }
    };
    let principal = order.fee.principal.to_string();
    compare(DiscrepancyKind::Amount, Some(principal), report.amount.map(|amount| amount.to_string()));
    compare(DiscrepancyKind::Currency, Some(order.currency.to_string()), report.currency.clone());
    compare(DiscrepancyKind::Reference, Some(order.id.to_string()), report.reference.clone());
    compare(
        DiscrepancyKind::SecondPayment,
        current.provider_reference.clone(),
        Some(report.transfer.clone()),
    );
    found
}

/// Money that moved although our books say it did not is for a person to look at; a late word about what is over by
/// now is not.
fn conflict(current: &TransactionState, seen: Status) -> Vec<Discrepancy> {
    let impossible = match current.status {
        Status::Failed | Status::Canceled => matches!(seen, Status::Processing | Status::Succeeded),
        Status::Succeeded => seen == Status::Canceled || seen == Status::Failed,
        Status::Pending | Status::Processing | Status::Authorized | Status::Refunded => false,
    };
    // A transfer that failed after the provider took it is seen as it was; only one that never was there is strange.
    let was_known = current.provider_reference.is_some();
    if !impossible || (was_known && seen == Status::Processing) {
        return Vec::new();
    }
    let (expected, found) = (current.status.as_str().to_owned(), seen.as_str().to_owned());
    vec![Discrepancy { kind: DiscrepancyKind::Status, expected, found }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ach::{BankAccountType, RecipientKind},
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
            rail: None,
            matched: None,
            route: crate::routing::RouteProgress::default(),
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
            recipient_kind: RecipientKind::Individual,
            purpose: None,
            statement_descriptor: None,
            request: text(),
            created_at: Timestamp::from_unix_millis(0),
        }
    }

    fn report(provider_status: AchProviderStatus) -> AchProviderReport {
        AchProviderReport {
            transfer: "ach_transfer_1".to_owned(),
            provider_status,
            amount: Minor::new(1_000),
            currency: Some("USD".to_owned()),
            reference: Some(order().id.to_string()),
            expected_on: None,
            corrections: Vec::new(),
        }
    }

    fn returned() -> AchProviderStatus {
        AchProviderStatus::Returned { code: "R03".to_owned() }
    }

    fn rejected() -> AchProviderStatus {
        AchProviderStatus::Rejected(Failure { code: "rejected".to_owned(), message: "No.".to_owned() })
    }

    /// The status at the end, every step on the way, and the discrepancies.
    fn after(provider_statuses: &[AchProviderStatus]) -> (Status, Vec<TransferStep>, usize) {
        let (mut state, mut steps, mut strange) = (TransactionState::pending(), Vec::new(), 0);
        for provider_status in provider_statuses {
            let verdict = decide_status(&order(), &state, &report(provider_status.clone()));
            steps.extend(verdict.step);
            strange += verdict.discrepancies.len();
            state = verdict.next.unwrap_or(state);
        }
        (state.status, steps, strange)
    }

    #[test]
    fn funds_follow_the_transfer_once_in_every_order() {
        use AchProviderStatus::{Accepted, Attention, Canceled, Sent, Settled};
        use TransferStep::{Release, Reverse, Settle};
        for (provider_statuses, status, steps) in [
            (vec![Accepted, Sent, Settled], Status::Succeeded, vec![Settle]),
            (vec![Settled, Settled, Sent, Accepted], Status::Succeeded, vec![Settle]),
            (vec![Sent, returned(), returned()], Status::Failed, vec![Release]),
            (vec![Settled, returned(), Settled], Status::Failed, vec![Settle, Reverse]),
            (vec![rejected(), rejected()], Status::Failed, vec![Release]),
            (vec![Accepted, Canceled, Canceled], Status::Canceled, vec![Release]),
            (vec![Attention, Accepted], Status::Processing, vec![]),
            (vec![AchProviderStatus::Unrecognized("?".to_owned()), Settled], Status::Succeeded, vec![Settle]),
        ] {
            let (found, taken, _) = after(&provider_statuses);
            assert_eq!((found, taken), (status, steps), "{provider_statuses:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_for_a_person() {
        for provider_statuses in [
            vec![rejected(), AchProviderStatus::Settled],
            vec![AchProviderStatus::Settled, AchProviderStatus::Canceled],
            vec![AchProviderStatus::Canceled, AchProviderStatus::Settled],
        ] {
            assert_eq!(after(&provider_statuses).2, 1, "{provider_statuses:?}");
        }
        for wrong in [
            AchProviderReport { amount: Minor::new(999), ..report(AchProviderStatus::Settled) },
            AchProviderReport { currency: Some("CAD".to_owned()), ..report(AchProviderStatus::Settled) },
            AchProviderReport {
                reference: Some("ach_other".to_owned()),
                ..report(AchProviderStatus::Settled)
            },
        ] {
            let verdict = decide_status(&order(), &TransactionState::pending(), &wrong);
            assert_eq!((verdict.next, verdict.step, verdict.discrepancies.len()), (None, None, 1));
        }
    }

    #[test]
    fn a_return_says_why_in_plain_words() {
        let verdict = decide_status(&order(), &TransactionState::pending(), &report(returned()));
        let failure = verdict.next.unwrap().failure.unwrap();
        assert_eq!(failure.code, "R03");
        assert!(failure.message.starts_with("The account does not exist"), "{}", failure.message);
    }
}
