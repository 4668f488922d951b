//! Lists: newest first, by cursor; and references shown whole where the caller asks.

use super::prelude::*;

pub(super) fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["limit", "starting_after", "ending_before", "expand[#]"]
        .into_iter()
        .chain(more.iter().copied())
        .collect()
}

pub(super) fn page<T: Kept>(
    collection: &Collection<T>,
    params: &Params,
    url: &str,
    json: impl Fn(&T) -> Value,
    fits: impl Fn(&T) -> bool,
) -> Answer {
    let limit = params.integer("limit")?.unwrap_or(10);
    let limit = usize::try_from(limit).ok().filter(|limit| (1..=100).contains(limit)).ok_or_else(|| {
        Error::invalid("This value must be between 1 and 100.")
            .code("parameter_invalid_integer")
            .param("limit")
    })?;
    let (cursor, newer) = match (params.text("starting_after"), params.text("ending_before")) {
        (Some(_), Some(_)) => {
            return Err(Error::invalid("You cannot parameterize both starting_after and ending_before."));
        }
        (older_than, None) => (older_than, false),
        (None, newer_than) => (newer_than, true),
    };
    let (mut data, has_more) = collection
        .page(cursor, newer, limit, None, |object| fits(object).then(|| json(object)))
        .ok_or_else(|| Error {
            status: http::StatusCode::BAD_REQUEST,
            ..Error::not_found(
                "object",
                cursor.unwrap_or_default(),
                if newer { "ending_before" } else { "starting_after" },
            )
        })?;
    if newer {
        data.reverse();
    }
    Ok(json!({ "object": "list", "data": data, "has_more": has_more, "url": url }))
}

/// Whether a time lies inside `created` or `created[gt|gte|lt|lte]`. A bound that is no number holds nothing back.
pub(super) fn created_fits(params: &Params, created: i64) -> bool {
    let bound = |name: &str| params.integer(name).ok().flatten();
    bound("created").is_none_or(|at| created == at)
        && bound("created[gt]").is_none_or(|after| created > after)
        && bound("created[gte]").is_none_or(|from| created >= from)
        && bound("created[lt]").is_none_or(|before| created < before)
        && bound("created[lte]").is_none_or(|to| created <= to)
}

/// How many objects a list within another object shows.
const SUBLIST_LENGTH: usize = 10;

/// The fields that hold references here.
const EXPANDABLE: &str = "data latest_charge payment_intent charge payment_method balance_transaction customer line_items \
    refunds";

/// Refuses an `expand[]` that names something else, before the call is carried out.
pub(super) fn check_expand(params: &Params) -> Answer<()> {
    for path in params.list("expand") {
        if path.split('.').count() > 4 {
            return Err(Error::invalid("You cannot expand more than 4 levels of a property.").param("expand"));
        }
        if !path.split('.').all(|step| is_listed(step, &[EXPANDABLE])) {
            return Err(Error::invalid(format!("This property cannot be expanded ({path}).")).param("expand"));
        }
    }
    Ok(())
}

/// Shows references whole, as `expand[]` asks: `latest_charge`, `data.payment_intent.latest_charge`.
pub(super) fn expand(state: &State, params: &Params, answer: &mut Value) {
    for path in params.list("expand") {
        let steps: Vec<&str> = path.split('.').collect();
        expand_path(state, answer, &steps);
    }
}

fn expand_path(state: &State, value: &mut Value, steps: &[&str]) {
    let [step, rest @ ..] = steps else { return };
    if let Some(items) = value.as_array_mut() {
        for item in items {
            expand_path(state, item, steps);
        }
        return;
    }
    if *step == "refunds"
        && value.get("object").and_then(Value::as_str) == Some("charge")
        && let Some(list) = value.get("id").and_then(Value::as_str).map(|charge| refunds_of(state, charge))
    {
        *value = crate::json::with(std::mem::take(value), [("refunds", list)]);
    }
    let Some(field) = value.get_mut(*step) else { return };
    if let Some(object) = field.as_str().and_then(|id| whole(state, id)) {
        *field = object;
    }
    expand_path(state, field, rest);
}

/// The newest refunds of a charge, as many as an expanded list shows.
fn refunds_of(state: &State, charge: &str) -> Value {
    let all: Vec<Value> = state
        .refunds
        .labeled(Some(charge))
        .filter(|refund| refund.charge == charge)
        .take(SUBLIST_LENGTH + 1)
        .map(super::refunds::Refund::json)
        .collect();
    json!({
        "object": "list", "data": all.iter().take(SUBLIST_LENGTH).collect::<Vec<_>>(),
        "has_more": all.len() > SUBLIST_LENGTH,
        "url": format!("/v1/charges/{charge}/refunds"),
    })
}

fn whole(state: &State, id: &str) -> Option<Value> {
    match id.split('_').next()? {
        "pi" => state.intents.get(id).map(super::intents::Intent::json),
        "ch" => state.charges.get(id).map(super::charges::Charge::json),
        "re" => state.refunds.get(id).map(super::refunds::Refund::json),
        "pm" => state.methods.get(id).map(super::methods::Method::json),
        "cs" => state.sessions.get(id).map(super::sessions::Session::json),
        "txn" => Some(json!({ "id": id, "object": "balance_transaction" })),
        _ => None,
    }
}
