//! What a provider says of a payment, and what changes by it.
//!
//! Whatever is learned of a payment (an answer, a webhook, a check by the resolver) arrives here as a [`ProviderReport`], and
//! [`decide_status`] says what changes. It compares before it believes: a provider report whose amount, currency or reference is not
//! that of the preparation moves nothing.

use super::CardOrder;
use crate::{
    card_fee::PaymentFee,
    fee::FeeSnapshot,
    hold::{CaptureMode, Hold, authorization_expired},
    money::Minor,
    payment_card::PaymentCard,
    refund::RefundReport,
    time::Timestamp,
    transaction::{Failure, ReportKind, Status, TransactionState},
};

/// What a provider says of a payment, in words common to all providers. Each adapter has one table that leads here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderStatus {
    /// Nobody has tried to pay.
    NotStarted,
    /// The customer has to act, such as to prove who they are.
    ActionRequired,
    /// Submitted; the outcome comes later.
    Processing,
    /// The money is held until it is captured.
    Authorized {
        /// When the provider releases it, where it says so.
        capture_before: Option<Timestamp>,
    },
    /// Paid.
    Succeeded,
    /// The last try failed; the customer may try again.
    Failed(Failure),
    /// Taken back before it was paid.
    Canceled,
    /// The money was held, and released because nobody captured it in time.
    AuthorizationExpired,
    /// A word this version does not know: still open, look again.
    Unrecognized(String),
}

impl ProviderStatus {
    /// The status a transaction takes from it. What is to be captured at once is only on its way while it is held.
    pub const fn status(&self, capture: CaptureMode) -> Status {
        match (self, capture) {
            (Self::NotStarted | Self::ActionRequired | Self::Unrecognized(_), _) => Status::Pending,
            (Self::Processing, _) | (Self::Authorized { .. }, CaptureMode::Automatic) => Status::Processing,
            (Self::Authorized { .. }, CaptureMode::Manual) => Status::Authorized,
            (Self::Succeeded, _) => Status::Succeeded,
            (Self::Failed(_), _) => Status::Failed,
            (Self::Canceled | Self::AuthorizationExpired, _) => Status::Canceled,
        }
    }

    /// Whether nothing can be paid on it anymore, and nothing was.
    pub const fn is_canceled(&self) -> bool {
        matches!(self, Self::Canceled | Self::AuthorizationExpired)
    }

    /// Whether the customer has paid, as far as it is up to them.
    pub const fn is_under_way(&self) -> bool {
        matches!(self, Self::Processing | Self::Authorized { .. } | Self::Succeeded)
    }
}

/// How a report came about, which says how much of the payment it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportSource {
    /// The provider was asked: the payment as a whole, as it is now.
    Read,
    /// The provider was asked with what a browser got when it was done: one attempt, which may be followed by others.
    Result,
    /// The provider's signed webhook: one step of the payment, which can be late, repeated or out of order.
    SignedWebhook,
}

/// A payment as its provider has it at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderReport {
    /// The provider's own name for the payment; a hosted page has none until somebody pays.
    pub payment: Option<String>,
    pub provider_status: ProviderStatus,
    /// What the customer is debited, or would be, where the provider said it: of a payment that was captured in part, that part.
    pub amount: Option<Minor>,
    /// In which currency, as the provider wrote it, in capitals.
    pub currency: Option<String>,
    /// Our reference, as the provider has it.
    pub reference: Option<String>,
    /// Every refund of it, also those that failed.
    pub refunds: Vec<RefundReport>,
    /// Whether the customer's bank contests or has contested it, where the provider said so.
    pub disputed: bool,
    pub source: ReportSource,
    /// The card that was charged or tried last, where the provider describes it.
    pub card: Option<Box<PaymentCard>>,
    /// True if it was charged to something that is not a card, or tried with that last.
    pub is_not_card: bool,
}

/// What does not fit together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discrepancy {
    /// What about.
    pub kind: DiscrepancyKind,
    /// What our books say.
    pub expected: String,
    /// What the provider says.
    pub found: String,
}

/// What a discrepancy is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiscrepancyKind {
    /// The amount debited.
    Amount,
    Currency,
    /// The reference.
    Reference,
    /// A status that cannot follow the one recorded.
    Status,
    /// A second payment for what was paid already.
    SecondPayment,
    /// A refund failed after it had succeeded, or is not what was asked for.
    Refund,
    /// The configuration no longer leads to the account the payment was sent to.
    Account,
    /// A surcharge was charged to what may not be surcharged.
    Surcharge,
    /// The provider cannot be asked, and its webhook has not come.
    Unanswered,
}

impl DiscrepancyKind {
    pub const ALL: [Self; 9] = [
        Self::Amount,
        Self::Currency,
        Self::Reference,
        Self::Status,
        Self::SecondPayment,
        Self::Refund,
        Self::Account,
        Self::Surcharge,
        Self::Unanswered,
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
            Self::Surcharge => "surcharge_not_allowed",
            Self::Unanswered => "outcome_unknown",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What a provider report means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatusDecision {
    /// The transaction from now on; `None` if it stays as it is.
    pub next: Option<TransactionState>,
    /// What a person has to look at.
    pub discrepancies: Vec<Discrepancy>,
}

/// Whether a payment that nobody touched is worth a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// The caller confirms: there is a transaction from now on, whatever its status.
    Confirm,
    /// Anything else: a page nobody has paid on is no transaction.
    Other,
}

/// What a provider claims about a payment's numbers, against the numbers it was prepared with.
///
/// Where the fee is decided for the card, the payer is debited what they agreed to, or, where a browser confirms by itself, what
/// was prepared.
pub fn discrepancies(
    order: &CardOrder,
    card_fee: Option<&PaymentFee>,
    amount: Option<Minor>,
    currency: Option<&str>,
    reference: Option<&str>,
) -> Vec<Discrepancy> {
    let mut found = Vec::new();
    let mut compare = |kind, expected: String, claimed: Option<String>| {
        if let Some(claimed) = claimed.filter(|claimed| *claimed != expected) {
            found.push(Discrepancy { kind, expected, found: claimed });
        }
    };
    // What is captured by hand may be captured in part, and nothing is no part.
    let agreed = |amount: &Minor| card_fee.is_some_and(|card_fee| card_fee.consent_to(*amount).is_some());
    let total = card_fee.map_or(order.fee, |card_fee| card_fee.agreed(&order.fee)).total_debit;
    let is_part = |amount: &Minor| {
        let most = total.max(order.fee.total_debit);
        order.capture == CaptureMode::Manual && *amount > Minor::ZERO && *amount < most
    };
    let amount =
        amount.filter(|amount| !is_part(amount) && !agreed(amount) && *amount != order.fee.total_debit);
    compare(DiscrepancyKind::Amount, total.to_string(), amount.map(|amount| amount.to_string()));
    compare(DiscrepancyKind::Currency, order.currency.to_string(), currency.map(str::to_owned));
    compare(DiscrepancyKind::Reference, order.id.to_string(), reference.map(str::to_owned));
    found
}

/// What a provider report means for a payment whose transaction, if there is one yet, is `current`.
pub fn decide_status(
    order: &CardOrder,
    card_fee: Option<&PaymentFee>,
    current: Option<&TransactionState>,
    report: &ProviderReport,
    trigger: Trigger,
) -> StatusDecision {
    let discrepancies = discrepancies(
        order,
        card_fee,
        report.amount,
        report.currency.as_deref(),
        report.reference.as_deref(),
    );
    if !discrepancies.is_empty() {
        return StatusDecision { next: None, discrepancies };
    }
    let seen = seen_state(order, card_fee, current, report);
    if let Some(current) = current.filter(|_| report.source != ReportSource::Read) {
        if is_past(order, current, &seen) {
            return StatusDecision::default();
        }
        if let Some(other) = other_capture(order, current, &seen) {
            return StatusDecision { next: None, discrepancies: vec![other] };
        }
    }
    let Some(current) = current else {
        let worth = match report.provider_status {
            ProviderStatus::NotStarted => trigger == Trigger::Confirm,
            // What was taken back before anybody paid has only expired.
            ProviderStatus::Canceled | ProviderStatus::AuthorizationExpired => false,
            _ => true,
        };
        return StatusDecision { next: worth.then_some(seen), discrepancies };
    };
    match conflict(current, &seen) {
        Some(conflict) => StatusDecision { next: None, discrepancies: vec![conflict] },
        None => StatusDecision { next: followed(current, seen), discrepancies },
    }
}

/// The transaction as the provider report alone would have it. Refunds are counted elsewhere: they are records of their
/// own, and a payment that was refunded is still paid at the provider.
fn seen_state(
    order: &CardOrder,
    card_fee: Option<&PaymentFee>,
    current: Option<&TransactionState>,
    report: &ProviderReport,
) -> TransactionState {
    let refunded = current.filter(|current| current.status == Status::Refunded);
    let charged = card_fee.map(|card_fee| Box::new(seen_charge(order, card_fee, current, report)));
    let amounts = charged.as_deref().copied().unwrap_or(order.fee);
    TransactionState {
        status: match (&report.provider_status, refunded) {
            (ProviderStatus::Succeeded, Some(_)) => Status::Refunded,
            (provider_status, _) => provider_status.status(order.capture),
        },
        provider_reference: report.payment.clone(),
        failure: match &report.provider_status {
            ProviderStatus::Failed(failure) => Some(failure.clone()),
            ProviderStatus::AuthorizationExpired => Some(authorization_expired()),
            // Why it was canceled stays known where the provider does not repeat it.
            ProviderStatus::Canceled => current
                .filter(|current| current.status == Status::Canceled)
                .and_then(|current| current.failure.clone()),
            _ => None,
        },
        refunded: current.map(|current| current.refunded).unwrap_or_default(),
        dispute: current.and_then(|current| current.dispute.clone()),
        hold: seen_hold(order, &amounts, current.and_then(|current| current.hold), report),
        card: seen_card(current, report),
        charged,
    }
}

/// What the payer is debited: here, and nowhere else, a payment's amounts become those that were decided for its card. What
/// neither was prepared nor agreed to is a part that was captured of what is on record.
fn seen_charge(
    order: &CardOrder,
    card_fee: &PaymentFee,
    current: Option<&TransactionState>,
    report: &ProviderReport,
) -> FeeSnapshot {
    let known = current.and_then(|current| current.charged.as_deref()).copied();
    let agreed = |amount: Minor| card_fee.consent_to(amount).map(|consent| consent.card.amounts);
    let said = report
        .amount
        .and_then(|amount| agreed(amount).or_else(|| (amount == order.fee.total_debit).then_some(order.fee)));
    // What was paid stays what it was: an amount of a later moment is that of a capture.
    let is_held = current.is_some_and(|current| current.hold.is_some());
    let amounts = if is_held { known.or(said) } else { said.or(known) };
    amounts.unwrap_or_else(|| card_fee.agreed(&order.fee))
}

/// The card on record, once there is money of it; before that, the one that was tried last. None where what is tried is no card,
/// whatever card was declined before.
fn seen_card(current: Option<&TransactionState>, report: &ProviderReport) -> Option<Box<PaymentCard>> {
    if report.is_not_card {
        return None;
    }
    let known = current.and_then(|current| current.card.as_ref());
    let is_paid = current.is_some_and(|current| {
        matches!(current.status, Status::Authorized | Status::Succeeded | Status::Refunded)
    });
    if is_paid { known.or(report.card.as_ref()) } else { report.card.as_ref().or(known) }.cloned()
}

/// What is held or captured of a payment. Here, and nowhere else, its amounts become those that were captured.
fn seen_hold(
    order: &CardOrder,
    amounts: &FeeSnapshot,
    current: Option<Hold>,
    report: &ProviderReport,
) -> Option<Hold> {
    if order.capture == CaptureMode::Automatic {
        return None;
    }
    let known = current.unwrap_or_default();
    match report.provider_status {
        ProviderStatus::Authorized { capture_before } => {
            Some(Hold { capture_before: capture_before.or(known.capture_before), ..known })
        }
        ProviderStatus::Succeeded => {
            let captured = report.amount.map_or(*amounts, |amount| amounts.of_total(amount));
            Some(Hold { captured: Some(captured), pending: None, ..known })
        }
        ProviderStatus::Canceled | ProviderStatus::AuthorizationExpired => {
            current.map(|hold| Hold { pending: None, ..hold })
        }
        _ => current,
    }
}

/// Whether what is told lies behind the payment, or was another attempt's that came to nothing.
fn is_past(order: &CardOrder, current: &TransactionState, seen: &TransactionState) -> bool {
    let is_same = current.provider_reference == seen.provider_reference;
    match seen.status {
        // Another attempt than the one that is under way; of the same one, its decline is known.
        Status::Failed if !is_same => matches!(current.status, Status::Processing | Status::Authorized),
        Status::Failed => current.status == Status::Failed,
        // The customer's bank approves once, before anything else can happen.
        Status::Authorized => {
            is_same && !matches!(current.status, Status::Pending | Status::Processing | Status::Failed)
        }
        // What was not captured of a payment is released.
        Status::Canceled => {
            let captured_by_hand = current.hold.and_then(|hold| hold.captured).is_some();
            is_same && (current.status == Status::Canceled || (is_paid(current.status) && captured_by_hand))
        }
        // The same for what is captured at once.
        Status::Succeeded if order.capture == CaptureMode::Automatic => {
            is_same && current.status == Status::Canceled
        }
        _ => false,
    }
}

const fn is_paid(status: Status) -> bool {
    matches!(status, Status::Succeeded | Status::Refunded)
}

/// A second capture, with another amount than the one on record: its provider may have taken both.
fn other_capture(
    order: &CardOrder,
    current: &TransactionState,
    seen: &TransactionState,
) -> Option<Discrepancy> {
    let is_same = current.provider_reference == seen.provider_reference;
    let captured = current.amounts(&order.fee).total_debit;
    let found = seen.amounts(&order.fee).total_debit;
    (is_same && is_paid(current.status) && is_paid(seen.status) && captured != found).then(|| Discrepancy {
        kind: DiscrepancyKind::Amount,
        expected: captured.to_string(),
        found: format!("another capture of {found}"),
    })
}

/// What cannot be true together with what is recorded.
fn conflict(current: &TransactionState, seen: &TransactionState) -> Option<Discrepancy> {
    let has_money = |status| matches!(status, Status::Authorized | Status::Succeeded | Status::Refunded);
    let (was_paid, is_paid) = (has_money(current.status), has_money(seen.status));
    let discrepancy = |kind, expected: &str, found: &str| {
        Some(Discrepancy { kind, expected: expected.to_owned(), found: found.to_owned() })
    };
    if was_paid && is_paid && current.provider_reference != seen.provider_reference {
        let name = |state: &TransactionState| state.provider_reference.clone().unwrap_or_default();
        return discrepancy(DiscrepancyKind::SecondPayment, &name(current), &name(seen));
    }
    let same_payment = current.provider_reference == seen.provider_reference;
    let impossible = match current.status {
        Status::Canceled => is_paid || seen.status == Status::Processing,
        Status::Succeeded | Status::Refunded => {
            same_payment && matches!(seen.status, Status::Failed | Status::Canceled)
        }
        Status::Pending | Status::Processing | Status::Authorized | Status::Failed => false,
    };
    if impossible {
        return discrepancy(DiscrepancyKind::Status, current.status.as_str(), seen.status.as_str());
    }
    None
}

/// The state after `current`, where `seen` adds anything and may follow it.
fn followed(current: &TransactionState, seen: TransactionState) -> Option<TransactionState> {
    if current.status != seen.status && !current.status.may_move_to(seen.status, ReportKind::Card) {
        return None;
    }
    // That some payment is under way says nothing new of one that is known by name to be held.
    let is_unnamed = seen.provider_reference.is_none() && current.provider_reference.is_some();
    if is_unnamed && (current.status, seen.status) == (Status::Authorized, Status::Processing) {
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
            route: crate::routing::RouteProgress::default(),
            config_version: 1,
            currency: Currency::USD,
            fee: FeeEntry::default().assess(Principal::new(1_000).unwrap()),
            description: None,
            customer_name: None,
            customer_email: None,
            metadata: "{}".to_owned(),
            capture: CaptureMode::Automatic,
            success_url: None,
            cancel_url: None,
            key: None,
            request: "req".to_owned(),
            created_at: at,
            expires_at: at,
        }
    }

    fn minor(amount: u64) -> Minor {
        Minor::new(amount).unwrap()
    }

    fn report(provider_status: ProviderStatus) -> ProviderReport {
        ProviderReport {
            payment: Some("pi_1".to_owned()),
            provider_status,
            amount: Some(minor(1_000)),
            currency: Some("USD".to_owned()),
            reference: Some(order().id.to_string()),
            refunds: Vec::new(),
            disputed: false,
            source: ReportSource::Read,
            card: None,
            is_not_card: false,
        }
    }

    fn failed() -> ProviderStatus {
        ProviderStatus::Failed(Failure { code: "card_declined".to_owned(), message: "Declined.".to_owned() })
    }

    fn after(provider_statuses: &[ProviderStatus]) -> (Option<TransactionState>, Vec<DiscrepancyKind>) {
        let (mut current, mut found) = (None, Vec::new());
        for provider_status in provider_statuses {
            let verdict = decide_status(
                &order(),
                None,
                current.as_ref(),
                &report(provider_status.clone()),
                Trigger::Other,
            );
            current = verdict.next.or(current);
            found.extend(verdict.discrepancies.iter().map(|it| it.kind));
        }
        (current, found)
    }

    #[test]
    fn what_is_paid_without_a_card_does_not_keep_the_one_that_was_declined() {
        let card =
            || Some(Box::new(PaymentCard { brand: Some("visa".to_owned()), ..PaymentCard::default() }));
        let followed = |steps: &[(ProviderStatus, Option<Box<PaymentCard>>, bool)]| {
            steps.iter().fold(None, |current: Option<TransactionState>, (status, card, is_not_card)| {
                let said = ProviderReport {
                    card: card.clone(),
                    is_not_card: *is_not_card,
                    ..report(status.clone())
                };
                decide_status(&order(), None, current.as_ref(), &said, Trigger::Other).next.or(current)
            })
        };
        let card_of = |steps: &[_]| followed(steps).unwrap().card;
        let (declined, paid) = ((failed(), card(), false), (ProviderStatus::Succeeded, None, true));
        let under_way = (ProviderStatus::Processing, None, true);
        assert_eq!(card_of(std::slice::from_ref(&declined)), card());
        assert_eq!(card_of(&[declined.clone(), paid.clone()]), None);
        assert_eq!(card_of(&[declined.clone(), under_way, paid]), None);
        // What a report leaves out stays known.
        assert_eq!(card_of(&[declined.clone(), (ProviderStatus::Succeeded, None, false)]), card());
        assert_eq!(card_of(&[(failed(), None, true), declined]), card());
    }

    #[test]
    fn what_nobody_touched_is_a_transaction_only_once_it_is_confirmed() {
        let untouched = report(ProviderStatus::NotStarted);
        assert_eq!(
            decide_status(&order(), None, None, &untouched, Trigger::Other),
            StatusDecision::default()
        );
        let confirmed = decide_status(&order(), None, None, &untouched, Trigger::Confirm).next.unwrap();
        assert_eq!(confirmed.status, Status::Pending);
        let canceled =
            decide_status(&order(), None, None, &report(ProviderStatus::Canceled), Trigger::Confirm);
        assert_eq!(canceled, StatusDecision::default(), "what was never paid has only expired");
    }

    #[test]
    fn reports_in_any_order_end_where_the_truth_is() {
        use ProviderStatus::{ActionRequired, NotStarted, Processing, Succeeded};
        for (provider_statuses, status) in [
            (vec![ActionRequired, Processing, Succeeded], Status::Succeeded),
            (vec![Succeeded, Processing, ActionRequired, NotStarted], Status::Succeeded),
            (vec![failed(), Succeeded], Status::Succeeded),
            (vec![failed(), ActionRequired], Status::Failed),
            (vec![ActionRequired, failed(), failed()], Status::Failed),
            (vec![Processing, ProviderStatus::Canceled], Status::Canceled),
            (vec![ProviderStatus::Unrecognized("new".to_owned()), Succeeded], Status::Succeeded),
        ] {
            let (state, found) = after(&provider_statuses);
            assert_eq!((state.unwrap().status, found), (status, vec![]), "{provider_statuses:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_shown_to_a_person_and_changes_nothing() {
        use ProviderStatus::{Canceled, Succeeded};
        for (provider_statuses, status) in [
            (vec![ProviderStatus::ActionRequired, Canceled, Succeeded], Status::Canceled),
            (vec![Succeeded, Canceled], Status::Succeeded),
            (vec![Succeeded, failed()], Status::Succeeded),
        ] {
            let (state, found) = after(&provider_statuses);
            assert_eq!(
                (state.unwrap().status, found),
                (status, vec![DiscrepancyKind::Status]),
                "{provider_statuses:?}"
            );
        }
    }

    #[test]
    fn numbers_that_disagree_move_nothing() {
        let right = report(ProviderStatus::Succeeded);
        for (wrong, kind) in [
            (ProviderReport { amount: Some(minor(1_001)), ..right.clone() }, DiscrepancyKind::Amount),
            (ProviderReport { currency: Some("EUR".to_owned()), ..right.clone() }, DiscrepancyKind::Currency),
            (
                ProviderReport { reference: Some("pay_other".to_owned()), ..right.clone() },
                DiscrepancyKind::Reference,
            ),
        ] {
            let verdict = decide_status(&order(), None, None, &wrong, Trigger::Confirm);
            assert_eq!((verdict.next, verdict.discrepancies[0].kind), (None, kind));
        }
    }

    #[test]
    fn a_payment_that_is_refunded_is_still_paid_at_the_provider() {
        let paid = decide_status(&order(), None, None, &report(ProviderStatus::Succeeded), Trigger::Other)
            .next
            .unwrap();
        let refunded = TransactionState { status: Status::Refunded, refunded: minor(1_000), ..paid };
        let seen = report(ProviderStatus::Succeeded);
        let verdict = decide_status(&order(), None, Some(&refunded), &seen, Trigger::Other);
        assert_eq!(verdict, StatusDecision::default());
    }

    fn held(capture_before: Option<i64>) -> ProviderStatus {
        ProviderStatus::Authorized { capture_before: capture_before.map(Timestamp::from_unix_millis) }
    }

    #[test]
    fn only_what_is_captured_by_hand_is_ever_authorized() {
        let manual = CardOrder { capture: CaptureMode::Manual, ..order() };
        let decide = |order: &CardOrder, current: Option<&TransactionState>, report: &ProviderReport| {
            decide_status(order, None, current, report, Trigger::Other)
        };
        let automatic = decide(&order(), None, &report(held(Some(9)))).next.unwrap();
        assert_eq!((automatic.status, automatic.hold), (Status::Processing, None));
        let authorized = decide(&manual, None, &report(held(Some(9)))).next.unwrap();
        let until = authorized.hold.unwrap().capture_before;
        assert_eq!((authorized.status, until), (Status::Authorized, Some(Timestamp::from_unix_millis(9))));
        let again = decide(&manual, Some(&authorized), &report(held(None)));
        assert_eq!(again, StatusDecision::default(), "what is known is not forgotten");
        // A part of it is captured.
        let part = ProviderReport { amount: Some(minor(400)), ..report(ProviderStatus::Succeeded) };
        let captured = decide(&manual, Some(&authorized), &part).next.unwrap();
        assert_eq!(captured.status, Status::Succeeded);
        assert_eq!(captured.amounts(&manual.fee).total_debit, minor(400));
        assert_eq!(decide(&manual, Some(&captured), &part), StatusDecision::default());
        let kinds = |decision: StatusDecision| decision.discrepancies.first().map(|it| it.kind);
        assert_eq!(kinds(decide(&order(), None, &part)), Some(DiscrepancyKind::Amount));
        let more = ProviderReport { amount: Some(minor(1_001)), ..part.clone() };
        assert_eq!(kinds(decide(&manual, Some(&authorized), &more)), Some(DiscrepancyKind::Amount));
        let nothing = ProviderReport { amount: Some(Minor::ZERO), ..part.clone() };
        let refused = decide(&manual, Some(&authorized), &nothing);
        assert_eq!((refused.next.clone(), kinds(refused)), (None, Some(DiscrepancyKind::Amount)));
        // Nobody captured it.
        let expired = report(ProviderStatus::AuthorizationExpired);
        let lapsed = decide(&manual, Some(&authorized), &expired).next.unwrap();
        let code = lapsed.failure.as_ref().map(|failure| failure.code.as_str());
        assert_eq!((lapsed.status, code), (Status::Canceled, Some("authorization_expired")));
        let later = decide(&manual, Some(&lapsed), &report(ProviderStatus::Canceled));
        assert_eq!(later, StatusDecision::default());
        assert_eq!(kinds(decide(&manual, Some(&lapsed), &part)), Some(DiscrepancyKind::Status));
        assert_eq!(kinds(decide(&manual, Some(&lapsed), &report(held(None)))), Some(DiscrepancyKind::Status));
        let other = ProviderReport { payment: Some("pi_2".to_owned()), ..report(held(None)) };
        assert_eq!(kinds(decide(&manual, Some(&authorized), &other)), Some(DiscrepancyKind::SecondPayment));
        assert_eq!(decide(&manual, None, &expired), StatusDecision::default(), "it has only expired");
    }

    #[test]
    fn a_second_payment_is_not_taken_for_the_first() {
        let paid = decide_status(&order(), None, None, &report(ProviderStatus::Succeeded), Trigger::Other)
            .next
            .unwrap();
        let other = ProviderReport { payment: Some("pi_2".to_owned()), ..report(ProviderStatus::Succeeded) };
        let verdict = decide_status(&order(), None, Some(&paid), &other, Trigger::Other);
        assert_eq!((verdict.next, verdict.discrepancies[0].kind), (None, DiscrepancyKind::SecondPayment));
        let declined = decide_status(&order(), None, None, &report(failed()), Trigger::Other).next.unwrap();
        let retried = decide_status(&order(), None, Some(&declined), &other, Trigger::Other).next.unwrap();
        assert_eq!(
            (retried.status, retried.provider_reference.as_deref()),
            (Status::Succeeded, Some("pi_2"))
        );
        let late = decide_status(&order(), None, Some(&retried), &report(failed()), Trigger::Other);
        assert_eq!(late, StatusDecision::default(), "the declined first try changes nothing when told late");
    }
}
