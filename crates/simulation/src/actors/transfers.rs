//! A caller who wants one transfer made, once, and goes on asking until the answer is clear.

use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};

use crate::{
    book::TransferCase,
    claims,
    node::{Answer, Cluster, NoAnswer},
};

const PATH: &str = "/client/v1/ach/transfers";
const MAX_TRIES: u32 = 14;

/// Makes the transfer of this number; sometimes from two places at once.
pub(crate) async fn run(cluster: Arc<Cluster>, number: u64) {
    let world = Arc::clone(&cluster.world);
    let latest = world.profile.busy;
    world.pause(0..latest).await;
    let caller = format!("transfer-{number:03}");
    let amount = world.draw(100..90_000) * 100 + if world.chance(120) { 13 } else { 0 };
    world.book().transfers.insert(caller.clone(), TransferCase::default());
    let is_twofold = world.chance(250);
    let twin = is_twofold.then(|| tokio::spawn(insist(Arc::clone(&cluster), caller.clone(), amount)));
    let canceling = world.chance(200).then(|| tokio::spawn(cancel(Arc::clone(&cluster), caller.clone())));
    insist(cluster, caller, amount).await;
    for other in twin.into_iter().chain(canceling) {
        let _ = other.await;
    }
}

/// Changes its mind as soon as there is a transfer, and asks until the answer is clear.
async fn cancel(cluster: Arc<Cluster>, caller: String) {
    let world = Arc::clone(&cluster.world);
    for _ in 0..MAX_TRIES {
        world.pause(100..9_000).await;
        let reference = world.book().transfers.get(&caller).and_then(|case| case.reference.clone());
        let Some(reference) = reference else { continue };
        if let Some(case) = world.book().transfers.get_mut(&caller) {
            case.cancel_asked = true;
        }
        let (node, key) = (cluster.any_node(), world.book().secret_key.clone());
        let answer =
            cluster.call(node, Method::POST, &format!("{PATH}/{reference}/cancel"), &key, None).await;
        note(&cluster, &caller, &answer);
        let Ok(answer) = answer else { continue };
        claims::cancellation(&world, &caller, &answer);
        if matches!(answer.status, 200 | 400 | 404 | 409) {
            return;
        }
    }
}

async fn insist(cluster: Arc<Cluster>, caller: String, amount: u64) {
    let world = Arc::clone(&cluster.world);
    let mut token = issue_token(&cluster, &caller).await;
    let mut repetitions = world.draw(0..3);
    for _ in 0..MAX_TRIES {
        let body = body(&caller, amount, &token);
        let node = cluster.any_node();
        let key = world.book().secret_key.clone();
        let known = world.book().transfers.get(&caller).map(|case| case.answered).unwrap_or_default();
        let answer = cluster.call(node, Method::POST, PATH, &key, Some(&body)).await;
        note(&cluster, &caller, &answer);
        let Ok(answer) = answer else {
            world.pause(200..8_000).await;
            continue;
        };
        claims::transfer(&world, &caller, known, &answer);
        match answer.status {
            200 | 201 | 422 if repetitions == 0 => return,
            // Once more, much later: perhaps with a token that has expired meanwhile.
            200 | 201 | 422 => {
                repetitions -= 1;
                world.pause(500..40_000).await;
            }
            400 => token = issue_token(&cluster, &caller).await,
            _ => world.pause(300..12_000).await,
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

async fn issue_token(cluster: &Cluster, caller: &str) -> String {
    let body = json!({
        "externalCustomerId": caller, "email": "ada@example.com", "firstName": "Ada", "lastName": "Lovelace",
    });
    let mut longest = 2_000;
    loop {
        let node = cluster.any_node();
        let key = cluster.world.book().secret_key.clone();
        let path = "/client/v1/ach/customer-tokens";
        if let Ok(answer) = cluster.call(node, Method::POST, path, &key, Some(&body)).await
            && answer.status == 201
        {
            return answer.text("/data/customerToken").to_owned();
        }
        cluster.world.pause(200..longest).await;
        longest = (longest * 2).min(600_000);
    }
}

fn body(caller: &str, amount: u64, token: &str) -> Value {
    json!({
        "idempotencyKey": format!("key of {caller}"),
        "amountMinor": amount,
        "currency": "USD",
        "customerToken": token,
        "routingNumber": "021000021",
        "accountNumber": "000123456789",
        "bankAccountType": "checking",
        "bankName": "A Bank",
        "accountName": "Ada Lovelace",
        "description": caller,
    })
}
