//! The payments of one customer.

use tollgate_domain::{id::EnvironmentId, search::customer_term};

use super::{FoundPayment, MAX_CHECKED};
use crate::{
    card::ReadError,
    engine::Engine,
    ports::{PaymentCustomer, SearchCursor},
};

/// A payment and whom it is from or for.
pub type CustomerPayment = (FoundPayment, PaymentCustomer);

impl Engine {
    /// The payments of whoever has this e-mail address, or this name among the caller's own IDs, newest first, and where to go
    /// on. A payment is there as soon as it is indexed.
    pub async fn payments_of_customer(
        &self,
        environment: EnvironmentId,
        name: &str,
        before: Option<SearchCursor>,
        limit: usize,
    ) -> Result<(Vec<CustomerPayment>, Option<SearchCursor>), ReadError> {
        let terms: Vec<_> = customer_term(name).into_iter().collect();
        let (mut payments, mut before, mut checked) = (Vec::new(), before, 0_usize);
        while checked < MAX_CHECKED {
            let hits = self.find_any(environment, &terms, before, limit).await?;
            let is_last = hits.len() < limit;
            checked = checked.saturating_add(hits.len());
            for hit in hits {
                before = Some(hit.place);
                let customer = self.customers_of(environment, &[hit.reference]).await?.pop();
                let Some(customer) = customer.filter(|customer| is_called(customer, name)) else { continue };
                if let Some(payment) = self.found_payment(environment, hit.reference).await? {
                    payments.push((payment, customer));
                }
                if payments.len() >= limit {
                    return Ok((payments, before));
                }
            }
            if is_last {
                return Ok((payments, None));
            }
        }
        Ok((payments, before))
    }
}

/// The index also has words of names, and cuts long ones off.
fn is_called(customer: &PaymentCustomer, name: &str) -> bool {
    let has_email = customer.email.as_ref().is_some_and(|email| email.eq_ignore_ascii_case(name));
    has_email || customer.external_id.as_deref() == Some(name)
}
