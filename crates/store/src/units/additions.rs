//! What a change of a payment adds to tables beside the payment's own row, for both rails and both databases.

use tollgate_domain::{ServiceReference, id::EnvironmentId};
use tollgate_engine::ports::PaymentChange;

use super::{
    events::PROVIDER_EVENTS, events::settled_row, exceptions::EXCEPTIONS, exceptions::exception_row,
};
use crate::{
    prelude::*,
    rows::{
        books::{CARD_POSTINGS, DISPUTES, checked, dispute_values},
        hold::HOLD_ACTIONS,
        payment::{ATTEMPTS, REFUNDS},
        transaction::CARD_TRANSACTIONS,
    },
    table::{Table, columns, parameters},
};

/// What the provider calls the parts of a payment.
static OBJECTS: Table = Table::new(
    "provider_objects",
    columns!(environment_id: Id, provider: Text, payment_id: Id, object: Text),
    "ON CONFLICT DO NOTHING",
)
.of(3);

/// The tables that a change of a card payment adds to, in the order of [`of_card`].
pub(crate) static CARD_TABLES: [&Table; 9] = [
    &OBJECTS,
    &CARD_TRANSACTIONS,
    &ATTEMPTS,
    &REFUNDS,
    &DISPUTES,
    &CARD_POSTINGS,
    &HOLD_ACTIONS,
    &EXCEPTIONS,
    &PROVIDER_EVENTS,
];

/// The rows for each of [`CARD_TABLES`], without the columns that say whose they are.
pub(crate) fn of_card(change: &PaymentChange) -> Result<[Vec<Vec<Value<'_>>>; 9], Fault> {
    // In one order, so that two changes that name the same objects never wait for one another in a circle.
    let mut objects: Vec<&String> = change.objects.iter().collect();
    objects.sort_unstable();
    let transaction =
        change.transaction.iter().map(|(id, state)| row![*id, change.began_at, change.at, ..state]);
    Ok([
        objects.into_iter().map(|object| row![object]).collect(),
        transaction.collect(),
        change.attempt.iter().map(|attempt| row![..attempt]).collect(),
        change.refunds.iter().map(|refund| row![..refund]).collect(),
        change.disputes.iter().map(|dispute| dispute_values(dispute, change.at)).collect(),
        checked(&change.postings)?.iter().map(|posting| row![..posting]).collect(),
        change.hold_actions.iter().map(|action| row![..action]).collect(),
        change.exceptions.iter().map(exception_row).collect(),
        change.event.iter().map(settled_row).collect(),
    ])
}

/// A payment's method, as far as its tables differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rail {
    Card,
    Ach,
}

impl Rail {
    /// A column that says whose a row is, in a payment's row named `gate`.
    pub(crate) fn owner(self, column: &str) -> String {
        match (self, column) {
            (Self::Card, "method") => "'web_card'".to_owned(),
            (Self::Card, "payment_id" | "reference") => "gate.id".to_owned(),
            (Self::Ach, "method") => "'ach'".to_owned(),
            _ => format!("gate.{column}"),
        }
    }

    /// Adds rows to a table: `own` are their values besides those of the payment `gate`, which is among the rows of `from`.
    pub(crate) fn insert(self, table: &Table, own: &str, from: &str) -> String {
        let owner: Vec<_> = table.parts().0.iter().map(|(name, _)| self.owner(name)).collect();
        let (name, columns, owner, conflict) = (table.name, table.names(), owner.join(", "), table.conflict);
        format!("INSERT INTO {name} ({columns}) SELECT {owner}, {own} FROM {from} {conflict}")
    }

    /// Adds one row: the first two parameters are the payment's environment and id.
    fn insert_one(self, table: &'static Table) -> &'static str {
        let sql = |rail: Self| {
            let from = match rail {
                Self::Card => "card_payments gate WHERE gate.environment_id = $1 AND gate.id = $2",
                Self::Ach => {
                    "transactions gate WHERE gate.environment_id = $1 AND gate.method = 'ach' AND gate.reference = $2"
                }
            };
            rail.insert(table, &parameters(3, table.parts().1), from)
        };
        let [card, ach] = table.added.get_or_init(|| [Self::Card, Self::Ach].map(sql));
        if self == Self::Card { card } else { ach }
    }
}

/// Adds rows to a table in steps, each without the columns that say whose it is.
pub(crate) async fn add<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
    table: &'static Table,
    rows: Vec<Vec<Value<'_>>>,
) -> Result<(), Fault> {
    if rows.is_empty() {
        return Ok(());
    }
    let rail = if matches!(reference, ServiceReference::Card(_)) { Rail::Card } else { Rail::Ach };
    let owned = |row: Vec<_>| row![environment, reference].into_iter().chain(row).collect();
    let rows: Vec<_> = rows.into_iter().map(owned).collect();
    s.execute_each(rail.insert_one(table), &rows).await
}
