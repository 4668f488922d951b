//! Canceling a transfer: what comes back to the wallet, and then for good.

use std::sync::Arc;

use axum::response::Response;
use tollgate_domain::{ServiceReference, transaction::Status};
use tollgate_engine::{CancelError, ports::Transfer};

use crate::{
    layout::{
        format::minor,
        page::{Page, PageError},
        review::{Choice, Review},
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    review(&signed_in).await
}

pub(crate) async fn post(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    if !form.is_confirmed() {
        return review(signed_in).await;
    }
    let environment = signed_in.environment()?;
    let (reference, view) = (signed_in.path::<ServiceReference>("reference")?, signed_in.view(environment)?);
    let (engine, origin) = (Arc::clone(&signed_in.console.engine), signed_in.origin());
    // A browser that goes away does not stop it half way.
    let canceling = async move {
        Box::pin(engine.cancel_transfer(&view, reference, Some(&origin), &origin.request)).await
    };
    let host = signed_in.console.engine.host();
    let canceled = host.run(canceling).await.map_err(|error| PageError::Broken(error.to_string()))?;
    match canceled {
        Ok(canceled) => {
            let to = format!("/console/{environment}/payments/{reference}");
            let said = if canceled.transfer.state.status == Status::Canceled {
                "Canceled; the funds are available again."
            } else {
                "The cancellation is in progress; its outcome shows here soon."
            };
            Ok(signed_in.done(&to, said).await)
        }
        Err(CancelError::Missing) => Err(PageError::Missing),
        Err(CancelError::Store(_)) => Err(PageError::Refused(
            "The database is not responding. The request may have been recorded: look at the payment before trying again."
                .to_owned(),
        )),
        Err(error) => Err(PageError::Refused(error.to_string())),
    }
}

async fn review(signed_in: &SignedIn) -> Page {
    let ServiceReference::Ach(id) = signed_in.path("reference")? else { return Err(PageError::Missing) };
    let environment = signed_in.environment()?;
    let view = signed_in.view(environment)?;
    let transfer: Transfer = match signed_in.console.engine.cancelable(&view, id).await {
        Ok(transfer) => transfer,
        Err(CancelError::Missing) => return Err(PageError::Missing),
        Err(CancelError::Store(error)) => return Err(error.into()),
        Err(error) => return Err(PageError::Refused(error.to_string())),
    };
    let order = &transfer.order;
    let review = Review {
        effect: "The receiver will get nothing".into(),
        facts: vec![
            ("Amount", minor(order.fee.principal.into(), order.currency)),
            ("Back to the wallet", minor(order.fee.total_debit, order.currency)),
        ],
        affected: format!("{}, {}, ····{}", order.account_name, order.bank_name, order.last_four).into(),
        permanent: "A canceled transfer has to be made again. It is canceled only while the provider can still stop it; \
                    otherwise it goes on."
            .into(),
        choices: vec![Choice::danger(format!("Cancel {id}"))],
        back: ("Back".to_owned(), format!("/console/{environment}/payments/{id}")),
        ..Review::default()
    };
    review.page(signed_in.frame(&format!("Cancel {id}"), "payments").await?)
}
