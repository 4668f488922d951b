//! `POST /client/v1/payments/component/<reference>/card`: the card behind a browser's token decides the payment's fee.

use tollgate_domain::{
    PaymentMethod,
    card_fee::{PaymentFacts, Place, Rules},
};
use tollgate_vault::Secret;

use crate::{
    client_api::payments::no_such_payment,
    prelude::*,
    request::card_fee_fields::{self, CardFeeFields, PayerBody},
    response::{payment as payment_response, payment::PaymentResponse},
};

/// Longer than any provider's tokens of this kind.
pub(crate) const MAX_TOKEN_LENGTH: usize = 255;

type TokenText = scalars::Line<MAX_TOKEN_LENGTH>;

bodies! {
    CardFeeBody as CardFeeRequest {
        /// What `createConfirmationToken` made of the card in the payer's browser.
        confirmation_token: TokenText,
        /// Where the payer is, if the preparation did not say it.
        payer: Option<PayerBody<'static>>,
    }
}

pub(crate) async fn handle(
    Backend(caller): Backend,
    body: JsonBody<CardFeeBody<'static>>,
) -> Done<PaymentResponse<'static>> {
    let body = body.bytes(&caller.headers).await?;
    let reference = caller.location.path("reference").map_err(|_| no_such_payment())?;
    let (token, payer) = read(&body, &caller.view.configuration.fee_rules)?;
    let (app, engine) = (Arc::clone(&caller.app), Arc::clone(&caller.app.engine));
    let deciding = async move {
        Box::pin(engine.decide_card_fee(&caller.view, reference, &token, payer, &caller.request)).await
    };
    let payment = run_to_completion(&app.engine, deciding).await??;
    respond::ok(&payment_response::payment_response(&payment))
}

fn read(bytes: &[u8], rules: &Rules) -> Result<(Secret, Option<Place>), ApiError> {
    let body: CardFeeBody<'_> = body::parse_object(bytes)?;
    let mut errors = FieldErrors::default();
    let token =
        fields::required_text("confirmationToken", body.confirmation_token, MAX_TOKEN_LENGTH, &mut errors);
    let payer = payer(body.payer, rules, &mut errors);
    let read = (|| Some((Secret::new(token?), payer?.payer)))();
    fields::complete(errors, read)
}

/// What a body says of the payer.
pub(crate) fn payer(raw: Raw<'_>, rules: &Rules, errors: &mut FieldErrors) -> Option<PaymentFacts> {
    let said = CardFeeFields { payer: raw, ..CardFeeFields::default() };
    card_fee_fields::read(&said, Some(PaymentMethod::WebCard), rules, errors)
}
