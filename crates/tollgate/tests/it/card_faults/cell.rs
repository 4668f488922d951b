//! One cell of the matrix: a step, a wire, a fault, and how often it strikes.

use std::{
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{
    Answer, Flow, Prepared, Proxy, Server, Shop, Simulator, WAIT_TIMEOUT, Weather, Wire, wait_until,
};

/// How often one request is tried at most within one call.
const TRIES: u64 = 3;

/// Longer than a call to a provider may take.
const NEVER_MS: u64 = 9_000;

/// What is struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    PrepareHosted,
    PrepareComponent,
    Confirm,
    Refund,
    Capture,
    Void,
    /// Closing at the provider what a lost answer left open there.
    TakeBackHosted,
    TakeBackComponent,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing listens where the provider should be.
    RefusedConnection,
    /// Connections are made, and nothing gets through.
    Silence,
    /// One of the simulator's faults in the exchange.
    Exchange(&'static str),
    /// One of the simulator's faults in the webhooks.
    Webhooks(&'static str),
}

/// How often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Times {
    /// The next try goes through.
    Once,
    /// Every try of the call is struck; the resolver finds out.
    EveryTry,
    /// Every try of the call, and every try of the resolver's first look.
    TwiceOver,
}

/// One cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) step: Step,
    pub(super) wire: Wire,
    pub(super) fault: Fault,
    pub(super) times: Times,
}

impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} {:?} × {:?} {:?}", self.wire, self.step, self.fault, self.times)
    }
}

/// What the provider sees nothing of, or did without our hearing of it.
const EXCHANGE: [&str; 11] = [
    "timeout_before",
    "timeout_after",
    "reset",
    "torn",
    "error_before",
    "error_after",
    "rate_limited",
    "slow",
    "malformed",
    "unknown_status",
    "refuse",
];

/// A server error that Stripe repeats for as long as it remembers the key, of a request that it did not or did carry out.
const KEPT_ERRORS: [&str; 2] = ["error_kept", "error_kept_after"];

const WEBHOOKS: [&str; 5] =
    ["webhook_first", "webhook_twice", "webhook_out_of_order", "webhook_late", "webhook_never"];

impl Cell {
    /// Every cell, the long ones first.
    pub(super) fn all() -> Vec<Self> {
        let mut cells = Vec::new();
        for times in [Times::TwiceOver, Times::EveryTry, Times::Once] {
            for step in [
                Step::Confirm,
                Step::Refund,
                Step::Capture,
                Step::Void,
                Step::PrepareHosted,
                Step::PrepareComponent,
            ] {
                for wire in Wire::ALL {
                    let mut add = |fault| cells.push(Self { step, wire, fault, times });
                    add(Fault::RefusedConnection);
                    add(Fault::Silence);
                    EXCHANGE.into_iter().map(Fault::Exchange).for_each(&mut add);
                    // Reading, as a confirmation does, needs no key.
                    if wire == Wire::Stripe && step != Step::Confirm {
                        KEPT_ERRORS.into_iter().map(Fault::Exchange).for_each(&mut add);
                    }
                    // That the money moved all the same, only the webhook tells.
                    if wire == Wire::Adyen && matches!(step, Step::Refund | Step::Capture | Step::Void) {
                        add(Fault::Exchange("error_kept_after"));
                    }
                    if times == Times::Once {
                        // Where the webhook is the only word there is, it can be late; what is not told at all is waited for.
                        let told = WEBHOOKS
                            .into_iter()
                            .filter(|kind| wire != Wire::Adyen || *kind != "webhook_never");
                        told.map(Fault::Webhooks).for_each(add);
                    }
                }
            }
            for (step, wire) in [
                (Step::TakeBackHosted, Wire::Stripe),
                (Step::TakeBackHosted, Wire::Square),
                (Step::TakeBackHosted, Wire::Adyen),
                (Step::TakeBackComponent, Wire::Stripe),
            ] {
                let kept: &[_] = if wire == Wire::Stripe { &KEPT_ERRORS } else { &[] };
                let kinds = EXCHANGE.iter().chain(kept);
                cells.extend(kinds.map(|kind| Self { step, wire, fault: Fault::Exchange(kind), times }));
            }
        }
        cells.retain(Self::is_worth_playing);
        cells
    }

    fn is_worth_playing(&self) -> bool {
        let again = [
            Fault::Exchange("timeout_after"),
            Fault::Exchange("torn"),
            Fault::Exchange("error_after"),
            Fault::Exchange("rate_limited"),
            Fault::Exchange("malformed"),
        ];
        match self.times {
            // Each spends a key, of which there are three; only the end of Stripe's memory brings them back, after a day.
            Times::EveryTry | Times::TwiceOver if self.is_kept_error() => false,
            // A refusal is an answer: it is not asked for again.
            Times::EveryTry if self.takes_back() => {
                let longest = ["timeout_after", "error_before", "rate_limited"];
                longest.map(Fault::Exchange).contains(&self.fault)
            }
            Times::EveryTry => self.fault != Fault::Exchange("refuse"),
            // What was done is told by its webhook, and not asked for again.
            Times::TwiceOver if self.wire == Wire::Adyen => {
                self.fault == Fault::Exchange("rate_limited")
                    && matches!(self.step, Step::Refund | Step::Capture | Step::Void)
            }
            Times::TwiceOver => {
                // Taking back goes on in the resolver anyway, and what was turned away was never taken.
                // A refund, capture or void that was made is found when the payment is read, and not asked for again.
                let is_busy = self.fault == Fault::Exchange("rate_limited");
                let is_over = match self.step {
                    Step::Refund | Step::Capture | Step::Void => !is_busy,
                    Step::Confirm => false,
                    _ => is_busy || self.takes_back(),
                };
                again.contains(&self.fault) && !self.asks_nobody() && !is_over
            }
            // What was made under the spent key stays open beside what the caller gets; its ID was never returned.
            Times::Once if self.fault == Fault::Exchange("error_kept_after") => {
                !matches!(self.step, Step::PrepareHosted | Step::PrepareComponent)
            }
            Times::Once => true,
        }
    }

    fn is_kept_error(&self) -> bool {
        matches!(self.fault, Fault::Exchange(kind) if KEPT_ERRORS.contains(&kind))
    }

    fn takes_back(&self) -> bool {
        matches!(self.step, Step::TakeBackHosted | Step::TakeBackComponent)
    }

    /// The call that is struck; the empty one where the step makes none.
    pub(super) fn operation(&self) -> &'static str {
        match (self.step, self.wire, self.fault) {
            (Step::PrepareHosted, _, Fault::Webhooks(_)) => "checkout.pay",
            (Step::Confirm, Wire::Stripe, Fault::Webhooks(_)) => "payment_intents.confirm",
            (Step::PrepareHosted, Wire::Stripe, _) => "checkout.sessions.create",
            (Step::Confirm, Wire::Adyen, Fault::Webhooks(_)) => "browser.payments",
            (Step::PrepareHosted, Wire::Square | Wire::Adyen, _) => "payment_links.create",
            (Step::PrepareComponent, Wire::Adyen, _) => "sessions.create",
            (Step::Confirm, Wire::Adyen, _) => "sessions.result",
            (Step::Capture, Wire::Adyen, _) => "captures.create",
            (Step::Void, Wire::Adyen, _) => "cancels.create",
            (Step::TakeBackHosted, Wire::Adyen, _) => "payment_links.update",
            (Step::PrepareComponent, Wire::Stripe, _) => "payment_intents.create",
            // The provider hears of the payment only when a card is charged.
            (Step::PrepareComponent, Wire::Square, _) => "*",
            (Step::Confirm, Wire::Stripe, _) => "payment_intents.retrieve",
            (Step::Confirm, Wire::Square, _) => "payments.create",
            (Step::Refund, ..) => "refunds.create",
            (Step::Capture, Wire::Stripe, _) => "payment_intents.capture",
            (Step::Capture, Wire::Square, _) => "payments.complete",
            (Step::Void, Wire::Square, _) => "payments.cancel",
            (Step::TakeBackHosted, Wire::Stripe, _) => "checkout.sessions.expire",
            (Step::TakeBackHosted, Wire::Square, _) => "payment_links.delete",
            (Step::TakeBackComponent, _, _) | (Step::Void, Wire::Stripe, _) => "payment_intents.cancel",
        }
    }

    fn asks_nobody(&self) -> bool {
        (self.step, self.wire) == (Step::PrepareComponent, Wire::Square)
    }

    pub(super) fn flow(&self) -> Flow {
        match self.step {
            Step::PrepareHosted | Step::TakeBackHosted => Flow::Hosted,
            Step::PrepareComponent
            | Step::TakeBackComponent
            | Step::Confirm
            | Step::Refund
            | Step::Capture
            | Step::Void => Flow::Component,
        }
    }

    /// Whether the call fails although it is tried again.
    fn outlasts_the_call(&self) -> bool {
        self.times != Times::Once && !self.is_harmless() && !self.asks_nobody()
    }

    /// Whether every try may be struck although one was meant: the weather clears when a thread wakes up, which on a busy
    /// machine may be after the last try.
    fn may_be_struck_out(&self) -> bool {
        self.times == Times::Once && matches!(self.fault, Fault::RefusedConnection | Fault::Silence)
    }

    /// Whether the answer can be used all the same: a preparation does not look at the status.
    fn is_harmless(&self) -> bool {
        match self.fault {
            Fault::Webhooks(_) => true,
            Fault::Exchange("unknown_status") => {
                !matches!(self.step, Step::Confirm | Step::Refund | Step::Capture | Step::Void)
            }
            _ => false,
        }
    }

    /// The resolver may look meanwhile and be struck too, so that what is to outlast a call is not counted by it. Neither is an
    /// answer that is not asked for again: on a busy machine a try may be given up, and the next one is to be answered the same.
    pub(super) fn count(&self) -> u64 {
        let is_answer = matches!(self.fault, Fault::Exchange("refuse" | "unknown_status"));
        match self.times {
            Times::Once if is_answer && !self.takes_back() => 1_000,
            Times::Once => 1,
            Times::EveryTry | Times::TwiceOver => 1_000,
        }
    }

    pub(super) fn delay_ms(&self) -> u64 {
        match (self.fault, self.times) {
            // The first try gives up while the provider is still processing it.
            (Fault::Exchange("slow"), Times::Once) => 2_300,
            (Fault::Exchange("rate_limited"), _) => 1_000,
            (Fault::Webhooks(_), _) => 700,
            _ => NEVER_MS,
        }
    }
}

/// Where cells are played: a simulator behind a network of its own, and a shop that uses it.
pub(super) struct Stage {
    pub(super) shop: Shop,
    pub(super) simulator: Simulator,
    network: Proxy,
    struck_out: AtomicUsize,
}

impl Stage {
    pub(super) fn set(server: &Server) -> Self {
        let simulator = Simulator::start();
        let network = Proxy::start(simulator.address());
        let shop = Shop::open_at(server, &simulator, network.address);
        Self { shop, simulator, network, struck_out: AtomicUsize::new(0) }
    }

    /// How many cells had every try struck although one was meant.
    pub(super) fn struck_out(&self) -> usize {
        self.struck_out.load(Ordering::Relaxed)
    }

    fn note_struck_out(&self) {
        self.struck_out.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn play(&self, cell: &Cell) {
        match cell.step {
            Step::PrepareHosted | Step::PrepareComponent => self.play_preparation(cell),
            Step::Confirm => self.play_confirm(cell),
            Step::Refund => self.play_refund(cell),
            Step::Capture => self.play_hold(cell, "capture", "succeeded"),
            Step::Void => self.play_hold(cell, "void", "canceled"),
            Step::TakeBackHosted | Step::TakeBackComponent => self.play_take_back(cell),
        }
        self.clear();
    }

    /// Makes the stage ready for the next cell.
    pub(super) fn clear(&self) {
        self.network.set(Weather::Clear);
        self.simulator.clear_faults();
        self.listen();
        self.shop.wait_events(&self.simulator);
    }

    fn listen(&self) {
        for wire in Wire::ALL {
            let (url, secret) = (self.shop.webhook_url(wire), self.shop.webhook_secret(wire));
            self.simulator.send_webhooks_to(wire, &url, &secret);
        }
    }

    /// Sends a request, and again where the store has no time for it, with so many stages at once.
    fn post(&self, path: &str, body: &Value) -> Answer {
        let mut answer = self.shop.client().post(path, body);
        wait_until("a turn", WAIT_TIMEOUT, || {
            let is_away = answer.status == 503 && answer.failure(503) == "store_unavailable";
            if is_away {
                thread::sleep(Duration::from_millis(200));
                answer = self.shop.client().post(path, body);
            }
            !is_away
        });
        answer
    }

    /// Lets the fault strike whatever `call` does, and gives its answer.
    fn struck(&self, cell: &Cell, call: impl FnOnce() -> Answer) -> Answer {
        let weather = match cell.fault {
            Fault::RefusedConnection => Weather::Cut,
            Fault::Silence => Weather::Silent,
            Fault::Exchange(kind) | Fault::Webhooks(kind) => {
                self.simulator.fault(cell.wire, cell.operation(), kind, cell.count(), cell.delay_ms());
                let answer = call();
                if kind == "refuse" && !cell.takes_back() {
                    self.simulator.clear_faults();
                }
                return answer;
            }
        };
        self.network.set(weather);
        if cell.times != Times::Once {
            return call();
        }
        // The weather clears between the first try and the second.
        let until = Duration::from_millis(if weather == Weather::Cut { 150 } else { 2_200 });
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(until);
                self.network.set(Weather::Clear);
            });
            call()
        })
    }

    fn play_preparation(&self, cell: &Cell) {
        let before = self.references();
        let answer = self.struck(cell, || self.post(cell.flow().path(), &Shop::order(cell.wire)));
        let made: Vec<_> = self.references().into_iter().filter(|it| !before.contains(it)).collect();
        assert_eq!(made.len(), 1, "{cell}: {answer:?}");
        let reference = &made[0];
        let struck_out = cell.may_be_struck_out() && answer.status == 503;
        let succeeds = !cell.outlasts_the_call() && cell.fault != Fault::Exchange("refuse");
        if (succeeds && !struck_out) || cell.asks_nobody() {
            let prepared = Prepared::of(&answer);
            assert_eq!(prepared.reference, *reference);
            assert_eq!(self.simulator.truth(reference).charged, 0);
            self.let_pass(cell);
            self.pay(cell, &prepared);
            return;
        }
        let end = if cell.fault == Fault::Exchange("refuse") {
            assert_eq!(answer.failure(422), "provider_rejected");
            "refused"
        } else {
            assert_eq!(answer.failure(503), "provider_unavailable", "{cell}");
            let wait: u64 = answer.headers["retry-after"].parse().unwrap();
            assert!((1..=10).contains(&wait), "{cell}: Retry-After {wait}");
            if struck_out {
                self.note_struck_out();
            }
            "withdrawn"
        };
        self.let_pass(cell);
        // Nobody may be able to pay what the caller never heard of.
        self.shop.wait_preparation(reference, end);
        let truth = self.simulator.truth(reference);
        // A link whose address was never returned is nobody's to pay on.
        let payable = if cell.wire == Wire::Adyen { 0 } else { truth.payable };
        assert_eq!((truth.charged, payable), (0, 0), "{cell}: {truth:?}");
        let body =
            json!({"paymentIntentId": "pi_x", "sourceId": "cnon:card-nonce-ok", "sessionResult": "result"});
        assert_eq!(self.shop.confirm(reference, &body).failure(404), "not_found");
        assert_eq!(self.shop.read_payment(reference).data(200)["status"], end, "{cell}");
        assert_eq!(self.shop.status(reference), None);
        // And whoever was told to try again succeeds.
        let again = self.shop.prepare(cell.flow(), cell.wire);
        self.pay(cell, &again);
        assert_eq!(self.simulator.truth(reference).charged, 0, "{cell}");
    }

    /// The trouble ends: now, or when the resolver has met it too. Faults in the webhooks strike when the customer pays.
    fn let_pass(&self, cell: &Cell) {
        if matches!(cell.fault, Fault::Webhooks(_)) {
            return;
        }
        if cell.times == Times::TwiceOver {
            let calls = || self.simulator.calls(cell.wire, cell.operation());
            let so_far = calls();
            wait_until("the resolver has met it too", WAIT_TIMEOUT, || calls() >= so_far + TRIES);
        }
        self.network.set(Weather::Clear);
        self.simulator.clear_faults();
    }

    /// The customer pays, and the books come to say so.
    pub(super) fn pay(&self, cell: &Cell, prepared: &Prepared) {
        let reference = prepared.reference.as_str();
        match (cell.flow(), cell.wire) {
            (Flow::Hosted, _) => self.simulator.pay_page(prepared.checkout_url()),
            (Flow::Component, Wire::Stripe) => self.simulator.pay_intent(prepared.component()),
            (Flow::Component, Wire::Square) => {
                self.shop.confirm(reference, &prepared.confirm_body()).data(200);
            }
            (Flow::Component, Wire::Adyen) => drop(self.simulator.pay_session(prepared.component())),
        }
        self.check_paid(cell, reference);
    }

    fn check_paid(&self, cell: &Cell, reference: &str) {
        self.shop.wait_status(reference, "succeeded");
        let truth = self.simulator.truth(reference);
        assert_eq!((truth.charged, truth.payable), (1, 0), "{cell}: {truth:?}");
        let moves = self.shop.moves(reference);
        assert_eq!(moves.iter().filter(|to| *to == "succeeded").count(), 1, "{cell}: {moves:?}");
    }

    fn play_confirm(&self, cell: &Cell) {
        let prepared = self.shop.prepare(Flow::Component, cell.wire);
        let reference = prepared.reference.as_str();
        self.hear_no_webhooks(cell);
        let mut body = prepared.confirm_body();
        if cell.wire == Wire::Square {
            body = json!({"sourceId": self.simulator.card_token("4242424242424242")});
        }
        let answer = self.struck(cell, || {
            match cell.wire {
                Wire::Stripe => self.simulator.pay_intent(prepared.component()),
                Wire::Square => {}
                Wire::Adyen => body = self.simulator.pay_session(prepared.component()),
            }
            self.post(&Shop::confirm_path(reference), &body)
        });
        self.check_confirm(cell, &prepared, &answer, &body);
        self.let_pass(cell);
        self.check_paid(cell, reference);
        // However often the caller repeats it.
        let again = self.shop.confirm(reference, &body).data(200);
        assert_eq!(
            (&again["transaction"]["status"], &again["replayed"]),
            (&json!("succeeded"), &json!(true))
        );
        assert_eq!(self.simulator.truth(reference).charged, 1, "{cell}");
    }

    /// A part of a paid payment goes back, once, whatever happens on the way.
    fn play_refund(&self, cell: &Cell) {
        let prepared = self.shop.prepare(Flow::Component, cell.wire);
        let reference = prepared.reference.as_str();
        self.pay(cell, &prepared);
        self.hear_no_webhooks(cell);
        let path = format!("/client/v1/transactions/{reference}/refunds");
        let body = json!({"idempotencyKey": format!("refund-{reference}"), "amountMinor": "1000"});
        let answer = self.struck(cell, || self.post(&path, &body));
        let listed = || self.shop.client().get(&path).data(200)["items"].clone();
        if cell.fault == Fault::Exchange("refuse") {
            assert_eq!(answer.failure(422), "provider_rejected", "{cell}");
            assert_eq!(listed()[0]["status"], "failed");
            assert_eq!(self.simulator.truth(reference).refunded, 0, "{cell}");
            return;
        }
        let refund = answer.data(201)["refund"].clone();
        // The fee's share of 3.75 is 0.375, rounded half up.
        assert_eq!(refund["totalRefundMinor"], "1038", "{cell}");
        assert_ne!(refund["status"], "failed", "{cell}: {refund:#}");
        self.let_pass(cell);
        self.shop.wait(reference, "refunded", || listed()[0]["status"] == "succeeded");
        let again = self.shop.client().post(&path, &body).data(200);
        assert_eq!(again["refund"]["refundReference"], refund["refundReference"]);
        assert_eq!(listed().as_array().unwrap().len(), 1, "{cell}: {:#}", listed());
        assert_eq!(self.simulator.truth(reference).refunded, 1_038, "{cell}");
        let transaction = self.shop.read_transaction(reference).data(200);
        assert_eq!(
            (&transaction["status"], &transaction["refundedMinor"]),
            (&json!("succeeded"), &json!("1038"))
        );
    }

    /// What is held is captured in part or released, once, whatever happens on the way.
    fn play_hold(&self, cell: &Cell, action: &str, end: &str) {
        let mut order = Shop::order(cell.wire);
        order["capture"] = json!("manual");
        let prepared = Prepared::of(&self.shop.client().post(Flow::Component.path(), &order));
        let reference = prepared.reference.as_str();
        let body = match cell.wire {
            Wire::Stripe => {
                self.simulator.pay_intent(prepared.component());
                prepared.confirm_body()
            }
            Wire::Square => prepared.confirm_body(),
            Wire::Adyen => self.simulator.pay_session(prepared.component()),
        };
        self.shop.confirm(reference, &body).data(200);
        self.shop.wait_status(reference, "authorized");
        self.shop.wait_events(&self.simulator);
        self.hear_no_webhooks(cell);
        let path = format!("/client/v1/transactions/{reference}/{action}");
        let body = |key: &str| match action {
            "capture" => json!({"idempotencyKey": format!("{key}-{reference}"), "amountMinor": "1000"}),
            _ => json!({"idempotencyKey": format!("{key}-{reference}")}),
        };
        let answer = self.struck(cell, || self.post(&path, &body("first")));
        let mut key = "first";
        if cell.fault == Fault::Exchange("refuse") {
            assert_eq!(answer.failure(422), "provider_rejected", "{cell}");
            let truth = self.simulator.truth(reference);
            assert_eq!((truth.held, truth.charged), (1, 0), "{cell}: {truth:?}");
            assert_eq!(self.shop.status(reference).as_deref(), Some("authorized"), "{cell}");
            key = "second";
            self.shop.client().post(&path, &body(key)).data(200);
        } else {
            let data = answer.data(200)["transaction"].clone();
            let is_pending = data["status"] == "authorized" && data["pendingAction"] == action;
            // One failed exchange is made up for within the call, if the machine has time for it.
            let is_open = !matches!(cell.fault, Fault::Webhooks(_)) || cell.wire == Wire::Adyen;
            assert!(data["status"] == end || (is_open && is_pending), "{cell}: {data:#}");
            if cell.may_be_struck_out() && cell.wire != Wire::Adyen && is_pending {
                self.note_struck_out();
            }
            self.let_pass(cell);
        }
        self.shop.wait_status(reference, end);
        let again = self.shop.client().post(&path, &body(key)).data(200);
        assert_eq!((&again["transaction"]["status"], &again["replayed"]), (&json!(end), &json!(true)));
        let shown = self.shop.read_transaction(reference).data(200);
        let truth = self.simulator.truth(reference);
        assert_eq!((truth.held, truth.refunded), (0, 0), "{cell}: {truth:?}");
        assert_eq!(truth.charged, usize::from(action == "capture"), "{cell}: {truth:?}");
        if action == "capture" {
            assert_eq!(shown["amountMinor"], "1000", "{cell}");
            assert_eq!(shown["totalDebitMinor"], truth.taken.to_string(), "{cell}");
            assert_eq!(shown["authorized"]["amountMinor"], "10000", "{cell}");
        }
        let moves = self.shop.moves(reference);
        assert_eq!(moves.iter().filter(|to| *to == end).count(), 1, "{cell}: {moves:?}");
    }

    /// Nobody tells us: what the call does not learn, the resolver has to. Where it cannot, webhooks are all there is.
    fn hear_no_webhooks(&self, cell: &Cell) {
        if !matches!(cell.fault, Fault::Webhooks(_)) && cell.wire != Wire::Adyen {
            self.simulator.send_no_webhooks();
        }
    }

    /// What the caller was told: never that it failed while money moved, never 5xx.
    fn check_confirm(&self, cell: &Cell, prepared: &Prepared, answer: &Answer, body: &Value) {
        let reference = prepared.reference.as_str();
        if cell.wire == Wire::Adyen {
            // The webhook may come first.
            let refused = cell.fault == Fault::Exchange("refuse") && answer.status == 422;
            let told = if refused { Value::Null } else { answer.data(200)["transaction"]["status"].clone() };
            assert!([Value::Null, json!("pending"), json!("succeeded")].contains(&told), "{cell}: {told}");
            if refused {
                self.shop.confirm(reference, body).data(200);
            }
            let is_told_at_once = !cell.outlasts_the_call()
                && !matches!(cell.fault, Fault::Exchange("refuse" | "unknown_status"));
            if cell.may_be_struck_out() && told != "succeeded" {
                self.note_struck_out();
                return;
            }
            assert!(!is_told_at_once || told == "succeeded", "{cell}: {told}");
            return;
        }
        if cell.fault == Fault::Exchange("refuse") {
            if cell.wire == Wire::Stripe {
                assert_eq!(answer.failure(422), "provider_rejected");
                assert_eq!(
                    self.shop.confirm(reference, body).data(200)["transaction"]["status"],
                    "succeeded"
                );
                return;
            }
            let declined = answer.data(200)["transaction"].clone();
            assert_eq!(
                (&declined["status"], &declined["failure"]["code"]),
                (&json!("failed"), &json!("card_declined"))
            );
            assert_eq!(self.simulator.truth(reference).charged, 0);
            let other = json!({"sourceId": self.simulator.card_token("4242424242424242")});
            let paid = self.shop.confirm(reference, &other).data(200);
            assert_eq!(
                (&paid["transaction"]["status"], &paid["replayed"]),
                (&json!("succeeded"), &json!(false))
            );
            return;
        }
        let data = answer.data(200);
        let expected = if cell.outlasts_the_call() || cell.fault == Fault::Exchange("unknown_status") {
            json!("pending")
        } else {
            json!("succeeded")
        };
        if cell.may_be_struck_out() && data["transaction"]["status"] == "pending" {
            self.note_struck_out();
        } else {
            assert_eq!(data["transaction"]["status"], expected, "{cell}: {data:#}");
        }
        // A webhook may have recorded the transaction before the caller confirmed.
        if !matches!(cell.fault, Fault::Webhooks(_)) {
            assert_eq!(data["replayed"], false, "{cell}: {data:#}");
        }
    }

    /// Every payment of the shop, whatever became of it.
    pub(super) fn references(&self) -> Vec<String> {
        let payments = self.shop.listed("payments");
        payments.iter().map(|payment| payment["serviceReference"].as_str().unwrap().to_owned()).collect()
    }
}
