//! Refunds that wait for people: the provider is not asked before they have approved, and then once.

use serde_json::json;
use tollgate_domain::{
    ServiceReference,
    approval::{ApprovalState, VoteError},
    id::{ApprovalId, ChangeId, PaymentId},
    refund::RefundStatus,
    tenant::KeyKind,
};
use tollgate_engine::{
    ApprovalSubject, DecideError, Origin, RefundCreated, RefundError, RefundRequest,
    ports::{ApprovalQuery, ConfigChange, ConfigPut, RefundToApprove, StoreError},
};

use crate::{
    approvals::person,
    refund::{paid, refund, request, returned},
    support::{
        config,
        every_step::{UseCase, fails_at_every_step},
        world::World,
    },
};

const LARGE: u64 = 500;

async fn configure(world: &World) {
    let mut document = config::document();
    document["approvals"] = json!({ "refunds": [{
        "id": "large", "conditions": [{ "id": "amount", "field": "amountMinor", "op": "gte", "value": LARGE }],
    }] });
    world.configure(document).await;
}

async fn world() -> (World, PaymentId) {
    let world = World::new().await;
    configure(&world).await;
    let id = paid(&world).await;
    (world, id)
}

async fn waiting(world: &World) -> Vec<RefundToApprove> {
    let query = ApprovalQuery { state: Some(ApprovalState::Required), before: None, limit: 100 };
    world.store.refund_approvals(world.environment, query).await.unwrap()
}

fn approval_of(created: &RefundCreated) -> ApprovalId {
    created.refund.approval.as_ref().unwrap().id
}

async fn decide(
    world: &World,
    id: ApprovalId,
    approves: bool,
    by: &Origin,
) -> Result<RefundToApprove, DecideError> {
    match world.engine().decide_approval(world.environment, id, approves, by).await? {
        ApprovalSubject::Refund(decided) => Ok(*decided),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_refund_waits_until_somebody_else_has_approved_it() {
    let (world, id) = world().await;
    let operator = |key| RefundRequest { operator: Some(person(1)), ..request(key, Some(LARGE)) };
    let made = refund(&world, id, operator("refund-1")).await.unwrap();
    assert_eq!((made.refund.status, made.replayed), (RefundStatus::Pending, false));
    let approval = made.refund.approval.clone().unwrap();
    assert_eq!((approval.count, approval.reasons), (1, vec!["large".to_owned()]));
    world.settle().await;
    world.restart().await;
    world.settle().await;
    world.check().await;
    let again = refund(&world, id, operator("refund-1")).await.unwrap();
    assert_eq!((again.refund, again.replayed), (made.refund.clone(), true));
    assert_eq!((returned(&world), waiting(&world).await.len()), ((0, 0), 1), "nothing was asked for");
    let kinds = world.event_kinds(ServiceReference::Card(id)).await;
    assert_eq!(kinds.iter().filter(|kind| **kind == "approval.required").count(), 1);
    assert_eq!(kinds.last().copied(), Some("approval.required"));
    let exceeding = refund(&world, id, request("refund-2", Some(1_001 - LARGE))).await;
    assert!(matches!(exceeding, Err(RefundError::Exceeds { .. })), "what waits is not there: {exceeding:?}");

    let own = decide(&world, approval_of(&made), true, &person(1)).await;
    assert!(matches!(own, Err(DecideError::Vote(VoteError::Own))), "{own:?}");
    let approved = decide(&world, approval_of(&made), true, &person(2)).await.unwrap();
    assert_eq!(approved.refund.status, RefundStatus::Succeeded, "{approved:?}");
    assert_eq!(returned(&world).0, 1);
    let late = decide(&world, approval_of(&made), false, &person(3)).await;
    assert!(matches!(late, Err(DecideError::Vote(VoteError::Decided(ApprovalState::Approved)))), "{late:?}");
    world.settle().await;
    world.check().await;
    assert_eq!((returned(&world).0, waiting(&world).await.len()), (1, 0));
    assert_eq!(world.store.verify_audit_log().await.unwrap().problem, None);
}

#[tokio::test(start_paused = true)]
async fn parts_do_not_stay_below_what_the_whole_exceeds() {
    let (world, id) = world().await;
    let first = refund(&world, id, request("refund-1", Some(LARGE - 1))).await.unwrap();
    assert_eq!((first.refund.approval, first.refund.status), (None, RefundStatus::Succeeded));
    let second = refund(&world, id, request("refund-2", Some(1))).await.unwrap();
    assert_eq!(second.refund.status, RefundStatus::Pending);
    let denied = decide(&world, approval_of(&second), false, &person(1)).await.unwrap();
    assert_eq!(denied.refund.status, RefundStatus::Canceled);
    world.settle().await;
    world.check().await;
    assert_eq!(returned(&world).0, 1);
    // What was denied can be asked for again.
    let rest = refund(&world, id, request("refund-3", None)).await.unwrap();
    assert_eq!(rest.refund.principal.get(), 1_000 - (LARGE - 1));
    let again = refund(&world, id, request("refund-2", Some(1))).await.unwrap();
    assert_eq!((again.refund.status, again.replayed), (RefundStatus::Canceled, true));
}

#[tokio::test(start_paused = true)]
async fn nobody_approves_what_their_own_key_has_refunded() {
    let (world, id) = world().await;
    let key = world.engine().issue_key(world.environment, KeyKind::Secret, person(1)).await.unwrap().record;
    let made = RefundRequest { key: Some(key.id), ..request("refund-1", None) };
    let made = refund(&world, id, made).await.unwrap();
    let own = decide(&world, approval_of(&made), true, &person(1)).await;
    assert!(matches!(own, Err(DecideError::Vote(VoteError::Own))), "{own:?}");
    decide(&world, approval_of(&made), true, &person(2)).await.unwrap();
    assert_eq!(returned(&world).0, 1);
}

/// A newer configuration may ask for approvals that are not known here.
#[tokio::test(start_paused = true)]
async fn nothing_is_refunded_while_the_rules_are_not_known() {
    let (world, id) = world().await;
    let made = refund(&world, id, request("refund-1", Some(1))).await.unwrap();
    let later = ConfigChange {
        id: ChangeId::from_bytes([9; 16]),
        from_version: world.view().config_version,
        document: r#"{"approvals": {"refunds": [], "ofALaterRelease": []}}"#.to_owned(),
        actor: "a node of a later release".to_owned(),
        request: "req_later".to_owned(),
        at: world.engine().clock().now(),
        circuits: Vec::new(),
    };
    let put = world.store.put_config(world.environment, &later).await.unwrap();
    let ConfigPut::Done { version, directory } = put else { panic!("{put:?}") };
    world.engine().directory().catch_up_with_config(world.environment, version, directory).await;
    assert!(world.view().unusable.is_some());
    let refused = refund(&world, id, request("refund-2", Some(1))).await;
    assert!(matches!(refused, Err(RefundError::Store(StoreError::Unavailable(_)))), "{refused:?}");
    let again = refund(&world, id, request("refund-1", Some(1))).await.unwrap();
    assert_eq!((again.refund, again.replayed), (made.refund, true));
    assert_eq!(returned(&world).0, 1);
}

/// The approval of a refund: whatever fails, it waits or is sent once.
struct Approve(ApprovalId);

impl UseCase for Approve {
    type Answer = Result<RefundToApprove, DecideError>;

    async fn given(world: &World) -> Self {
        configure(world).await;
        let id = paid(world).await;
        Self(approval_of(&refund(world, id, request("refund-1", None)).await.unwrap()))
    }

    async fn act(&self, world: &World) -> Self::Answer {
        decide(world, self.0, true, &person(1)).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let found = world.store.refund_approval(world.environment, self.0).await.unwrap().unwrap();
        let is_approved = !found.refund.waits_for_approval();
        for answer in answers.iter().flatten() {
            match answer {
                Ok(_) | Err(DecideError::Vote(VoteError::Decided(ApprovalState::Approved))) => {
                    assert!(is_approved);
                }
                Err(DecideError::Store(_)) => {}
                other => panic!("{other:?}"),
            }
        }
        assert!(is_approved || answers.len() == 1);
        let sent = usize::from(found.refund.status == RefundStatus::Succeeded);
        assert_eq!((returned(world).0, is_approved || sent == 0), (sent, true));
    }
}

#[tokio::test(start_paused = true)]
async fn the_approval_of_a_refund_survives_every_fault() {
    fails_at_every_step::<Approve>().await;
}
