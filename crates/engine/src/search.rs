//! Searching payments, and totals by hour.

mod customer;
mod query_text;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use tollgate_domain::{
    PaymentMethod, ServiceReference, Timestamp,
    card::{CardOrder, Preparation},
    id::{EnvironmentId, EventId, PaymentId, RefundId, RequestId},
    search::value_prefix,
    transaction::{Status, Transaction, TransactionState},
};

use tracing::warn;

use crate::{
    card::ReadError,
    engine::Engine,
    ports::{
        Activity, CardPayment, DeliveryQuery, Event, EventDelivery, EventQuery, EventsFrom, PaymentCustomer,
        PaymentFilter, RequestFilter, SearchCursor, SearchHit, StoreError, TransactionFilter,
    },
};
pub use customer::CustomerPayment;
use words::Words;

/// Payments that are looked at for one slice of a search, whether they pass its filters or not.
const MAX_CHECKED: usize = 1_000;
/// Card payments that are looked at for one slice of those nobody has paid; each is read with all that belongs to it.
const MAX_UNPAID: usize = 300;
const READ_AT_ONCE: u32 = 100;
/// Payments that are found by a part of their reference.
const MAX_NAMED: u32 = 50;
/// Terms that are looked up because they begin with what was typed.
const MAX_BEGUN: u32 = 20;
/// Look-ups in the index for one slice of a search for several words.
const MAX_STEPS: usize = 1_000;
/// Events about one payment, and deliveries of one event, that are shown.
const MAX_EVENTS: u32 = 100;

/// What is looked for; everything that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct PaymentSearch {
    /// A reference, an amount (`1044.44 USD`), a name or address of the customer, a word of the description, `key=value` or a
    /// value of the metadata, the last four digits of a card or a bank account, a card's network, funding or country, or the ID of a request,
    /// an event, a refund, a dispute or of something at the provider; also the beginning of a reference, a name, an address or a value. Of several words all
    /// must be found, those in quotation marks next to each other.
    pub text: String,
    /// Its transaction in this status.
    pub status: Option<Status>,
    /// A card payment that nobody has paid, with its preparation here.
    pub preparation: Option<Preparation>,
    /// By this method.
    pub method: Option<PaymentMethod>,
    /// Through this provider.
    pub provider: Option<String>,
    /// Paid, and refunded in part.
    pub is_partly_refunded: bool,
    /// With a dispute, whatever became of it.
    pub is_disputed: bool,
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

impl FoundPayment {
    /// What callers know it by.
    pub fn reference(&self) -> ServiceReference {
        match self {
            Self::Transaction(transaction) => transaction.reference,
            Self::Preparation(payment) => ServiceReference::Card(payment.order.id),
        }
    }

    /// Its description and its metadata.
    fn texts(&self) -> (Option<&str>, &str) {
        match self {
            Self::Transaction(it) => (it.description.as_deref(), &it.metadata),
            Self::Preparation(it) => (it.order.description.as_deref(), &it.order.metadata),
        }
    }
}

impl From<&PaymentSearch> for TransactionFilter {
    /// What of it holds for transactions, whatever their texts.
    fn from(search: &PaymentSearch) -> Self {
        Self {
            status: search.status,
            method: search.method,
            provider: search.provider.clone(),
            is_partly_refunded: search.is_partly_refunded,
            is_disputed: search.is_disputed,
            created_from: search.created_from,
            created_before: search.created_before,
        }
    }
}

/// Where a search goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Nothing is left.
    None,
    /// Below this place.
    After(SearchCursor),
    /// Below this place, which took so long to get to that the caller is better asked again.
    Unfinished(SearchCursor),
}

/// The place that includes this one among those before it.
fn just_above(place: SearchCursor) -> SearchCursor {
    u128::from_be_bytes(place).saturating_add(1).to_be_bytes()
}

/// Whether a text can be a provider's name for something: one word with a digit in it.
fn is_name(text: &str) -> bool {
    text.len() >= 8
        && text.bytes().all(|byte| byte.is_ascii_graphic())
        && text.bytes().any(|byte| byte.is_ascii_digit())
}

impl PaymentSearch {
    /// Whether a payment passes the filters, whatever its texts.
    fn wants(&self, found: &FoundPayment) -> bool {
        let (status, preparation, method, provider, at, currency) = match found {
            FoundPayment::Transaction(it) => {
                let method = it.reference.method();
                (Some(it.state.status), None, method, &it.provider, it.created_at, it.currency)
            }
            FoundPayment::Preparation(it) => {
                let (order, preparation) = (&it.order, it.progress.preparation);
                let (provider, at) = (&order.provider, order.created_at);
                (None, Some(preparation), PaymentMethod::WebCard, provider, at, order.currency)
            }
        };
        let state = match found {
            FoundPayment::Transaction(it) => Some(&it.state),
            FoundPayment::Preparation(_) => None,
        };
        let is_partly_refunded = state.is_some_and(TransactionState::is_partly_refunded);
        let is_disputed = state.is_some_and(|state| state.dispute.is_some());
        self.status.is_none_or(|wanted| status == Some(wanted))
            && self.preparation.is_none_or(|wanted| preparation == Some(wanted))
            && self.method.is_none_or(|wanted| method == wanted)
            && self.provider.as_ref().is_none_or(|wanted| provider == wanted)
            && (!self.is_partly_refunded || is_partly_refunded)
            && (!self.is_disputed || is_disputed)
            && self.created_from.is_none_or(|from| at >= from)
            && self.created_before.is_none_or(|before| at < before)
            && query_text::currency(&self.text).is_none_or(|wanted| currency == wanted)
    }
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
        let named = self.named_payments(environment, &search.text).await?;
        if !named.is_empty() {
            let mut payments = Vec::new();
            for reference in named {
                payments.extend(self.found_payment(environment, reference).await?);
            }
            payments.retain(|found| search.wants(found));
            return Ok((payments, None));
        }
        let words = Words::of(&search.text);
        let groups = self.groups_meant(environment, search, &words).await?;
        if groups.is_empty() {
            return self.transfers_begun(environment, search).await;
        }
        let (mut payments, mut before, mut checked) = (Vec::new(), before, 0_usize);
        loop {
            let (slice, next) = self.find_all(environment, &groups, before, limit).await?;
            for hit in slice {
                before = Some(hit.place);
                checked = checked.saturating_add(1);
                if let Some(payment) = self.found_payment(environment, hit.reference).await?
                    && search.wants(&payment)
                    && self.has_rest(environment, &payment, &words).await?
                {
                    payments.push(payment);
                    if payments.len() >= limit {
                        return Ok((payments, before));
                    }
                }
            }
            match next {
                Next::None => return Ok((payments, None)),
                Next::After(place) if checked >= MAX_CHECKED => return Ok((payments, Some(place))),
                Next::Unfinished(place) => return Ok((payments, Some(place))),
                Next::After(place) => before = Some(place),
            }
        }
    }

    /// The payments that a text names without the index: by the ID of a refund, an event, a request, a dispute or of
    /// something at a provider, or by the beginning of their reference.
    async fn named_payments(
        &self,
        environment: EnvironmentId,
        text: &str,
    ) -> Result<BTreeSet<ServiceReference>, StoreError> {
        let text = text.trim();
        let mut named = BTreeSet::new();
        if let Ok(id) = text.parse::<EventId>() {
            named.extend(self.store.find_event(environment, id).await?.and_then(|event| event.reference));
        } else if let Ok(id) = text.parse::<RefundId>() {
            named.extend(self.store.payment_of_refund(environment, id).await?.map(ServiceReference::Card));
        } else if let Ok(id) = text.parse::<RequestId>() {
            let filter = RequestFilter { request: Some(id), ..RequestFilter::default() };
            let calls = self.store.requests(environment, &filter, None, 1).await?;
            named.extend(
                calls.into_iter().filter_map(|call| call.reference?.parse::<ServiceReference>().ok()),
            );
            if named.is_empty() {
                named.extend(self.store.payment_of_request(environment, id).await?);
            }
        } else if let Some((first, last)) = query_text::references(text) {
            named.extend(self.store.references_between(environment, first, last, MAX_NAMED).await?);
        } else if is_name(text) {
            named.extend(self.store.payment_of_dispute(environment, text).await?.map(ServiceReference::Card));
            let view = self.view(environment);
            for provider in view.iter().flat_map(|view| view.configuration.providers.iter()) {
                let found = match provider.adapter.method() {
                    PaymentMethod::WebCard => {
                        let found = self.store.payment_of_object(environment, &provider.name, text).await?;
                        found.map(ServiceReference::Card)
                    }
                    PaymentMethod::Ach => {
                        let found = self.store.transfer_of_object(environment, &provider.name, text).await?;
                        found.map(|transfer| ServiceReference::Ach(transfer.order.id))
                    }
                };
                named.extend(found);
            }
        }
        Ok(named)
    }

    /// The terms of the index that are meant, of every group one: the groups of all words, or else those of the text as a
    /// whole. Empty where nothing in the index fits.
    async fn groups_meant(
        &self,
        environment: EnvironmentId,
        search: &PaymentSearch,
        words: &Words,
    ) -> Result<Vec<Vec<String>>, StoreError> {
        if words.are_several() && query_text::currency(&search.text).is_none() {
            let mut groups = Vec::new();
            for word in words.indexed() {
                groups.push(self.terms_meant(environment, word).await?);
            }
            let can_fit = !groups.is_empty() && groups.iter().all(|terms| !terms.is_empty());
            if can_fit && !self.find_all(environment, &groups, None, 1).await?.0.is_empty() {
                return Ok(groups);
            }
        }
        let terms = self.terms_meant(environment, &search.text).await?;
        let fits = !self.find_any(environment, &terms, None, 1).await?.is_empty();
        Ok(if fits { vec![terms] } else { Vec::new() })
    }

    /// The terms that a text may be, and those that begin with it.
    async fn terms_meant(&self, environment: EnvironmentId, text: &str) -> Result<Vec<String>, StoreError> {
        let mut terms = query_text::terms(text);
        let begun = value_prefix(text).into_iter().chain(query_text::prefixes(text));
        for prefix in begun {
            terms.extend(self.store.search_terms(environment, &prefix, MAX_BEGUN).await?);
        }
        let mut kept = BTreeSet::new();
        terms.retain(|term| kept.insert(term.clone()));
        Ok(terms)
    }

    /// True if the payment has those of the words that the index cannot answer for.
    async fn has_rest(
        &self,
        environment: EnvironmentId,
        payment: &FoundPayment,
        words: &Words,
    ) -> Result<bool, StoreError> {
        if words.has_all_indexed() {
            return Ok(true);
        }
        let customers = self.customers_of(environment, &[payment.reference()]).await?;
        let names = customers.iter().flat_map(|it| [&it.name, &it.email, &it.external_id]);
        let (description, metadata) = payment.texts();
        let texts = names.flatten().map(String::as_str).chain(description).chain([metadata]);
        Ok(words.rest_is_in(texts))
    }

    /// The transfers whose names at the provider begin like the text.
    async fn transfers_begun(
        &self,
        environment: EnvironmentId,
        search: &PaymentSearch,
    ) -> Result<(Vec<FoundPayment>, Option<SearchCursor>), ReadError> {
        let text = search.text.trim();
        let mut payments = Vec::new();
        if is_name(text) {
            let names = BTreeSet::from([text.to_owned(), text.to_lowercase()]);
            for name in names {
                for id in self.store.transfers_of_objects(environment, &name, MAX_NAMED).await? {
                    payments.extend(self.found_payment(environment, ServiceReference::Ach(id)).await?);
                }
            }
        }
        payments.retain(|found| search.wants(found));
        Ok((payments, None))
    }

    /// Whom these payments are from or for.
    pub async fn customers_of(
        &self,
        environment: EnvironmentId,
        references: &[ServiceReference],
    ) -> Result<Vec<PaymentCustomer>, StoreError> {
        self.store.customers_of(environment, references).await
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

    /// The payments that have a term of every group, newest first, and where to go on.
    async fn find_all(
        &self,
        environment: EnvironmentId,
        groups: &[Vec<String>],
        before: Option<SearchCursor>,
        limit: usize,
    ) -> Result<(Vec<SearchHit>, Next), StoreError> {
        if let [terms] = groups {
            let hits = self.find_any(environment, terms, before, limit).await?;
            let next =
                hits.last().filter(|_| hits.len() >= limit).map_or(Next::None, |hit| Next::After(hit.place));
            return Ok((hits, next));
        }
        let (mut hits, mut place, mut steps) = (Vec::new(), before, 0_usize);
        // Each group in turn names its newest payment from the last one's downward, until all have named the same.
        let (mut agreed, mut candidate) = (0, None::<SearchHit>);
        for terms in groups.iter().cycle() {
            let Some(hit) = self.find_any(environment, terms, place, 1).await?.pop() else { break };
            let is_same = candidate.is_some_and(|candidate| candidate.place == hit.place);
            agreed = if is_same { agreed + 1 } else { 1 };
            candidate = Some(hit);
            place = Some(just_above(hit.place));
            if agreed == groups.len() {
                hits.push(hit);
                if hits.len() >= limit {
                    return Ok((hits, Next::After(hit.place)));
                }
                (agreed, candidate, place) = (0, None, Some(hit.place));
            }
            steps += 1;
            if let Some(place) = place.filter(|_| steps >= MAX_STEPS) {
                return Ok((hits, Next::Unfinished(place)));
            }
        }
        Ok((hits, Next::None))
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

    /// The events about a payment, oldest first, and whether they were delivered.
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
}
