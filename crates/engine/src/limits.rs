//! Limits: which of them a payment counts toward, and as whose.

use std::slice;

use tollgate_domain::{
    Currency, PaymentMethod,
    id::EnvironmentId,
    limit::{Limit, LimitBound, LimitScope, LimitUse},
};

use crate::{
    engine::Engine,
    ports::{BankAccount, LimitExceeded, StoreError},
    snapshot::EnvironmentView,
};

/// Payments that are forgotten with one unit of work once they count no more.
const FORGOTTEN_AT_ONCE: u32 = 500;

/// Whom a payment counts for, as far as that is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LimitedPayment<'a> {
    pub(crate) method: PaymentMethod,
    pub(crate) currency: Currency,
    /// A name by which the customer is known again.
    pub(crate) customer: Option<&'a str>,
    pub(crate) account: Option<&'a BankAccount>,
}

/// A limit that a payment would exceed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the limit `{}` allows {limit}", limit.id)]
pub struct ExceededLimit {
    pub limit: Limit,
    pub bound: LimitBound,
}

impl Engine {
    /// The limits of the configuration that the payment counts toward.
    pub(crate) fn limit_uses(&self, view: &EnvironmentView, payment: LimitedPayment<'_>) -> Vec<LimitUse> {
        let limits = view.configuration.limits.iter().filter(|limit| limit.method == payment.method);
        limits.filter_map(|limit| self.limit_use(view.environment.id, limit, payment)).collect()
    }

    fn limit_use(
        &self,
        environment: EnvironmentId,
        limit: &Limit,
        payment: LimitedPayment<'_>,
    ) -> Option<LimitUse> {
        let customer = payment.customer.map(str::as_bytes);
        let account = payment.account.map(|account| {
            [account.routing_number.expose().as_bytes(), account.account_number.expose().as_bytes()]
        });
        let whose: &[&[u8]] = match limit.per {
            LimitScope::Environment => &[],
            LimitScope::Customer => slice::from_ref(customer.as_ref()?),
            LimitScope::Account => account.as_ref()?,
            // Known only once it was charged.
            LimitScope::Card => return None,
        };
        let environment = environment.to_bytes();
        let mut parts: Vec<&[u8]> = vec![
            b"limit",
            &environment,
            limit.id.as_bytes(),
            payment.currency.code().as_bytes(),
            limit.per.as_str().as_bytes(),
        ];
        parts.extend_from_slice(whose);
        Some(LimitUse {
            limit: limit.clone(),
            subject: self.reference_digester.digest(&parts),
            is_reviewed: false,
        })
    }

    /// Forgets the payments that count toward no limit anymore.
    pub(crate) async fn forget_limit_uses(&self) -> Result<(), StoreError> {
        while self.store.forget_limit_uses(self.clock.now(), FORGOTTEN_AT_ONCE).await?
            >= u64::from(FORGOTTEN_AT_ONCE)
        {}
        Ok(())
    }
}

/// The limit that the store says is exceeded.
pub(crate) fn exceeded(uses: &[LimitUse], exceeded: LimitExceeded) -> Result<ExceededLimit, StoreError> {
    let used = uses.get(exceeded.place);
    let used = used.ok_or_else(|| StoreError::Broken("a limit is exceeded that was not given".to_owned()))?;
    Ok(ExceededLimit { limit: used.limit.clone(), bound: exceeded.bound })
}
