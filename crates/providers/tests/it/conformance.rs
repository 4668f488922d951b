//! What every adapter has to do, whichever provider it speaks to. An adapter gets all of it by its description.

mod bench;
mod descriptions;
mod faults;
mod inbox;
mod redaction;
mod statuses;
mod webhooks;

use bench::{Bench, Make};
use descriptions::{ADYEN, INCREASE, MODERN_TREASURY, SQUARE, STRIPE};
use tollgate_domain::Channel;
use tollgate_engine::ports::{Adapters as _, Embedded};

use crate::support::{providers, quick};

pub(crate) use descriptions::{ADYEN_HMAC_KEY, adyen_entry};
pub(crate) use faults::{CASES, Told, told};
pub(crate) use inbox::Inbox;
pub(crate) use redaction::{Everything, tells_nothing};

macro_rules! conformance {
    ($($name:ident: $description:ident)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn everything_it_offers_is_described() {
                super::everything_it_offers_is_described(&$description);
            }

            #[tokio::test]
            async fn what_is_asked_again_is_made_once() {
                super::what_is_asked_again_is_made_once(&$description).await;
            }

            #[tokio::test]
            async fn it_is_made_once_through_every_fault() {
                faults::it_is_made_once_through_every_fault(&$description).await;
            }

            #[tokio::test]
            async fn a_slow_provider_is_not_believed_to_have_refused() {
                faults::a_slow_provider_is_not_believed_to_have_refused(&$description).await;
            }

            #[tokio::test]
            async fn a_refusal_after_a_lost_answer_is_no_proof() {
                faults::a_refusal_after_a_lost_answer_is_no_proof(&$description).await;
            }

            #[tokio::test]
            async fn it_is_read_through_every_fault() {
                faults::it_is_read_through_every_fault(&$description).await;
            }

            #[tokio::test]
            async fn statuses_are_read_as_the_table_says() {
                statuses::statuses_are_read_as_the_table_says(&$description).await;
            }

            #[tokio::test]
            async fn webhooks_are_believed_as_they_are_signed_and_no_other_way() {
                webhooks::webhooks_are_believed_as_they_are_signed_and_no_other_way(&$description).await;
            }

            #[tokio::test]
            async fn a_provider_that_repeats_secrets_gets_them_nowhere() {
                redaction::a_provider_that_repeats_secrets_gets_them_nowhere(&$description).await;
            }
        })*

        #[test]
        fn every_adapter_has_a_description() {
            let described = [$($description.adapter),*];
            assert_eq!(described, tollgate_configuration::Adapter::ALL);
        }
    };
}

conformance! {
    stripe: STRIPE
    square: SQUARE
    adyen: ADYEN
    increase: INCREASE
    modern_treasury: MODERN_TREASURY
}

/// What an adapter offers and what the suite makes with it are the same, so that nothing is left out.
fn everything_it_offers_is_described(description: &descriptions::Description) {
    let providers = providers();
    let offered = providers.capabilities(description.adapter);
    let mut expected = Vec::new();
    if let Some(cards) = offered.cards {
        expected.extend(cards.hosted_checkout().map(|_| Make::Page));
        expected.extend(cards.embedded().map(|embedded| match embedded {
            Embedded::InBrowser(_) => Make::Component,
            Embedded::ByToken(_) => Make::Charge,
        }));
        expected.extend(cards.refunds().map(|_| Make::Refund));
    }
    if offered.transfers.is_some() {
        expected.extend([Channel::StandardAch, Channel::SameDayAch, Channel::Instant].map(Make::Transfer));
    }
    let described: Vec<_> = description.makes.iter().map(|(make, ..)| *make).collect();
    assert_eq!(described, expected);
    assert!(offered.webhooks.is_some() && offered.checks.is_some());
}

async fn what_is_asked_again_is_made_once(description: &'static descriptions::Description) {
    let bench = Bench::start(description, quick()).await;
    for (make, operation, counted) in description.makes {
        let (case, before) = (bench.begin(*make).await, bench.count(counted).await);
        let first = bench.make(&case).await;
        let log = first.logs.iter().find(|log| log.operation == *operation).unwrap();
        let key = log.idempotency_key.clone();
        assert!(key.as_ref().is_some_and(|key| key.contains(&case.reference())), "{make:?}: {key:?}");
        let first = first.outcome.unwrap();
        // Also by a process that remembers nothing of the first.
        let again = bench.restarted().make(&case).await;
        assert_eq!(again.logs.last().unwrap().idempotency_key, key, "{make:?}");
        assert_eq!(again.outcome.unwrap().name, first.name, "{make:?}");
        assert_eq!(bench.count(counted).await - before, 1, "{make:?}");
        let other = bench.begin(*make).await;
        assert_ne!(bench.make(&other).await.outcome.unwrap().name, first.name, "{make:?}");
    }
}
