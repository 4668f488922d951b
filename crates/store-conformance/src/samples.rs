//! Payments and what happens to them, as tests make them up.

use std::sync::Arc;

use tollgate_domain::{
    BasisPoints, Channel, Currency, Flow, Minor, Principal, ProviderAccount, ServiceReference, Timestamp,
    card::{Attempt, AttemptState, CardOrder, DiscrepancyKind, Preparation},
    card_fee::{
        Brand, CardDecision, CardFacts, Consent, Country, FeeDecision, FeeKind, FeeRange, Funding,
        Instrument, PaymentFee, Place, Reason, ReasonCode,
    },
    event::EventKind,
    fee::{Bound, FeeEntry, FeeLayer, FeeSnapshot, LayerFee},
    hold::{CaptureMode, Hold, HoldActionKind},
    id::{ChangeId, EntryId, EnvironmentId, ExceptionId, PaymentId, TransactionId},
    payment_card::{CardChecks, CheckResult, PaymentCard},
    routing::Matched,
    transaction::{Dispute, Failure, Status, TransactionState},
};
use tollgate_engine::ports::{
    CardPayment, Changed, Entry, Inserted, NewException, PaymentChange, Progress, ProviderEvent,
    ProviderEventState, SettledProviderEvent,
};

use super::{Nodes, at, minor, outbox_samples::FAILED};

pub const PROVIDER: &str = "stripe-main";

/// Letters that a careless store loses.
pub const LETTERS: &str = "Łucja №5 \u{1F9FE} '\"\\ -- cafe\u{301} \u{202e}例え\n";

pub fn card(id: PaymentId) -> ServiceReference {
    ServiceReference::Card(id)
}

/// Where every payment begins.
pub fn preparing() -> Progress {
    Progress {
        preparation: Preparation::Preparing,
        object: None,
        checkout_url: None,
        prepared_at: None,
        confirmed: false,
        due: None,
        follow_up: None,
        tries: 0,
        waiting: None,
        card_fee: None,
    }
}

pub fn due(at: Timestamp) -> Progress {
    Progress { due: Some(at), ..preparing() }
}

pub fn in_status(status: Status) -> TransactionState {
    TransactionState { status, ..TransactionState::pending() }
}

/// A transaction of which everything is known.
pub fn full_state() -> TransactionState {
    TransactionState {
        status: Status::Failed,
        provider_reference: Some(format!("pi_1 {LETTERS}")),
        failure: Some(Failure { code: "card_declined".to_owned(), message: LETTERS.to_owned() }),
        refunded: Minor::MAX,
        dispute: Some(Dispute {
            id: "dp_1".to_owned(),
            status: "needs_response".to_owned(),
            reason: Some(LETTERS.to_owned()),
            amount: Some(Minor::MAX),
            currency: Some("EUR".to_owned()),
            respond_by: Some(at(9)),
            withdrawn: None,
        }),
        hold: Some(Hold {
            capture_before: Some(Timestamp::from_unix_millis(i64::MAX)),
            pending: Some(HoldActionKind::Capture),
            captured: Some(plain_fee(9_999)),
        }),
        card: Some(Box::new(full_card())),
        charged: Some(Box::new(decided_fee())),
    }
}

/// A card of which everything is known.
pub fn full_card() -> PaymentCard {
    PaymentCard {
        brand: Some("visa".to_owned()),
        last_four: Some("4242".to_owned()),
        funding: Some("debit".to_owned()),
        country: Some("US".to_owned()),
        expiry_month: Some(12),
        expiry_year: Some(9999),
        three_d_secure: Some(LETTERS.to_owned()),
        checks: CardChecks {
            address: Some(CheckResult::Unavailable),
            postal_code: Some(CheckResult::Fail),
            cvc: Some(CheckResult::Pass),
        },
    }
}

pub fn plain_fee(principal: u64) -> FeeSnapshot {
    let layer = FeeLayer {
        enabled: true,
        fixed: minor(30),
        percent: BasisPoints::new(290).unwrap(),
        minimum: None,
        cap: None,
    };
    FeeEntry { platform: layer, organization: FeeLayer::default() }.assess(Principal::new(principal).unwrap())
}

/// Numbers at their limits, and such as no calculation gives: they must come back as they were stored.
pub fn odd_fee() -> FeeSnapshot {
    let layer = FeeLayer {
        enabled: false,
        fixed: Minor::MAX,
        percent: BasisPoints::new(10_000).unwrap(),
        minimum: Some(minor(9_007_199_254_740_993)),
        cap: Some(Minor::MAX),
    };
    let platform = LayerFee {
        layer,
        percent_part: minor(1),
        before_bounds: Minor::MAX,
        bound: Some(Bound::Minimum),
        fee: minor(9_223_372_036_854_775_806),
    };
    let organization = LayerFee {
        layer: FeeLayer { enabled: true, minimum: None, ..layer },
        bound: Some(Bound::Cap),
        fee: minor(3),
        ..platform
    };
    FeeSnapshot {
        principal: Principal::new(1_000_000_000_000_000_000).unwrap(),
        platform,
        organization,
        fee: minor(5),
        total_debit: Minor::MAX,
        kind: None,
    }
}

/// A fee that was decided lower than its layers.
pub fn decided_fee() -> FeeSnapshot {
    plain_fee(12_500).with_fees(FeeKind::Surcharge, minor(362), Minor::ZERO)
}

/// Everything that can be known of a card fee: what was decided for two cards, and that the payer agreed to the first.
pub fn full_card_fee() -> PaymentFee {
    let place = |text| Place::parse(text).unwrap();
    let decision = |max: u64, code| FeeDecision {
        kind: FeeKind::Surcharge,
        configured: minor(393),
        platform: minor(362),
        organization: Minor::ZERO,
        fee: minor(362),
        range: FeeRange { min: Minor::ZERO, max: minor(max) },
        reasons: vec![Reason::of(code, Some(LETTERS.into())), Reason::of(ReasonCode::AsConfigured, None)],
        cap: Some(minor(375)),
        cost: Some(minor(362)),
        places: [place("US-CO"), place("JP")].into(),
        sentences: [LETTERS.into()].into(),
        overrides: ["US-TX".into()].into(),
        rules_version: "2026-11-18".into(),
    };
    let card = |token, instrument| CardDecision {
        token: [token; 32],
        instrument,
        payer: Some(place("US-GA")),
        decision: decision(362, ReasonCode::CostCap),
        amounts: decided_fee(),
        at: at(7),
    };
    let (country, commercial) = (Country::parse("US"), Some(false));
    let facts = CardFacts { brand: Brand::EftposAustralia, funding: Funding::Credit, country, commercial };
    let first = card(1, Instrument::Card(facts));
    let consent = Consent { attempt: 1, text: LETTERS.to_owned(), card: first, at: at(8) };
    PaymentFee {
        payer: Some(place("US")),
        recurring: true,
        decision: decision(375, ReasonCode::CardUnknown),
        card: Some(card(2, Instrument::NotCard)),
        consents: vec![consent],
    }
}

impl Nodes {
    pub fn new_payment_id(&self) -> PaymentId {
        let (at, random) = self.next();
        PaymentId::new(at, random)
    }

    pub fn new_transaction_id(&self) -> TransactionId {
        let (at, random) = self.next();
        TransactionId::new(at, random)
    }

    /// An order with nothing in it that can be left out.
    pub fn new_order(&self, environment: EnvironmentId) -> CardOrder {
        let (created_at, random) = self.next();
        CardOrder {
            environment,
            id: PaymentId::new(created_at, random),
            flow: Flow::PaymentComponent,
            provider: PROVIDER.to_owned(),
            adapter: "stripe".to_owned(),
            account: None,
            channel: Channel::WebCard,
            matched: None,
            route: tollgate_domain::routing::RouteProgress::default(),
            config_version: 1,
            currency: Currency::USD,
            fee: plain_fee(10_000),
            description: None,
            customer_name: None,
            customer_email: None,
            metadata: "{}".to_owned(),
            capture: CaptureMode::Automatic,
            success_url: None,
            cancel_url: None,
            key: None,
            request: "req_1".to_owned(),
            created_at,
            expires_at: at(86_400_000),
        }
    }

    /// A key that no other payment has.
    pub fn new_key_digest(&self) -> [u8; 32] {
        let (_, random) = self.next();
        let mut key = [7; 32];
        key[..10].copy_from_slice(&random);
        key
    }

    /// An order with everything in it.
    pub fn new_full_order(&self, environment: EnvironmentId) -> CardOrder {
        CardOrder {
            flow: Flow::HostedCheckout,
            account: Some(account(None)),
            matched: Some(Matched {
                rule: Arc::from(LETTERS),
                conditions: [Arc::from("amount"), Arc::from(LETTERS), Arc::from("")].into(),
            }),
            config_version: i64::MAX.unsigned_abs(),
            currency: Currency::parse("KWD").unwrap(),
            fee: odd_fee(),
            description: Some(LETTERS.to_owned()),
            customer_name: Some(String::new()),
            customer_email: Some("łucja@例え.jp".to_owned()),
            metadata: format!("{{\"order\":{:?},\"n\":\"1\"}}", "\u{1F9FE}".repeat(2_000)),
            capture: CaptureMode::Manual,
            success_url: Some("https://shop.example/done?a=1&b=%20".to_owned()),
            cancel_url: Some("https://shop.example/ü".to_owned()),
            key: Some(self.new_key_digest()),
            request: "req_2".to_owned(),
            expires_at: Timestamp::from_unix_millis(i64::MAX),
            ..self.new_order(environment)
        }
    }

    pub fn new_entry(&self, kind: &str) -> Entry {
        let (at, random) = self.next();
        Entry {
            id: EntryId::new(at, random),
            at,
            kind: kind.to_owned(),
            request: None,
            detail: "{}".to_owned(),
        }
    }

    pub fn new_exception(&self, kind: DiscrepancyKind, found: &str) -> NewException {
        let (at, random) = self.next();
        NewException {
            id: ExceptionId::new(at, random),
            kind,
            expected: "10370".to_owned(),
            found: found.to_owned(),
            source: "confirm".to_owned(),
            at,
        }
    }

    pub fn new_attempt(&self, number: u32, token: u8) -> Attempt {
        let (created_at, _) = self.next();
        Attempt {
            number,
            source_digest: [token; 32],
            sealed_source: Some(format!("sealed {token}")),
            state: AttemptState::Open,
            account: Some(account(Some("L1"))),
            created_at,
        }
    }

    pub fn new_event(&self, id: &str) -> ProviderEvent {
        let (received_at, _) = self.next();
        ProviderEvent {
            provider: PROVIDER.to_owned(),
            id: id.to_owned(),
            kind: "payment_intent.succeeded".to_owned(),
            notice: "{}".to_owned(),
            request: "req_3".to_owned(),
            received_at,
        }
    }

    /// A change with nothing in it but where the payment stands.
    pub fn change_to(&self, from_revision: u64, progress: Progress) -> PaymentChange {
        let (at, random) = self.next();
        PaymentChange {
            id: ChangeId::new(at, random),
            from_revision,
            at,
            progress,
            transaction: None,
            began_at: at,
            attempt: None,
            refunds: Vec::new(),
            disputes: Vec::new(),
            postings: Vec::new(),
            counts: None,
            hold_actions: Vec::new(),
            objects: Vec::new(),
            entries: Vec::new(),
            exceptions: Vec::new(),
            event: None,
            new_events: Vec::new(),
        }
    }

    /// A change of everything that a change can change.
    pub fn full_change(&self, from_revision: u64, event: &str) -> PaymentChange {
        let (prepared_at, _) = self.next();
        PaymentChange {
            transaction: Some((self.new_transaction_id(), full_state())),
            began_at: prepared_at,
            attempt: Some(self.new_attempt(1, 1)),
            objects: vec![format!("pi_{from_revision}"), LETTERS.to_owned()],
            entries: vec![self.new_entry("provider_call"), self.new_entry("status")],
            exceptions: vec![
                self.new_exception(DiscrepancyKind::Amount, "1"),
                self.new_exception(DiscrepancyKind::Currency, LETTERS),
            ],
            event: Some(settled(event, ProviderEventState::Applied)),
            new_events: vec![
                self.new_outbox_event(EventKind::PaymentPrepared),
                self.new_outbox_event(FAILED),
            ],
            ..self.change_to(
                from_revision,
                Progress {
                    preparation: Preparation::Prepared,
                    object: Some(LETTERS.to_owned()),
                    checkout_url: Some("https://pay.example/ü".to_owned()),
                    prepared_at: Some(prepared_at),
                    confirmed: true,
                    due: Some(at(7)),
                    follow_up: Some(at(8)),
                    tries: u32::MAX,
                    waiting: Some(LETTERS.to_owned()),
                    card_fee: Some(Box::new(full_card_fee())),
                },
            )
        }
    }

    /// A payment that is there.
    pub async fn payment(&self, environment: EnvironmentId) -> PaymentId {
        self.payment_with(&self.new_order(environment), &preparing()).await
    }

    pub async fn payment_with(&self, order: &CardOrder, progress: &Progress) -> PaymentId {
        let inserted = self.one.insert_payment(order.environment, order, progress, &[], &[]).await.unwrap();
        assert_eq!(inserted, Inserted::Done);
        order.id
    }

    /// Makes a change, which must work, and returns the payment.
    pub async fn change(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
        change: &PaymentChange,
    ) -> CardPayment {
        let changed = self.one.change_payment(environment, id, change).await.unwrap();
        assert_eq!(changed, Changed::Done);
        self.read(environment, id).await
    }

    /// Gives a payment a transaction, in a change of its own.
    pub async fn record(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
        state: TransactionState,
    ) -> CardPayment {
        let seen = self.read(environment, id).await;
        let mut change = self.change_to(seen.revision, seen.progress);
        change.transaction = Some((self.new_transaction_id(), state));
        self.change(environment, id, &change).await
    }

    pub async fn read(&self, environment: EnvironmentId, id: PaymentId) -> CardPayment {
        self.two.payment(environment, id).await.unwrap().expect("the payment is there")
    }
}

pub fn settled(event: &str, state: ProviderEventState) -> SettledProviderEvent {
    SettledProviderEvent {
        event: ProviderEvent {
            provider: PROVIDER.to_owned(),
            id: event.to_owned(),
            kind: "payment_intent.succeeded".to_owned(),
            notice: "{}".to_owned(),
            request: "req_3".to_owned(),
            received_at: at(1),
        },
        state,
        due: None,
        note: LETTERS.to_owned(),
    }
}

/// An account at a provider.
pub(super) fn account(id: Option<&str>) -> ProviderAccount {
    let (address, credential) = (format!("https://{LETTERS}"), "0123456789abcdef".to_owned());
    ProviderAccount { address, id: id.map(str::to_owned), credential }
}
