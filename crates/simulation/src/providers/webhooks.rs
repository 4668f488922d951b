//! What providers tell us: signed, and lost, repeated, late or out of order on the way.

use std::{sync::Arc, time::Duration};

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};
use tokio::time::sleep;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Minor, Timestamp,
    refund::{RefundReport, RefundStatus},
    transaction::Failure,
};
use tollgate_engine::ports::{
    InboundWebhook, SignatureError, SignedReport, SignedStep, UnreadableEvent, WebhookNotice, Webhooks,
};

use super::{Account, DROP_IN, configured_name};
use crate::world::{World, lock};

pub(crate) const SECRET: &str = "746865207765626869636b732720736563726574";
const SIGNATURE: &str = "model-signature";
const SENT_AT: &str = "model-sent-at";
/// How far the signature's time may be away, in milliseconds.
const AWAY: u64 = 300_000;

/// How much news there is of an object, and up to which it was taken by us.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct News {
    made: u64,
    taken: u64,
}

impl News {
    pub(super) fn next(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    /// Whether we answered 200 to the latest.
    pub(crate) fn is_taken(&self) -> bool {
        self.made > 0 && self.made == self.taken
    }
}

/// Sends news of an object on its way; `false` if it gets lost.
pub(super) fn send(
    world: &Arc<World>,
    wire: &'static str,
    account: Account,
    object: &str,
    number: u64,
    mut body: Value,
) -> bool {
    let event = format!("evt_{wire}_{object}_{number}");
    if world.strikes(world.profile.webhooks_lost) {
        world.note(account, format_args!("{event} is lost"));
        return false;
    }
    body["id"] = json!(event);
    let copies = if world.strikes(world.profile.webhooks_repeated) { 2 } else { 1 };
    for _ in 0..copies {
        let delay = if world.strikes(world.profile.webhooks_late) {
            world.draw(1_000..180_000)
        } else {
            world.draw(1..400)
        };
        let (world, object, text) = (Arc::clone(world), object.to_owned(), body.to_string());
        tokio::spawn(async move {
            sleep(Duration::from_millis(delay)).await;
            deliver(&world, wire, &object, number, &text).await;
        });
    }
    true
}

/// Somebody without the secret claims something.
pub(super) fn forge(world: &Arc<World>, wire: &'static str, mut body: Value) {
    body["id"] = json!(format!("evt_forged_{}", body["payment"].as_str().unwrap_or_default()));
    let world = Arc::clone(world);
    tokio::spawn(async move {
        world.pause(1..400).await;
        let Some(cluster) = world.book().cluster.clone() else { return };
        let environment = world.book().environment.clone();
        let request = Request::post(format!("/webhooks/v1/{environment}/{}", configured_name(wire)))
            .header(SIGNATURE, "forged")
            .header(SENT_AT, world.clock(0).unix_millis())
            .body(Body::from(body.to_string()));
        let Ok(request) = request else { return };
        let node = cluster.any_node();
        let answer = cluster.ask(node, request, Duration::from_secs(20)).await;
        world.note(wire, format_args!("a forged webhook is answered {}", answer.map_or(0, |it| it.status)));
    });
}

/// Until it is taken: soon again at first, later and later.
async fn deliver(world: &Arc<World>, wire: &'static str, object: &str, number: u64, text: &str) {
    let mut pause = 2_000;
    // The one whose word is all there is goes on for weeks.
    let tries = if wire == DROP_IN { 4_000 } else { 60 };
    for _ in 0..tries {
        let Some(cluster) = world.book().cluster.clone() else { return };
        let environment = world.book().environment.clone();
        let request = Request::post(format!("/webhooks/v1/{environment}/{}", configured_name(wire)))
            .header(SIGNATURE, SECRET)
            .header(SENT_AT, world.clock(0).unix_millis())
            .body(Body::from(text.to_owned()));
        let Ok(request) = request else { return };
        let node = cluster.any_node();
        let answer = cluster.ask(node, request, Duration::from_secs(20)).await;
        let status = answer.map_or(0, |answer| answer.status);
        world.note(wire, format_args!("news {number} of {object} answered {status}"));
        if status == 200 {
            let mut ledger = lock(&world.providers);
            let news = ledger.news(object);
            if let Some(news) = news {
                news.taken = news.taken.max(number);
            }
            return;
        }
        sleep(Duration::from_millis(pause)).await;
        pause = (pause * 2).min(600_000);
    }
}

impl super::Ledger {
    fn news(&mut self, object: &str) -> Option<&mut News> {
        if let Some(transfer) = self.transfers.get_mut(object) {
            return Some(&mut transfer.news);
        }
        if let Some(page) = self.pages.get_mut(object) {
            return Some(&mut page.news);
        }
        self.sales.get_mut(object).map(|sale| &mut sale.news)
    }
}

/// Reads the models' webhooks.
pub(super) struct Reader {
    /// The name of the credential they are signed with.
    pub(super) credential: &'static str,
    pub(super) believes_everybody: bool,
}

impl Webhooks for Reader {
    fn verify(
        &self,
        provider: &Provider,
        delivery: InboundWebhook<'_>,
        now: Timestamp,
    ) -> Result<(), SignatureError> {
        let header = |name: &str| {
            let found = delivery.headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str()).ok_or(SignatureError::Malformed)
        };
        let secret = provider.credential(self.credential).ok_or(SignatureError::NoSecret)?;
        if header(SIGNATURE)? != secret && !self.believes_everybody {
            return Err(SignatureError::Forged);
        }
        let sent_at: i64 = header(SENT_AT)?.parse().map_err(|_| SignatureError::Malformed)?;
        if now.unix_millis().abs_diff(sent_at) > AWAY {
            return Err(SignatureError::Stale);
        }
        Ok(())
    }

    fn translate(&self, body: &[u8]) -> Vec<Result<WebhookNotice, UnreadableEvent>> {
        vec![translate(body)]
    }
}

fn translate(body: &[u8]) -> Result<WebhookNotice, UnreadableEvent> {
    let body: Value = serde_json::from_slice(body).map_err(|error| UnreadableEvent(error.to_string()))?;
    let text = |name: &str| body[name].as_str().map(str::to_owned);
    let objects = body["objects"].as_array().into_iter().flatten();
    Ok(WebhookNotice {
        event: text("id").unwrap_or_default(),
        kind: text("kind").unwrap_or_default(),
        relevant: true,
        objects: objects.filter_map(|object| object.as_str().map(str::to_owned)).collect(),
        payment: text("payment"),
        reference: text("reference"),
        signed: if body["signed"].is_null() { None } else { Some(signed(&body["signed"])?) },
        ..WebhookNotice::default()
    })
}

/// One step, as the third card provider tells it.
fn signed(told: &Value) -> Result<SignedReport, UnreadableEvent> {
    let text = |name: &str| told[name].as_str().unwrap_or_default();
    let unreadable = || UnreadableEvent(format!("no such step: {told}"));
    let amount = Minor::new(told["amount"].as_u64().unwrap_or_default()).ok_or_else(unreadable)?;
    let failure = Failure { code: "card_declined".to_owned(), message: "The card was declined.".to_owned() };
    let step = match text("step") {
        "approved" => SignedStep::Approved,
        "declined" => SignedStep::Declined(failure),
        "captured" => SignedStep::Captured,
        "released" => SignedStep::Released,
        "expired" => SignedStep::Expired,
        "closed" => SignedStep::Closed,
        "hold_action_failed" => SignedStep::HoldActionFailed(text("action").parse().ok(), failure),
        "refund" => SignedStep::Refund(RefundReport {
            id: text("id").to_owned(),
            reference: text("refund").parse().ok(),
            total: amount,
            status: RefundStatus::parse(text("status")).ok_or_else(unreadable)?,
            failure: (text("status") == "failed").then_some(failure),
        }),
        _ => return Err(unreadable()),
    };
    Ok(SignedReport { step, amount, currency: "USD".to_owned() })
}
