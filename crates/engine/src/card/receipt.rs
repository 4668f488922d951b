//! What a customer sees after a hosted checkout whose caller named no page of its own. The page's address is the receipt: it
//! cannot be guessed from the payment's reference, which others know.

use data_encoding::HEXLOWER;
use tollgate_domain::id::{EnvironmentId, PaymentId};

use super::ReadError;
use crate::{engine::Engine, ports::CardPayment};

const TOKEN_LENGTH: usize = 16;

impl Engine {
    pub(super) fn receipt_url(&self, environment: EnvironmentId, id: PaymentId) -> String {
        let path = receipt_path(environment, id, &self.receipt_token(environment, id));
        format!("{}{path}", self.options.public_url)
    }

    /// The payment of a receipt. A wrong token looks like a payment that never was, and is not looked up.
    pub async fn receipt(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
        token: &str,
    ) -> Result<CardPayment, ReadError> {
        // Compared by digests, so that the time it takes tells nothing about the token.
        let digest = |token: &str| self.request_digester.digest(&[b"receipt", token.as_bytes()]);
        if digest(token) != digest(&self.receipt_token(environment, id)) {
            return Err(ReadError::Missing);
        }
        self.store.payment(environment, id).await?.ok_or(ReadError::Missing)
    }

    pub(super) fn receipt_token(&self, environment: EnvironmentId, id: PaymentId) -> String {
        let digest = self.reference_digester.digest(&[b"receipt", &environment.to_bytes(), &id.to_bytes()]);
        HEXLOWER.encode(digest.get(..TOKEN_LENGTH).unwrap_or(&digest))
    }
}

/// The same on every node, whatever its address.
pub(super) fn receipt_path(environment: EnvironmentId, id: PaymentId, token: &str) -> String {
    format!("/checkout/paid?environment={environment}&payment={id}&receipt={token}")
}
