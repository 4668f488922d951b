//! `POST /client/v1/ach/transfers/preview`: which way a transfer would go, and what it would cost.

use crate::{
    client_api::transfer_body::{self, PreviewBody},
    prelude::*,
    response::payment::{AttemptResponse, ShareResponse},
};

responses! {
    PreviewResponse as TransferPreview {
        amount_minor: MinorUnits,
        currency: CurrencyCode,
        routing: RoutingResponse,
        fee: FeeResponse,
        total_debit_minor: MinorUnits,
    }

    RoutingResponse as TransferRouting {
        provider: String,
        channel: words::Channel,
        channel_label: &'static str,
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

    #[expect(clippy::struct_field_names, reason = "the API's own names")]
    FeeResponse as TransferFee {
        platform_fee_minor: MinorUnits,
        organization_fee_minor: MinorUnits,
        fee_minor: MinorUnits,
    }
}

pub(crate) async fn handle(
    Payer(caller): Payer,
    body: JsonBody<PreviewBody<'static>>,
) -> Done<PreviewResponse> {
    let body = body.bytes(&caller.headers).await?;
    let request = transfer_body::read_preview(&body)?;
    let preview = caller.app.engine.preview_transfer(&caller.view, &request).await?;
    let (decision, fee) = (&preview.decision, &preview.fee);
    let (matched, target) = (decision.matched.as_ref(), &preview.target);
    let conditions = matched.into_iter().flat_map(|matched| matched.conditions.iter());
    respond::ok(&PreviewResponse {
        amount_minor: fee.principal.into(),
        currency: request.currency.into(),
        routing: RoutingResponse {
            provider: target.provider.to_string(),
            channel: target.channel.as_str().into(),
            channel_label: target.channel.label(),
            matched_rule_id: matched.map(|matched| matched.rule.to_string()),
            matched_condition_ids: conditions.map(ToString::to_string).collect(),
            fallback: matched.is_none(),
            split: decision.destination.shares().map(ShareResponse::all),
            attempts: AttemptResponse::all(&preview.route, &target.provider),
        },
        fee: FeeResponse {
            platform_fee_minor: fee.platform.fee.into(),
            organization_fee_minor: fee.organization.fee.into(),
            fee_minor: fee.fee.into(),
        },
        total_debit_minor: fee.total_debit.into(),
    })
}
