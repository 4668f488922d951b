//! Moving a payment on to the next target of its route.

use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, PaymentId},
};
use tollgate_engine::ports::{Changed, PaymentReroute};

use super::{payment_change::why_not, timeline};
use crate::{
    prelude::*,
    rows::{account, fee, payment::progress_values, route},
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

pub(crate) async fn reroute<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
    reroute: &PaymentReroute,
) -> Result<Effect<Changed>, Fault> {
    let order = &reroute.order;
    let was_switched = order.route.was_switched();
    let condition = if was_switched { DECLINED } else { UNTOUCHED };
    let sql = format!(
        "UPDATE card_payments SET preparation = $5, object = $6, checkout_url = $7, prepared_at = $8,
             confirmed = $9, due_at = $10, follow_up_at = $11, tries = $12, waiting = $13, provider = $14,
             adapter = $15, channel = $16, platform_fee_minor = $17, organization_fee_minor = $18, fee_minor = $19,
             total_debit_minor = $20, fee_layers = $21, expires_at = $22, account = $23, route = $24,
             revision = revision + 1, last_change = $4
         WHERE environment_id = $1 AND id = $2 AND revision = $3 AND {condition}"
    );
    let mut values = row![environment, id, rows::version(reroute.from_revision), reroute.id];
    values.extend(progress_values(&reroute.progress));
    values.extend(row![
        &order.provider,
        &order.adapter,
        order.channel.as_str(),
        order.fee.platform.fee,
        order.fee.organization.fee,
        order.fee.fee,
        order.fee.total_debit,
        fee::layers(&order.fee),
        order.expires_at,
        order.account.as_ref().map(account::write),
        route::write(&order.route)
    ]);
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
    let sql = "UPDATE transactions SET provider_reference = CASE WHEN provider = $3 THEN provider_reference END,
             provider = $3, channel = $4, platform_fee_minor = $5, organization_fee_minor = $6, fee_minor = $7,
             total_debit_minor = $8, fee_layers = $9, updated_at = $10
         WHERE environment_id = $1 AND method = 'web_card' AND reference = $2";
    let order = &reroute.order;
    let values = row![
        environment,
        id,
        &order.provider,
        order.channel.as_str(),
        order.fee.platform.fee,
        order.fee.organization.fee,
        order.fee.fee,
        order.fee.total_debit,
        fee::layers(&order.fee),
        reroute.at
    ];
    s.execute(sql, &values).await?;
    Ok(())
}
