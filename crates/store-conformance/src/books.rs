//! The books of card payments: written with their payment, added up by month, and made up for where they are missing.

use tollgate_domain::{
    Currency, Minor, PaymentMethod, Timestamp,
    books::{Amounts, CardPosting, CardPostingKind, PaymentRecords, postings},
    id::{EnvironmentId, PaymentId, PostingId},
    ledger::TransferStep,
    refund::{Refund, RefundStatus},
    statement::{Month, StatementKind, StatementLine},
    transaction::{Dispute, Status},
};
use tollgate_engine::ports::{CardPayment, Changed, NewCardPosting};

use super::{
    Nodes, at, minor,
    samples::{PROVIDER, in_status, preparing},
    transfer_samples::fees,
};

fn records(payment: &CardPayment) -> PaymentRecords<'_> {
    PaymentRecords {
        fee: &payment.order.fee,
        status: payment.transaction.as_ref().map(|transaction| transaction.state.status),
        refunds: &payment.refunds,
        disputes: &payment.disputes,
    }
}

impl Nodes {
    fn posting(&self, at: Timestamp, posting: CardPosting) -> NewCardPosting {
        let (_, random) = self.next();
        NewCardPosting { id: PostingId::new(at, random), at, posting }
    }

    /// A payment that succeeded at this moment, and is in the books.
    async fn paid_at(&self, environment: EnvironmentId, at: Timestamp) -> CardPayment {
        let id = self.payment(environment).await;
        self.becomes(environment, id, at, |_| {}).await
    }

    /// As [`Self::paid_at`], but in the books twice.
    pub(super) async fn posted_twice(&self, environment: EnvironmentId) -> CardPayment {
        let payment = self.paid_at(environment, at(1)).await;
        let nothing = PaymentRecords { status: None, ..records(&payment) };
        let mut change = self.change_to(payment.revision, preparing());
        change.postings =
            postings(nothing, records(&payment)).into_iter().map(|it| self.posting(at(2), it)).collect();
        self.change(environment, payment.order.id, &change).await;
        payment
    }

    /// Makes the payment succeed where it has not, and a change of its records, with what they post.
    async fn becomes(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
        at: Timestamp,
        change_records: impl FnOnce(&mut CardPayment),
    ) -> CardPayment {
        let before = self.read(environment, id).await;
        let mut after = before.clone();
        change_records(&mut after);
        let transaction = before.transaction.as_ref().map_or_else(|| self.new_transaction_id(), |it| it.id);
        let paid = PaymentRecords { status: Some(Status::Succeeded), ..records(&after) };
        let mut change = self.change_to(before.revision, preparing());
        let refunded = after.refunds.iter().filter(|it| it.status == RefundStatus::Succeeded);
        let refunded = refunded.fold(Minor::ZERO, |sum, it| sum.checked_add(it.total()).unwrap());
        let state =
            tollgate_domain::transaction::TransactionState { refunded, ..in_status(Status::Succeeded) };
        change.transaction = Some((transaction, state));
        change.at = at;
        change.postings =
            postings(records(&before), paid).into_iter().map(|posting| self.posting(at, posting)).collect();
        change.refunds.clone_from(&after.refunds);
        change.disputes.clone_from(&after.disputes);
        self.change(environment, id, &change).await
    }

    /// What both nodes say of a month.
    async fn statements(&self, environment: EnvironmentId, month: Month) -> Vec<StatementLine> {
        let lines = self.one.statement(environment, month).await.unwrap();
        assert_eq!(self.two.statement(environment, month).await.unwrap(), lines);
        lines
    }

    fn given_back(&self, principal: u64, fee: u64) -> Refund {
        let status = RefundStatus::Succeeded;
        Refund { principal: minor(principal), fee: minor(fee), status, ..self.new_refund(false) }
    }
}

fn dispute(status: &str, amount: u64) -> Dispute {
    Dispute {
        id: "dp_1".to_owned(),
        status: status.to_owned(),
        reason: Some("fraudulent".to_owned()),
        amount: Some(minor(amount)),
        currency: None,
        respond_by: Some(at(77)),
        withdrawn: None,
    }
}

pub async fn postings_go_round(nodes: &Nodes) {
    use CardPostingKind::{DisputeHeld, DisputeLost, Payment, Refund};
    let environment = nodes.environment().await.id;
    let paid = nodes.paid_at(environment, at(1)).await;
    let id = paid.order.id;
    let back = nodes.given_back(1_000, 32);
    nodes.becomes(environment, id, at(2), |payment| payment.refunds.push(back.clone())).await;
    let open = nodes
        .becomes(environment, id, at(3), |payment| payment.disputes.push(dispute("needs_response", 500)))
        .await;
    assert_eq!(open.disputes, [dispute("needs_response", 500)]);
    let lost =
        nodes.becomes(environment, id, at(4), |payment| payment.disputes = vec![dispute("lost", 500)]).await;
    assert_eq!((lost.disputes, lost.refunds.len()), (vec![dispute("lost", 500)], 1));
    let posted = nodes.two.card_postings(environment, id).await.unwrap();
    let told: Vec<_> = posted.iter().map(|new| (new.at, new.posting.kind)).collect();
    assert_eq!(told, [(at(1), Payment), (at(2), Refund), (at(3), DisputeHeld), (at(4), DisputeLost)]);
    assert_eq!(posted[1].posting.subject, Some(back.id.to_string()));
    assert_eq!(posted[0].posting.amounts.due_from_provider, 10_320);
    nodes.audit_is_clean().await;
    // Where it is known what was taken, that counts, whatever the status is called; also in what the transaction shows.
    for (number, status, withdrawn) in
        [(5, "won", 500), (6, "won", 0), (7, "prevented", 200), (8, "under_review", 100), (9, "lost", 300)]
    {
        let news = Dispute { withdrawn: Some(minor(withdrawn)), ..dispute(status, 500) };
        let news = Dispute { id: format!("dp_{number}"), ..news };
        let put = |payment: &mut CardPayment| payment.disputes.push(news.clone());
        let payment = nodes.becomes(environment, id, at(number), put).await;
        assert_eq!(payment.disputes.last(), Some(&news));
        nodes.audit_is_clean().await;
    }
    let elsewhere = nodes.environment().await.id;
    assert_eq!(nodes.two.card_postings(elsewhere, id).await.unwrap(), []);
}

/// A change that comes too late posts nothing, and one that is made twice posts once.
pub async fn a_change_posts_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let paid = nodes.paid_at(environment, at(1)).await;
    let balanced = Amounts { due_from_provider: 1, principal: 1, ..Amounts::default() };
    let mut late = nodes.change_to(0, preparing());
    let posting = CardPosting { kind: CardPostingKind::Payment, subject: None, amounts: balanced };
    late.postings = vec![nodes.posting(at(2), posting)];
    let id = paid.order.id;
    assert_eq!(nodes.one.change_payment(environment, id, &late).await.unwrap(), Changed::Stale);
    let back = nodes.given_back(1_000, 32);
    let mut change = nodes.change_to(paid.revision, preparing());
    let after = [back.clone()];
    let next = PaymentRecords { refunds: &after, ..records(&paid) };
    change.postings = postings(records(&paid), next).into_iter().map(|it| nodes.posting(at(3), it)).collect();
    change.refunds = vec![back];
    for _ in 0..2 {
        assert_eq!(nodes.two.change_payment(environment, id, &change).await.unwrap(), Changed::Done);
    }
    assert_eq!(nodes.one.card_postings(environment, id).await.unwrap().len(), 2);
    // What does not balance is refused by the database itself.
    let mut wrong = nodes.change_to(paid.revision + 1, preparing());
    let amounts = Amounts { due_from_provider: 2, ..balanced };
    let posting = CardPosting { kind: CardPostingKind::Payment, subject: None, amounts };
    wrong.postings = vec![nodes.posting(at(4), posting)];
    assert!(nodes.one.change_payment(environment, id, &wrong).await.is_err());
}

pub async fn a_month_is_added_up(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let elsewhere = nodes.environment().await.id;
    let month = Month::of(at(0)).next();
    let within = |millis: i64| Timestamp::from_unix_millis(month.start().unix_millis() + millis);
    let moments = [within(-1), within(0), within(50), month.previous().start(), month.end()];
    for moment in moments {
        nodes.paid_at(environment, moment).await;
        nodes.paid_at(elsewhere, moment).await;
    }
    let kept = nodes.statements(environment, month).await;
    // Nodes that add up at once count nothing twice, and what is added up already is not added up again.
    for _ in 0..2 {
        let (one, two) = tokio::join!(nodes.one.add_up_statements(), nodes.two.add_up_statements());
        one.and(two).unwrap();
        assert_eq!(nodes.statements(environment, month).await, kept);
    }
    let last = Timestamp::from_unix_millis(month.end().unix_millis() - 1);
    nodes.paid_at(environment, last).await;
    nodes.paid_at(elsewhere, last).await;
    let refunded = nodes.paid_at(environment, month.previous().start()).await.order.id;
    let back = nodes.given_back(1_000, 32);
    nodes.becomes(environment, refunded, within(20), |payment| payment.refunds.push(back)).await;
    // A bank transfer's fees stand in the wallet's ledger.
    nodes.fund(environment, 5_000, "f").await;
    let new = nodes.new_transfer_of(environment, fees(1_000, 5, 2));
    nodes.reserve(&new).await;
    let mut settle = nodes.transfer_step(0, TransferStep::Settle, &new.order.fee);
    settle.at = within(30);
    settle.posting.as_mut().unwrap().id = PostingId::new(within(30), [9; 10]);
    nodes.change_transfer(&new, &settle).await;

    let lines = nodes.statements(environment, month).await;
    let line = |method, kind, count, amounts| StatementLine {
        provider: if method == PaymentMethod::Ach { new.order.provider.clone() } else { PROVIDER.to_owned() },
        method,
        currency: Currency::USD,
        kind,
        count,
        amounts,
    };
    let paid = Amounts {
        due_from_provider: 3 * 10_320,
        principal: 30_000,
        platform_fees: 960,
        ..Amounts::default()
    };
    let given =
        Amounts { due_from_provider: -1_032, refunds_given: 1_000, platform_fees: -32, ..Amounts::default() };
    let sent = Amounts { principal: 1_000, platform_fees: 5, organization_fees: 2, ..Amounts::default() };
    let expected = [
        line(PaymentMethod::WebCard, StatementKind::Card(CardPostingKind::Payment), 3, paid),
        line(PaymentMethod::WebCard, StatementKind::Card(CardPostingKind::Refund), 1, given),
        line(PaymentMethod::Ach, StatementKind::TransferSettled, 1, sent),
    ];
    assert_eq!(lines, expected);
    nodes.audit_is_clean().await;
    nodes.one.add_up_statements().await.unwrap();
    assert_eq!(nodes.statements(environment, month).await, expected);
    let before = nodes.statements(environment, month.previous()).await;
    assert_eq!(before.iter().map(|line| line.count).sum::<u64>(), 3);
    assert_eq!(nodes.statements(environment, month.next().next()).await, []);
    nodes.audit_is_clean().await;
}

pub async fn open_disputes_are_counted_and_listed_by_their_date(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let mut expected = Vec::new();
    for (id, respond_by, status) in [
        ("dp_1", Some(at(90)), "needs_response"),
        // The bank has the evidence.
        ("dp_2", Some(at(5)), "under_review"),
        ("dp_3", Some(at(50)), "EVIDENCE_REQUIRED"),
        ("dp_4", Some(at(10)), "won"),
    ] {
        let dispute = Dispute { id: id.to_owned(), respond_by, ..dispute(status, 7) };
        let payment = nodes.paid_at(environment, at(1)).await.order.id;
        nodes.becomes(environment, payment, at(2), |it| it.disputes.push(dispute.clone())).await;
        expected.push((payment, dispute));
    }
    let attention = nodes.attention(environment, 100).await;
    assert_eq!((attention.open_disputes, attention.respond_by), (3, Some(at(50))));
    let [first, second, third, _] = expected.try_into().unwrap();
    assert_eq!(nodes.two.payment_of_dispute(environment, &first.1.id).await.unwrap(), Some(first.0));
    assert_eq!(nodes.two.open_disputes(environment, 9).await.unwrap(), [third, first.clone(), second]);
    assert_eq!(nodes.two.open_disputes(environment, 1).await.unwrap().len(), 1);
    // A closed one is no longer counted.
    nodes.becomes(environment, first.0, at(3), |it| "lost".clone_into(&mut it.disputes[0].status)).await;
    assert_eq!(nodes.attention(environment, 100).await.open_disputes, 2);
    let elsewhere = nodes.environment().await.id;
    assert_eq!(nodes.attention(elsewhere, 100).await.respond_by, None);
    assert_eq!(nodes.two.open_disputes(elsewhere, 9).await.unwrap(), []);
    nodes.audit_is_clean().await;
}

/// Whatever the postings of a paid payment do not say is found.
pub async fn the_audit_finds_what_is_not_posted(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let missing = nodes.payment(environment).await;
    nodes.record(environment, missing, in_status(Status::Succeeded)).await;
    let twice = nodes.posted_twice(environment).await;
    let nothing = PaymentRecords { status: None, ..records(&twice) };
    let refunded = nodes.paid_at(environment, at(1)).await;
    let mut change = nodes.change_to(refunded.revision, preparing());
    change.refunds = vec![nodes.given_back(10, 0)];
    nodes.change(environment, refunded.order.id, &change).await;
    let wrong = nodes.payment(environment).await;
    let mut change = nodes.change_to(0, preparing());
    change.transaction = Some((nodes.new_transaction_id(), in_status(Status::Succeeded)));
    let amounts = Amounts { due_from_provider: 9, principal: 8, platform_fees: 1, ..Amounts::default() };
    let posting = CardPosting { kind: CardPostingKind::Payment, subject: None, amounts };
    change.postings = vec![nodes.posting(at(2), posting)];
    nodes.change(environment, wrong, &change).await;
    let never = nodes.payment(environment).await;
    let mut change = nodes.change_to(0, preparing());
    change.postings =
        postings(nothing, records(&twice)).into_iter().map(|it| nodes.posting(at(2), it)).collect();
    nodes.change(environment, never, &change).await;
    let audit = nodes.audit().await;
    let found: Vec<_> = audit.findings.iter().map(|it| (it.subject.clone(), it.problem.as_str())).collect();
    for (id, problem) in [
        (missing, "The card payment has no postings."),
        (twice.order.id, "The card payment is posted more than once."),
        (refunded.order.id, "The card payment has other refunds or lost disputes than its postings."),
        (refunded.order.id, "The card payment's refunds are more than its refunded amount."),
        (wrong, "The card payment is posted with other amounts than its own."),
        (never, "There are postings, but the card payment was not paid."),
    ] {
        assert!(found.contains(&(id.to_string(), problem)), "{problem}\n{found:?}");
    }
    assert_eq!(audit.card_postings, 5);
}

/// While nodes are upgraded one by one, those of the earlier version record payments and refunds without posting them.
pub async fn what_earlier_nodes_recorded_is_listed(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let unposted = nodes.payment(environment).await;
    nodes.record(environment, unposted, in_status(Status::Succeeded)).await;
    let refunded = nodes.paid_at(environment, at(1)).await;
    let mut change = nodes.change_to(refunded.revision, preparing());
    change.refunds = vec![nodes.given_back(10, 0)];
    nodes.change(environment, refunded.order.id, &change).await;
    let pending = nodes.payment(environment).await;
    nodes.record(environment, pending, in_status(Status::Pending)).await;
    // Long after the upgrade there is nothing to look for.
    nodes.one.list_unposted_payments(at(366 * 86_400_000)).await.unwrap();
    assert_eq!(nodes.two.unposted_payments(9).await.unwrap(), []);
    let during_the_upgrade = Timestamp::from_unix_millis(0);
    for _ in 0..2 {
        nodes.one.list_unposted_payments(during_the_upgrade).await.unwrap();
    }
    let listed = nodes.two.unposted_payments(9).await.unwrap();
    assert_eq!(listed, [(environment, unposted), (environment, refunded.order.id)]);
    assert_eq!(nodes.two.unposted_payments(1).await.unwrap().len(), 1);
}
