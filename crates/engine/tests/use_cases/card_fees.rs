//! A surcharge that the card decides: whose places count, and that nothing is charged but what was agreed to for the card.

use std::time::Duration;

use tokio::time::sleep;
use tollgate_domain::{
    Flow, Minor, ServiceReference,
    card::ProviderStatus,
    card_fee::{Place, ReasonCode},
    id::PaymentId,
    refund::RefundStatus,
    transaction::Status,
};
use tollgate_engine::{ConfirmBody, ConfirmError, Confirmed, ports::CardPayment};
use tollgate_vault::Secret;

use crate::support::{
    config,
    faults::Fault,
    provider::credit_card,
    requests::{card_request, look_at},
    world::World,
};

/// 3 % of it are 3.75.
const PRINCIPAL: u64 = 12_500;
const GEORGIA: Option<&str> = Some("US-GA");

async fn surcharging() -> World {
    let world = World::new().await;
    world.configure(config::with_surcharge(400)).await;
    world
}

fn place(text: Option<&str>) -> Option<Place> {
    text.map(|text| Place::parse(text).unwrap())
}

async fn prepared_for(world: &World, payer: Option<&str>) -> PaymentId {
    let mut request = card_request(Flow::PaymentComponent, PRINCIPAL);
    request.quote.card_fee.payer = place(payer);
    world.engine().prepare(&world.view(), request, "req_prepare").await.unwrap().payment.order.id
}

/// The payment once the card behind the token was looked at.
async fn decide(world: &World, id: PaymentId, token: &str, payer: Option<&str>) -> CardPayment {
    let (reference, token) = (ServiceReference::Card(id), Secret::new(token));
    world.engine().decide_card_fee(&world.view(), reference, &token, place(payer), "req_card").await.unwrap()
}

fn fee_of(payment: &CardPayment) -> u64 {
    payment.progress.card_fee.as_ref().unwrap().latest().fee.get()
}

fn agreed(token: &str, total: u64) -> ConfirmBody {
    ConfirmBody::Agreed { token: Secret::new(token), total: Minor::new(total).unwrap(), payer: None }
}

#[track_caller]
fn changed(answer: Result<Confirmed, ConfirmError>) -> CardPayment {
    match answer {
        Err(ConfirmError::FeeChanged(payment)) => *payment,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn the_strictest_of_the_places_that_are_named_counts() {
    for (prepared, at_card, token, expected) in [
        // A form that collects country and postal code alone names no other place.
        (GEORGIA, None, "at US", 375),
        (None, GEORGIA, "at US", 375),
        (GEORGIA, None, "without an address", 375),
        (GEORGIA, None, "at US-FL", 375),
        (GEORGIA, None, "at US-CT", 0),
        (GEORGIA, None, "at FR", 0),
        (GEORGIA, None, "at US vague", 0),
        (None, None, "at US", 0),
        (Some("US"), None, "at US", 0),
        (Some("US"), GEORGIA, "at US", 375),
        (Some("US"), None, "at US-GA", 375),
        (None, GEORGIA, "at US vague", 0),
        (None, None, "at US-GA", 375),
        // What was said at first does not end with what is said later.
        (Some("US-CT"), GEORGIA, "at US", 0),
        (GEORGIA, Some("US-CT"), "at US-GA", 0),
    ] {
        let world = surcharging().await;
        let id = prepared_for(&world, prepared).await;
        let decided = decide(&world, id, token, at_card).await;
        assert_eq!(fee_of(&decided), expected, "{prepared:?} {at_card:?} {token}");
        let paid = world.confirm(id, agreed(token, PRINCIPAL + expected)).await.unwrap().payment;
        assert_eq!(paid.amounts().fee.get(), expected, "{prepared:?} {at_card:?} {token}");
        world.check().await;
    }
}

/// Both send the same token at once, and the provider refuses its surcharge.
#[tokio::test(start_paused = true)]
async fn a_card_whose_charge_was_given_up_is_not_charged_without_a_decision() {
    let world = surcharging().await;
    let id = prepared_for(&world, GEORGIA).await;
    let token = "refused";
    assert_eq!(fee_of(&decide(&world, id, token, None).await), 375);
    world.faults.arm(Fault::ProviderSlow, 1);
    let second = async {
        sleep(Duration::from_secs(1)).await;
        world.confirm(id, agreed(token, 12_875)).await
    };
    let (first, second) = tokio::join!(world.confirm(id, agreed(token, 12_875)), second);
    world.faults.disarm();
    for payment in [changed(first), changed(second)] {
        assert_eq!((fee_of(&payment), payment.transaction), (0, None));
    }
    assert_eq!(world.providers.records().count("pages.confirm"), 1);
    let paid = world.confirm(id, agreed(token, PRINCIPAL)).await.unwrap().payment;
    assert_eq!((paid.amounts().fee.get(), paid.transaction.unwrap().state.status), (0, Status::Succeeded));
    world.check().await;
}

/// While one card is charged, the payer has another looked at.
#[tokio::test(start_paused = true)]
async fn the_card_that_was_refused_is_the_one_that_was_charged() {
    let world = surcharging().await;
    let id = prepared_for(&world, GEORGIA).await;
    decide(&world, id, "refused", None).await;
    world.faults.arm(Fault::ProviderSlow, 1);
    let other = async {
        sleep(Duration::from_secs(1)).await;
        changed(world.confirm(id, agreed("another", 12_875)).await)
    };
    let (first, other) = tokio::join!(world.confirm(id, agreed("refused", 12_875)), other);
    world.faults.disarm();
    assert_eq!(fee_of(&other), 375);
    let refused = changed(first).progress.card_fee.unwrap();
    assert_eq!(refused.latest().reason(), ReasonCode::ProviderCannotReport);
    assert_eq!(refused.card.unwrap().token, refused.consents[0].card.token);
    assert_eq!(fee_of(&decide(&world, id, "another", None).await), 375);
    let paid = world.confirm(id, agreed("another", 12_875)).await.unwrap().payment;
    assert_eq!(paid.amounts().fee.get(), 375);
    world.check().await;
}

/// Some currencies are only taken in steps: the fee is lowered to one, and what goes back of it is raised to one.
#[tokio::test(start_paused = true)]
async fn a_fee_fits_what_the_provider_takes() {
    let world = surcharging().await;
    world.providers.records().amount_step = Some(10);
    let id = prepared_for(&world, GEORGIA).await;
    decide(&world, id, "asked", None).await;
    let asked = world.confirm(id, agreed("asked", 12_870)).await.unwrap().payment;
    let amounts = asked.charged();
    let parts = (amounts.fee.get(), amounts.platform.fee.get(), amounts.organization.fee.get());
    assert_eq!(parts, (370, 250, 120));
    // Another card pays, which costs 1 %: 1.25 may be kept.
    world.configure(config::with_surcharge(100)).await;
    world.providers.records().page().card = Some(credit_card("mastercard"));
    world.providers.records().page().status = ProviderStatus::Succeeded;
    world.confirm(id, look_at(&asked.progress.object.unwrap())).await.unwrap();
    world.settle().await;
    let paid = world.payment(id).await;
    let refunds: Vec<_> = paid.refunds.iter().map(|refund| (refund.fee.get(), refund.status)).collect();
    assert_eq!(refunds, [(250, RefundStatus::Succeeded)]);
    world.check().await;
}

/// After a decline the provider keeps the total that was agreed to for that card.
#[tokio::test(start_paused = true)]
async fn a_browser_that_confirms_alone_owes_no_fee() {
    for (token, expected) in [("declined", 375), ("asked", 0)] {
        let world = surcharging().await;
        let id = prepared_for(&world, GEORGIA).await;
        decide(&world, id, token, None).await;
        let tried = world.confirm(id, agreed(token, 12_875)).await.unwrap().payment;
        assert_eq!(tried.charged().fee.get(), 375, "{token}");
        world.providers.records().page().status = ProviderStatus::Succeeded;
        world.confirm(id, look_at(&tried.progress.object.unwrap())).await.unwrap();
        world.settle().await;
        let paid = world.payment(id).await;
        let returned: u64 = paid.refunds.iter().map(|refund| refund.fee.get()).sum();
        assert_eq!((returned, world.exceptions(id).await), (expected, usize::from(expected > 0)), "{token}");
        assert_eq!(paid.transaction.unwrap().state.status, Status::Succeeded);
        world.check().await;
    }
}

/// Of two attempts, the one that was taken is the one that paid.
#[tokio::test(start_paused = true)]
async fn a_fee_that_was_agreed_to_after_a_decline_is_kept() {
    let world = surcharging().await;
    let id = prepared_for(&world, GEORGIA).await;
    for (token, status) in [("declined", Status::Failed), ("good", Status::Succeeded)] {
        decide(&world, id, token, None).await;
        let tried = world.confirm(id, agreed(token, 12_875)).await.unwrap().payment;
        assert_eq!(tried.transaction.unwrap().state.status, status);
    }
    world.settle().await;
    assert_eq!((world.payment(id).await.refunds.len(), world.exceptions(id).await), (0, 0));
    world.check().await;
}
