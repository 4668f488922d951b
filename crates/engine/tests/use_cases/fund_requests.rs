//! Wallet movements that wait for people: nothing moves before they have approved, and then once.

use serde_json::json;
use tollgate_domain::{
    Currency,
    approval::{ApprovalState, VoteError},
    id::ApprovalId,
    ledger::Cause,
};
use tollgate_engine::{
    ApprovalSubject, DecideError, MoveError, MoveOutcome, Origin,
    ports::{ApprovalQuery, FundRequest},
};

use crate::{
    approvals::person,
    support::{
        config,
        every_step::{UseCase, fails_at_every_step},
        requests::{move_order, origin},
        world::{FUNDS, World},
    },
};

async fn configure(world: &World) {
    let mut document = config::document();
    document["approvals"] = json!({ "funds": [
        { "id": "large", "conditions": [{ "id": "amount", "field": "amountMinor", "op": "gt", "value": 500 }] },
        { "id": "out", "count": 2, "conditions": [{ "id": "out", "field": "cause", "op": "eq", "value": "withdraw" }] },
    ] });
    world.configure(document).await;
}

async fn available(world: &World) -> u64 {
    world.store.balances(world.environment, Currency::USD).await.unwrap().unwrap().available.get()
}

async fn ask(world: &World, cause: Cause, amount: u64, reference: &str) -> Result<MoveOutcome, MoveError> {
    let order = move_order(cause, amount, reference);
    world.engine().move_or_request(world.environment, order, &person(1)).await
}

async fn waits(world: &World, cause: Cause, amount: u64, reference: &str) -> (FundRequest, bool) {
    match ask(world, cause, amount, reference).await.unwrap() {
        MoveOutcome::Waits { request, replayed } => (*request, replayed),
        moved @ MoveOutcome::Moved(_) => panic!("{moved:?}"),
    }
}

async fn decide(
    world: &World,
    id: ApprovalId,
    approves: bool,
    by: &Origin,
) -> Result<FundRequest, DecideError> {
    match world.engine().decide_approval(world.environment, id, approves, by).await? {
        ApprovalSubject::Funds(decided) => Ok(*decided),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn funds_move_once_somebody_else_has_approved_it() {
    let world = World::new().await;
    configure(&world).await;
    assert!(matches!(ask(&world, Cause::Fund, 500, "small").await, Ok(MoveOutcome::Moved(_))));
    let before = FUNDS + 500;
    let (request, replayed) = waits(&world, Cause::Fund, 501, "large").await;
    assert_eq!((available(&world).await, replayed), (before, false));
    assert_eq!(waits(&world, Cause::Fund, 501, "large").await, (request.clone(), true));
    let reused = ask(&world, Cause::Fund, 502, "large").await;
    assert!(
        matches!(reused, Err(MoveError::ReferenceReused { amount }) if amount.get() == 501),
        "{reused:?}"
    );
    let id = request.approval.id;
    let nobody = decide(&world, id, true, &origin()).await;
    assert!(matches!(nobody, Err(DecideError::NotAPerson)), "{nobody:?}");
    let own = decide(&world, id, true, &person(1)).await;
    assert!(matches!(own, Err(DecideError::Vote(VoteError::Own))), "{own:?}");

    let (two, three) = (person(2), person(3));
    let (one, other) = tokio::join!(decide(&world, id, true, &two), decide(&world, id, true, &three));
    let decided = [one, other].into_iter().filter_map(Result::ok).collect::<Vec<_>>();
    let [decided] = decided.as_slice() else { panic!("{decided:?}") };
    assert_eq!(decided.approval.state, ApprovalState::Approved);
    assert_eq!(available(&world).await, before + 501);
    let again = ask(&world, Cause::Fund, 501, "large").await.unwrap();
    let MoveOutcome::Moved(applied) = again else { panic!("{again:?}") };
    assert_eq!((Some(applied.posting), applied.replayed), (decided.posting, true));
    let lines = world.engine().ledger(world.environment, Currency::USD, None, 1).await.unwrap();
    assert!(lines[0].actor.starts_with("person 1, approved by person"), "{}", lines[0].actor);
    world.check().await;
    assert_eq!(world.store.verify_audit_log().await.unwrap().problem, None);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_is_not_withdrawn_and_a_denial_is_final() {
    let world = World::new().await;
    configure(&world).await;
    let id = waits(&world, Cause::Withdraw, FUNDS + 1, "out").await.0.approval.id;
    assert_eq!(decide(&world, id, true, &person(2)).await.unwrap().approval.state, ApprovalState::Required);
    let short = decide(&world, id, true, &person(3)).await;
    assert!(matches!(short, Err(DecideError::Move(MoveError::Insufficient { .. }))), "{short:?}");
    world.fund(1).await;
    assert!(decide(&world, id, true, &person(3)).await.unwrap().posting.is_some());
    assert_eq!(available(&world).await, 0);

    let id = waits(&world, Cause::Fund, 700, "in").await.0.approval.id;
    assert_eq!(decide(&world, id, false, &person(1)).await.unwrap().approval.state, ApprovalState::Denied);
    let late = decide(&world, id, true, &person(2)).await;
    assert!(matches!(late, Err(DecideError::Vote(VoteError::Decided(ApprovalState::Denied)))), "{late:?}");
    let (known, replayed) = waits(&world, Cause::Fund, 700, "in").await;
    assert_eq!((known.approval.state, replayed, available(&world).await), (ApprovalState::Denied, true, 0));
    let query = ApprovalQuery { state: Some(ApprovalState::Required), before: None, limit: 9 };
    assert!(world.engine().approvals(world.environment, query).await.unwrap().is_empty());
    world.check().await;
}

/// The approval of a movement: whatever fails, the money moves with it, once.
struct Approve(ApprovalId);

impl UseCase for Approve {
    type Answer = Result<FundRequest, DecideError>;

    async fn given(world: &World) -> Self {
        configure(world).await;
        Self(waits(world, Cause::Fund, 600, "in").await.0.approval.id)
    }

    async fn act(&self, world: &World) -> Self::Answer {
        decide(world, self.0, true, &person(2)).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let found = world.store.fund_request(world.environment, self.0).await.unwrap().unwrap();
        let is_approved = found.approval.state == ApprovalState::Approved;
        assert_eq!(available(world).await, if is_approved { FUNDS + 600 } else { FUNDS });
        assert_eq!(found.posting.is_some(), is_approved);
        assert!(is_approved || answers.len() == 1);
        assert!(is_approved || !answers.iter().flatten().any(Result::is_ok), "{answers:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_approval_of_a_movement_survives_every_fault() {
    fails_at_every_step::<Approve>().await;
}
