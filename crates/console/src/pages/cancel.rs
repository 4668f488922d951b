//! Canceling a transfer: what comes back to the wallet, and then for good.

use std::sync::Arc;

use askama::Template;
use axum::response::Response;
use tollgate_domain::{ServiceReference, transaction::Status};
use tollgate_engine::{CancelError, ports::Transfer};

use crate::{
    layout::{
        format::minor,
        frame::Frame,
        page::{self, Page, PageError},
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

#[derive(Template)]
#[template(path = "cancel.html")]
struct CancelPage {
    frame: Frame,
    reference: String,
    receiver: String,
    principal: String,
    released: String,
    fault: Option<String>,
}

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    draw(&signed_in, None).await
}

pub(crate) async fn post(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
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
            Ok(signed_in.back(&to, said))
        }
        Err(CancelError::Missing) => Err(PageError::Missing),
        Err(CancelError::Store(_)) => {
            let fault = "The database is not responding. The request may have been recorded: look at the payment before \
                         trying again.";
            draw(signed_in, Some(fault.to_owned())).await
        }
        Err(error) => draw(signed_in, Some(error.to_string())).await,
    }
}

async fn draw(signed_in: &SignedIn, fault: Option<String>) -> Page {
    let ServiceReference::Ach(id) = signed_in.path("reference")? else { return Err(PageError::Missing) };
    let view = signed_in.view(signed_in.environment()?)?;
    let transfer: Transfer = match signed_in.console.engine.cancelable(&view, id).await {
        Ok(transfer) => transfer,
        Err(CancelError::Missing) => return Err(PageError::Missing),
        Err(CancelError::Store(error)) => return Err(error.into()),
        Err(error) => return Err(PageError::Refused(error.to_string())),
    };
    let order = &transfer.order;
    page::render(&CancelPage {
        frame: signed_in.frame(&format!("Cancel {id}"), "payments").await?,
        reference: id.to_string(),
        receiver: format!("{}, {}, ····{}", order.account_name, order.bank_name, order.last_four),
        principal: minor(order.fee.principal.into(), order.currency),
        released: minor(order.fee.total_debit, order.currency),
        fault,
    })
}
