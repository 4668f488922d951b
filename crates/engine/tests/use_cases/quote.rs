//! Quotes: a route and a price, computed in memory.

use tollgate_domain::{Flow, PaymentMethod, routing::Unroutable};
use tollgate_engine::{SystemClock, quote};

use crate::support::{
    config::{self, BANK, INTENTS, REGISTER},
    faults::Fault,
    requests::quote_request,
    world::World,
};

#[tokio::test(start_paused = true)]
async fn a_quote_names_provider_and_price() {
    let world = World::new().await;
    let view = world.view();
    let (ach, card) = (PaymentMethod::Ach, PaymentMethod::WebCard);
    let (hosted, component) = (Some(Flow::HostedCheckout), Some(Flow::PaymentComponent));
    for (method, flow, amount, provider, total) in [
        (ach, None, 10_000, BANK, 10_000 + 30 + 100 + 100),
        (card, hosted, 1_000, INTENTS, 1_000 + 30 + 10 + 10),
        (card, component, 49_999, INTENTS, 49_999 + 30 + 500 + 500),
        (card, component, 50_000, REGISTER, 50_000 + 30 + 500 + 500),
        (card, hosted, 50_049, REGISTER, 50_049 + 30 + 500 + 500),
    ] {
        let quoted = quote(&view.configuration, &SystemClock, &quote_request(method, flow, amount)).unwrap();
        assert_eq!(&*quoted.route.target.provider, provider, "{amount}");
        assert_eq!(quoted.fee.total_debit.get(), total, "{amount}");
    }
}

#[tokio::test(start_paused = true)]
async fn where_routing_is_disabled_there_is_no_quote() {
    let world = World::new().await;
    let mut document = config::document();
    document["routing"]["ach"]["enabled"] = false.into();
    world.configure(document).await;
    let request = quote_request(PaymentMethod::Ach, None, 10_000);
    assert_eq!(quote(&world.view().configuration, world.clock(), &request), Err(Unroutable::Disabled));
}

#[tokio::test(start_paused = true)]
async fn a_quote_asks_neither_store_nor_provider() {
    let world = World::new().await;
    for fault in [Fault::StoreGone, Fault::ProviderUnsent] {
        world.faults.arm(fault, 1);
        let request = quote_request(PaymentMethod::Ach, None, 10_000);
        quote(&world.view().configuration, world.clock(), &request).unwrap();
        world.engine().preview_transfer(&world.view(), &request).await.unwrap();
        assert_eq!(world.faults.disarm(), None);
    }
}
