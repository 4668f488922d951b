//! Moving a payment on to the next target of its route.

use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, PaymentId},
};
use tollgate_engine::ports::{Changed, PaymentReroute, Progress};

use super::{payment_change::why_not, timeline};
use crate::{
    prelude::*,
    table::{Column, Columns as _, assignments, columns},
};

/// Nobody can have paid it.
const UNTOUCHED: &str = "preparation = 'preparing' AND object IS NULL
             AND NOT EXISTS (SELECT 1 FROM transactions t
                 WHERE t.environment_id = $1 AND t.method = 'web_card' AND t.reference = $2)";
/// Nobody has paid it: a card was declined.
const DECLINED: &str = "preparation IN ('preparing', 'prepared')
             AND EXISTS (SELECT 1 FROM transactions t
                 WHERE t.environment_id = $1 AND t.method = 'web_card' AND t.reference = $2
                     AND t.status = 'failed')";

/// Where a payment goes, and what that costs.
const PLACE: &[Column] = columns!(
    provider: Text, channel: Text, principal_minor: Number, platform_fee_minor: Number,
    organization_fee_minor: Number, fee_minor: Number, total_debit_minor: Number, fee_layers: Text
);

pub(crate) async fn reroute<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
    reroute: &PaymentReroute,
) -> Result<Effect<Changed>, Fault> {
    let order = &reroute.order;
    let was_switched = order.route.was_switched();
    let condition = if was_switched { DECLINED } else { UNTOUCHED };
    let changed = assignments(
        5,
        &[Progress::COLUMNS, PLACE, columns!(adapter: Text, expires_at: Number, account: Text, route: Text)]
            .concat(),
    );
    let sql = format!(
        "UPDATE card_payments SET {changed}, revision = revision + 1, last_change = $4
         WHERE environment_id = $1 AND id = $2 AND revision = $3 AND {condition}"
    );
    let revision = rows::version(reroute.from_revision);
    let values = row![
        environment,
        id,
        revision,
        reroute.id,
        ..&reroute.progress,
        &order.provider,
        order.channel,
        ..&order.fee,
        &order.adapter,
        order.expires_at,
        ..&order.account,
        ..&order.route
    ];
    if s.execute(&sql, &values).await? == 0 {
        return Ok(Effect::Nothing(why_not(s, environment, id, reroute.id).await?));
    }
    if was_switched {
        move_transaction(s, environment, id, reroute).await?;
    }
    timeline::add(s, environment, ServiceReference::Card(id), &reroute.entries).await?;
    Ok(Effect::Written(Changed::Done))
}

/// The transaction is where its payment is. What the provider before called it is not its name at the next one.
async fn move_transaction<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
    reroute: &PaymentReroute,
) -> Result<(), Fault> {
    let sql = format!(
        "UPDATE transactions SET provider_reference = CASE WHEN provider = $3 THEN provider_reference END,
             charged = NULL, {},
             updated_at = $11
         WHERE environment_id = $1 AND method = 'web_card' AND reference = $2",
        assignments(3, PLACE)
    );
    let order = &reroute.order;
    let values = row![environment, id, &order.provider, order.channel, ..&order.fee, reroute.at];
    s.execute(&sql, &values).await?;
    Ok(())
}
