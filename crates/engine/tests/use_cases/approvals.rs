//! What waits for people: never sent or in force before as many as it takes have approved, and then once.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_domain::{
    Currency, ServiceReference,
    approval::{ApprovalState, Proposal, VoteError},
    audit_log::ActorKind,
    event::EventKind,
    id::{ApprovalId, KeyId, UserId},
    ledger::Balances,
    people::{Access, Role, SignOnSubject},
    tenant::KeyKind,
    transaction::Status,
};
use tollgate_engine::{
    AppliedConfig, ApprovalSubject, ConfigureError, Configured, DecideError, NewUser, Origin,
    TransferCreated, TransferError, TransferRequest, UserChange,
    ports::{ApprovalQuery, AuditLogFilter, ConfigProposal, Transfer},
};
use tollgate_vault::Secret;

use crate::routes_model::Draw;
use crate::support::{
    config,
    every_step::{UseCase, fails_at_every_step},
    requests::{origin, transfer_request},
    world::{FUNDS, World},
};

const KEY: &str = "a caller's key";
const LARGE: u64 = 10_000;
const CASES: usize = 40;
const STEPS: usize = 20;
const LIFETIME: Duration = Duration::from_hours(24);

pub(crate) fn person(number: u8) -> Origin {
    Origin {
        actor: format!("person {number}"),
        request: "req_decide".to_owned(),
        kind: ActorKind::User(UserId::from_bytes([number; 16])),
        address: None,
        people: vec![UserId::from_bytes([number; 16])],
        token: None,
    }
}

fn rule(count: u32) -> Value {
    json!([{
        "id": "large", "count": count,
        "conditions": [{ "id": "amount", "field": "amountMinor", "op": "gte", "value": LARGE }],
    }])
}

fn document(rules: &Value, configuration: bool) -> Value {
    let mut document = config::document();
    document["approvals"] = json!({ "transfers": rules, "configuration": configuration });
    document
}

async fn configure(world: &World, rules: Value) {
    world.configure(document(&rules, false)).await;
}

async fn world_with(rules: Value) -> World {
    let world = World::new().await;
    configure(&world, rules).await;
    world
}

async fn waiting(world: &World) -> Vec<Transfer> {
    let query = ApprovalQuery { state: Some(ApprovalState::Required), before: None, limit: 100 };
    world.store.approvals(world.environment, query).await.unwrap()
}

fn approval_of(transfer: &Transfer) -> ApprovalId {
    transfer.progress.approval.as_ref().unwrap().id
}

async fn decide(world: &World, id: ApprovalId, approves: bool, by: &Origin) -> Result<Transfer, DecideError> {
    match world.engine().decide_approval(world.environment, id, approves, by).await? {
        ApprovalSubject::Transfer(transfer) => Ok(*transfer),
        other => panic!("{other:?}"),
    }
}

async fn balances(world: &World) -> Balances {
    world.engine().balances(world.environment, Currency::USD).await.unwrap()
}

fn sent(world: &World) -> usize {
    world.providers.records().transfers.len()
}

#[tokio::test(start_paused = true)]
async fn a_transfer_waits_until_enough_people_have_approved_it() {
    let world = world_with(rule(2)).await;
    let small = world.send("small", LARGE - 1).await.unwrap().transfer;
    assert_eq!((small.progress.approval, sent(&world)), (None, 1));

    let made = world.send(KEY, LARGE).await.unwrap();
    assert_eq!(made.transfer.state.status, Status::Pending);
    let id = approval_of(&made.transfer);
    assert!(world.send(KEY, LARGE).await.unwrap().replayed);
    world.settle().await;
    world.check().await;
    assert_eq!((sent(&world), waiting(&world).await.len()), (1, 1), "nothing but the small one is sent");
    let reference = ServiceReference::Ach(made.transfer.order.id);
    let kinds = world.event_kinds(reference).await;
    assert_eq!(kinds, ["transaction.pending", "approval.required"]);

    let nobody = decide(&world, id, true, &origin()).await;
    assert!(matches!(nobody, Err(DecideError::NotAPerson)), "{nobody:?}");
    let first = decide(&world, id, true, &person(1)).await.unwrap();
    assert_eq!(first.state.status, Status::Pending);
    let again = decide(&world, id, true, &person(1)).await;
    assert!(matches!(again, Err(DecideError::Vote(VoteError::Repeated))), "{again:?}");
    world.settle().await;
    assert_eq!(sent(&world), 1, "one is not enough");
    let second = decide(&world, id, true, &person(2)).await.unwrap();
    assert_eq!(second.state.status, Status::Processing, "{second:?}");
    assert_eq!((sent(&world), waiting(&world).await.len()), (2, 0));
    let late = decide(&world, id, false, &person(3)).await;
    assert!(matches!(late, Err(DecideError::Vote(VoteError::Decided(ApprovalState::Approved)))), "{late:?}");
    world.settle().await;
    world.check().await;
    assert_eq!(world.store.verify_audit_log().await.unwrap().problem, None);
}

#[tokio::test(start_paused = true)]
async fn a_denial_is_final_and_gives_the_funds_back() {
    let world = world_with(rule(2)).await;
    let id = approval_of(&world.send(KEY, LARGE).await.unwrap().transfer);
    assert!(balances(&world).await.reserved.get() > LARGE);
    decide(&world, id, true, &person(1)).await.unwrap();
    let denied = decide(&world, id, false, &person(2)).await.unwrap();
    assert_eq!(denied.state.status, Status::Canceled);
    assert_eq!(denied.progress.sealed_account, None, "the bank details are gone");
    assert_eq!((balances(&world).await.available.get(), balances(&world).await.reserved.get()), (FUNDS, 0));
    let late = decide(&world, id, true, &person(3)).await;
    assert!(matches!(late, Err(DecideError::Vote(VoteError::Decided(ApprovalState::Denied)))), "{late:?}");
    world.settle().await;
    world.check().await;
    assert_eq!(sent(&world), 0);
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_people_is_canceled_at_once() {
    let world = world_with(rule(1)).await;
    let made = world.send(KEY, LARGE).await.unwrap().transfer;
    let (engine, view) = (world.engine(), world.view());
    let reference = ServiceReference::Ach(made.order.id);
    let canceled = Box::pin(engine.cancel_transfer(&view, reference, None, "req_cancel")).await.unwrap();
    assert_eq!(canceled.transfer.state.status, Status::Canceled);
    let late = decide(&world, approval_of(&made), true, &person(1)).await;
    assert!(matches!(late, Err(DecideError::Vote(VoteError::Decided(ApprovalState::Canceled)))), "{late:?}");
    world.settle().await;
    world.check().await;
    assert_eq!((sent(&world), balances(&world).await.available.get()), (0, FUNDS));
}

#[tokio::test(start_paused = true)]
async fn nobody_approves_what_their_own_key_has_made() {
    let world = world_with(rule(1)).await;
    let key = world.engine().issue_key(world.environment, KeyKind::Secret, person(1)).await.unwrap().record;
    let rotated = Duration::from_mins(1);
    let key = world.engine().rotate_key(world.environment, key.id, rotated, person(2)).await.unwrap().record;
    let request = TransferRequest { key: Some(key.id), ..transfer_request(&world, KEY, LARGE) };
    let made = world.engine().create_transfer(&world.view(), request, "req_transfer").await.unwrap().transfer;
    let own = decide(&world, approval_of(&made), true, &person(2)).await;
    assert!(matches!(own, Err(DecideError::Vote(VoteError::Own))), "{own:?}");
    assert_eq!(sent(&world), 0);
    decide(&world, approval_of(&made), true, &person(1)).await.unwrap();
    assert_eq!(sent(&world), 1);
}

#[tokio::test(start_paused = true)]
async fn the_first_transfer_to_an_account_waits_until_one_was_approved() {
    let first = json!([{ "id": "new-account",
        "conditions": [{ "id": "first", "field": "firstToAccount", "op": "eq", "value": true }] }]);
    let world = world_with(first).await;
    let one = world.send("one", 1).await.unwrap().transfer;
    let two = world.send("two", 2).await.unwrap().transfer;
    assert_eq!(waiting(&world).await.len(), 2, "one that waits vouches for nothing");
    decide(&world, approval_of(&one), false, &person(1)).await.unwrap();
    let three = world.send("three", 3).await.unwrap().transfer;
    assert!(three.progress.approval.is_some(), "nor does one that was denied");
    decide(&world, approval_of(&two), true, &person(1)).await.unwrap();
    assert_eq!(world.send("four", 4).await.unwrap().transfer.progress.approval, None);
    let mut request = transfer_request(&world, "five", 5);
    request.bank.account.account_number = Secret::new("000123456780");
    let other =
        world.engine().create_transfer(&world.view(), request, "req_transfer").await.unwrap().transfer;
    assert!(other.progress.approval.is_some());
}

#[tokio::test(start_paused = true)]
async fn what_exceeds_a_limit_for_review_waits_for_a_person() {
    let world = World::new().await;
    let mut document = config::document();
    document["limits"] = json!([
        { "id": "daily", "paymentMethod": "ach", "per": "environment", "windowSeconds": 86_400, "maxCount": 1,
          "action": "review" },
        { "id": "hard", "paymentMethod": "ach", "per": "environment", "windowSeconds": 86_400, "maxCount": 3 },
    ]);
    world.configure(document).await;
    assert_eq!(world.send("one", 10).await.unwrap().transfer.progress.approval, None);
    for key in ["two", "three"] {
        let made = world.send(key, 10).await.unwrap().transfer;
        let approval = made.progress.approval.unwrap();
        assert_eq!((approval.count, approval.reasons), (1, vec!["limit daily".to_owned()]));
    }
    assert!(matches!(world.send("four", 10).await, Err(TransferError::LimitExceeded(_))));
    // One that was denied counts no more.
    decide(&world, approval_of(&waiting(&world).await[0]), false, &person(1)).await.unwrap();
    assert!(world.send("four", 10).await.unwrap().transfer.progress.approval.is_some());
    world.settle().await;
    world.check().await;
}

/// A transfer that has to wait: whatever fails, it is recorded once, announced once, and not sent.
struct Wait;

impl UseCase for Wait {
    type Answer = Result<TransferCreated, TransferError>;

    async fn given(world: &World) -> Self {
        configure(world, rule(1)).await;
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.send(KEY, LARGE).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        assert_eq!(sent(world), 0);
        if answers.len() == 2 {
            assert!(matches!(answers[1], Some(Ok(_))), "{:?}", answers[1]);
            // It is announced by the resolver where that could not be done at once.
            world.settle().await;
            let [transfer] = <[Transfer; 1]>::try_from(waiting(world).await).unwrap();
            let kinds = world.event_kinds(ServiceReference::Ach(transfer.order.id)).await;
            assert_eq!(kinds, ["transaction.pending", "approval.required"]);
            let balances = balances(world).await;
            assert_eq!(balances.reserved, transfer.order.fee.total_debit);
        }
    }
}

/// The last approval: whatever fails, the transfer waits or is sent once.
struct Approve(ApprovalId);

impl UseCase for Approve {
    type Answer = Result<Transfer, DecideError>;

    async fn given(world: &World) -> Self {
        configure(world, rule(1)).await;
        Self(approval_of(&world.send(KEY, LARGE).await.unwrap().transfer))
    }

    async fn act(&self, world: &World) -> Self::Answer {
        decide(world, self.0, true, &person(1)).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let transfer = world.store.approval(world.environment, self.0).await.unwrap().unwrap();
        let approval = transfer.progress.approval.as_ref().unwrap();
        let is_approved = approval.state == ApprovalState::Approved;
        for answer in answers.iter().flatten() {
            match answer {
                Ok(_) | Err(DecideError::Vote(VoteError::Decided(ApprovalState::Approved))) => {
                    assert!(is_approved);
                }
                Err(DecideError::Store(_)) => {}
                other => panic!("{other:?}"),
            }
        }
        if answers.len() == 2 {
            assert!(is_approved);
        }
        assert_eq!(sent(world), usize::from(is_approved && transfer.state.provider_reference.is_some()));
        let entries = world.store.audit_log(&approvals_given(), None, 10).await.unwrap();
        let of_this = entries.iter().filter(|found| found.entry.subject == self.0.to_string());
        assert_eq!(of_this.count(), usize::from(is_approved), "each vote has one entry");
    }
}

fn approvals_given() -> AuditLogFilter {
    let action = Some("approval.approve".to_owned());
    AuditLogFilter { action, ..AuditLogFilter::default() }
}

/// A denial: whatever fails, nothing is sent, and the funds come back once.
struct Deny(ApprovalId);

impl UseCase for Deny {
    type Answer = Result<Transfer, DecideError>;

    async fn given(world: &World) -> Self {
        Self(Approve::given(world).await.0)
    }

    async fn act(&self, world: &World) -> Self::Answer {
        decide(world, self.0, false, &person(1)).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        assert_eq!(sent(world), 0);
        if answers.len() == 2 {
            let balances = balances(world).await;
            assert_eq!((balances.available.get(), balances.reserved.get()), (FUNDS, 0));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_survives_every_fault() {
    fails_at_every_step::<Wait>().await;
}

#[tokio::test(start_paused = true)]
async fn an_approval_survives_every_fault() {
    fails_at_every_step::<Approve>().await;
}

#[tokio::test(start_paused = true)]
async fn a_denial_survives_every_fault() {
    fails_at_every_step::<Deny>().await;
}

/// Somebody who signs in with an issuer, in a role.
async fn signed_in(world: &World, email: &str, role: Role, by: &Origin) -> Origin {
    let access = Access { role, organizations: None };
    let new = NewUser { name: email.to_owned(), email: email.to_owned(), access };
    let user = world.engine().create_user(new, by).await.unwrap().user;
    of_user(world, user.id)
}

fn of_user(world: &World, user: UserId) -> Origin {
    Origin::of(world.engine().identify_user(user).as_ref(), None, "req_user".to_owned(), None)
}

fn user_of(by: &Origin) -> UserId {
    by.kind.user().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_person_who_comes_back_is_still_the_one_who_made_it() {
    let world = World::new().await;
    world.configure(document(&rule(1), true)).await;
    let (engine, nobody) = (world.engine(), origin());
    let ada = signed_in(&world, "ada@example.com", Role::Operator, &nobody).await;
    let key = engine.issue_key(world.environment, KeyKind::Secret, ada.clone()).await.unwrap().record.id;
    let request = TransferRequest { key: Some(key), ..transfer_request(&world, KEY, LARGE) };
    let created = engine.create_transfer(&world.view(), request, "req_transfer").await.unwrap();
    let TransferCreated { transfer, .. } = created;
    let proposal = propose(&world, json!([]), ada.clone()).await;

    // Removed and added again as an approver, with other letters.
    engine.remove_user(user_of(&ada), &nobody).await.unwrap();
    let back = signed_in(&world, "Ada@Example.com", Role::Approver, &nobody).await;
    assert_ne!(user_of(&back), user_of(&ada));
    // Another user whom the issuer knows as the same person.
    let alias = signed_in(&world, "countess@example.com", Role::Admin, &nobody).await;
    let subject = SignOnSubject { issuer: "https://id.example.com".to_owned(), subject: "ada".to_owned() };
    for user in [user_of(&back), user_of(&alias)] {
        engine.bind_subject(user, &subject, &nobody).await.unwrap();
    }
    // The role is changed in place.
    let change = UserChange { role: Some(Role::Admin), ..UserChange::default() };
    engine.change_user(user_of(&back), change, &nobody).await.unwrap();
    // Somebody she added, and who signs in by themselves.
    let added = signed_in(&world, "eve@example.com", Role::Approver, &back).await;
    for by in [&back, &of_user(&world, user_of(&back)), &alias, &added] {
        for id in [approval_of(&transfer), proposal] {
            let own = engine.decide_approval(world.environment, id, true, by).await;
            assert!(matches!(own, Err(DecideError::Vote(VoteError::Own))), "{by:?}: {own:?}");
        }
    }
    assert_eq!((sent(&world), world.view().config_version), (0, 2));
    let grace = signed_in(&world, "grace@example.com", Role::Approver, &nobody).await;
    decide(&world, approval_of(&transfer), true, &grace).await.unwrap();
    assert_eq!(sent(&world), 1);
    engine.decide_approval(world.environment, proposal, true, &grace).await.unwrap();
    assert_eq!(world.view().config_version, 3);
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn one_person_under_two_users_is_not_two_people() {
    let world = world_with(rule(2)).await;
    let (engine, nobody) = (world.engine(), origin());
    let id = approval_of(&world.send(KEY, LARGE).await.unwrap().transfer);
    let first = signed_in(&world, "ada@example.com", Role::Approver, &nobody).await;
    decide(&world, id, true, &first).await.unwrap();
    engine.remove_user(user_of(&first), &nobody).await.unwrap();
    let back = signed_in(&world, "ada@example.com", Role::Approver, &nobody).await;
    let again = decide(&world, id, true, &back).await;
    assert!(matches!(again, Err(DecideError::Vote(VoteError::Repeated))), "{again:?}");
    // Whoever added two users may be both.
    let root = signed_in(&world, "root@example.com", Role::Admin, &nobody).await;
    let (one, two) = (
        signed_in(&world, "one@example.com", Role::Approver, &root).await,
        signed_in(&world, "two@example.com", Role::Approver, &root).await,
    );
    let other = approval_of(&world.send("another key", LARGE).await.unwrap().transfer);
    decide(&world, other, true, &one).await.unwrap();
    let again = decide(&world, other, true, &two).await;
    assert!(matches!(again, Err(DecideError::Vote(VoteError::Repeated))), "{again:?}");
    assert_eq!(sent(&world), 0);
}

/// What one person may call as an admin, and what time does. The first number is which of their credentials it is done with.
#[derive(Debug, Clone, Copy)]
enum Step {
    Send(u8),
    Approve(usize, u8),
    Deny(usize, u8),
    Cancel(u8),
    IssueKey(usize),
    /// A user of their invention, and a token of it.
    AddUser(usize),
    /// The first user is removed, and added again with the same address.
    ComeBack(usize),
    /// A configuration without the rules.
    Relax(usize),
    /// The decision on a proposed configuration.
    Put(usize),
    Resolve,
    Restart,
}

impl Step {
    fn draw(draw: &mut Draw) -> Self {
        let (number, with) = (u8::try_from(draw.below(3)).unwrap(), usize::try_from(draw.below(4)).unwrap());
        match draw.below(20) {
            0..3 => Self::Send(number),
            3..8 => Self::Approve(with, number),
            8 => Self::Deny(with, number),
            9 => Self::Cancel(number),
            10 => Self::IssueKey(with),
            11..13 => Self::AddUser(with),
            13 => Self::ComeBack(with),
            14 => Self::Relax(with),
            15..17 => Self::Put(with),
            17..19 => Self::Resolve,
            _ => Self::Restart,
        }
    }
}

/// A new user's token, as whoever issued it can use it.
async fn invented(world: &World, number: usize, by: &Origin) -> Origin {
    let engine = world.engine();
    let access = Access { role: Role::Admin, organizations: None };
    let new = NewUser { name: format!("user {number}"), email: format!("user.{number}@example.com"), access };
    let user = engine.create_user(new, by).await.unwrap().user;
    let token = engine.issue_user_token(user.id, "laptop".to_owned(), LIFETIME, by).await.unwrap();
    let identity = engine.identify_token(token.record.id).unwrap();
    Origin::of(Some(&identity), None, "req_user".to_owned(), None)
}

fn invented_user(world: &World, email: &str) -> Option<UserId> {
    world.engine().user_of_email(email)
}

/// One person, alone, with keys and users of theirs: nothing that needs two approvals is ever sent.
async fn one_person_alone(steps: &[Step]) {
    let world = World::new().await;
    world.configure(document(&rule(2), true)).await;
    let mut mine = vec![person(1)];
    let mut key: Option<KeyId> = None;
    let id = |number: u8| world.engine().transfer_reference(&world.view(), &format!("transfer {number}"));
    for step in steps {
        let with = |which: usize| &mine[which % mine.len()];
        match *step {
            Step::Send(number) => {
                let name = format!("transfer {number}");
                let request = TransferRequest { key, ..transfer_request(&world, &name, LARGE) };
                let _ = world.engine().create_transfer(&world.view(), request, "req_transfer").await;
            }
            Step::Approve(which, number) | Step::Deny(which, number) => {
                let approves = matches!(step, Step::Approve(..));
                if let Some(transfer) = world.transfer(id(number)).await {
                    let _ = decide(&world, approval_of(&transfer), approves, with(which)).await;
                }
            }
            Step::Cancel(number) => {
                let (engine, view) = (world.engine(), world.view());
                let reference = ServiceReference::Ach(id(number));
                let _ = Box::pin(engine.cancel_transfer(&view, reference, None, "req_cancel")).await;
            }
            Step::IssueKey(which) => {
                let by = with(which).clone();
                let issued = world.engine().issue_key(world.environment, KeyKind::Secret, by).await;
                key = Some(issued.unwrap().record.id);
            }
            Step::AddUser(which) => {
                let new = invented(&world, mine.len(), with(which)).await;
                mine.push(new);
            }
            Step::ComeBack(which) => {
                if let Some(gone) = invented_user(&world, "user.1@example.com") {
                    world.engine().remove_user(gone, with(which)).await.unwrap();
                    let back = invented(&world, 1, with(which)).await;
                    mine[1] = back;
                }
            }
            Step::Relax(which) => {
                let relaxed = document(&json!([]), false);
                let put =
                    world.engine().put_config(world.environment, relaxed, None, with(which).clone()).await;
                assert!(matches!(put.unwrap().outcome, Configured::Proposed { .. }));
            }
            Step::Put(which) => {
                for proposal in proposals(&world).await {
                    let (engine, id) = (world.engine(), proposal.approval.id);
                    let put = engine.decide_approval(world.environment, id, true, with(which)).await;
                    assert!(matches!(put, Err(DecideError::Vote(VoteError::Own))), "{put:?}");
                }
            }
            Step::Resolve => world.settle().await,
            Step::Restart => world.restart().await,
        }
        assert_eq!(sent(&world), 0, "after {step:?} of {steps:?}");
    }
    world.settle().await;
    world.check().await;
    assert_eq!(sent(&world), 0, "{steps:?}");
    assert_eq!(world.view().config_version, 2, "{steps:?}");
}

#[tokio::test(start_paused = true)]
async fn no_calls_of_one_person_send_what_needs_two() {
    let mut draw = Draw::seeded("TOLLGATE_APPROVAL_SEED");
    for _ in 0..CASES {
        let steps: Vec<_> = (0..STEPS).map(|_| Step::draw(&mut draw)).collect();
        one_person_alone(&steps).await;
    }
}

async fn proposals(world: &World) -> Vec<ConfigProposal> {
    let query = ApprovalQuery { state: Some(ApprovalState::Required), before: None, limit: 100 };
    world.store.config_proposals(world.environment, query).await.unwrap()
}

async fn propose(world: &World, rules: Value, by: Origin) -> ApprovalId {
    let put = world.engine().put_config(world.environment, document(&rules, true), None, by).await.unwrap();
    let Configured::Proposed { approval } = put.outcome else { panic!("{put:?}") };
    approval
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_configuration_is_put_in_force_by_somebody_else() {
    let world = World::new().await;
    world.configure(document(&rule(1), true)).await;
    let id = propose(&world, rule(2), person(1)).await;
    assert_eq!(world.view().config_version, 2, "not yet");
    let [proposal] = <[ConfigProposal; 1]>::try_from(proposals(&world).await).unwrap();
    let change = world.engine().proposed_change(&proposal).await.unwrap().unwrap();
    let paths: Vec<_> = change.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!((change.version, paths), (2, vec!["approvals.transfers[large].count"]));

    let decide = async |by: &Origin, approves| {
        world.engine().decide_approval(world.environment, id, approves, by).await
    };
    assert!(matches!(decide(&person(1), true).await, Err(DecideError::Vote(VoteError::Own))));
    assert!(matches!(decide(&origin(), true).await, Err(DecideError::NotAPerson)));
    let ApprovalSubject::Configuration(put) = decide(&person(2), true).await.unwrap() else { panic!() };
    assert_eq!((put.version, world.view().config_version), (Some(3), 3));
    assert_eq!(world.view().configuration.approvals.transfers[0].count, 2);
    let decided = decide(&person(3), false).await;
    assert!(matches!(decided, Err(DecideError::Vote(VoteError::Decided(ApprovalState::Approved)))));
    let history = world.engine().config_history(world.environment, None, 1).await.unwrap();
    assert_eq!(history[0].actor, "person 1, approved by person 2");
}

#[tokio::test(start_paused = true)]
async fn a_change_that_was_made_from_an_older_version_is_canceled() {
    let world = World::new().await;
    world.configure(document(&rule(1), true)).await;
    let (first, second) =
        (propose(&world, rule(2), person(1)).await, propose(&world, rule(3), person(1)).await);
    let engine = world.engine();
    engine.decide_approval(world.environment, first, true, &person(2)).await.unwrap();
    let late = engine.decide_approval(world.environment, second, true, &person(2)).await;
    assert!(matches!(late, Err(DecideError::Stale { current: 3 })), "{late:?}");
    assert_eq!(world.view().config_version, 3);
    let now = engine.approval(world.environment, second).await.unwrap().unwrap();
    assert_eq!(now.approval().unwrap().state, ApprovalState::Canceled);
}

/// The approval of a change: whatever fails, it waits or is in force once.
struct PutProposal(ApprovalId);

impl UseCase for PutProposal {
    type Answer = Result<ApprovalSubject, DecideError>;

    async fn given(world: &World) -> Self {
        world.configure(document(&rule(1), true)).await;
        Self(propose(world, rule(2), person(1)).await)
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.engine().decide_approval(world.environment, self.0, true, &person(2)).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let found = world.store.config_proposal(world.environment, self.0).await.unwrap().unwrap();
        let is_approved = found.approval.state == ApprovalState::Approved;
        for answer in answers.iter().flatten() {
            match answer {
                Ok(_) | Err(DecideError::Vote(VoteError::Decided(ApprovalState::Approved))) => {
                    assert!(is_approved);
                }
                Err(DecideError::Store(_) | DecideError::Configure(ConfigureError::Store(_))) => {}
                other => panic!("{other:?}"),
            }
        }
        if answers.len() == 2 {
            assert!(is_approved);
        }
        let version = world.store.config(world.environment).await.unwrap().unwrap().version;
        assert_eq!((version, found.version), if is_approved { (3, Some(3)) } else { (2, None) });
        let entries = world.store.audit_log(&approvals_given(), None, 10).await.unwrap();
        let of_this = entries.iter().filter(|found| found.entry.subject == self.0.to_string());
        assert_eq!(of_this.count(), usize::from(is_approved));
    }
}

/// A proposal: whatever fails, what waits has its event and its entry in the audit log, and nothing else has. Each call proposes
/// anew.
struct Propose;

impl UseCase for Propose {
    type Answer = Result<AppliedConfig, ConfigureError>;

    async fn given(world: &World) -> Self {
        world.configure(document(&rule(1), true)).await;
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.engine().put_config(world.environment, document(&rule(2), true), None, person(1)).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let mut proposed: Vec<_> = proposals(world).await.iter().map(|found| found.approval.id).collect();
        proposed.sort_unstable();
        let mut told = Vec::new();
        for event in world.events().await.into_iter().filter(|it| it.kind == EventKind::ApprovalRequired) {
            let notice = event.proposal.unwrap();
            let what = Proposal::Configuration { from_version: 2 };
            assert_eq!((event.reference, &notice.what), (None, &what));
            assert_eq!(notice.proposed_by, "person 1");
            told.push(notice.approval);
        }
        told.sort_unstable();
        assert_eq!(told, proposed);
        let environment = Some(world.environment);
        let action = Some("config.propose".to_owned());
        let filter = AuditLogFilter { environment, action, ..AuditLogFilter::default() };
        let entries = world.store.audit_log(&filter, None, 10).await.unwrap();
        let mut entries: Vec<_> = entries.into_iter().map(|found| found.entry.subject).collect();
        entries.sort_unstable();
        assert_eq!(entries, proposed.iter().map(ToString::to_string).collect::<Vec<_>>());
        for answer in answers.iter().flatten() {
            match answer {
                Ok(AppliedConfig { outcome: Configured::Proposed { approval }, .. }) => {
                    assert!(proposed.contains(approval));
                }
                Err(ConfigureError::Store(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn proposing_a_change_survives_every_fault() {
    fails_at_every_step::<Propose>().await;
}

#[tokio::test(start_paused = true)]
async fn putting_a_proposal_in_force_survives_every_fault() {
    fails_at_every_step::<PutProposal>().await;
}
