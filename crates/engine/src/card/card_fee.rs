//! A fee that the card decides: the card is looked at, the fee is decided, the payer is shown it, and only what they agreed to
//! is charged. Afterwards the charge is compared with what was decided.

use std::sync::Arc;

use tollgate_domain::{
    Minor, ServiceReference,
    card::{AttemptState, CardOrder, Discrepancy, DiscrepancyKind, ProviderReport},
    card_fee::{
        Brand, CardDecision, CardFacts, Consent, Country, FeeKind, Funding, Instrument, PaymentFacts,
        PaymentFee, Place, Reason, ReasonCode, Rules, UnlawfulCharge, check_charge,
    },
    fee::FeeSnapshot,
    payment_card::PaymentCard,
    refund::{Refund, RefundOrigin, RefundStatus, RefundTerms, Refundable},
    transaction::{Status, TransactionState},
};
use tollgate_vault::Secret;

use super::{
    CardProvider, MAX_ROUNDS,
    at_provider::sent_to,
    confirm::{
        ConfirmError, Confirmed, check_open, check_unmoved, is_paid, is_under_way, not_configured, too_busy,
    },
    update::PaymentUpdate,
};
use crate::{
    engine::Engine,
    ports::{
        CallError, CardPayment, Charge, ChargeTerms, Confirmation, RejectionKind, TokenCard, TokenCards,
    },
    snapshot::EnvironmentView,
};

/// What the payer's page sends once the payer has agreed.
pub(super) struct Agreed {
    pub(super) token: Secret,
    pub(super) total: Minor,
    /// Where the payer is, if the caller says so now.
    pub(super) payer: Option<Place>,
}

/// What a decision is made for.
struct Presented {
    /// The token's digest.
    token: [u8; 32],
    instrument: Instrument,
    /// The places where the payer may be: what the caller and what the payer says. The lowest fee of them counts.
    payers: Vec<Place>,
    /// The provider takes totals in multiples of this.
    step: u64,
}

const UNKNOWN_TOKEN: ConfirmError = ConfirmError::Token("is not known to the payment's provider");
const SPENT_TOKEN: ConfirmError =
    ConfirmError::Token("was used before or has expired; have the page make a new one");
const NO_CARD_FEE: ConfirmError = ConfirmError::NotConfirmable(
    "The fee of this payment does not depend on the card; confirm it without looking at the card.",
);
const NO_TOKENS: ConfirmError = ConfirmError::NotConfirmable(
    "The provider of this payment cannot look at a card before it is charged; let the page confirm it, without a card fee.",
);

impl Engine {
    /// Looks at the card of a token and decides the payment's fee for it. The answer is the payment with the decision.
    pub async fn decide_card_fee(
        &self,
        view: &EnvironmentView,
        reference: ServiceReference,
        token: &Secret,
        payer: Option<Place>,
        request: &str,
    ) -> Result<CardPayment, ConfirmError> {
        let payment = self.confirmable(view, reference).await?.payment;
        let provider = self.provider_of_order(view, &payment.order);
        let provider = provider.map_err(|missing| not_configured(&payment, missing))?;
        check_open(&payment, self.clock.now(), Confirmation::Charge)?;
        if is_under_way(&payment) {
            return Err(ConfirmError::NotConfirmable("This payment has been paid, or is being paid."));
        }
        let presented = self.present(view, &provider, &payment, token, payer).await?;
        let (payment, _) = self.record_card_fee(view, payment, &presented, request).await?;
        Ok(payment)
    }

    /// Charges the token's card with the total that the payer agreed to, if that is still what is decided for it.
    pub(super) async fn confirm_agreed(
        self: &Arc<Self>,
        view: &EnvironmentView,
        provider: &CardProvider<'_>,
        mut payment: CardPayment,
        agreed: Agreed,
        request: &str,
    ) -> Result<Confirmed, ConfirmError> {
        let order = payment.order.clone();
        let token = self.source_digest(&order, &agreed.token);
        let charge = |terms| Charge {
            number: 0,
            source: agreed.token.clone(),
            verification: None,
            buyer_email: None,
            terms,
        };
        // Whatever became of a card that was charged, or is being charged, is the answer.
        if is_paid(&payment) || payment.attempts.iter().any(|attempt| attempt.source_digest == token) {
            match self.confirm_by_charge(provider, &order, payment, charge(None), None, request).await {
                // The charge was closed meanwhile without having been sent: the card may be charged, and its fee is decided again.
                Err(ConfirmError::FeeChanged(seen)) => payment = *seen,
                answer => return answer,
            }
        }
        let card_fee = payment.progress.card_fee.as_ref();
        let known = card_fee.and_then(|card_fee| card_fee.of_token(&token));
        let presented = match known {
            Some(known) => {
                let prepared = card_fee.and_then(|card_fee| card_fee.payer);
                let said = agreed.payer.into_iter().chain(prepared);
                let payers = places(&view.configuration.fee_rules, known.payer, said.collect());
                Presented { token, instrument: known.instrument, payers, step: step(provider, &order) }
            }
            None => self.present(view, provider, &payment, &agreed.token, agreed.payer).await?,
        };
        // A fee is charged only if the payer was shown it; that there is none need not be shown.
        let shown = known.map_or(Minor::ZERO, |known| known.amounts.fee);
        let (payment, decided) = self.record_card_fee(view, payment, &presented, request).await?;
        let amounts = decided.amounts;
        if amounts.total_debit != agreed.total || amounts.fee != shown {
            return Err(ConfirmError::FeeChanged(Box::new(payment)));
        }
        let terms = terms(&payment, &decided);
        self.confirm_by_charge(provider, &order, payment, charge(terms), Some(&decided), request).await
    }

    /// Looks at a token's card at the provider.
    async fn present(
        &self,
        view: &EnvironmentView,
        provider: &CardProvider<'_>,
        payment: &CardPayment,
        token: &Secret,
        payer: Option<Place>,
    ) -> Result<Presented, ConfirmError> {
        let card_fee = payment.progress.card_fee.as_ref().ok_or(NO_CARD_FEE)?;
        let tokens = provider.tokens().ok_or(NO_TOKENS)?;
        let environment = payment.order.environment;
        if self.check_account(environment, sent_to(payment), provider.provider).is_unreachable() {
            let missing = format!("providers.{}.baseUrl", payment.order.provider);
            return Err(not_configured(payment, vec![missing]));
        }
        let card = self.look_at(provider, tokens, payment, token).await?;
        if card.is_spent {
            return Err(SPENT_TOKEN);
        }
        let (unreadable, billed) =
            if card.has_unreadable_state { (card.payer, None) } else { (None, card.payer) };
        let said = payer.into_iter().chain(card_fee.payer).chain(billed);
        let payers = places(&view.configuration.fee_rules, unreadable, said.collect());
        let token = self.source_digest(&payment.order, token);
        Ok(Presented { token, instrument: card.instrument, payers, step: step(provider, &payment.order) })
    }

    async fn look_at(
        &self,
        provider: &CardProvider<'_>,
        tokens: &dyn TokenCards,
        payment: &CardPayment,
        token: &Secret,
    ) -> Result<TokenCard, ConfirmError> {
        let order = &payment.order;
        let call = tokens.read_token(provider.provider, token).await;
        self.note_calls(order.environment, &order.provider, Some(order.id.to_bytes()), &call.logs);
        call.outcome.map_err(|error| match error {
            CallError::Rejected(rejection) => match rejection.kind {
                RejectionKind::Missing => UNKNOWN_TOKEN,
                RejectionKind::Credentials => not_configured(payment, Vec::new()),
                _ => ConfirmError::Rejected(rejection.failure),
            },
            CallError::Unsent(transient) | CallError::Unknown(transient) => {
                ConfirmError::Unavailable { retry_after: transient.retry_after }
            }
        })
    }

    /// Decides, and records the decision unless it is on record already.
    async fn record_card_fee(
        &self,
        view: &EnvironmentView,
        payment: CardPayment,
        presented: &Presented,
        request: &str,
    ) -> Result<(CardPayment, CardDecision), ConfirmError> {
        let (environment, id) = (payment.order.environment, payment.order.id);
        let provider = payment.order.provider.clone();
        let mut seen = payment;
        for _ in 0..MAX_ROUNDS {
            check_unmoved(&seen, &provider)?;
            let Some(card_fee) = seen.progress.card_fee.clone() else { return Err(NO_CARD_FEE) };
            let known = card_fee.of_token(&presented.token);
            if let Some(refused) = known.filter(|known| known.is_refused()) {
                return Ok((seen, refused.clone()));
            }
            let decided = self.decide(view, &seen, &card_fee, presented);
            if let Some(known) =
                known.filter(|known| CardDecision { at: known.at, ..decided.clone() } == **known)
            {
                return Ok((seen, known.clone()));
            }
            let mut update = PaymentUpdate::of(self, seen, Some(request));
            update.decide_card_fee(decided.clone());
            if let Some(payment) = update.commit().await? {
                return Ok((payment, decided));
            }
            seen = self.stored_payment(environment, id).await?;
        }
        Err(too_busy())
    }

    /// The fee for a card, by the layers and the kind that the payment was prepared with and everything else as it is now.
    fn decide(
        &self,
        view: &EnvironmentView,
        payment: &CardPayment,
        card_fee: &PaymentFee,
        presented: &Presented,
    ) -> CardDecision {
        let (order, at) = (&payment.order, self.clock.now());
        let configured = order.fee.entry().assess(order.fee.principal);
        let (instrument, recurring) = (presented.instrument, card_fee.recurring);
        let decide = |payer| {
            let facts = PaymentFacts { instrument, payer, recurring };
            let (kind, today) = (card_fee.kind(), at.utc_date());
            let decision = view.configuration.decide_card_fee(
                kind,
                &order.provider,
                &configured,
                order.flow,
                facts,
                today,
            );
            (payer, decision)
        };
        let places = presented.payers.iter().copied().map(Some);
        let decisions =
            places.map(decide).reduce(|lowest, next| if next.1.fee < lowest.1.fee { next } else { lowest });
        let (payer, decision) = decisions.unwrap_or_else(|| decide(None));
        let total = configured.with_fees(decision.kind, decision.platform, decision.organization).total_debit;
        let beyond_step = total.get().checked_rem(presented.step).and_then(Minor::new);
        let decision = decision.lowered(beyond_step.unwrap_or_default());
        let amounts = configured.with_fees(decision.kind, decision.platform, decision.organization);
        CardDecision { token: presented.token, instrument, payer, decision, amounts, at }
    }
}

/// The provider takes totals in multiples of this.
fn step(provider: &CardProvider<'_>, order: &CardOrder) -> u64 {
    provider.tokens().map_or(1, |tokens| tokens.amount_step(order.currency))
}

/// The places that count: `certain`, and of those that were said all but a country alone where another names a state of it. Forms of
/// providers collect the country alone where a card needs no state.
fn places(rules: &Rules, certain: Option<Place>, said: Vec<Place>) -> Vec<Place> {
    let all: Vec<_> = certain.into_iter().chain(said.iter().copied()).collect();
    let names_state = |country| all.iter().any(|it| it.country == country && !rules.needs_state(*it));
    let counts = |place: &Place| !rules.needs_state(*place) || !names_state(place.country);
    certain.into_iter().chain(said.into_iter().filter(counts)).collect()
}

/// What is charged by a decision; `None` if the provider has made nothing to charge on.
fn terms(payment: &CardPayment, decided: &CardDecision) -> Option<ChargeTerms> {
    let is_surcharge = decided.decision.kind == FeeKind::Surcharge;
    Some(ChargeTerms {
        object: payment.progress.object.clone()?,
        total: decided.amounts.total_debit,
        surcharge: if is_surcharge { decided.amounts.fee } else { Minor::ZERO },
    })
}

/// A charge with the terms that its payer agreed to, where it has any; `None` if they are gone.
pub(super) fn with_terms(charge: Charge, payment: &CardPayment) -> Option<Charge> {
    let Some(card_fee) = &payment.progress.card_fee else { return Some(charge) };
    let Some(consent) = card_fee.consent_of(charge.number) else { return Some(charge) };
    let terms = Some(terms(payment, &consent.card)?);
    Some(Charge { terms, ..charge })
}

/// What the payer agreed to for the charge that paid; `None` if the browser has confirmed it alone. After a declined attempt it can do
/// so over a total that was agreed to for that attempt's card.
fn consent_to_charge<'p>(payment: &'p CardPayment, card_fee: &'p PaymentFee) -> Option<&'p Consent> {
    let total = payment.charged().total_debit;
    let can_have_paid = |number| {
        let attempt = payment.attempts.iter().find(|attempt| attempt.number == number);
        attempt.is_some_and(|attempt| matches!(attempt.state, AttemptState::Open | AttemptState::Taken))
    };
    let mut consents = card_fee.consents.iter().rev();
    consents.find(|consent| consent.card.amounts.total_debit == total && can_have_paid(consent.attempt))
}

/// What a payment was paid with, as far as its provider describes it; what that leaves open is as it was decided for.
fn paid_with(report: &ProviderReport, agreed: Option<&CardFacts>) -> Option<Instrument> {
    let facts = |card: &PaymentCard| {
        let brand = card.brand.as_deref().map(|brand| Brand::parse(brand).unwrap_or(Brand::Unknown));
        let funding = card.funding.as_deref().and_then(Funding::parse);
        Instrument::Card(CardFacts {
            brand: brand.or(agreed.map(|agreed| agreed.brand)).unwrap_or(Brand::Unknown),
            funding: funding.unwrap_or(Funding::Unknown),
            country: card.country.as_deref().and_then(Country::parse),
            commercial: agreed.and_then(|agreed| agreed.commercial),
        })
    };
    if report.is_not_card { Some(Instrument::NotCard) } else { report.card.as_deref().map(facts) }
}

impl PaymentUpdate<'_> {
    /// The provider does not let the card of this attempt be surcharged, so that nothing was charged: its payer has to agree to the
    /// principal alone.
    pub(super) fn refuse_surcharge(&mut self, attempt: u32) {
        let payment = self.payment();
        let consent = payment.progress.card_fee.as_ref().and_then(|card_fee| card_fee.consent_of(attempt));
        let decided = consent.map(|consent| consent.card.clone());
        let code = ReasonCode::ProviderCannotReport;
        let view = self.engine().view(payment.order.environment);
        let source = view.and_then(|view| view.configuration.fee_rules.source(code));
        if let Some(decided) = decided {
            let refused = decided.refused(Reason::of(code, source), self.now());
            self.decide_card_fee(refused);
        }
    }

    /// Gives back what was charged beyond what is lawful for the card, and shows that to a person. Recorded like any refund, with
    /// the change that shows the charge, so that it is sent once, whatever happens to this node.
    pub(super) fn return_unlawful_fee(&mut self, report: &ProviderReport, source: &str) {
        let payment = self.payment();
        let (order, amounts) = (&payment.order, payment.amounts());
        let Err(unlawful) = self.check_fee(report, &amounts) else { return };
        let id = self.engine().refund_of_unlawful_fee(order);
        let beyond = amounts.fee.checked_sub(unlawful.lawful).unwrap_or_default();
        let beyond = self.engine().whole_refund_steps(order, beyond);
        let fee = Refundable::after(&amounts, &payment.refunds).fee.min(beyond);
        if fee == Minor::ZERO || payment.refunds.iter().any(|refund| refund.id == id) {
            return;
        }
        let what = match unlawful.paid_with {
            Instrument::Card(card) => format!("a {} {} card", card.brand.title(), card.funding.as_str()),
            _ => "no card".to_owned(),
        };
        let discrepancy = Discrepancy {
            kind: DiscrepancyKind::Surcharge,
            expected: format!("at most {} {}: {}", unlawful.lawful, order.currency, unlawful.reason.as_str()),
            found: format!("{} {} charged to {what}", amounts.fee, order.currency),
        };
        let now = self.now();
        let refund = Refund {
            id,
            terms: RefundTerms {
                amount: None,
                fee_refund: None,
                reason: None,
                description: None,
                metadata: "{}".to_owned(),
            },
            principal: Minor::ZERO,
            fee,
            origin: RefundOrigin::Service,
            status: RefundStatus::Pending,
            provider_reference: None,
            failure: None,
            request: None,
            approval: None,
            created_at: now,
            updated_at: now,
        };
        self.record_discrepancies(vec![discrepancy], source);
        self.refund(refund);
        // The resolver sends it at once.
        self.progress().due = Some(now);
    }

    /// Whether the fee of a payment that was just paid is lawful for the card that paid it. What was found lawful stays so: rules
    /// and program may have changed since.
    fn check_fee(&self, report: &ProviderReport, amounts: &FeeSnapshot) -> Result<(), UnlawfulCharge> {
        let payment = self.payment();
        let state = payment.transaction.as_ref().map(|transaction| &transaction.state);
        let (Some(state), Some(card_fee)) = (state, &payment.progress.card_fee) else { return Ok(()) };
        let is_paid = |state: &&TransactionState| state.status == Status::Succeeded;
        if !is_paid(&state) || self.before().filter(is_paid).is_some_and(|before| before.card.is_some()) {
            return Ok(());
        }
        let order = &payment.order;
        let consent = consent_to_charge(payment, card_fee);
        let agreed = consent.map(|consent| &consent.card.instrument);
        let decide = |instrument| {
            let view = self.engine().view(order.environment)?;
            let consent = consent?;
            let facts = PaymentFacts { instrument, payer: consent.card.payer, recurring: card_fee.recurring };
            let configured = order.fee.entry().assess(amounts.principal);
            let (kind, day) = (card_fee.kind(), consent.at.utc_date());
            let configuration = &view.configuration;
            Some(configuration.decide_card_fee(kind, &order.provider, &configured, order.flow, facts, day))
        };
        check_charge(amounts, agreed, paid_with(report, agreed.and_then(Instrument::card)), decide)
    }
}
