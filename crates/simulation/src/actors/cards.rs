//! A shop and its customer: a payment is prepared, paid on a page or with a card's token, and confirmed; late, twice, or
//! from two tabs.

use std::{sync::Arc, time::Duration};

use http::Method;
use serde_json::json;
use tokio::time::sleep;

use crate::{
    book::PaymentCase,
    claims,
    node::{Answer, Cluster, NoAnswer},
    providers::{act_in_dashboard, pay_page, refund},
};

const MAX_TRIES: u32 = 10;
const MAX_REFUND_TRIES: u32 = 3;
/// From this amount on, routing takes the second provider.
pub(crate) const SECOND_PROVIDER_FROM: u64 = 50_000;

/// A prepared payment, as the shop was answered.
struct Prepared {
    caller: String,
    reference: String,
    /// The intent or page to pay on; none where a token is charged.
    object: Option<String>,
    hosted: bool,
    expires_at: i64,
    provider: String,
}

pub(crate) async fn run(cluster: Arc<Cluster>, number: u64) {
    let world = Arc::clone(&cluster.world);
    let latest = world.profile.busy;
    world.pause(0..latest).await;
    let hosted = world.chance(350);
    let amount = world.draw(10..1_000) * 100;
    let is_manual = world.chance(350);
    let Some(prepared) = prepare(&cluster, number, (hosted, is_manual), amount).await else { return };
    let mut prepared = Arc::new(prepared);
    // Customers take their time; some come when it is too late, or just about.
    let left = u64::try_from(prepared.expires_at - world.clock(0).unix_millis()).unwrap_or(0);
    let comes_late = world.chance(350) && left < 200_000;
    let think = if comes_late {
        world.draw(left.saturating_sub(1_500)..left + 9_000)
    } else {
        world.draw(200..15_000)
    };
    sleep(Duration::from_millis(think)).await;
    let mut status = pay(&cluster, &prepared).await;
    // After a decline, a shop may ask for a component at another provider, also from two tabs.
    while status.as_deref() == Some("failed") && world.chance(600) {
        let twin = world.chance(250).then(|| {
            let (cluster, prepared) = (Arc::clone(&cluster), Arc::clone(&prepared));
            tokio::spawn(async move { switch(&cluster, &prepared).await.is_some() })
        });
        let switched = switch(&cluster, &prepared).await;
        if let Some(twin) = twin {
            let _ = twin.await;
        }
        let Some(switched) = switched else { break };
        prepared = Arc::new(switched);
        world.pause(200..9_000).await;
        status = pay(&cluster, &prepared).await;
    }
    if is_manual {
        act_on_hold(&cluster, &prepared, amount).await;
    }
    let is_refunded = world.chance(400);
    let times = if is_refunded { world.draw(1..3) } else { 0 };
    for number in 0..times {
        world.pause(500..20_000).await;
        refund_by_caller(&cluster, &prepared, number, amount).await;
        if world.strikes(world.profile.dashboard) {
            refund(&world, &prepared.reference);
        }
    }
    if world.strikes(world.profile.dashboard) {
        world.pause(1_000..30_000).await;
        refund(&world, &prepared.reference);
    }
}

async fn prepare(
    cluster: &Arc<Cluster>,
    number: u64,
    (hosted, is_manual): (bool, bool),
    amount: u64,
) -> Option<Prepared> {
    let world = &cluster.world;
    let path = if hosted { "/client/v1/payments" } else { "/client/v1/payments/component" };
    let is_keyed = world.chance(500);
    for attempt in 0..5 {
        // Without a key each preparation is a payment of its own.
        let caller =
            if is_keyed { format!("card-{number:03}") } else { format!("card-{number:03}-{attempt}") };
        let capture = if is_manual { "manual" } else { "automatic" };
        let body =
            json!({ "amountMinor": amount, "currency": "USD", "description": caller, "capture": capture });
        let node = cluster.any_node();
        let key = world.book().secret_key.clone();
        let idempotency_key = is_keyed.then(|| format!("prepare-{number:03}"));
        let answer = cluster.call_with(node, path, &key, &body, idempotency_key.as_deref()).await;
        note(cluster, &caller, &answer);
        if let Ok(answer) = answer {
            claims::preparation(world, &caller, &answer);
            if matches!(answer.status, 200 | 201) {
                return Some(take_down(cluster, caller, hosted, &answer));
            }
        }
        world.pause(300..6_000).await;
    }
    None
}

fn take_down(cluster: &Cluster, caller: String, hosted: bool, answer: &Answer) -> Prepared {
    let reference = answer.text("/data/serviceReference").to_owned();
    let expires_at = moment(answer.text("/data/expiresAt"));
    let page = answer.text("/data/checkoutUrl").rsplit('/').next().unwrap_or_default().to_owned();
    let intent = answer.text("/data/component/paymentIntentId").to_owned();
    let session = answer.text("/data/component/sessionId").to_owned();
    let object = [page, intent, session].into_iter().find(|name| !name.is_empty());
    let total = answer.text("/data/totalDebitMinor").parse().unwrap_or(0);
    let provider = answer.text("/data/provider").to_owned();
    // What was tried on it before it was switched stays known.
    let mut book = cluster.world.book();
    let case = book.payments.entry(caller.clone()).or_default();
    if case.reference != reference {
        let objects = std::mem::take(&mut case.objects);
        *case = PaymentCase { reference: reference.clone(), objects, ..PaymentCase::default() };
    }
    case.objects.extend(object.clone());
    case.total = total;
    drop(book);
    Prepared { caller, reference, object, hosted, expires_at, provider }
}

/// However the payment's provider takes it; the status it ends with, if a component has one.
async fn pay(cluster: &Arc<Cluster>, prepared: &Arc<Prepared>) -> Option<String> {
    match (&prepared.object, prepared.hosted) {
        (Some(page), true) => {
            pay_hosted(cluster, page).await;
            None
        }
        (Some(intent), false) => pay_intent(cluster, prepared, intent).await,
        (None, _) => pay_by_token(cluster, prepared).await,
    }
}

/// Asks for a component at the next provider until the answer is clear.
async fn switch(cluster: &Arc<Cluster>, prepared: &Prepared) -> Option<Prepared> {
    let world = &cluster.world;
    let path = format!("/client/v1/payments/component/{}/switch", prepared.reference);
    let body = json!({ "from": prepared.provider });
    for _ in 0..MAX_TRIES {
        let (node, secret) = (cluster.any_node(), world.book().secret_key.clone());
        let answer = cluster.call(node, Method::POST, &path, &secret, Some(&body)).await;
        note(cluster, &prepared.caller, &answer);
        if let Ok(answer) = answer {
            claims::switch(world, &prepared.caller, &prepared.provider, &answer);
            match answer.status {
                200 | 201 => return Some(take_down(cluster, prepared.caller.clone(), false, &answer)),
                400 | 404 | 409 | 422 => return None,
                _ => {}
            }
        }
        world.pause(200..6_000).await;
    }
    None
}

/// Unix milliseconds of `2026-11-15T02:27:16.000Z`, all of one year being enough here.
fn moment(text: &str) -> i64 {
    let number =
        |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse::<i64>().ok()).unwrap_or(0);
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    // Days since 1970 by the civil calendar.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    ((days * 24 + number(11, 13)) * 60 + number(14, 16)) * 60_000 + number(17, 19) * 1_000 + number(20, 23)
}

/// On the provider's page: perhaps twice.
async fn pay_hosted(cluster: &Arc<Cluster>, page: &str) {
    let world = &cluster.world;
    if world.chance(150) {
        return;
    }
    let times = world.draw(1..4);
    for _ in 0..times {
        let is_let = pay_page(world, page);
        world.note("customer", format_args!("pays on {page}: {is_let}"));
        world.pause(100..9_000).await;
    }
}

async fn pay_intent(cluster: &Arc<Cluster>, prepared: &Arc<Prepared>, intent: &str) -> Option<String> {
    let world = &cluster.world;
    let times = world.draw(1..4);
    let mut status = None;
    for _ in 0..times {
        if world.chance(850) {
            let is_let = pay_page(world, intent);
            world.note("customer", format_args!("pays on {intent}: {is_let}"));
        }
        let body = if prepared.provider == "card_provider_c" {
            json!({ "sessionResult": "result" })
        } else {
            json!({ "paymentIntentId": intent, "clientStatus": "succeeded" })
        };
        status = confirm(cluster, prepared, None, &body).await;
        world.pause(100..9_000).await;
    }
    status
}

/// With a card, and with another where that is declined.
async fn pay_by_token(cluster: &Arc<Cluster>, prepared: &Arc<Prepared>) -> Option<String> {
    let world = &cluster.world;
    let cards = world.draw(1..4);
    let mut status = None;
    for card in 0..cards {
        let kind = if world.chance(300) { "declined" } else { "ok" };
        let source = format!("token-{kind}-{}-{card}", prepared.caller);
        let body = json!({ "sourceId": source });
        // The same card from two tabs.
        let twin = world.chance(250).then(|| {
            let (cluster, prepared, source, body) =
                (Arc::clone(cluster), Arc::clone(prepared), source.clone(), body.clone());
            tokio::spawn(async move { confirm(&cluster, &prepared, Some(&source), &body).await })
        });
        status = confirm(cluster, prepared, Some(&source), &body).await;
        if let Some(twin) = twin {
            let _ = twin.await;
        }
        if status.as_deref() != Some("failed") {
            break;
        }
        world.pause(200..4_000).await;
    }
    status
}

/// Confirms until the answer is clear; the status it ends with, if there is one.
async fn confirm(
    cluster: &Arc<Cluster>,
    prepared: &Prepared,
    source: Option<&str>,
    body: &serde_json::Value,
) -> Option<String> {
    let world = &cluster.world;
    let path = format!("/client/v1/payments/component/{}/confirm", prepared.reference);
    for _ in 0..MAX_TRIES {
        let node = cluster.any_node();
        let is_in_time = cluster.clock_of(node) < prepared.expires_at;
        if let (Some(source), Some(case)) = (source, world.book().payments.get_mut(&prepared.caller)) {
            let token = case.sources.entry(source.to_owned()).or_default();
            token.under_way += 1;
            token.was_in_time |= is_in_time;
        }
        let key = world.book().secret_key.clone();
        let answer = cluster.call(node, Method::POST, &path, &key, Some(body)).await;
        note(cluster, &prepared.caller, &answer);
        claims::confirmation(world, &prepared.caller, source, answer.as_ref().ok());
        match answer {
            Ok(answer) if answer.status == 200 => {
                return Some(answer.text("/data/transaction/status").to_owned());
            }
            Ok(answer) if matches!(answer.status, 409 | 404 | 400 | 422) => return None,
            Ok(_) | Err(NoAnswer) => world.pause(200..6_000).await,
        }
    }
    None
}

/// Captures, voids, both at once or neither; and somebody may be faster in the dashboard.
async fn act_on_hold(cluster: &Arc<Cluster>, prepared: &Arc<Prepared>, amount: u64) {
    let world = &cluster.world;
    world.pause(100..30_000).await;
    if world.strikes(world.profile.dashboard) {
        act_in_dashboard(world, &prepared.reference);
    }
    let part = world.chance(500).then(|| world.draw(1..amount + 1));
    let choice = world.draw(0..10);
    let spawn = |action: &'static str| {
        let (cluster, prepared) = (Arc::clone(cluster), Arc::clone(prepared));
        tokio::spawn(async move { change_hold(&cluster, &prepared, action, part).await })
    };
    let asked = match choice {
        0..=4 => vec![spawn("capture")],
        5 | 6 => vec![spawn("void")],
        7 | 8 => vec![spawn("capture"), spawn("void")],
        _ => Vec::new(),
    };
    for asked in asked {
        let _ = asked.await;
    }
}

/// Asks until the answer is clear.
async fn change_hold(cluster: &Arc<Cluster>, prepared: &Prepared, action: &str, part: Option<u64>) {
    let world = &cluster.world;
    let path = format!("/client/v1/transactions/{}/{action}", prepared.reference);
    let mut body = json!({ "idempotencyKey": format!("{action}-{}", prepared.caller) });
    if let (Some(part), "capture") = (part, action) {
        body["amountMinor"] = json!(part);
    }
    for _ in 0..MAX_TRIES {
        let (node, secret) = (cluster.any_node(), world.book().secret_key.clone());
        let answer = cluster.call(node, Method::POST, &path, &secret, Some(&body)).await;
        note(cluster, &prepared.caller, &answer);
        match answer {
            Ok(answer) => {
                claims::hold(world, &prepared.caller, action, &answer);
                let is_pending = !answer.text("/data/transaction/pendingAction").is_empty();
                let is_clear = matches!(answer.status, 400 | 404 | 409 | 422);
                if is_clear || (answer.status == 200 && (!is_pending || world.chance(500))) {
                    return;
                }
                world.pause(200..6_000).await;
            }
            Err(NoAnswer) => world.pause(200..6_000).await,
        }
    }
}

/// Refunds a part or everything that is left, until the answer is clear.
async fn refund_by_caller(cluster: &Arc<Cluster>, prepared: &Prepared, number: u64, amount: u64) {
    let world = &cluster.world;
    let path = format!("/client/v1/transactions/{}/refunds", prepared.reference);
    let key = format!("refund-{}-{number}", prepared.caller);
    let rule = *world.pick(&["proportional", "full", "none"]);
    let mut body = json!({ "idempotencyKey": key, "feeRefund": rule });
    if world.chance(700) {
        body["amountMinor"] = json!(world.draw(1..amount));
    }
    let mut reference: Option<String> = None;
    for _ in 0..MAX_REFUND_TRIES {
        let (node, secret) = (cluster.any_node(), world.book().secret_key.clone());
        let answer = cluster.call(node, Method::POST, &path, &secret, Some(&body)).await;
        note(cluster, &prepared.caller, &answer);
        match answer {
            Ok(answer) if matches!(answer.status, 200 | 201) => {
                let found = answer.text("/data/refund/refundReference").to_owned();
                if reference.as_ref().is_some_and(|reference| *reference != found) {
                    world.violate("a key has one refund", format_args!("{key}: {reference:?} and {found}"));
                }
                if let Some(case) = world.book().payments.get_mut(&prepared.caller) {
                    case.refunds.insert(key.clone(), found.clone());
                }
                if reference.is_some() || world.chance(700) {
                    return;
                }
                // The same again: nothing more is given back.
                reference = Some(found);
            }
            Ok(answer) if matches!(answer.status, 409 | 404 | 400 | 422) => {
                if reference.is_some() && answer.status != 422 {
                    world.violate(
                        "a key has one refund",
                        format_args!("{key}: {reference:?}, then {answer:?}"),
                    );
                }
                return;
            }
            Ok(_) | Err(NoAnswer) => world.pause(200..6_000).await,
        }
    }
}

fn note(cluster: &Cluster, caller: &str, answer: &Result<Answer, NoAnswer>) {
    match answer {
        Ok(answer) => {
            let status = answer.text("/data/transaction/status");
            cluster.world.note(caller, format_args!("{} {}{status}", answer.status, answer.code()));
        }
        Err(NoAnswer) => cluster.world.note(caller, "no answer"),
    }
}
