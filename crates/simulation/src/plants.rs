//! Faults that are planted to see them found. All of them sit in decorators around the ports; the engine knows of none.

use std::{borrow::Cow, net::IpAddr, time::Duration};

use axum::{body::Body, response::Response};
use http::Request;
use http_body_util::BodyExt;
use serde_json::Value;
use tollgate_domain::card::Preparation;
use tollgate_engine::ports::{
    CardPayment, Delta, DirectoryVersion, Event, EventsFrom, NewEvent, PaymentChange, Transfer,
    TransferChange,
};
use tollgate_server::Service;
use tollgate_vault::Digest;

use crate::{life::Life, profile::Profile, world::World};

macro_rules! plants {
    ($($plant:ident $name:literal $what:literal;)*) => {
        /// A planted fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Plant {
            $(#[doc = $what] $plant,)*
        }

        impl Plant {
            /// Every fault.
            pub const ALL: &[Self] = &[$(Self::$plant),*];

            /// Its name on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$plant => $name,)* }
            }

            /// What it does.
            pub const fn what(self) -> &'static str {
                match self { $(Self::$plant => $what,)* }
            }
        }
    };
}

plants! {
    OutcomeDenied "outcome_denied" "what is still to be recorded is answered as an error that says nothing was changed";
    FollowedById "followed_by_id" "events are listed by their ids, which are drawn before the commit";
    ExpiryIgnored "expiry_ignored" "a preparation is confirmed although its time is over";
    TakenBackByHalves "taken_back_by_halves" "a webhook that ends what was prepared leaves the payment as it is for two hours";
    AccountForgotten "account_forgotten" "a payment in doubt is asked about, and sent, wherever the configuration leads now";
    CredentialsDecide "credentials_decide" "a provider that does not accept our credentials counts as a refusal of the payment";
    WebhookLostWhileRefused "webhook_lost_while_refused" "a webhook that comes while our key is refused is marked as applied";
    TokenFirst "token_first" "the customer token is opened before the key is looked up";
    StoreDeniesCommit "store_denies_commit" "the store says that nothing was changed although it was";
    LostChange "lost_change" "the store says that a transfer was changed although it was not";
    LostPosting "lost_posting" "a transfer ends and its posting is not written";
    UntoldChange "untold_change" "a change is written without its event";
    DoublyTold "doubly_told" "a change is written with its event twice";
    RevokedKeyLives "revoked_key_lives" "a node goes on with a key that was revoked";
    TransfersForgotten "transfers_forgotten" "the resolver takes up no transfers";
    ChargeKeyDiffers "charge_key_differs" "a charge is repeated under another key";
    DeliveryForgotten "delivery_forgotten" "a delivery counts as made that never was";
    ReleaseOnTimeout "release_on_timeout" "funds are released when the provider does not answer in time";
    NewKeyOnRetry "new_key_on_retry" "the resolver sends a transfer again under another key";
    FallbackInDoubt "fallback_in_doubt" "a transfer whose outcome is unknown goes on to the second bank";
    WallClockDecides "wall_clock_decides" "each node decides by the clock of its own machine";
    EventOrderByTime "event_order_by_time" "an event's revision is the time of the clock of its node's machine";
    CancelForgotten "cancel_forgotten" "a cancellation in doubt is not checked for ten minutes";
    AcknowledgeBeforeCommit "acknowledge_before_commit" "a transfer is answered before it is recorded";
    WebhookBelievedUnsigned "webhook_believed_unsigned" "a webhook is believed whoever signed it";
    ResolvedWithoutWord "resolved_without_word" "a payment that its provider cannot be asked about is taken for none";
}

impl Plant {
    /// The fault of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|plant| plant.name() == name)
    }

    /// The circumstances it needs to show itself are made likely; everything else stays as drawn.
    pub(crate) fn season(self, profile: &mut Profile) {
        let at_least = |rate: &mut u64, least: u64| *rate = (*rate).max(least);
        match self {
            Self::CredentialsDecide => at_least(&mut profile.provider_refusals, 2),
            Self::WebhookLostWhileRefused => {
                profile.webhooks_lost = 0;
                at_least(&mut profile.provider_refusals, 6);
                at_least(&mut profile.transfers, 10);
            }
            Self::AccountForgotten => {
                at_least(&mut profile.operator_actions, 4);
                at_least(&mut profile.provider_fails, 300);
                at_least(&mut profile.transfers, 6);
            }
            Self::FollowedById => {
                profile.nodes = 3;
                profile.skew = profile.skew.max(3_000);
            }
            Self::ExpiryIgnored => {
                profile.preparation_lifetime = 60;
                at_least(&mut profile.cards, 6);
            }
            Self::TakenBackByHalves => {
                profile.webhooks_lost = 0;
                profile.cards = 8;
                at_least(&mut profile.provider_fails, 200);
                at_least(&mut profile.deaths_at_calls, 30);
            }
            Self::OutcomeDenied => at_least(&mut profile.provider_fails, 200),
            Self::TokenFirst => profile.token_lifetime = Some(20),
            Self::RevokedKeyLives => at_least(&mut profile.operator_actions, 3),
            Self::ReleaseOnTimeout | Self::NewKeyOnRetry | Self::ChargeKeyDiffers => {
                at_least(&mut profile.provider_fails, 200);
            }
            Self::FallbackInDoubt => {
                profile.falls_back = true;
                at_least(&mut profile.provider_fails, 200);
                at_least(&mut profile.transfers, 6);
            }
            Self::WallClockDecides => {
                profile.nodes = 3;
                profile.clock_jumps = 6;
                at_least(&mut profile.transfers, 8);
                at_least(&mut profile.cards, 8);
                at_least(&mut profile.provider_fails, 200);
            }
            Self::EventOrderByTime => {
                profile.nodes = 3;
                profile.clock_jumps = 6;
                at_least(&mut profile.transfers, 8);
            }
            Self::CancelForgotten => {
                at_least(&mut profile.transfers, 8);
                at_least(&mut profile.store_fails, 150);
                at_least(&mut profile.deaths_at_calls, 30);
            }
            Self::AcknowledgeBeforeCommit => at_least(&mut profile.store_fails, 150),
            Self::WebhookBelievedUnsigned => {
                profile.cards = 8;
                profile.third_provider_from = 0;
            }
            Self::ResolvedWithoutWord => {
                profile.cards = 8;
                profile.third_provider_from = 0;
                profile.webhooks_lost = 0;
                at_least(&mut profile.webhooks_late, 800);
                at_least(&mut profile.provider_fails, 200);
            }
            _ => {}
        }
    }
}

/// A change of a transfer on its way to the store; `None` if it gets lost.
pub(crate) fn transfer_change<'a>(
    life: &Life,
    change: &'a TransferChange,
) -> Option<Cow<'a, TransferChange>> {
    let world = &life.world;
    match world.plant {
        Some(Plant::LostChange) if change.state.is_some() && world.strikes(100) => None,
        Some(Plant::LostPosting) if change.posting.is_some() => {
            Some(Cow::Owned(TransferChange { posting: None, ..change.clone() }))
        }
        Some(Plant::UntoldChange) if world.strikes(100) => {
            Some(Cow::Owned(TransferChange { new_events: Vec::new(), ..change.clone() }))
        }
        Some(Plant::EventOrderByTime) => {
            let mut changed = change.clone();
            order_by_time(life, &mut changed.new_events);
            Some(Cow::Owned(changed))
        }
        Some(Plant::CancelForgotten) if change.progress.cancel_requested_at.is_some() => {
            let mut changed = change.clone();
            changed.progress.due = Some(change.at.saturating_add(Duration::from_mins(10)));
            Some(Cow::Owned(changed))
        }
        _ => Some(Cow::Borrowed(change)),
    }
}

/// The machine's clock in the place of revisions.
fn order_by_time(life: &Life, events: &mut [NewEvent]) {
    let now = u64::try_from(life.machine_time().unix_millis()).unwrap_or_default();
    for event in events {
        event.revision = now;
    }
}

/// A change of a payment on its way to the store.
pub(crate) fn payment_change<'a>(life: &Life, change: &'a PaymentChange) -> Cow<'a, PaymentChange> {
    let mut changed = change.clone();
    let world = &life.world;
    match world.plant {
        Some(Plant::UntoldChange) if world.strikes(100) => changed.new_events.clear(),
        Some(Plant::EventOrderByTime) => order_by_time(life, &mut changed.new_events),
        Some(Plant::DoublyTold) => {
            let again = changed.new_events.first().cloned();
            changed.new_events.extend(again.map(|told| {
                let mut bytes = told.id.to_bytes();
                bytes[15] ^= 1;
                NewEvent { id: tollgate_domain::id::EventId::from_bytes(bytes), ..told }
            }));
        }
        Some(Plant::TakenBackByHalves)
            if change.event.is_some() && change.progress.preparation == Preparation::Withdrawn =>
        {
            changed.progress.preparation = Preparation::Preparing;
            changed.progress.due = Some(change.at.saturating_add(Duration::from_hours(2)));
        }
        _ => return Cow::Borrowed(change),
    }
    Cow::Owned(changed)
}

/// A transfer as it was read.
pub(crate) fn transfer(world: &World, mut read: Option<Transfer>) -> Option<Transfer> {
    if let Some(transfer) = read.as_mut().filter(|_| world.is_planted(Plant::AccountForgotten)) {
        transfer.order.account = None;
    }
    read
}

/// A payment as it was read.
pub(crate) fn payment(world: &World, mut read: Option<CardPayment>) -> Option<CardPayment> {
    if let Some(payment) = read.as_mut().filter(|_| world.is_planted(Plant::AccountForgotten)) {
        payment.order.account = None;
        payment.attempts.iter_mut().for_each(|attempt| attempt.account = None);
    }
    if let Some(payment) = read.as_mut().filter(|_| world.is_planted(Plant::ExpiryIgnored)) {
        payment.order.expires_at = payment.order.expires_at.saturating_add(Duration::from_hours(1));
    }
    read
}

/// How many transfers the resolver may take.
pub(crate) fn claimed(world: &World, limit: u32) -> u32 {
    if world.is_planted(Plant::TransfersForgotten) { 0 } else { limit }
}

/// What a node reads of the directory.
pub(crate) fn directory(world: &World, since: DirectoryVersion, mut delta: Delta) -> Delta {
    if world.is_planted(Plant::RevokedKeyLives) && since > DirectoryVersion(0) {
        // News of anything but a configuration does not arrive.
        delta.environments.retain(|environment| environment.keys.len() > 1);
    }
    delta
}

/// A page of events as it would be by ids.
pub(crate) fn by_id(from: EventsFrom, limit: u32, mut all: Vec<Event>) -> Vec<Event> {
    all.sort_by_key(|event| event.id);
    match from {
        EventsFrom::After(after) => all.retain(|event| event.id > after),
        EventsFrom::Before(before) => all.retain(|event| event.id < before),
        EventsFrom::Newest | EventsFrom::Oldest => {}
    }
    if matches!(from, EventsFrom::Newest | EventsFrom::Before(_)) {
        all.reverse();
    }
    all.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    all
}

/// What stands between callers and the service.
pub(crate) struct Handler {
    service: Service,
    opens_token_first: bool,
    denies_outcomes: bool,
}

impl Handler {
    pub(crate) fn new(world: &World, service: &Service) -> Self {
        Self {
            service: service.clone(),
            opens_token_first: world.is_planted(Plant::TokenFirst),
            denies_outcomes: world.is_planted(Plant::OutcomeDenied),
        }
    }

    pub(crate) async fn answer(self, peer: IpAddr, request: Request<Body>) -> Response {
        if self.denies_outcomes && !request.uri().path().starts_with("/admin") {
            return denied(self.service.answer(peer, request).await).await;
        }
        if !self.opens_token_first || request.uri().path() != "/client/v1/ach/transfers" {
            return self.service.answer(peer, request).await;
        }
        let (head, body) = request.into_parts();
        let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let opens = {
            let sent: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            let key = head.headers.get("authorization").and_then(|value| value.to_str().ok());
            let key = key.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
            let engine = self.service.engine();
            let snapshot = engine.directory().snapshot();
            let key = snapshot.authenticate(Digest::of(key), engine.clock().now());
            let token = sent["customerToken"].as_str().unwrap_or_default();
            key.map_or(true, |key| engine.open_token(&key.environment, token).customer().is_ok())
        };
        if opens {
            return self.service.answer(peer, Request::from_parts(head, Body::from(bytes))).await;
        }
        let rejection =
            Response::builder().status(400).body(Body::from(r#"{"error":{"code":"invalid_body"}}"#));
        rejection.unwrap_or_default()
    }
}

/// A transaction whose outcome is not recorded yet, turned into our own trouble.
async fn denied(response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let is_pending = answer.pointer("/data/transaction/status").and_then(Value::as_str) == Some("pending");
    if !is_pending || answer.pointer("/data/replayed").and_then(Value::as_bool) == Some(true) {
        return Response::from_parts(head, Body::from(bytes));
    }
    head.status = http::StatusCode::SERVICE_UNAVAILABLE;
    let text = r#"{"message":"Nothing was changed. Try again.","error":{"code":"store_unavailable"}}"#;
    Response::from_parts(head, Body::from(text))
}
