//! What must hold while a run goes on, soon after faults are over, and at its end.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use http::Method;
use serde_json::Value;
use tollgate_domain::{
    ServiceReference,
    card::{DiscrepancyKind, Preparation},
    id::TransferId,
    refund::RefundReport,
};
use tollgate_engine::ports::{AuditScope, CardPayment, PaymentFilter};

use crate::{
    actors::{follower, operator},
    book::{PaymentCase, Told},
    node::{Answer, Cluster},
    providers::{Held, Page, PageState, Standing, counted, given_back},
    world::World,
};

/// The books balance at every moment.
pub(crate) async fn audit(cluster: &Cluster) {
    for scope in [AuditScope::Recent, AuditScope::Everything] {
        match cluster.store.audit(scope, cluster.world.clock(0)).await {
            Ok(audit) => {
                for finding in audit.findings {
                    cluster.world.violate(
                        "the ledger balances",
                        format_args!("{}: {}", finding.subject, finding.problem),
                    );
                }
            }
            Err(error) => cluster.world.violate("the ledger balances", error),
        }
    }
}

/// Each caller's key is taken once, by whichever account; each payment is paid once.
pub(crate) fn taken_once(world: &World) {
    let ledger = world.providers();
    let mut transfers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for transfer in ledger.transfers.values() {
        let places = transfers.entry(&transfer.caller).or_default();
        places.push(format!("{} at {}", transfer.id, transfer.account));
    }
    let mut payments: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for page in ledger.pages.values().filter(|page| page.state == PageState::Paid) {
        payments.entry(&page.reference).or_default().push(format!("{} at {}", page.id, page.account));
    }
    for sale in ledger.sales.values().filter(|sale| sale.is_taken) {
        payments.entry(&sale.reference).or_default().push(format!("{} at {}", sale.id, sale.account));
    }
    let twice = transfers.into_iter().chain(payments).filter(|(_, places)| places.len() > 1);
    let twice: Vec<_> = twice.map(|(name, places)| format!("{name}: {}", places.join(" and "))).collect();
    drop(ledger);
    for what in twice {
        world.violate("money moves once", what);
    }
}

/// Half an hour after the last fault: whatever the provider has told us of, and we have taken, is in the books, and no
/// preparation hangs between being asked for and being there.
pub(crate) async fn prompt(cluster: &Arc<Cluster>) {
    let world = &cluster.world;
    let filter = PaymentFilter { preparation: Some(Preparation::Preparing), waiting: false };
    let environment = world.book().environment.parse();
    if let Ok(environment) = environment
        && let Ok(hanging) = cluster.store.payments(environment, filter, None, 100).await
    {
        for id in hanging {
            let payment = cluster.store.payment(environment, id).await.ok().flatten();
            // What has left its provider after a decline waits for its caller, and expires.
            let has_left =
                |payment: &CardPayment| payment.order.is_leaving() && payment.progress.object.is_none();
            if payment.as_ref().is_some_and(has_left) {
                continue;
            }
            // What another account has waits until the configuration leads there.
            let waiting = payment.and_then(|payment| payment.progress.waiting).unwrap_or_default();
            if !waiting.starts_with("it was sent to") {
                world.violate(
                    "nothing waits for hours",
                    format_args!("{id} is still being prepared: {waiting}"),
                );
            }
        }
    }
    let known: Vec<_> = {
        let ledger = world.providers();
        let told = ledger.transfers.values().filter(|it| it.news.is_taken() && it.account.name == 'a');
        told.map(|it| (it.key.clone(), it.standing.status())).collect()
    };
    for (reference, expected) in known {
        let answer = read(cluster, &format!("/client/v1/transactions/{reference}")).await;
        let found = answer.text("/data/status");
        if found != expected && !found.is_empty() {
            world.violate(
                "what we were told is in the books",
                format_args!("{reference} is {found}, not {expected}"),
            );
        }
    }
}

/// A minute after faults have ended, nothing is about to be canceled anymore that the provider can be asked about.
pub(crate) async fn canceled(cluster: &Arc<Cluster>) {
    let world = &cluster.world;
    let references: Vec<_> = {
        let book = world.book();
        let asked = book.transfers.values().filter(|case| case.cancel_asked);
        asked.filter_map(|case| case.reference.clone()).collect()
    };
    let Ok(environment) = world.book().environment.parse() else { return };
    for reference in references {
        let Ok(id) = reference.parse::<TransferId>() else { continue };
        let Ok(Some(transfer)) = cluster.store.transfer(environment, id).await else { continue };
        let lines = cluster.store.timeline(environment, ServiceReference::Ach(id)).await.unwrap_or_default();
        let waiting = transfer.progress.waiting.unwrap_or_default();
        // What another account has waits until the configuration leads there, and what the provider did not answer for as long
        // as it may be at work on it.
        let is_elsewhere = {
            let ledger = world.providers();
            ledger.transfers.values().any(|it| it.key == reference && it.account.name != 'a')
        };
        let may_wait = is_elsewhere
            || waiting.starts_with("it was sent to")
            || lines.iter().any(|it| it.kind == "unanswered");
        if transfer.progress.cancel_requested_at.is_some() && !may_wait {
            world.violate(
                "a cancellation in doubt is settled within a minute",
                format_args!("{reference}: {waiting}"),
            );
        }
    }
}

/// Everything, once nothing can change anymore.
pub(crate) async fn end(cluster: &Arc<Cluster>) {
    audit(cluster).await;
    taken_once(&cluster.world);
    nothing_was_nothing(&cluster.world);
    transfers(cluster).await;
    payments(cluster).await;
    leftovers(&cluster.world);
    wallet(cluster).await;
    events(cluster).await;
}

async fn read(cluster: &Cluster, path: &str) -> Answer {
    let key = cluster.world.book().secret_key.clone();
    for _ in 0..20 {
        if let Ok(answer) = cluster.call(0, Method::GET, path, &key, None).await
            && answer.status < 500
        {
            return answer;
        }
    }
    cluster.world.violate("reads are answered once faults are over", path);
    Answer { status: 0, request_id: String::new(), is_replay: false, body: Value::Null }
}

/// What was said to have changed nothing never did.
fn nothing_was_nothing(world: &World) {
    let (book, ledger) = (world.book(), world.providers());
    let mut found = Vec::new();
    for transfer in ledger.transfers.values() {
        let case = book.transfers.get(&transfer.caller);
        if case.is_some_and(|case| case.nothings.contains(&transfer.request)) {
            found.push(format!("{} of {}", transfer.id, transfer.caller));
        }
    }
    let mut charged = Vec::new();
    let mut late = Vec::new();
    let mut failed = Vec::new();
    for sale in ledger.sales.values().filter(|sale| sale.is_taken) {
        let Some(source) = book.payments.get(&sale.caller).and_then(|case| case.sources.get(&sale.source))
        else {
            charged.push(format!("{}, which nobody asked for", sale.id));
            continue;
        };
        if !source.may_be_charged {
            charged.push(format!("{} of {}", sale.id, sale.caller));
        }
        if !source.was_in_time {
            late.push(format!("{} of {}", sale.id, sale.caller));
        }
        if source.failed {
            failed.push(format!("{} of {}", sale.id, sale.caller));
        }
    }
    drop((book, ledger));
    for (rule, whats) in [
        ("what is said to have changed nothing changed nothing", found),
        ("what is said to have changed nothing changed nothing", charged),
        ("an expired preparation is not charged", late),
        ("a card that failed is not charged", failed),
    ] {
        for what in whats {
            world.violate(rule, what);
        }
    }
}

async fn transfers(cluster: &Arc<Cluster>) {
    let world = &cluster.world;
    let cases = world.book().transfers.clone();
    for (caller, case) in cases {
        let taken = world.providers().transfers.values().find(|it| it.caller == caller).cloned();
        let reference = case.reference.clone().or_else(|| taken.as_ref().map(|it| it.key.clone()));
        let Some(reference) = reference else { continue };
        let answer = read(cluster, &format!("/client/v1/transactions/{reference}")).await;
        let found = if answer.status == 200 { answer.text("/data/status") } else { "missing" };
        let expected = match &taken {
            Some(taken) => taken.standing.status(),
            None if case.cancel_asked && found == "canceled" => "canceled",
            None => "failed",
        };
        if found != expected {
            world.violate(
                "the books equal the provider's record",
                format_args!("{caller} is {found}, not {expected}"),
            );
        }
        if taken.is_none()
            && case.reference.is_some()
            && expected == "failed"
            && !world.providers().refused.contains(&caller)
        {
            world.violate("only the provider's validation rejects", format_args!("{caller} was never sent"));
        }
        check_moves(world, &caller, &reference, found, &case.said);
        check_receivers(world, &caller, &reference, found);
        check_dates(world, &caller, answer.text("/data/createdAt"), &case.dated);
    }
}

async fn payments(cluster: &Arc<Cluster>) {
    let world = &cluster.world;
    let cases = world.book().payments.clone();
    for (caller, case) in cases {
        let reference = &case.reference;
        let answer = read(cluster, &format!("/client/v1/payments/{reference}")).await;
        if answer.status != 200 {
            world.violate("what was prepared can be found", format_args!("{caller}: {}", answer.status));
            continue;
        }
        let at_provider = at_provider(world, reference);
        let total = at_provider.as_ref().map_or(case.total, |paid| paid.total);
        let (held, refunds) = at_provider.map(|paid| (paid.held, paid.refunds)).unzip();
        let paid = refunds.as_deref().filter(|_| held.is_some_and(Held::is_taken)).map(given_back);
        let found = answer.text("/data/transaction/status");
        let word = Word::of(world, reference);
        refunds_of(cluster, &caller, (&case, total), (&refunds.unwrap_or_default(), word)).await;
        check_moves(world, &caller, reference, found, &case.said);
        check_receivers(world, &caller, reference, found);
        check_dates(world, &caller, answer.text("/data/transaction/createdAt"), &case.dated);
        if word == Word::InPart {
            untold(cluster, (&caller, reference), found, paid.is_some()).await;
            continue;
        }
        let fits = match (paid, held) {
            (Some(refunded), _) if refunded == total => found == "refunded",
            (Some(_), _) => found == "succeeded",
            (None, Some(Held::Until(_))) => found == "authorized",
            // Where nobody heard of it while it was held, it was never paid: at most an earlier card failed.
            (None, Some(Held::Voided)) => matches!(found, "" | "failed" | "canceled"),
            (None, Some(Held::Lapsed)) => {
                let code = answer.text("/data/transaction/failure/code");
                matches!(found, "" | "failed") || (found == "canceled" && code == "authorization_expired")
            }
            (None, _) => matches!(found, "" | "failed" | "canceled"),
        };
        if !fits {
            let what =
                format!("{caller} ({reference}) is `{found}`, and the provider has it: {held:?} {paid:?}");
            world.violate("the books equal the provider's record", what);
        }
        let shown = answer.text("/data/transaction/totalDebitMinor").parse().unwrap_or(total);
        if paid.is_some() && shown != total {
            world.violate("what was captured is shown", format_args!("{caller}: {shown}, not {total}"));
        }
        let refunded = answer.text("/data/transaction/refundedMinor").parse().unwrap_or(0);
        if refunded > total {
            world.violate("refunds never exceed", format_args!("{caller}: {refunded} of {total}"));
        }
        if paid.is_some_and(|paid| paid != refunded) && fits {
            world.violate("refunds are in the books", format_args!("{caller}: {refunded}, not {paid:?}"));
        }
    }
}

/// How much of a payment we were told, or could ask about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Whole,
    /// Something was never told, and nobody can be asked.
    InPart,
}

impl Word {
    fn of(world: &World, reference: &str) -> Self {
        let ledger = world.providers();
        let is_untold = ledger.pages.values().any(|page| page.reference == reference && page.is_untold);
        if is_untold { Self::InPart } else { Self::Whole }
    }
}

/// Without a word nothing is claimed: what is in doubt says what it waits for, and since when, and an operator was asked once.
async fn untold(cluster: &Arc<Cluster>, (caller, reference): (&str, &str), found: &str, is_paid: bool) {
    let world = &cluster.world;
    if matches!(found, "succeeded" | "refunded") && !is_paid {
        world.violate("without a word nothing is claimed", format_args!("{caller} ({reference}) is {found}"));
    }
    let (environment, id) = (world.book().environment.parse(), reference.parse());
    let (Ok(environment), Ok(id)) = (environment, id) else { return };
    let Ok(Some(payment)) = cluster.store.payment(environment, id).await else { return };
    let is_open = matches!(found, "pending" | "processing")
        || payment.refunds.iter().any(|refund| refund.status.is_open())
        || payment.hold_actions.iter().any(|action| action.status.is_open());
    let waiting = payment.progress.waiting.unwrap_or_default();
    // After a day an operator is asked.
    let is_named = waiting.starts_with("waiting for the webhook of")
        && waiting.contains(" since ")
        && waiting.contains("look it up");
    if is_open && !is_named {
        let what = format!("{caller} ({reference}) is {found} and waits for `{waiting}`");
        world.violate("what waits for a webhook says so", what);
    }
    let asked = cluster.store.exceptions_of(environment, ServiceReference::Card(id)).await;
    let asked = asked.unwrap_or_default().into_iter().map(|stored| stored.exception);
    let asked = asked.filter(|it| it.kind == DiscrepancyKind::Unanswered);
    let asked: Vec<_> = asked.map(|it| it.found).collect();
    let distinct: BTreeSet<_> = asked.iter().collect();
    if distinct.len() != asked.len() || (is_open && asked.is_empty()) {
        let what =
            format!("{caller} ({reference}) waits for `{waiting}`, and an operator was asked {asked:?}");
        world.violate("an operator is asked once", what);
    }
}

/// A payment as its provider has it.
struct AtProvider {
    held: Held,
    /// What was taken, or would be.
    total: u64,
    refunds: Vec<RefundReport>,
}

/// `None` if nobody paid, as far as it was up to the customer.
fn at_provider(world: &World, reference: &str) -> Option<AtProvider> {
    let ledger = world.providers();
    let pages = ledger.pages.values().filter(|it| it.reference == reference && it.state == PageState::Paid);
    let sales = ledger.sales.values().filter(|it| it.reference == reference && it.is_taken);
    let page = pages.map(|it| (it.held, it.amount, &it.refunds)).next();
    let (held, total, refunds) = page.or_else(|| sales.map(|it| (it.held, it.amount, &it.refunds)).next())?;
    Some(AtProvider { held, total, refunds: refunds.clone() })
}

/// Every refund a caller asked for is at the provider once, and the books say of each what the provider says.
async fn refunds_of(
    cluster: &Arc<Cluster>,
    caller: &str,
    (case, total): (&PaymentCase, u64),
    (at_provider, word): (&[RefundReport], Word),
) {
    let world = &cluster.world;
    if counted(at_provider) > total {
        world.violate("refunds never exceed", format_args!("{caller}: {at_provider:?} of {total}"));
    }
    let path = format!("/client/v1/transactions/{}/refunds", case.reference);
    let answer = read(cluster, &path).await;
    let recorded = answer.body.pointer("/data/items").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |refund: &Value, name: &str| refund[name].as_str().unwrap_or_default().to_owned();
    for refund in &recorded {
        let reference = text(refund, "refundReference");
        let ours: Vec<_> = at_provider
            .iter()
            .filter(|known| {
                known.id == text(refund, "providerReference")
                    || known.reference.is_some_and(|known| known.to_string() == reference)
            })
            .collect();
        let status = text(refund, "status");
        let is_open = word == Word::InPart && matches!(status.as_str(), "pending" | "processing");
        let fits = match ours.as_slice() {
            [] => status == "failed" || is_open,
            // That it came back may be what was not told.
            [only] => {
                status == only.status.as_str() || is_open || (word == Word::InPart && status == "succeeded")
            }
            [..] => false,
        };
        if !fits {
            let what = format!("{caller}: {refund}, and the provider has {ours:?}");
            world.violate("refunds are as the provider has them", what);
        }
    }
    let expected = at_provider.iter().filter(|known| known.status.counts() && word == Word::Whole);
    for known in expected {
        if !recorded.iter().any(|refund| text(refund, "providerReference") == known.id) {
            world.violate("refunds are in the books", format_args!("{caller}: {known:?} is not recorded"));
        }
    }
    for (key, reference) in &case.refunds {
        if !recorded.iter().any(|refund| text(refund, "refundReference") == *reference) {
            world
                .violate("what was answered is recorded", format_args!("{caller}: refund {key} {reference}"));
        }
    }
}

/// Nobody can pay what is over.
fn leftovers(world: &World) {
    let open: Vec<_> = {
        let (book, ledger) = (world.book(), world.providers());
        // What was opened and never handed to anybody, nobody can pay.
        let is_known =
            |page: &Page| book.payments.get(&page.caller).is_some_and(|case| case.objects.contains(&page.id));
        let open = ledger.pages.values().filter(|page| page.is_payable() && is_known(page));
        open.map(|page| format!("{} at {} for {}", page.id, page.account, page.caller)).collect()
    };
    for what in open {
        world.violate("nobody can pay what is over", what);
    }
}

async fn wallet(cluster: &Arc<Cluster>) {
    let world = &cluster.world;
    let answer = read(cluster, "/client/v1/wallet").await;
    let wallets = answer.body.pointer("/data/items").or_else(|| answer.body.pointer("/data/wallets"));
    let wallet = wallets.and_then(|wallets| wallets.get(0)).cloned();
    let wallet = wallet.or_else(|| answer.body.get("data").cloned()).unwrap_or_default();
    let number = |name: &str| wallet[name].as_str().and_then(|text| text.parse::<u64>().ok());
    let settled = |it: &&crate::providers::BankTransfer| it.standing == Standing::Settled;
    let spent: u64 = {
        let ledger = world.providers();
        ledger.transfers.values().filter(settled).map(|it| operator::total_debit(it.amount)).sum()
    };
    let expected = (Some(operator::FUNDS - spent), Some(0));
    let found = (number("availableMinor"), number("reservedMinor"));
    if found != expected {
        world.violate("the wallet equals the provider's record", format_args!("{found:?}, not {expected:?}"));
    }
}

/// The statuses a payment was told to have: each may follow the one before, the last is the one it has, and whatever was
/// answered was told.
fn check_moves(
    world: &World,
    caller: &str,
    reference: &str,
    last: &str,
    said: &std::collections::BTreeSet<String>,
) {
    let told: Vec<_> = {
        let book = world.book();
        let ours = book.followed.iter().filter(|told| told.reference == reference);
        let moves = ours.filter_map(|told| told.kind.strip_prefix("transaction.").map(str::to_owned));
        moves.collect()
    };
    let is_card = reference.starts_with("pay_");
    for (from, to) in told.iter().zip(told.iter().skip(1)) {
        let may = match (from.as_str(), to.as_str()) {
            ("pending", "processing" | "succeeded" | "failed" | "canceled")
            | ("processing", "succeeded" | "failed" | "canceled")
            | ("pending" | "processing" | "failed", "authorized")
            | ("authorized", "processing" | "succeeded" | "canceled")
            | ("succeeded", "refunded")
            // A refund can come back.
            | ("refunded", "succeeded") => true,
            ("succeeded", "failed") => !is_card,
            // Each card that is tried on a preparation has its own outcome: a hold may be voided before anybody hears of it.
            ("failed", "failed" | "processing" | "succeeded" | "canceled") => is_card,
            _ => false,
        };
        if !may {
            world.violate("events tell of possible moves", format_args!("{caller}: {told:?}"));
        }
    }
    let found = told.last().map(String::as_str).unwrap_or_default();
    if found != last && last != "missing" {
        world.violate("every change is told", format_args!("{caller} is `{last}`, and was told as {told:?}"));
    }
    // What is under way only because the outcome could not be written down yet is never told as such.
    let mut said = said.iter().filter(|status| !matches!(status.as_str(), "pending" | "processing"));
    if let Some(untold) = said.find(|status| !told.contains(status)) {
        world.violate(
            "every change is told",
            format_args!("{caller} was answered {untold}, and told {told:?}"),
        );
    }
}

/// A receiver that compares revisions ends with the right status, in whatever order the events came.
fn check_receivers(world: &World, caller: &str, reference: &str, last: &str) {
    let wrong: Vec<_> = {
        let book = world.book();
        let known = book.statuses.iter().filter(|((_, known), _)| known == reference);
        known.filter(|(_, (_, status))| status != last).map(|((place, _), it)| (*place, it.clone())).collect()
    };
    for (place, (revision, status)) in wrong {
        let what =
            format!("{caller}: receiver {place} takes it for {status} (revision {revision}), it is {last}");
        world.violate("the highest revision is the latest", what);
    }
}

/// Every answer had the date that was recorded, also where nothing could be recorded yet. What was looked at and then never
/// paid has none.
fn check_dates(world: &World, caller: &str, recorded: &str, answered: &std::collections::BTreeSet<String>) {
    if let Some(other) = answered.iter().find(|date| *date != recorded && !recorded.is_empty()) {
        world
            .violate("an answer is true when it is given", format_args!("{caller}: {other}, not {recorded}"));
    }
}

/// Every event reached every endpoint, and the follower once.
async fn events(cluster: &Arc<Cluster>) {
    let world = &cluster.world;
    follower::read_on(cluster).await;
    let all = all_events(cluster).await;
    let book = world.book();
    let mut followed = book.followed.clone();
    let mut faults = Vec::new();
    followed.sort();
    let count = followed.len();
    followed.dedup();
    if followed.len() != count {
        faults.push(("a follower reads each event once", format!("{} too many", count - followed.len())));
    }
    let mut listed = all.clone();
    listed.sort();
    for missed in listed.iter().filter(|told| followed.binary_search(told).is_err()) {
        faults.push(("a follower misses no event", format!("{} of {}", missed.kind, missed.reference)));
    }
    for (index, receiver) in book.receivers.iter().enumerate() {
        for untold in listed.iter().filter(|told| !receiver.contains_key(&told.id)) {
            let what = format!("receiver {index}: {} of {}", untold.kind, untold.reference);
            faults.push(("every event reaches every endpoint", what));
        }
        for id in receiver.keys().filter(|id| !listed.iter().any(|told| told.id == **id)) {
            faults.push(("nothing is told that did not happen", format!("receiver {index}: {id}")));
        }
    }
    drop(book);
    for (rule, what) in faults {
        world.violate(rule, what);
    }
}

/// The list from its end, page by page.
async fn all_events(cluster: &Cluster) -> Vec<Told> {
    let environment = cluster.world.book().environment.clone();
    let mut all: Vec<Told> = Vec::new();
    loop {
        let before = all.last().map(|told| format!("&before={}", told.id)).unwrap_or_default();
        let path = format!("/admin/v1/environments/{environment}/events?limit=200{before}");
        let page = cluster.insist(Method::GET, &path, None).await;
        let page = follower::listed(&page.body);
        let is_last = page.len() < 200;
        all.extend(page);
        if is_last {
            return all;
        }
    }
}
