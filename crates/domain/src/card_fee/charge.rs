//! What was charged, against what it was charged to.

use crate::{
    card_fee::{CardFacts, FeeDecision, FeeKind, Funding, Instrument, ReasonCode},
    fee::FeeSnapshot,
    money::Minor,
};

/// A fee that was charged and may not be kept, or not all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnlawfulCharge {
    /// The most that could be charged.
    pub lawful: Minor,
    pub paid_with: Instrument,
    /// Why it is not more.
    pub reason: ReasonCode,
}

/// Compares what was charged with what the provider says it was charged to. A provider that does not describe the card says
/// nothing against it: what was decided rests on the card's token.
///
/// `agreed` is the card that the fee was decided for. `decide` decides again for another one; it has no answer where the rules are
/// not known anymore, and then nothing is lawful.
pub fn check_charge(
    charged: &FeeSnapshot,
    agreed: Option<&Instrument>,
    paid_with: Option<Instrument>,
    decide: impl FnOnce(Instrument) -> Option<FeeDecision>,
) -> Result<(), UnlawfulCharge> {
    let Some(paid_with) = paid_with.filter(|paid_with| !paid_with.is_open()) else { return Ok(()) };
    let nothing = |reason| (Minor::ZERO, reason);
    let (lawful, reason) = match (charged.kind, paid_with.card()) {
        (None | Some(FeeKind::Convenience | FeeKind::Neutral), _) | (Some(FeeKind::Service), Some(_)) => {
            return Ok(());
        }
        (Some(_), None) => nothing(ReasonCode::NotACard),
        (Some(FeeKind::Surcharge), Some(card)) if card.funding != Funding::Credit => {
            nothing(ReasonCode::FundingNotCredit)
        }
        (Some(FeeKind::Surcharge), Some(card)) if is_as_agreed(agreed, *card) => return Ok(()),
        (Some(FeeKind::Surcharge), Some(_)) => match decide(paid_with) {
            Some(decision) => (decision.fee, decision.reason()),
            None => nothing(ReasonCode::CardUnknown),
        },
    };
    if charged.fee <= lawful { Ok(()) } else { Err(UnlawfulCharge { lawful, paid_with, reason }) }
}

/// Whether a card has the network and, where both are known, the country of the one that the fee was decided for.
fn is_as_agreed(agreed: Option<&Instrument>, card: CardFacts) -> bool {
    let Some(agreed) = agreed.and_then(Instrument::card) else { return false };
    let is_elsewhere = agreed.country.is_some() && card.country.is_some() && agreed.country != card.country;
    agreed.brand == card.brand && !is_elsewhere
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        card_fee::{Brand, Country, FeeRange, Reason},
        fee::FeeEntry,
        money::Principal,
    };

    fn minor(amount: u64) -> Minor {
        Minor::new(amount).unwrap()
    }

    fn charged(kind: FeeKind, fee: u64) -> FeeSnapshot {
        let plain = FeeEntry::default().assess(Principal::new(12_500).unwrap());
        plain.with_fees(kind, minor(fee), Minor::ZERO)
    }

    fn card(brand: Brand, funding: Funding, country: Option<&str>) -> Instrument {
        let country = country.and_then(Country::parse);
        Instrument::Card(CardFacts { brand, funding, country, commercial: None })
    }

    /// As if the rules allowed this much for any card but Visa's.
    fn allowing(fee: u64) -> impl FnOnce(Instrument) -> Option<FeeDecision> {
        move |_| {
            let fee = minor(fee);
            Some(FeeDecision {
                kind: FeeKind::Surcharge,
                configured: fee,
                platform: fee,
                organization: Minor::ZERO,
                fee,
                range: FeeRange { min: fee, max: fee },
                reasons: vec![Reason::of(ReasonCode::NetworkCap, None)],
                cap: Some(fee),
                cost: None,
                places: Arc::default(),
                sentences: Arc::default(),
                overrides: Arc::default(),
                rules_version: "test".into(),
            })
        }
    }

    /// What is wrong with 3.75 that was decided for a Visa credit card of the United States.
    fn found(paid_with: Instrument, allowed: u64) -> Option<(u64, ReasonCode)> {
        let agreed = card(Brand::Visa, Funding::Credit, Some("US"));
        let surcharge = charged(FeeKind::Surcharge, 375);
        let checked = check_charge(&surcharge, Some(&agreed), Some(paid_with), allowing(allowed));
        checked.err().map(|unlawful| {
            assert_eq!(unlawful.paid_with, paid_with);
            (unlawful.lawful.get(), unlawful.reason)
        })
    }

    #[test]
    fn a_surcharge_is_kept_on_credit_cards_alone() {
        for funding in [Funding::Debit, Funding::Prepaid, Funding::Unknown] {
            let unlawful = found(card(Brand::Visa, funding, Some("US")), 375);
            assert_eq!(unlawful, Some((0, ReasonCode::FundingNotCredit)), "{funding:?}");
        }
        assert_eq!(found(Instrument::NotCard, 375), Some((0, ReasonCode::NotACard)));
        assert_eq!(found(Instrument::Unknown, 0), None);
    }

    #[test]
    fn what_is_as_agreed_is_not_decided_again() {
        for country in [Some("US"), None] {
            assert_eq!(found(card(Brand::Visa, Funding::Credit, country), 0), None, "{country:?}");
        }
    }

    #[test]
    fn another_network_or_country_is_decided_again() {
        for paid_with in [
            card(Brand::Mastercard, Funding::Credit, Some("US")),
            card(Brand::Visa, Funding::Credit, Some("FR")),
            card(Brand::Unknown, Funding::Credit, None),
        ] {
            assert_eq!(found(paid_with, 375), None);
            assert_eq!(found(paid_with, 500), None);
            assert_eq!(found(paid_with, 250), Some((250, ReasonCode::NetworkCap)));
            let unknown = check_charge(&charged(FeeKind::Surcharge, 375), None, Some(paid_with), |_| None);
            let nothing = UnlawfulCharge { lawful: Minor::ZERO, paid_with, reason: ReasonCode::CardUnknown };
            assert_eq!(unknown, Err(nothing));
            assert_eq!(
                check_charge(&charged(FeeKind::Surcharge, 0), None, Some(paid_with), |_| None),
                Ok(())
            );
        }
    }

    #[test]
    fn other_kinds_do_not_depend_on_the_card() {
        let debit = card(Brand::Visa, Funding::Debit, None);
        for kind in [FeeKind::Service, FeeKind::Convenience, FeeKind::Neutral] {
            assert_eq!(check_charge(&charged(kind, 375), None, Some(debit), |_| None), Ok(()), "{kind:?}");
            let checked = check_charge(&charged(kind, 375), None, Some(Instrument::NotCard), |_| None);
            assert_eq!(checked.is_err(), kind == FeeKind::Service, "{kind:?}");
        }
        let plain = FeeEntry::default().assess(Principal::new(12_500).unwrap());
        assert_eq!(check_charge(&plain, None, Some(debit), |_| None), Ok(()));
    }
}
