//! Searching payments, totals by hour, and what needs attention.

use std::collections::BTreeMap;

use tollgate_domain::{
    Minor, PaymentMethod, ServiceReference, Timestamp,
    card::{CardOrder, Preparation},
    id::{EnvironmentId, PaymentId},
    search::{amount_term, customer_term, metadata_term, text_term},
    transaction::{Status, Transaction},
};

use tracing::warn;

use crate::{
    card::ReadError,
    engine::Engine,
    ports::{
        Activity, Attention, CardPayment, DeliveryQuery, Event, EventDelivery, EventQuery, EventsFrom,
        PaymentFilter, SearchCursor, SearchHit, StoreError,
    },
};

/// Payments that are looked at for one slice of a search, whether they pass its filters or not.
const MAX_CHECKED: usize = 1_000;
/// Card payments that are looked at for one slice of those nobody has paid; each is read with all that belongs to it.
const MAX_UNPAID: usize = 300;
const READ_AT_ONCE: u32 = 100;
/// Each kind of thing that waits for a person is counted up to this.
const MAX_COUNTED: u32 = 1_000;
/// Events about one payment, and deliveries of one event, that are shown.
const MAX_EVENTS: u32 = 100;

/// What is looked for; everything that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct PaymentSearch {
    /// A reference, an amount, a name or address of the customer, `key=value` or a value of the metadata, a provider's
    /// name for the payment, or the id of the request that made it.
    pub text: String,
    /// Its transaction in this status.
    pub status: Option<Status>,
    /// A card payment that nobody has paid, with its preparation here.
    pub preparation: Option<Preparation>,
    /// By this method.
    pub method: Option<PaymentMethod>,
    /// Through this provider.
    pub provider: Option<String>,
    /// Recorded at this moment or later.
    pub created_from: Option<Timestamp>,
    /// Recorded before this moment.
    pub created_before: Option<Timestamp>,
}

/// A payment that was found.
#[derive(Debug, Clone)]
pub enum FoundPayment {
    /// One with a transaction.
    Transaction(Box<Transaction>),
    /// A card payment that nobody has paid.
    Preparation(Box<CardPayment>),
}

impl PaymentSearch {
    /// Whether a payment passes the filters, whatever its texts.
    fn wants(&self, found: &FoundPayment) -> bool {
        let (status, preparation, method, provider, at) = match found {
            FoundPayment::Transaction(it) => {
                (Some(it.state.status), None, it.reference.method(), &it.provider, it.created_at)
            }
            FoundPayment::Preparation(it) => {
                let (order, preparation) = (&it.order, it.progress.preparation);
                (None, Some(preparation), PaymentMethod::WebCard, &order.provider, order.created_at)
            }
        };
        self.status.is_none_or(|wanted| status == Some(wanted))
            && self.preparation.is_none_or(|wanted| preparation == Some(wanted))
            && self.method.is_none_or(|wanted| method == wanted)
            && self.provider.as_ref().is_none_or(|wanted| provider == wanted)
            && self.created_from.is_none_or(|from| at >= from)
            && self.created_before.is_none_or(|before| at < before)
    }

    /// The texts of the index that may be meant.
    fn terms(&self) -> Vec<String> {
        let text = self.text.trim();
        let mut terms: Vec<String> = amounts_meant(text).into_iter().map(amount_term).collect();
        terms.extend(text.split_once('=').and_then(|(key, value)| metadata_term(key, value)));
        terms.extend(customer_term(text));
        terms.extend(text_term(text));
        terms
    }
}

/// The amounts in minor units that a number may mean: as it is, and as a number of whole units with two or three places.
fn amounts_meant(text: &str) -> Vec<Minor> {
    let digits: String = text.chars().filter(|c| *c != ',').collect();
    let (whole, part) = digits.split_once('.').unwrap_or((&digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) || digits.len() > 19 {
        return Vec::new();
    }
    let scaled = |places: usize| {
        if part.len() > places {
            return None;
        }
        let text = format!("{whole}{part:0<places$}");
        text.parse().ok().and_then(Minor::new)
    };
    let as_it_is = if part.is_empty() { scaled(0) } else { None };
    as_it_is.into_iter().chain(scaled(2)).chain(scaled(3).filter(|_| part.len() == 3)).collect()
}

impl Engine {
    /// Payments that fit a search, newest first, and where to go on.
    pub async fn search_payments(
        &self,
        environment: EnvironmentId,
        search: &PaymentSearch,
        before: Option<SearchCursor>,
        limit: usize,
    ) -> Result<(Vec<FoundPayment>, Option<SearchCursor>), ReadError> {
        if let Ok(reference) = search.text.trim().parse::<ServiceReference>() {
            let found = self.found_payment(environment, reference).await?;
            return Ok((found.into_iter().filter(|found| search.wants(found)).collect(), None));
        }
        let terms = search.terms();
        let (mut payments, mut before, mut looked_at) = (Vec::new(), before, 0_usize);
        loop {
            let slice = self.find_any(environment, &terms, before, limit).await?;
            let is_last = slice.len() < limit;
            for found in slice {
                before = Some(found.place);
                looked_at = looked_at.saturating_add(1);
                if let Some(payment) = self.found_payment(environment, found.reference).await?
                    && search.wants(&payment)
                {
                    payments.push(payment);
                    if payments.len() >= limit {
                        return Ok((payments, before));
                    }
                }
            }
            if is_last {
                return Ok((payments, None));
            }
            if looked_at >= MAX_CHECKED {
                return Ok((payments, before));
            }
        }
    }

    /// Lets a preparation be found of which nothing came. That is a help for people: if it fails, the payment is still found by
    /// its reference.
    pub(crate) async fn index_failed_preparation(&self, order: &CardOrder) {
        if let Err(error) = self.store.index_payment(order.environment, order.id).await {
            warn!(%error, reference = %order.id, "a failed preparation was not indexed");
        }
    }

    /// Card payments that fit a text, paid or not, newest first.
    pub async fn find_card_payments(
        &self,
        environment: EnvironmentId,
        text: String,
        preparation: Option<Preparation>,
        before: Option<PaymentId>,
        limit: u32,
    ) -> Result<Vec<CardPayment>, ReadError> {
        let method = Some(PaymentMethod::WebCard);
        let search = PaymentSearch { text, preparation, method, ..PaymentSearch::default() };
        let before = before.map(PaymentId::to_bytes);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (found, _) = self.search_payments(environment, &search, before, limit).await?;
        let mut payments = Vec::with_capacity(found.len());
        for found in found {
            match found {
                FoundPayment::Preparation(payment) => payments.push(*payment),
                FoundPayment::Transaction(transaction) => {
                    let ServiceReference::Card(id) = transaction.reference else { continue };
                    payments.extend(self.store.payment(environment, id).await?);
                }
            }
        }
        Ok(payments)
    }

    /// Card payments that nobody has paid and that pass a search's filters, whatever their texts, newest first, and where
    /// to go on.
    pub async fn unpaid_payments(
        &self,
        environment: EnvironmentId,
        search: &PaymentSearch,
        before: Option<PaymentId>,
        limit: usize,
    ) -> Result<(Vec<FoundPayment>, Option<PaymentId>), ReadError> {
        let filter = PaymentFilter { preparation: search.preparation, waiting: false };
        let (mut unpaid, mut before, mut looked_at) = (Vec::new(), before, 0_usize);
        while looked_at < MAX_UNPAID {
            let slice = self.payments(environment, filter, before, READ_AT_ONCE).await?;
            let is_last = slice.len() < usize::try_from(READ_AT_ONCE).unwrap_or(usize::MAX);
            looked_at = looked_at.saturating_add(slice.len());
            for payment in slice {
                before = Some(payment.order.id);
                let is_paid = payment.transaction.is_some();
                let found = FoundPayment::Preparation(Box::new(payment));
                if !is_paid && search.wants(&found) {
                    unpaid.push(found);
                    if unpaid.len() >= limit {
                        return Ok((unpaid, before));
                    }
                }
            }
            if is_last {
                return Ok((unpaid, None));
            }
        }
        Ok((unpaid, before))
    }

    /// The payments of any of these terms, newest first, each once.
    async fn find_any(
        &self,
        environment: EnvironmentId,
        terms: &[String],
        before: Option<SearchCursor>,
        limit: usize,
    ) -> Result<Vec<SearchHit>, StoreError> {
        let each = u32::try_from(limit).unwrap_or(u32::MAX);
        let mut all = BTreeMap::new();
        for term in terms {
            for found in self.store.find_payments(environment, term, before, each).await? {
                all.insert(found.place, found);
            }
        }
        Ok(all.into_values().rev().take(limit).collect())
    }

    async fn found_payment(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Option<FoundPayment>, StoreError> {
        if let Some(transaction) = self.store.transaction(environment, reference).await? {
            return Ok(Some(FoundPayment::Transaction(Box::new(transaction))));
        }
        let ServiceReference::Card(id) = reference else { return Ok(None) };
        let payment = self.store.payment(environment, id).await?;
        Ok(payment.map(|payment| FoundPayment::Preparation(Box::new(payment))))
    }

    /// What callers were told about a payment, oldest first, and whether they have it.
    pub async fn events_about(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Vec<(Event, Vec<EventDelivery>)>, StoreError> {
        let query = EventQuery { kind: None, reference: Some(reference) };
        let events = self.store.list_events(environment, query, EventsFrom::Newest, MAX_EVENTS).await?;
        let events = events.unwrap_or_default();
        let mut told = Vec::with_capacity(events.len());
        for event in events.into_iter().rev() {
            let query = DeliveryQuery { event: Some(event.id), ..DeliveryQuery::default() };
            let deliveries = self.store.deliveries(environment, query, None, MAX_EVENTS).await?;
            told.push((event, deliveries));
        }
        Ok(told)
    }

    /// What happened in an environment, by the hour.
    pub async fn activity(
        &self,
        environment: EnvironmentId,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<Activity>, StoreError> {
        self.store.activity(environment, from, until).await
    }

    /// What waits in an environment for a person.
    pub async fn attention(&self, environment: EnvironmentId) -> Result<Attention, StoreError> {
        self.store.attention(environment, MAX_COUNTED).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_mean_minor_units_or_whole_ones() {
        let meant = |text: &str| amounts_meant(text).into_iter().map(Minor::get).collect::<Vec<_>>();
        assert_eq!(meant("105"), [105, 10_500]);
        assert_eq!(meant("105.5"), [10_550]);
        assert_eq!(meant("1,105.50"), [110_550]);
        assert_eq!(meant("1.234"), [1_234]);
        assert!(meant("1.2345").is_empty());
        for text in ["", "abc", "-5", "1.2.3", "1e5", "99999999999999999999"] {
            assert!(meant(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_text_is_looked_for_in_every_way_it_may_be_meant() {
        let terms = |text: &str| PaymentSearch { text: text.to_owned(), ..PaymentSearch::default() }.terms();
        assert_eq!(terms(" Ada@Example.com "), ["customer:ada@example.com", "text:ada@example.com"]);
        assert!(terms("orderId=A-17").contains(&"metadata:orderid=a-17".to_owned()));
        assert!(terms("17").contains(&"amount:1700".to_owned()));
        assert!(terms("  ").is_empty());
    }
}
