//! Card payments in the books: what they post, and what the month's statement makes of it.

use std::time::Duration;

use tokio::time::sleep;
use tollgate_domain::{
    Currency, Flow, Minor, PaymentMethod, ServiceReference, Timestamp,
    books::CardPostingKind,
    card::{DiscrepancyKind, ProviderStatus},
    id::PaymentId,
    refund::{RefundStatus, RefundTerms},
    statement::Month,
    transaction::{Dispute, Status},
};
use tollgate_engine::{CheckStatus, RefundRequest};

use crate::support::{
    config::{INTENTS, REGISTER, REGISTER_FROM},
    provider::whole_refund,
    requests::{charge_of, look_at},
    world::World,
};

const A_DAY_LATER: Duration = Duration::from_hours(25);

async fn paid(world: &World) -> PaymentId {
    let payment = world.prepared(Flow::PaymentComponent, 1_000).await;
    world.providers.records().page().status = ProviderStatus::Succeeded;
    world.confirm(payment.order.id, look_at(&payment.progress.object.unwrap())).await.unwrap();
    payment.order.id
}

async fn refund(world: &World, id: PaymentId, amount: u64) {
    let terms = RefundTerms {
        amount: Minor::new(amount),
        fee_refund: None,
        reason: None,
        description: None,
        metadata: "{}".to_owned(),
    };
    let request =
        RefundRequest { idempotency_key: format!("refund-{amount}"), terms, operator: None, key: None };
    let (engine, view) = (world.engine(), world.view());
    Box::pin(engine.refund(&view, ServiceReference::Card(id), request, "req_refund")).await.unwrap();
}

fn dispute(id: &str, status: &str, amount: u64) -> Dispute {
    Dispute {
        id: id.to_owned(),
        status: status.to_owned(),
        reason: Some("fraudulent".to_owned()),
        amount: Minor::new(amount),
        currency: None,
        respond_by: Some(Timestamp::from_unix_millis(1_900_000_000_000)),
        withdrawn: None,
    }
}

/// The provider's word of a dispute, learned a day later.
async fn disputed(world: &World, news: Dispute) {
    world.providers.records().page().dispute = Some(news);
    sleep(A_DAY_LATER).await;
    world.resolve().await;
}

/// What was posted: why, and by account.
async fn posted(world: &World, id: PaymentId) -> Vec<(CardPostingKind, [i128; 7])> {
    let postings = world.store.card_postings(world.environment, id).await.unwrap();
    let amounts = |posting: &tollgate_engine::ports::NewCardPosting| {
        (posting.posting.kind, posting.posting.amounts.accounts().map(|(_, amount)| amount))
    };
    postings.iter().map(amounts).collect()
}

#[tokio::test(start_paused = true)]
async fn a_payment_posts_principal_and_both_fees_and_refunds_give_their_share_back() {
    use CardPostingKind::{Payment, Refund, RefundReversed};
    let world = World::new().await;
    let id = paid(&world).await;
    refund(&world, id, 400).await;
    let expected = [(Payment, [1_050, 0, 0, 0, 1_000, 40, 10]), (Refund, [-420, 0, 400, 0, 0, -16, -4])];
    assert_eq!(posted(&world, id).await, expected);
    world.check().await;
    // The customer's bank sends it back days later.
    world.providers.records().page().refunds[0].status = RefundStatus::Failed;
    sleep(A_DAY_LATER).await;
    world.resolve().await;
    assert_eq!(posted(&world, id).await[2], (RefundReversed, [420, 0, -400, 0, 0, 16, 4]));
    assert_eq!(posted(&world, id).await.len(), 3);
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn a_disputed_amount_is_held_and_its_return_or_loss_is_posted() {
    use CardPostingKind::{DisputeHeld, DisputeLost, DisputeReturned, Payment};
    let world = World::new().await;
    let id = paid(&world).await;
    disputed(&world, dispute("dp_1", "needs_response", 1_050)).await;
    // A second dispute leaves the first as it was recorded; each is decided by itself.
    disputed(&world, dispute("dp_2", "warning_needs_response", 100)).await;
    disputed(&world, dispute("dp_1", "won", 1_050)).await;
    disputed(&world, dispute("dp_2", "needs_response", 100)).await;
    disputed(&world, dispute("dp_2", "lost", 100)).await;
    let expected = [
        (Payment, [1_050, 0, 0, 0, 1_000, 40, 10]),
        (DisputeHeld, [-1_050, 1_050, 0, 0, 0, 0, 0]),
        (DisputeReturned, [1_050, -1_050, 0, 0, 0, 0, 0]),
        (DisputeHeld, [-100, 100, 0, 0, 0, 0, 0]),
        // 5 of the 100 were fee: 4 of the platform's, 1 of the organization's.
        (DisputeLost, [0, -100, 0, 95, 0, -4, -1]),
    ];
    assert_eq!(posted(&world, id).await, expected);
    let payment = world.payment(id).await;
    assert_eq!(payment.disputes.len(), 2);
    let shown = payment.transaction.unwrap().state.dispute.unwrap();
    assert_eq!((shown.id.as_str(), shown.status.as_str()), ("dp_2", "lost"));
    assert_eq!(shown.respond_by, Some(Timestamp::from_unix_millis(1_900_000_000_000)));
    world.check().await;
}

/// A word says how a dispute stands. Whether the money is there is what the provider has taken and given back.
#[tokio::test(start_paused = true)]
async fn a_dispute_is_posted_by_what_was_taken_and_given_back() {
    use CardPostingKind::{DisputeHeld, DisputeLost, DisputeReturned, Payment};
    let world = World::new().await;
    let id = paid(&world).await;
    let news = |id: &str, status: &str, withdrawn: u64| Dispute {
        withdrawn: Minor::new(withdrawn),
        ..dispute(id, status, 1_050)
    };
    // Nothing is taken yet, and of an inquiry nothing ever.
    disputed(&world, news("dp_1", "needs_response", 0)).await;
    disputed(&world, news("dp_2", "warning_closed", 0)).await;
    disputed(&world, news("dp_1", "under_review", 1_050)).await;
    // Won, and the money is still away.
    disputed(&world, news("dp_1", "won", 1_050)).await;
    let expected =
        [(Payment, [1_050, 0, 0, 0, 1_000, 40, 10]), (DisputeHeld, [-1_050, 1_050, 0, 0, 0, 0, 0])];
    assert_eq!(posted(&world, id).await, expected);
    let open = world.engine().open_disputes(world.environment, 9).await.unwrap();
    assert_eq!(open.iter().map(|(_, it)| it.id.as_str()).collect::<Vec<_>>(), ["dp_1"]);
    disputed(&world, news("dp_1", "won", 0)).await;
    // Prevented by giving the customer the money: that is lost.
    disputed(&world, news("dp_3", "prevented", 100)).await;
    let later =
        [(DisputeReturned, [1_050, -1_050, 0, 0, 0, 0, 0]), (DisputeLost, [-100, 0, 0, 95, 0, -4, -1])];
    assert_eq!(posted(&world, id).await[2..], later);
    assert!(world.engine().open_disputes(world.environment, 9).await.unwrap().is_empty());
    let kinds = world.event_kinds(ServiceReference::Card(id)).await;
    let told: Vec<_> = kinds.into_iter().filter(|kind| kind.starts_with("dispute.")).collect();
    assert_eq!(told.len(), 6, "{told:?}");
    assert_eq!(told[3..5], ["dispute.updated", "dispute.closed"], "closed once the money is back");
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn what_the_payment_does_not_have_is_shown_to_a_person_and_not_booked() {
    let world = World::new().await;
    let id = paid(&world).await;
    let total = world.payment(id).await.order.fee.total_debit.get();
    let before = posted(&world, id).await;
    let kinds = async || exceptions(&world, id).await;
    // A dispute in another currency, and one over more than was paid.
    "EUR".clone_into(&mut world.providers.records().page().dispute_currency);
    disputed(&world, dispute("dp_1", "needs_response", 500)).await;
    let shown = world.payment(id).await.transaction.unwrap().state.dispute.unwrap();
    assert_eq!((shown.amount.map(Minor::get), shown.currency.as_deref()), (Some(500), Some("EUR")));
    "USD".clone_into(&mut world.providers.records().page().dispute_currency);
    disputed(&world, dispute("dp_1", "lost", total + 1)).await;
    assert_eq!(posted(&world, id).await, before);
    assert_eq!(
        kinds().await,
        [
            (DiscrepancyKind::Currency, "dispute dp_1 over 500 EUR".to_owned()),
            (DiscrepancyKind::Amount, format!("dispute dp_1 over {} USD", total + 1)),
        ]
    );
    let shown = world.payment(id).await.transaction.unwrap().state.dispute.unwrap();
    assert_eq!((shown.id.as_str(), shown.status.as_str()), ("dp_1", "lost"));
    assert_eq!((shown.amount.map(Minor::get), shown.currency), (Some(total + 1), None));
    world.check().await;
    // A refund in the dashboard over more than was paid: no more than that is given back.
    world.providers.records().page().refunds.push(whole_refund(total + 7));
    sleep(A_DAY_LATER).await;
    world.resolve().await;
    let found = kinds().await;
    let expected = (DiscrepancyKind::Refund, format!("refund_d over {}", total + 7));
    assert_eq!((found.len(), found.last()), (3, Some(&expected)));
    let payment = world.payment(id).await;
    assert_eq!(payment.refunds[0].total().get(), total);
    let state = payment.transaction.unwrap().state;
    assert_eq!((state.status, state.refunded.get()), (Status::Refunded, total));
    // It is told once.
    sleep(A_DAY_LATER).await;
    world.resolve().await;
    assert_eq!(kinds().await.len(), 3);
}

/// Providers report what they have taken beside what is contested: neither is booked where the payment does not have it.
#[tokio::test(start_paused = true)]
async fn what_was_withdrawn_in_another_currency_or_above_the_payment_is_not_booked() {
    use CardPostingKind::{DisputeHeld, DisputeReturned, Payment};
    for status in ["needs_response", "lost", "won", "prevented"] {
        for (currency, amount, withdrawn) in [
            ("EUR", 500, 500),
            ("EUR", 500, 0),
            ("USD", 1_051, 1_051),
            ("USD", 1_050, 1_051),
            ("USD", 1_051, 0),
        ] {
            let world = World::new().await;
            let id = paid(&world).await;
            let reported = |status: &str| Dispute {
                withdrawn: Minor::new(withdrawn),
                ..dispute("dp_1", status, amount)
            };
            currency.clone_into(&mut world.providers.records().page().dispute_currency);
            // The second day's report is the same and is recorded once.
            for status in [status, status] {
                disputed(&world, reported(status)).await;
            }
            let case = format!("{status}: {withdrawn} of {amount} {currency} withdrawn");
            let paid_only = [(Payment, [1_050, 0, 0, 0, 1_000, 40, 10])];
            assert_eq!(posted(&world, id).await, paid_only, "{case}");
            let found = exceptions(&world, id).await;
            let kind = if currency == "EUR" { DiscrepancyKind::Currency } else { DiscrepancyKind::Amount };
            let over = amount.max(withdrawn);
            assert_eq!(found, [(kind, format!("dispute dp_1 over {over} {currency}"))], "{case}");
            let shown = world.payment(id).await.transaction.unwrap().state.dispute.unwrap();
            assert_eq!((shown.status.as_str(), shown.amount), (status, Minor::new(amount)), "{case}");
            let foreign = (currency == "EUR").then_some("EUR");
            assert_eq!(shown.currency.as_deref(), foreign, "{case}");
            assert_eq!(shown.withdrawn, Some(Minor::ZERO), "{case}");
            world.check().await;
        }
    }
    // What was booked for the dispute before is not the amount of the one that cannot be.
    let world = World::new().await;
    let id = paid(&world).await;
    let taken = |withdrawn: Option<u64>, amount: u64| Dispute {
        withdrawn: withdrawn.and_then(Minor::new),
        ..dispute("dp_1", "needs_response", amount)
    };
    disputed(&world, taken(Some(400), 400)).await;
    disputed(&world, taken(None, 1_051)).await;
    let expected = [
        (Payment, [1_050, 0, 0, 0, 1_000, 40, 10]),
        (DisputeHeld, [-400, 400, 0, 0, 0, 0, 0]),
        (DisputeReturned, [400, -400, 0, 0, 0, 0, 0]),
    ];
    assert_eq!(posted(&world, id).await, expected);
    assert_eq!(exceptions(&world, id).await.len(), 1);
    // Once the provider has corrected itself, its amount counts.
    disputed(&world, taken(Some(300), 300)).await;
    assert_eq!(posted(&world, id).await[3..], [(DisputeHeld, [-300, 300, 0, 0, 0, 0, 0])]);
    assert_eq!(exceptions(&world, id).await.len(), 1);
    world.check().await;
}

/// Each is less than was paid, and both together are more.
#[tokio::test(start_paused = true)]
async fn several_disputes_take_no_more_than_the_payment() {
    use CardPostingKind::{DisputeHeld, DisputeLost, Payment};
    let world = World::new().await;
    let id = paid(&world).await;
    disputed(&world, dispute("dp_1", "lost", 700)).await;
    disputed(&world, dispute("dp_2", "needs_response", 350)).await;
    disputed(&world, dispute("dp_3", "needs_response", 1)).await;
    let posted = posted(&world, id).await;
    let kinds: Vec<_> = posted.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [Payment, DisputeLost, DisputeHeld]);
    assert_eq!(posted[2].1, [-350, 350, 0, 0, 0, 0, 0]);
    let found = exceptions(&world, id).await;
    assert_eq!(found, [(DiscrepancyKind::Amount, "dispute dp_3 over 1 USD after 1050 USD".to_owned())]);
    world.check().await;
}

/// The kinds of a payment's exceptions, and what was found.
async fn exceptions(world: &World, id: PaymentId) -> Vec<(DiscrepancyKind, String)> {
    let found = world.store.exceptions_of(world.environment, ServiceReference::Card(id)).await.unwrap();
    found.into_iter().map(|stored| (stored.exception.kind, stored.exception.found)).collect()
}

#[tokio::test(start_paused = true)]
async fn open_disputes_are_told_by_the_doctor() {
    let world = World::new().await;
    paid(&world).await;
    let found = async || {
        let checks = world.engine().run_checks().await;
        checks.into_iter().find(|check| check.name == "disputes")
    };
    assert!(found().await.is_none());
    disputed(&world, dispute("dp_1", "needs_response", 1_050)).await;
    let check = found().await.unwrap();
    assert_eq!(check.status, CheckStatus::Warning);
    assert_eq!(check.finding, "1 dispute is open; the next response is due by 2030-03-17 17:46 UTC");
    let open = world.engine().open_disputes(world.environment, 9).await.unwrap();
    assert_eq!(open[0].1.id, "dp_1");
    disputed(&world, dispute("dp_1", "lost", 1_050)).await;
    assert!(found().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_month_adds_up_over_providers_and_methods() {
    let world = World::new().await;
    let organization = world.view().environment.organization;
    let month = Month::of(world.engine().clock().now());
    let empty = world.engine().statement(organization, month).await.unwrap().unwrap();
    assert!(empty.environments.is_empty() && empty.is_complete);
    let id = paid(&world).await;
    refund(&world, id, 400).await;
    let sold = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
    world.confirm(sold, charge_of("token")).await.unwrap();

    let statement = world.engine().statement(organization, month).await.unwrap().unwrap();
    let [one] = statement.environments.as_slice() else { panic!("{statement:?}") };
    let row = |provider: &str| {
        let key = (provider.to_owned(), PaymentMethod::WebCard, Currency::USD);
        *one.rows.get(&key).unwrap()
    };
    let (intents, register) = (row(INTENTS), row(REGISTER));
    assert_eq!((intents.payments.count, intents.payments.principal, intents.refunds.count), (1, 1_000, 1));
    assert_eq!((intents.platform_fees(), intents.organization_fees()), (24, 6));
    assert_eq!((intents.refunds.principal, intents.due_from_provider), (400, 630));
    assert_eq!((register.platform_fees(), register.organization_fees()), (530, 500));
    let total = one.totals[&Currency::USD];
    assert_eq!((total.platform_fees(), total.organization_fees(), total.payments.count), (554, 506, 2));
    let csv = statement.csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 3, "{csv}");
    assert!(lines[1].ends_with(",0,0.00,0.24,0.06,6.30"), "{csv}");
    assert_eq!(lines[0].split(',').count(), lines[1].split(',').count());
    // Nothing of it belongs to the months around it, or to anybody else.
    for other in [month.previous(), month.next()] {
        let statement = world.engine().statement(organization, other).await.unwrap().unwrap();
        assert!(statement.environments.is_empty(), "{other}");
    }
    let nobody = tollgate_domain::id::OrganizationId::from_bytes([7; 16]);
    assert!(world.engine().statement(nobody, month).await.unwrap().is_none());
}
