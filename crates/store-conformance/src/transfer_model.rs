//! Transfers and movements at random, against the plainest model there is.

use std::collections::BTreeMap;

use rand::{RngExt as _, rngs::StdRng};
use tollgate_domain::{
    Currency,
    id::{EnvironmentId, TransferId},
    ledger::{Balances, Cause, TransferStep},
    transaction::Status,
};
use tollgate_engine::ports::{Changed, Moved, NewTransfer, Reserved, TransferChange};

use super::{
    Nodes, minor, random,
    samples::in_status,
    transfer_samples::{fees, sending},
    wallet::books_balance,
};

const STEPS: usize = 3_000;
/// After so many steps the books are looked through.
const BATCH: usize = 1_000;

/// One wallet.
#[derive(Debug, Default)]
struct Wallet {
    available: u64,
    reserved: u64,
    settled_out: u64,
    platform_fees: u64,
    organization_fees: u64,
    transfers: Vec<Known>,
}

#[derive(Debug)]
struct Known {
    new: NewTransfer,
    status: Status,
    revision: u64,
    last: Option<TransferChange>,
}

impl Wallet {
    fn balances(&self) -> Balances {
        Balances {
            available: minor(self.available),
            reserved: minor(self.reserved),
            settled_out: minor(self.settled_out),
            platform_fees: minor(self.platform_fees),
            organization_fees: minor(self.organization_fees),
        }
    }

    fn follow(&mut self, place: usize, step: TransferStep) {
        let fee = self.transfers[place].new.order.fee;
        let total = fee.total_debit.get();
        let (principal, platform, organization) =
            (fee.principal.minor(), fee.platform.fee.get(), fee.organization.fee.get());
        match step {
            TransferStep::Reserve => {
                self.available -= total;
                self.reserved += total;
            }
            TransferStep::Settle => {
                self.reserved -= total;
                self.settled_out += principal;
                self.platform_fees += platform;
                self.organization_fees += organization;
            }
            TransferStep::Release => {
                self.reserved -= total;
                self.available += total;
            }
            TransferStep::Reverse => {
                self.settled_out -= principal;
                self.platform_fees -= platform;
                self.organization_fees -= organization;
                self.available += total;
            }
        }
    }
}

/// The whole run.
struct Run<'a> {
    nodes: &'a Nodes,
    random: StdRng,
    wallets: BTreeMap<EnvironmentId, Wallet>,
    context: String,
}

pub async fn random_lives_agree_with_a_model(nodes: &Nodes) {
    let (seed, random) = random();
    let mut wallets = BTreeMap::new();
    for _ in 0..3 {
        wallets.insert(nodes.environment().await.id, Wallet::default());
    }
    let mut run = Run { nodes, random, wallets, context: String::new() };
    for step in 0..STEPS {
        run.context = format!("seed {seed}, step {step}");
        run.step().await;
        if step % BATCH == BATCH - 1 {
            run.look_through().await;
        }
    }
}

impl Run<'_> {
    async fn step(&mut self) {
        let places: Vec<EnvironmentId> = self.wallets.keys().copied().collect();
        let environment = places[self.random.random_range(0..places.len())];
        match self.random.random_range(0..20_u8) {
            0..=2 => self.fund(environment).await,
            3 => self.withdraw(environment).await,
            4..=9 => self.reserve(environment).await,
            10 => self.reserve_again(environment).await,
            11..=17 => self.advance(environment).await,
            _ => self.replay(environment).await,
        }
    }

    fn node(&mut self) -> std::sync::Arc<dyn tollgate_engine::ports::Store> {
        if self.random.random() { self.nodes.one.clone() } else { self.nodes.two.clone() }
    }

    async fn fund(&mut self, environment: EnvironmentId) {
        let amount = self.random.random_range(1..=2_000);
        let movement = self.nodes.new_movement(Cause::Fund, amount, &self.context.clone());
        let moved = self.node().move_funds(environment, &movement).await.unwrap();
        let wallet = self.wallets.get_mut(&environment).unwrap();
        wallet.available += amount;
        let Moved::Done(applied) = moved else { panic!("{}: {moved:?}", self.context) };
        assert_eq!(applied.balances, wallet.balances(), "{}", self.context);
    }

    async fn withdraw(&mut self, environment: EnvironmentId) {
        let amount = self.random.random_range(1..=1_000);
        let movement = self.nodes.new_movement(Cause::Withdraw, amount, &self.context.clone());
        let moved = self.node().move_funds(environment, &movement).await.unwrap();
        let wallet = self.wallets.get_mut(&environment).unwrap();
        if amount > wallet.available {
            let refused = Moved::Insufficient { available: minor(wallet.available) };
            assert_eq!(moved, refused, "{}", self.context);
        } else {
            wallet.available -= amount;
            assert!(matches!(moved, Moved::Done(_)), "{}: {moved:?}", self.context);
        }
    }

    async fn reserve(&mut self, environment: EnvironmentId) {
        let mut fee = || self.random.random_range(0..=3_u64) * self.random.random_range(0..=9);
        let (platform, organization) = (fee(), fee());
        let principal = self.random.random_range(1..=900);
        let fee = fees(principal, platform, organization);
        let new = self.nodes.new_transfer_of(environment, fee);
        let reserved = self.node().reserve_transfer(environment, &new).await.unwrap();
        let wallet = self.wallets.get_mut(&environment).unwrap();
        if fee.total_debit.get() > wallet.available {
            let refused = Reserved::Insufficient { available: minor(wallet.available) };
            assert_eq!(reserved, refused, "{}", self.context);
            return;
        }
        assert_eq!(reserved, Reserved::Created, "{}", self.context);
        wallet.transfers.push(Known { new, status: Status::Pending, revision: 0, last: None });
        wallet.follow(wallet.transfers.len() - 1, TransferStep::Reserve);
    }

    /// Any transfer of this wallet.
    fn pick(&mut self, environment: EnvironmentId) -> Option<usize> {
        let count = self.wallets[&environment].transfers.len();
        (count > 0).then(|| self.random.random_range(0..count))
    }

    async fn reserve_again(&mut self, environment: EnvironmentId) {
        let Some(place) = self.pick(environment) else { return };
        let mut new = self.wallets[&environment].transfers[place].new.clone();
        if self.random.random() {
            let other = self.nodes.new_transfer(environment);
            (new.transaction, new.posting) = (other.transaction, other.posting);
        }
        let reserved = self.node().reserve_transfer(environment, &new).await.unwrap();
        let Reserved::Existing(there) = reserved else { panic!("{}: {reserved:?}", self.context) };
        let known = &self.wallets[&environment].transfers[place];
        let (revision, status) = (there.revision, there.state.status);
        assert_eq!((revision, status), (known.revision, known.status), "{}", self.context);
        assert_eq!((there.transaction, there.order), (known.new.transaction, known.new.order.clone()));
    }

    /// Takes a transfer a step on, now and then one that is out of date.
    async fn advance(&mut self, environment: EnvironmentId) {
        let Some(place) = self.pick(environment) else { return };
        let known = &self.wallets[&environment].transfers[place];
        let (id, fee, status, revision) =
            (known.new.order.id, known.new.order.fee, known.status, known.revision);
        let stale = self.random.random_range(0..8_u8) == 0;
        let from = if stale { revision + 1 } else { revision };
        let (next, step) = match (status, self.random.random_range(0..3_u8)) {
            (Status::Pending, 0) => (Status::Processing, None),
            (Status::Pending | Status::Processing, 1) => (Status::Failed, Some(TransferStep::Release)),
            (Status::Pending | Status::Processing, _) => (Status::Succeeded, Some(TransferStep::Settle)),
            (Status::Succeeded, 0) => (Status::Failed, Some(TransferStep::Reverse)),
            (other, _) => (other, None),
        };
        let change = match step {
            Some(step) => self.nodes.transfer_step(from, step, &fee),
            None => {
                TransferChange { state: Some(in_status(next)), ..self.nodes.transfer_change(from, sending()) }
            }
        };
        let changed = self.change(environment, id, &change).await;
        if stale {
            assert_eq!(changed, Changed::Stale, "{}", self.context);
            return;
        }
        assert_eq!(changed, Changed::Done, "{}", self.context);
        let wallet = self.wallets.get_mut(&environment).unwrap();
        if let Some(step) = step {
            wallet.follow(place, step);
        }
        let known = &mut wallet.transfers[place];
        (known.status, known.revision, known.last) = (next, revision + 1, Some(change));
    }

    /// The last change once more, as when its answer was lost.
    async fn replay(&mut self, environment: EnvironmentId) {
        let Some(place) = self.pick(environment) else { return };
        let known = &self.wallets[&environment].transfers[place];
        let (id, Some(change)) = (known.new.order.id, known.last.clone()) else { return };
        assert_eq!(self.change(environment, id, &change).await, Changed::Done, "{}", self.context);
    }

    async fn change(
        &mut self,
        environment: EnvironmentId,
        id: TransferId,
        change: &TransferChange,
    ) -> Changed {
        self.node().change_transfer(environment, id, change).await.unwrap()
    }

    async fn look_through(&self) {
        for (environment, wallet) in &self.wallets {
            let balances = self.nodes.two.balances(*environment, Currency::USD).await.unwrap().unwrap();
            assert_eq!(balances, wallet.balances(), "{}", self.context);
            books_balance(self.nodes, *environment, Currency::USD).await;
        }
        self.nodes.audit_is_clean().await;
        let transfers: usize = self.wallets.values().map(|wallet| wallet.transfers.len()).sum();
        let audit = self.nodes.audit().await;
        assert_eq!(audit.transfers, u64::try_from(transfers).unwrap(), "{}", self.context);
    }
}
