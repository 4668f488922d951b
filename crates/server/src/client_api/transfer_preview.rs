//! `POST /client/v1/ach/transfers/preview`: which way a transfer would go, and what it would cost.

use axum::body::Body;
use serde::Serialize;
use tollgate_domain::Minor;

use crate::{
    answer::{self, Answer},
    body,
    client_api::{caller::Payer, transfer_body},
    minor_text::digits,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PreviewAnswer {
    #[serde(serialize_with = "digits")]
    amount_minor: Minor,
    currency: String,
    routing: RoutingAnswer,
    fee: FeeAnswer,
    #[serde(serialize_with = "digits")]
    total_debit_minor: Minor,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RoutingAnswer {
    provider: String,
    channel: &'static str,
    channel_label: &'static str,
    matched_rule_id: Option<String>,
    matched_condition_ids: Vec<String>,
    fallback: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the API's own names")]
struct FeeAnswer {
    #[serde(serialize_with = "digits")]
    platform_fee_minor: Minor,
    #[serde(serialize_with = "digits")]
    organization_fee_minor: Minor,
    #[serde(serialize_with = "digits")]
    fee_minor: Minor,
}

pub(crate) async fn handle(Payer(caller): Payer, body: Body) -> Answer {
    let body = body::read_json(&caller.headers, body, body::CLIENT_LIMIT).await?;
    let request = transfer_body::read_preview(&body)?;
    let preview = caller.app.engine.preview_transfer(&caller.view, &request)?;
    let (decision, fee) = (&preview.decision, &preview.fee);
    let matched = decision.matched.as_ref();
    let conditions = matched.into_iter().flat_map(|matched| matched.conditions.iter());
    answer::ok(&PreviewAnswer {
        amount_minor: fee.principal.into(),
        currency: request.currency.to_string(),
        routing: RoutingAnswer {
            provider: decision.target.provider.to_string(),
            channel: decision.target.channel.as_str(),
            channel_label: decision.target.channel.label(),
            matched_rule_id: matched.map(|matched| matched.rule.to_string()),
            matched_condition_ids: conditions.map(ToString::to_string).collect(),
            fallback: matched.is_none(),
        },
        fee: FeeAnswer {
            platform_fee_minor: fee.platform.fee,
            organization_fee_minor: fee.organization.fee,
            fee_minor: fee.fee,
        },
        total_debit_minor: fee.total_debit,
    })
}
