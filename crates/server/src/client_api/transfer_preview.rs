//! `POST /client/v1/ach/transfers/preview`: which way a transfer would go, and what it would cost.

use axum::body::Body;
use serde::Serialize;
use tollgate_domain::Minor;
use utoipa::ToSchema;

use crate::{
    client_api::{caller::Payer, transfer_body},
    json::minor::digits,
    reference::{scalars, words},
    request::body,
    response::{
        payment::{AttemptResponse, ShareResponse},
        respond::{self, ApiResult},
    },
};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TransferPreview)]
pub(crate) struct PreviewResponse {
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    amount_minor: Minor,
    #[schema(value_type = scalars::CurrencyCode)]
    currency: String,
    routing: RoutingResponse,
    fee: FeeResponse,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    total_debit_minor: Minor,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TransferRouting)]
pub(crate) struct RoutingResponse {
    provider: String,
    #[schema(value_type = words::Channel)]
    channel: &'static str,
    channel_label: &'static str,
    #[schema(required)]
    matched_rule_id: Option<String>,
    matched_condition_ids: Vec<String>,
    fallback: bool,
    /// Every target, where the route is split; the first-named provider is the heaviest one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    split: Option<Vec<ShareResponse>>,
    /// Where targets were passed over: each of them in order, the selected one last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    attempts: Option<Vec<AttemptResponse>>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the API's own names")]
#[schema(as = TransferFee)]
pub(crate) struct FeeResponse {
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    platform_fee_minor: Minor,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    organization_fee_minor: Minor,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    fee_minor: Minor,
}

pub(crate) async fn handle(Payer(caller): Payer, body: Body) -> ApiResult {
    let body = body::read_json(&caller.headers, body, body::CLIENT_LIMIT).await?;
    let request = transfer_body::read_preview(&body)?;
    let preview = caller.app.engine.preview_transfer(&caller.view, &request).await?;
    let (decision, fee) = (&preview.decision, &preview.fee);
    let (matched, target) = (decision.matched.as_ref(), &preview.target);
    let conditions = matched.into_iter().flat_map(|matched| matched.conditions.iter());
    respond::ok(&PreviewResponse {
        amount_minor: fee.principal.into(),
        currency: request.currency.to_string(),
        routing: RoutingResponse {
            provider: target.provider.to_string(),
            channel: target.channel.as_str(),
            channel_label: target.channel.label(),
            matched_rule_id: matched.map(|matched| matched.rule.to_string()),
            matched_condition_ids: conditions.map(ToString::to_string).collect(),
            fallback: matched.is_none(),
            split: decision.destination.shares().map(ShareResponse::all),
            attempts: AttemptResponse::all(&preview.route, &target.provider),
        },
        fee: FeeResponse {
            platform_fee_minor: fee.platform.fee,
            organization_fee_minor: fee.organization.fee,
            fee_minor: fee.fee,
        },
        total_debit_minor: fee.total_debit,
    })
}
