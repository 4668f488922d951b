//! Transfers at random against the plainest model there is, through the API and with the provider in its own process:
//! after every step the wallet holds what the model says to the cent.
//!
//! `TOLLGATE_MODEL_STEPS` says how many steps; `make crash` takes many more than `make test`. The store's own conformance
//! tests do the same below the engine.

use std::{env, thread};

use rand::{RngExt, rngs::StdRng};
use serde_json::{Value, json};

use crate::support::{
    BankRail, BankSimulator, BankStore, Desk, On, REFUSED_BANK, Wallet, on_each_store, randomness, seed,
};

const DEFAULT_STEPS: usize = 600;
const ENVIRONMENTS: usize = 6;

/// A transfer as the model has it.
struct Known {
    key: String,
    amount: u64,
    reference: String,
    provider_id: String,
    status: &'static str,
}

/// One environment and what it should hold.
struct Model<'a> {
    desk: &'a Desk,
    simulator: &'a BankSimulator,
    random: StdRng,
    wallet: Wallet,
    transfers: Vec<Known>,
    funded: Vec<(String, u64)>,
    next: usize,
}

/// The fee of the default route: 25 and a thousandth, halves rounded up.
const fn fee(amount: u64) -> u64 {
    25 + (amount * 10 + 5_000) / 10_000
}

impl Model<'_> {
    fn step(&mut self) -> String {
        self.next += 1;
        match self.random.random_range(0..20) {
            0 | 1 => self.fund(),
            2 => self.fund_again(),
            3 => self.withdraw(),
            4..=9 => self.transfer(false),
            10 => self.transfer(true),
            11 | 12 => self.replay(),
            13 => self.reuse_key(),
            14..=16 => self.news("settle"),
            17 | 18 => self.news("return"),
            _ => self.news("reject"),
        }
    }

    fn movement(&self, kind: &str, reference: &str, amount: u64) -> crate::support::Answer {
        let body = json!({"amountMinor": amount.to_string(), "reference": reference});
        self.desk.admin().post(&self.desk.path(&format!("/wallets/USD/{kind}")), &body)
    }

    fn fund(&mut self) -> String {
        let (reference, amount) = (format!("fund {}", self.next), self.random.random_range(1..60_000));
        self.movement("fund", &reference, amount).data(201);
        self.wallet.available += amount;
        self.funded.push((reference, amount));
        format!("fund {amount}")
    }

    fn fund_again(&mut self) -> String {
        let Some(place) = self.some(self.funded.len()) else { return String::new() };
        let (reference, amount) = self.funded[place].clone();
        self.movement("fund", &reference, amount).data(200);
        self.movement("fund", &reference, amount + 1).failure(409);
        format!("{reference} again")
    }

    fn withdraw(&mut self) -> String {
        let (reference, amount) = (format!("withdraw {}", self.next), self.random.random_range(1..40_000));
        let answer = self.movement("withdraw", &reference, amount);
        if amount <= self.wallet.available {
            answer.data(201);
            self.wallet.available -= amount;
        } else {
            assert_eq!(answer.failure(409), "insufficient_wallet_balance");
        }
        reference
    }

    fn transfer(&mut self, refused: bool) -> String {
        let (key, amount) = (format!("transfer {:05}", self.next), self.random.random_range(1..30_000));
        let total = amount + fee(amount);
        let mut body = self.desk.body(&key, amount);
        if refused {
            body["routingNumber"] = json!(REFUSED_BANK);
        }
        let answer = self.desk.transfer(&body);
        if total > self.wallet.available {
            assert_eq!(answer.failure(409), "insufficient_wallet_balance");
        } else if refused {
            assert_eq!(answer.failure(422), "provider_rejected");
        } else {
            let transaction = &answer.data(201)["transaction"];
            assert_eq!(transaction["status"], "processing");
            assert_eq!(transaction["totalDebitMinor"], total.to_string());
            self.wallet.available -= total;
            self.wallet.reserved += total;
            let text = |name: &str| transaction[name].as_str().unwrap().to_owned();
            let (reference, provider_id) = (text("serviceReference"), text("providerReference"));
            self.transfers.push(Known { key, amount, reference, provider_id, status: "processing" });
        }
        format!("a transfer of {amount}, refused: {refused}")
    }

    fn replay(&mut self) -> String {
        let Some(place) = self.some(self.transfers.len()) else { return String::new() };
        let known = &self.transfers[place];
        let data = self.desk.transfer(&self.desk.body(&known.key, known.amount)).data(200);
        assert_eq!(data["replayed"], true);
        assert_eq!(data["transaction"]["serviceReference"], known.reference.as_str());
        assert_eq!(data["transaction"]["status"], known.status);
        format!("{} again", known.key)
    }

    fn reuse_key(&mut self) -> String {
        let Some(place) = self.some(self.transfers.len()) else { return String::new() };
        let known = &self.transfers[place];
        let answer = self.desk.transfer(&self.desk.body(&known.key, known.amount + 1));
        assert_eq!(answer.failure(409), "idempotency_conflict");
        format!("{} for something else", known.key)
    }

    /// Something happens at the provider, or is refused there because it is out of turn.
    fn news(&mut self, action: &str) -> String {
        let Some(place) = self.some(self.transfers.len()) else { return String::new() };
        let known = &mut self.transfers[place];
        let path = match action {
            "reject" if self.simulator.rail == BankRail::Increase => {
                format!("/control/increase/ach_transfers/{}/reject", known.provider_id)
            }
            "reject" => self.simulator.rail.step(&known.provider_id, "fail"),
            _ => self.simulator.rail.step(&known.provider_id, action),
        };
        let answer = self.simulator.wire().post(&path, &json!({}));
        let told = format!("{} of {} ({}): {}", action, known.key, known.status, answer.status);
        if answer.status != 200 {
            return told;
        }
        let (total, fee) = (known.amount + fee(known.amount), fee(known.amount));
        match (known.status, action) {
            ("processing", "settle") => {
                known.status = "succeeded";
                self.wallet.reserved -= total;
                self.wallet.settled += known.amount;
                self.wallet.fees += fee;
            }
            ("processing", _) => {
                known.status = "failed";
                self.wallet.reserved -= total;
                self.wallet.available += total;
            }
            ("succeeded", "return") => {
                known.status = "failed";
                self.wallet.settled -= known.amount;
                self.wallet.fees -= fee;
                self.wallet.available += total;
            }
            other => panic!("the provider did {other:?}"),
        }
        self.desk.wait_status(&known.reference, known.status);
        told
    }

    fn some(&mut self, count: usize) -> Option<usize> {
        (count > 0).then(|| self.random.random_range(0..count))
    }
}

fn books_follow_the_model(on: On) {
    let given = env::var("TOLLGATE_MODEL_STEPS").ok();
    let steps =
        given.map_or(DEFAULT_STEPS, |text| text.parse().expect("TOLLGATE_MODEL_STEPS is not a number"));
    let seed = seed();
    let store = BankStore::new(on);
    let server = store.serve_without_looks().run();
    // Each with a provider of its own, whose webhooks do not wait for another's; half of them with the one, half with the other.
    let desks: Vec<_> = [BankRail::Increase, BankRail::ModernTreasury]
        .into_iter()
        .cycle()
        .take(ENVIRONMENTS)
        .map(|rail| {
            let simulator = BankSimulator::start_as(rail);
            let desk = Desk::open(&server, &simulator);
            desk.leave(100_000);
            (desk, simulator)
        })
        .collect();
    thread::scope(|scope| {
        for (place, (desk, simulator)) in desks.iter().enumerate() {
            scope.spawn(move || {
                let mut model = Model {
                    desk,
                    simulator,
                    random: randomness(seed, u64::try_from(place).unwrap()),
                    wallet: Wallet { available: 100_000, ..Wallet::default() },
                    transfers: Vec::new(),
                    funded: Vec::new(),
                    next: 0,
                };
                for step in 0..steps / ENVIRONMENTS {
                    let told = model.step();
                    assert_eq!(
                        desk.wallet(),
                        model.wallet,
                        "environment {place}, step {step}, {told}, seed {seed}"
                    );
                    if step % 50 == 49 {
                        assert_eq!(desk.audit(), Vec::<String>::new(), "step {step}, seed {seed}");
                    }
                }
                let statuses = desk.listed("transactions?paymentMethod=ach");
                let failed = statuses.iter().filter(|it| it["providerReference"] != Value::Null).count();
                assert_eq!(failed, model.transfers.len());
                assert_eq!(simulator.accepted(200_000).len(), model.transfers.len());
            });
        }
    });
    assert_eq!(desks[0].0.audit(), Vec::<String>::new());
    println!("{on:?}: {steps} steps in {ENVIRONMENTS} environments");
}

on_each_store! { books_follow_the_model }
