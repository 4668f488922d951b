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

pub(crate) async fn reroute<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
    reroute: &PaymentReroute,
) -> Result<Effect<Changed>, Fault> {
    let sql = "UPDATE card_payments SET preparation = $5, object = $6, checkout_url = $7, prepared_at = $8,
             confirmed = $9, due_at = $10, follow_up_at = $11, tries = $12, waiting = $13, provider = $14,
             adapter = $15, channel = $16, platform_fee_minor = $17, organization_fee_minor = $18, fee_minor = $19,
             total_debit_minor = $20, fee_layers = $21, expires_at = $22, account = $23, route = $24,
             revision = revision + 1, last_change = $4
         WHERE environment_id = $1 AND id = $2 AND revision = $3 AND preparation = 'preparing' AND object IS NULL
             AND NOT EXISTS (SELECT 1 FROM transactions t
                 WHERE t.environment_id = $1 AND t.method = 'web_card' AND t.reference = $2)";
    let order = &reroute.order;
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
    if s.execute(sql, &values).await? == 0 {
        return Ok(Effect::Nothing(why_not(s, environment, id, reroute.id).await?));
    }
    timeline::add(s, environment, ServiceReference::Card(id), &reroute.entries).await?;
    Ok(Effect::Written(Changed::Done))
}
