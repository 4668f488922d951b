//! `POST /admin/v1/environments/<id>/erase`: removes a customer's personal data and keeps the books.

use tollgate_engine::{CustomerName, EraseError};

use crate::prelude::*;

const MAX_EXTERNAL_ID_LENGTH: usize = 160;

type ExternalId = scalars::CallerId<MAX_EXTERNAL_ID_LENGTH>;

requests! {
    EraseBody as ErasureRequest {
        /// The caller's ID of the customer. Every payment with an email address of theirs is meant, too.
        external_customer_id: Option<ExternalId>,
        /// Every payment with this email address is meant. At least one of the two is required.
        email: Option<scalars::EmailInput>,
    } => |form| {
        if let (Some(None), Some(None)) = (&external_customer_id, &email) {
            form.errors.add::<()>("externalCustomerId", "is required where `email` is not given");
        }
    }
}

responses! {
    ErasureResponse as Erasure {
        /// Card payments whose personal data this call has erased.
        card_payments: u64,
        transfers: u64,
        /// Customer tokens that were issued under an idempotency key and are forgotten.
        customer_tokens: u64,
        /// Payments that have not ended and keep their data until they have; it is erased by itself then. At most 100 are listed.
        in_progress: Vec<String>,
        /// The same, with the day each is expected to end.
        remaining: Vec<RemainingResponse>,
    }

    RemainingResponse as RemainingData {
        service_reference: String,
        /// As `YYYY-MM-DD`; null where only the provider can tell.
        ends_on: Option<String>,
    }
}

pub(crate) async fn run(operator: Operator, body: JsonBody<EraseBody>) -> Done<ErasureResponse> {
    let environment = operator.known_environment()?;
    let EraseBody { external_customer_id: external_id, email } = body.read(&operator).await?;
    let customer = CustomerName { external_id, email };
    let (engine, origin) = (Arc::clone(&operator.app.engine), operator.origin.clone());
    let erasing = async move { engine.erase_customer(environment, &customer, origin).await };
    let erasure = run_to_completion(&operator.app.engine, erasing).await??;
    respond::ok(&ErasureResponse {
        card_payments: erasure.card_payments,
        transfers: erasure.transfers,
        customer_tokens: erasure.customer_tokens,
        in_progress: erasure.in_progress.iter().map(|it| it.reference.to_string()).collect(),
        remaining: erasure
            .in_progress
            .into_iter()
            .map(|it| RemainingResponse { service_reference: it.reference.to_string(), ends_on: it.ends_on })
            .collect(),
    })
}

impl From<EraseError> for ApiError {
    fn from(error: EraseError) -> Self {
        match error {
            EraseError::Missing => not_found_here(),
            EraseError::Store(error) => error.into(),
            EraseError::Randomness(error) => Self::internal(error.to_string()),
        }
    }
}
