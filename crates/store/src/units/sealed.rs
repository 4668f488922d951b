//! Everything that is sealed under the master key.

use tollgate_engine::ports::{SealedKind, SealedPlace, SealedValue};

use crate::prelude::*;

/// Where the values of a kind are: the table, a row's key of two ids and a number, the column that is sealed, and what it is about.
struct Place {
    table: &'static str,
    key: [&'static str; 3],
    text: &'static str,
    reference: &'static str,
}

fn place(kind: SealedKind) -> Place {
    const NONE: &str = "CAST(0 AS BIGINT)";
    let (table, key, text, reference) = match kind {
        SealedKind::Configuration => {
            ("config_versions", ["environment_id", "environment_id", "version"], "document", "''")
        }
        SealedKind::Proposal => ("config_proposals", ["environment_id", "id", NONE], "document", "''"),
        SealedKind::Endpoint => ("event_endpoints", ["environment_id", "id", NONE], "secrets", "''"),
        SealedKind::CardSource => {
            ("card_attempts", ["environment_id", "payment_id", "number"], "sealed_source", "''")
        }
        SealedKind::SealingKey => ("sealing_keys", ["id", "id", NONE], "sealed", "''"),
        SealedKind::BankAccount => {
            ("transfers", ["environment_id", "transaction_id", NONE], "sealed_account", "reference")
        }
        SealedKind::Corrections => {
            ("transfers", ["environment_id", "transaction_id", NONE], "corrections", "reference")
        }
    };
    Place { table, key, text, reference }
}

stored! {
    SealedValue { place, text, reference }
    SealedPlace { environment, id, number }
}

pub(crate) async fn pinned<S: Session>(s: &mut S, name: &str) -> Result<Option<String>, Fault> {
    s.query_opt("SELECT value FROM pins WHERE name = $1", values![name], read).await
}

pub(crate) async fn set_pin<S: Session>(s: &mut S, name: &str, value: &str) -> Result<Effect<()>, Fault> {
    let sql = "INSERT INTO pins (name, value) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    s.execute(sql, values![name, value]).await?;
    Ok(Effect::Written(()))
}

pub(crate) async fn find<S: Session>(
    s: &mut S,
    kind: SealedKind,
    key: &str,
    after: SealedPlace,
    limit: u32,
) -> Result<Vec<SealedValue>, Fault> {
    // The names of keys are hexadecimal.
    let sealed = format!("%v1.{key}.%");
    let values = values![after.environment, after.id, after.number, &sealed, limit];
    let Place { table, key: [environment, id, number], text, reference } = place(kind);
    let sql = format!(
        "SELECT {environment}, {id}, {number}, {text}, {reference} FROM {table}
         WHERE ({environment}, {id}, {number}) > ($1, $2, $3) AND {text} LIKE $4 ORDER BY 1, 2, 3 LIMIT $5"
    );
    s.query(&sql, values, read).await
}

pub(crate) async fn replace<S: Session>(
    s: &mut S,
    kind: SealedKind,
    value: &SealedValue,
    text: &str,
) -> Result<Effect<bool>, Fault> {
    let SealedPlace { environment, id, number } = value.place;
    let values = values![environment, id, number, &value.text, text];
    let Place { table, key: [environment, id, number], text, .. } = place(kind);
    let number = if number.starts_with("CAST") {
        "CAST($3 AS BIGINT) = 0".to_owned()
    } else {
        format!("{number} = $3")
    };
    let sql = format!(
        "UPDATE {table} SET {text} = $5 WHERE {environment} = $1 AND {id} = $2 AND {number} AND {text} = $4"
    );
    let is_replaced = s.execute(&sql, values).await? == 1;
    Ok(Effect::written_if(is_replaced, is_replaced))
}
