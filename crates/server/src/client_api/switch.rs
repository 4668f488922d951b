//! `POST /client/v1/payments/component/<reference>/switch`: a declined component makes way for one at the next provider.

use tollgate_engine::{SwitchError, ports::StoreError};

use crate::{
    client_api::payments::no_such_payment,
    prelude::*,
    response::{payment as payment_response, payment::PaymentResponse},
};

/// Longer than any provider's name in a configuration.
const MAX_PROVIDER_LENGTH: usize = 160;

type ProviderText = scalars::Line<MAX_PROVIDER_LENGTH>;

requests! {
    SwitchBody as SwitchRequest {
        /// The provider where the card was declined: the payment's `provider` as you know it.
        from: ProviderText,
    }
}

pub(crate) async fn handle(
    Backend(caller): Backend,
    body: JsonBody<SwitchBody>,
) -> CreatedOnce<PaymentResponse<'static>> {
    let body = body.bytes(&caller.headers).await?;
    let reference = caller.location.path("reference").map_err(|_| no_such_payment())?;
    let SwitchBody { from } = Request::read(Form::new(&caller, &body))?;
    let (app, engine) = (Arc::clone(&caller.app), Arc::clone(&caller.app.engine));
    let switching = async move {
        Box::pin(engine.switch_component(&caller.view, reference, &from, &caller.request)).await
    };
    let switched = run_to_completion(&app.engine, switching).await??;
    let response = payment_response::prepared(&switched);
    respond::created_once(&response, switched.replayed)
}

impl From<SwitchError> for ApiError {
    fn from(error: SwitchError) -> Self {
        match error {
            SwitchError::Missing => no_such_payment(),
            SwitchError::NotSwitchable(why) => Self::new(ErrorCode::NotSwitchable, why),
            SwitchError::Provider(error) => error.into(),
            SwitchError::Unfinished(reference) => Self::outcome_unknown(
                "The switch has begun and is not finished; send the same request again.",
                format!("switch of {reference} not finished"),
            )
            .about(&reference),
            SwitchError::Store(StoreError::Unknown(why)) => Self::outcome_unknown(
                "It is unknown whether the switch was recorded; send the same request again.",
                why,
            ),
            SwitchError::Store(error) => error.into(),
        }
    }
}
