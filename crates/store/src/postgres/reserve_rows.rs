//! What is written when funds are set aside for many transfers: one statement, a column each.

use std::collections::BTreeMap;

use tokio_postgres::types::ToSql;
use tollgate_domain::{
    Minor, Timestamp,
    ledger::{Account, TransferStep},
};
use tollgate_engine::ports::NewTransfer;
use uuid::Uuid;

use super::{fault::Fault, uuid};
use crate::convert::{
    self,
    transfer::{ACTOR, amount_moved},
};

/// Takes [`Rows::values`].
pub(super) const WRITE: &str = "WITH new AS MATERIALIZED (
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
             $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::text[], $14::text[],
             $15::text[], $16::bigint[], $17::text[], $18::text[], $19::bigint[], $20::text[], $21::text[],
             $22::text[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::text[],
             $30::text[], $31::text[], $32::text[], $33::bigint[], $34::bigint[], $35::text[], $36::uuid[],
             $37::bigint[], $52::text[])
         AS n (environment_id, transaction_id, reference, name, provider, channel, currency, principal_minor,
             platform_fee_minor, organization_fee_minor, fee_minor, total_debit_minor, fee_layers, description,
             metadata, created_at, adapter, matched, config_version, external_customer_id, customer_name,
             customer_email, bank_name, account_name, account_type, last_four, remittance, request, fingerprints,
             sealed_account, expected_on, corrections, due_at, tries, waiting, posting_id, amount_minor, account)),
     recorded AS (
         INSERT INTO transactions (environment_id, id, method, reference, provider, channel, currency,
             principal_minor, platform_fee_minor, organization_fee_minor, fee_minor, total_debit_minor, fee_layers,
             description, metadata, created_at, updated_at, status, refunded_minor)
         SELECT environment_id, transaction_id, 'ach', reference, provider, channel, currency, principal_minor,
             platform_fee_minor, organization_fee_minor, fee_minor, total_debit_minor, fee_layers, description,
             metadata, created_at, created_at, 'pending', 0
         FROM new),
     kept AS (
         INSERT INTO transfers (environment_id, transaction_id, reference, adapter, matched, config_version,
             external_customer_id, customer_name, customer_email, bank_name, account_name, account_type, last_four,
             remittance, request, fingerprints, sealed_account, expected_on, corrections, due_at, tries, waiting,
             account, revision)
         SELECT environment_id, transaction_id, name, adapter, matched, config_version, external_customer_id,
             customer_name, customer_email, bank_name, account_name, account_type, last_four, remittance, request,
             fingerprints, sealed_account, expected_on, corrections, due_at, tries, waiting,
             account, 0
         FROM new),
     posted AS (
         INSERT INTO ledger_postings (environment_id, currency, id, cause, reference, amount_minor, actor, at)
         SELECT environment_id, currency, posting_id, 'reserve', name, amount_minor, $38, created_at FROM new),
     sided AS (
         INSERT INTO ledger_entries (environment_id, currency, posting_id, account, amount_minor)
         SELECT * FROM unnest($39::uuid[], $40::text[], $41::uuid[], $42::text[], $43::bigint[])),
     taken AS (
         UPDATE ledger_accounts a SET balance_minor = a.balance_minor + s.amount
         FROM unnest($44::uuid[], $45::text[], $46::text[], $47::bigint[]) AS s (environment_id, currency, account, amount)
         WHERE a.environment_id = s.environment_id AND a.currency = s.currency AND a.account = s.account
         RETURNING 1),
     given AS (
         INSERT INTO ledger_accounts (environment_id, currency, account, balance_minor)
         SELECT * FROM unnest($48::uuid[], $49::text[], $50::text[], $51::bigint[])
         ON CONFLICT (environment_id, currency, account)
             DO UPDATE SET balance_minor = ledger_accounts.balance_minor + excluded.balance_minor)
     -- The commit is under way already: were an account to take from not there, this must fail.
     SELECT 1 / CASE WHEN (SELECT count(*) FROM taken) = cardinality($44::uuid[]) THEN 1 ELSE 0 END";

/// What is accepted, a column each, as the statement takes it.
#[derive(Default)]
pub(super) struct Rows<'a> {
    environments: Vec<Uuid>,
    transactions: Vec<Uuid>,
    references: Vec<Uuid>,
    names: Vec<String>,
    providers: Vec<&'a str>,
    channels: Vec<&'static str>,
    currencies: Vec<&'a str>,
    principals: Vec<i64>,
    platform_fees: Vec<i64>,
    organization_fees: Vec<i64>,
    fees: Vec<i64>,
    total_debits: Vec<i64>,
    fee_layers: Vec<String>,
    descriptions: Vec<Option<&'a str>>,
    metadata: Vec<&'a str>,
    created: Vec<i64>,
    adapters: Vec<&'a str>,
    matched: Vec<Option<String>>,
    config_versions: Vec<i64>,
    external_customers: Vec<&'a str>,
    customer_names: Vec<&'a str>,
    customer_emails: Vec<&'a str>,
    bank_names: Vec<&'a str>,
    account_names: Vec<&'a str>,
    account_types: Vec<&'static str>,
    last_fours: Vec<&'a str>,
    remittances: Vec<Option<&'a str>>,
    requests: Vec<&'a str>,
    fingerprints: Vec<&'a str>,
    sealed_accounts: Vec<Option<&'a str>>,
    expected: Vec<Option<&'a str>>,
    corrections: Vec<&'a str>,
    due: Vec<Option<i64>>,
    tries: Vec<i64>,
    waiting: Vec<Option<&'a str>>,
    postings: Vec<Uuid>,
    amounts: Vec<i64>,
    actor: &'static str,
    sides: Sides<'a>,
    taken: Sums<'a>,
    given: Sums<'a>,
    accounts: Vec<Option<String>>,
}

/// Entries.
#[derive(Default)]
struct Sides<'a> {
    environments: Vec<Uuid>,
    currencies: Vec<&'a str>,
    postings: Vec<Uuid>,
    accounts: Vec<&'static str>,
    amounts: Vec<i64>,
}

/// What all entries together add to an account.
#[derive(Default)]
struct Sums<'a> {
    environments: Vec<Uuid>,
    currencies: Vec<&'a str>,
    accounts: Vec<&'static str>,
    amounts: Vec<i64>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(accepted: &[&'a NewTransfer]) -> Result<Self, Fault> {
        let mut rows = Self { actor: ACTOR, ..Self::default() };
        let mut sums: BTreeMap<([u8; 16], &'a str, Account), i64> = BTreeMap::new();
        for new in accepted {
            rows.add_order(new);
            rows.add_progress(new);
            let entries = TransferStep::Reserve.entries(&new.order.fee);
            let Some(amount) = amount_moved(&entries) else {
                return Err(Fault::Misuse("the entries of a transfer's posting do not balance"));
            };
            let (scope, posting) = (new.order.environment.to_bytes(), uuid(new.posting.to_bytes()));
            let currency = new.order.currency.code();
            rows.postings.push(posting);
            rows.amounts.push(amount);
            for entry in entries {
                rows.sides.environments.push(uuid(scope));
                rows.sides.currencies.push(currency);
                rows.sides.postings.push(posting);
                rows.sides.accounts.push(entry.account.as_str());
                rows.sides.amounts.push(entry.amount_minor);
                let sum = sums.entry((scope, currency, entry.account)).or_default();
                *sum = sum
                    .checked_add(entry.amount_minor)
                    .ok_or(Fault::Misuse("a wallet's sums are too large"))?;
            }
        }
        for ((scope, currency, account), amount) in sums {
            let sums = if amount < 0 { &mut rows.taken } else { &mut rows.given };
            sums.environments.push(uuid(scope));
            sums.currencies.push(currency);
            sums.accounts.push(account.as_str());
            sums.amounts.push(amount);
        }
        Ok(rows)
    }

    fn add_order(&mut self, new: &'a NewTransfer) {
        let order = &new.order;
        self.environments.push(uuid(order.environment.to_bytes()));
        self.transactions.push(uuid(new.transaction.to_bytes()));
        self.references.push(uuid(order.id.to_bytes()));
        self.names.push(order.id.to_string());
        self.providers.push(&order.provider);
        self.channels.push(order.channel.as_str());
        self.currencies.push(order.currency.code());
        self.principals.push(Minor::from(order.fee.principal).signed());
        self.platform_fees.push(order.fee.platform.fee.signed());
        self.organization_fees.push(order.fee.organization.fee.signed());
        self.fees.push(order.fee.fee.signed());
        self.total_debits.push(order.fee.total_debit.signed());
        self.fee_layers.push(convert::fee::layers(&order.fee));
        self.descriptions.push(order.description.as_deref());
        self.metadata.push(&order.metadata);
        self.created.push(order.created_at.unix_millis());
        self.adapters.push(&order.adapter);
        self.matched.push(order.matched.as_ref().map(convert::payment::matched));
        self.config_versions.push(convert::version(order.config_version));
        self.external_customers.push(&order.external_customer_id);
        self.customer_names.push(&order.customer_name);
        self.customer_emails.push(&order.customer_email);
        self.bank_names.push(&order.bank_name);
        self.account_names.push(&order.account_name);
        self.account_types.push(order.account_type.as_str());
        self.last_fours.push(&order.last_four);
        self.remittances.push(order.remittance.as_deref());
        self.requests.push(&order.request);
        self.accounts.push(order.account.as_ref().map(convert::account::write));
    }

    fn add_progress(&mut self, new: &'a NewTransfer) {
        let progress = &new.progress;
        self.fingerprints.push(&new.fingerprints);
        self.sealed_accounts.push(progress.sealed_account.as_deref());
        self.expected.push(progress.expected_on.as_deref());
        self.corrections.push(&progress.corrections);
        self.due.push(progress.due.map(Timestamp::unix_millis));
        self.tries.push(i64::from(progress.tries));
        self.waiting.push(progress.waiting.as_deref());
    }

    /// The values in the statement's order.
    pub(super) fn values(&self) -> [&(dyn ToSql + Sync); 52] {
        [
            &self.environments,
            &self.transactions,
            &self.references,
            &self.names,
            &self.providers,
            &self.channels,
            &self.currencies,
            &self.principals,
            &self.platform_fees,
            &self.organization_fees,
            &self.fees,
            &self.total_debits,
            &self.fee_layers,
            &self.descriptions,
            &self.metadata,
            &self.created,
            &self.adapters,
            &self.matched,
            &self.config_versions,
            &self.external_customers,
            &self.customer_names,
            &self.customer_emails,
            &self.bank_names,
            &self.account_names,
            &self.account_types,
            &self.last_fours,
            &self.remittances,
            &self.requests,
            &self.fingerprints,
            &self.sealed_accounts,
            &self.expected,
            &self.corrections,
            &self.due,
            &self.tries,
            &self.waiting,
            &self.postings,
            &self.amounts,
            &self.actor,
            &self.sides.environments,
            &self.sides.currencies,
            &self.sides.postings,
            &self.sides.accounts,
            &self.sides.amounts,
            &self.taken.environments,
            &self.taken.currencies,
            &self.taken.accounts,
            &self.taken.amounts,
            &self.given.environments,
            &self.given.currencies,
            &self.given.accounts,
            &self.given.amounts,
            &self.accounts,
        ]
    }
}
