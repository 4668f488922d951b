//! Everything that is sealed under the master key.

use tollgate_engine::ports::{SealedKind, SealedPlace, SealedValue};

use crate::prelude::*;

/// How the values of a kind are found, behind a place ($1 to $3) and by their key's name ($4), and how one is replaced ($4 by $5).
struct Statements {
    find: &'static str,
    replace: &'static str,
}

macro_rules! statements {
    ($table:literal, $environment:literal, $id:literal, $number:literal, $text:literal, $reference:literal,
        $where:literal) => {
        Statements {
            find: concat!(
                "SELECT ",
                $environment,
                ", ",
                $id,
                ", ",
                $number,
                ", ",
                $text,
                ", ",
                $reference,
                " FROM ",
                $table,
                " WHERE (",
                $environment,
                ", ",
                $id,
                ", ",
                $number,
                ") > ($1, $2, $3) AND ",
                $text,
                " LIKE $4",
                " ORDER BY 1, 2, 3 LIMIT $5"
            ),
            replace: concat!(
                "UPDATE ",
                $table,
                " SET ",
                $text,
                " = $5 WHERE ",
                $where,
                " AND ",
                $text,
                " = $4"
            ),
        }
    };
}

fn statements(kind: SealedKind) -> Statements {
    match kind {
        SealedKind::Configuration => statements!(
            "config_versions",
            "environment_id",
            "environment_id",
            "version",
            "document",
            "''",
            "environment_id = $1 AND environment_id = $2 AND version = $3"
        ),
        SealedKind::Proposal => statements!(
            "config_proposals",
            "environment_id",
            "id",
            "CAST(0 AS BIGINT)",
            "document",
            "''",
            "environment_id = $1 AND id = $2 AND CAST($3 AS BIGINT) = 0"
        ),
        SealedKind::Endpoint => statements!(
            "event_endpoints",
            "environment_id",
            "id",
            "CAST(0 AS BIGINT)",
            "secrets",
            "''",
            "environment_id = $1 AND id = $2 AND CAST($3 AS BIGINT) = 0"
        ),
        SealedKind::CardSource => statements!(
            "card_attempts",
            "environment_id",
            "payment_id",
            "number",
            "sealed_source",
            "''",
            "environment_id = $1 AND payment_id = $2 AND number = $3"
        ),
        SealedKind::SealingKey => statements!(
            "sealing_keys",
            "id",
            "id",
            "CAST(0 AS BIGINT)",
            "sealed",
            "''",
            "id = $1 AND id = $2 AND CAST($3 AS BIGINT) = 0"
        ),
        SealedKind::BankAccount => statements!(
            "transfers",
            "environment_id",
            "transaction_id",
            "CAST(0 AS BIGINT)",
            "sealed_account",
            "reference",
            "environment_id = $1 AND transaction_id = $2 AND CAST($3 AS BIGINT) = 0"
        ),
        SealedKind::Corrections => statements!(
            "transfers",
            "environment_id",
            "transaction_id",
            "CAST(0 AS BIGINT)",
            "corrections",
            "reference",
            "environment_id = $1 AND transaction_id = $2 AND CAST($3 AS BIGINT) = 0"
        ),
    }
}

pub(crate) async fn pinned<S: Session>(s: &mut S, name: &str) -> Result<Option<String>, Fault> {
    s.query_opt("SELECT value FROM pins WHERE name = $1", values![name], |cells| cells.text()).await
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
    let read = |cells: &mut Cells<'_>| {
        let place = SealedPlace { environment: cells.id()?, id: cells.id()?, number: cells.number()? };
        Ok(SealedValue { place, text: cells.text()?, reference: cells.text()? })
    };
    s.query(statements(kind).find, values, read).await
}

pub(crate) async fn replace<S: Session>(
    s: &mut S,
    kind: SealedKind,
    value: &SealedValue,
    text: &str,
) -> Result<Effect<bool>, Fault> {
    let SealedPlace { environment, id, number } = value.place;
    let values = values![environment, id, number, &value.text, text];
    let is_replaced = s.execute(statements(kind).replace, values).await? == 1;
    Ok(Effect::written_if(is_replaced, is_replaced))
}
