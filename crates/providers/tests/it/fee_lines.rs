//! What customers read on hosted pages of a fee with a kind: a line of its own, and lines that add up.

use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::card::CardOrder;
use tollgate_domain::card_fee::FeeKind;
use tollgate_domain::fee::FeeEntry;
use tollgate_domain::{Currency, Flow, Minor, Principal};
use tollgate_engine::ports::Adapters as _;

use crate::conformance::adyen_entry;
use crate::offered::Offered as _;
use crate::support::{World, minor, order, provider, send, start};

fn order_with_fee(principal: u64, fee: u64) -> CardOrder {
    let plain = FeeEntry::default().assess(Principal::new(principal).unwrap());
    let fee = plain.with_fees(FeeKind::Service, minor(fee), Minor::ZERO);
    CardOrder { fee, ..order(Flow::HostedCheckout) }
}

async fn page(world: &World, adapter: Adapter, provider: &Provider, order: &CardOrder) -> String {
    let cards = world.providers.capabilities(adapter).cards.unwrap();
    let prepared = cards.prepare(provider, order).await.outcome.unwrap();
    send("GET", &prepared.checkout_url.unwrap(), &[], String::new()).await.unwrap().text
}

#[tokio::test]
async fn a_fee_with_a_kind_is_itemized() {
    let world = start().await;
    let adyen = provider(&adyen_entry(&format!("{}/adyen", world.origin)));
    let providers =
        [(Adapter::Stripe, &world.stripe), (Adapter::Square, &world.square), (Adapter::Adyen, &adyen)];
    for (adapter, provider) in providers {
        let shown = page(&world, adapter, provider, &order_with_fee(2_000, 60)).await;
        for said in ["2 × 10: 20.00 USD", "Service fee: 0.60 USD", "20.60 USD"] {
            assert!(shown.contains(said), "{adapter:?}: {said} is not in {shown}");
        }
        let free = page(&world, adapter, provider, &order_with_fee(2_000, 0)).await;
        assert!(!free.contains("Service fee"), "{adapter:?}: {free}");
    }
}

#[tokio::test]
async fn a_fee_that_the_provider_cannot_itemize_stays_in_the_total() {
    let world = start().await;
    // Multiples of ten are all that is taken in this currency, of every line.
    let odd = CardOrder { currency: Currency::parse("KWD").unwrap(), ..order_with_fee(2_005, 375) };
    let shown = page(&world, Adapter::Stripe, &world.stripe, &odd).await;
    assert!(shown.contains("2.380 KWD") && !shown.contains("Service fee"), "{shown}");
}

#[tokio::test]
async fn a_long_description_leaves_room_for_the_fee() {
    let world = start().await;
    let adyen = provider(&adyen_entry(&format!("{}/adyen", world.origin)));
    let long = CardOrder { description: Some("×".repeat(300)), ..order_with_fee(2_000, 60) };
    let shown = page(&world, Adapter::Adyen, &adyen, &long).await;
    assert!(shown.contains("×: 20.00 USD. Service fee: 0.60 USD."), "{shown}");
}
