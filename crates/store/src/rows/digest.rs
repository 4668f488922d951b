//! What events add to the index by which payments are found, and to the sums of their hour.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tollgate_domain::{
    Minor, PaymentMethod, Principal, event::EventKind, fee::FeeSnapshot, search, search::SearchFields,
};

use super::{card, hold};
use crate::prelude::*;

const HOUR_MILLIS: i64 = 3_600_000;

/// An event to be digested, and its payment with all that it is found by.
#[derive(Debug)]
pub(crate) struct IndexableEvent {
    pub(crate) environment: [u8; 16],
    pub(crate) kind: String,
    pub(crate) at: i64,
    pub(crate) method: &'static str,
    pub(crate) place: [u8; 16],
    pub(crate) currency: String,
    pub(crate) provider: String,
    pub(crate) principal_minor: i64,
    pub(crate) platform_fee_minor: i64,
    pub(crate) organization_fee_minor: i64,
    pub(crate) total_debit_minor: i64,
    pub(crate) metadata: String,
    pub(crate) customer: Vec<String>,
    pub(crate) provider_references: Vec<String>,
    pub(crate) request: String,
    pub(crate) description: Option<String>,
    pub(crate) last_four: Option<String>,
    pub(crate) card: Vec<(&'static str, String)>,
}

pub(crate) fn read_card(cells: &mut Cells<'_>) -> Result<IndexableEvent, Fault> {
    let mut indexable = read_digestible(cells, PaymentMethod::WebCard)?;
    indexable.customer.extend([cells.text_or_none()?, cells.text_or_none()?].into_iter().flatten());
    indexable
        .provider_references
        .extend([cells.text_or_none()?, cells.text_or_none()?].into_iter().flatten());
    let hold = cells.text_or_none()?.map(|stored| hold::read(&stored)).transpose()?;
    let charged = cells.get::<Option<Box<FeeSnapshot>>>()?.map(|charged| *charged);
    // What was prepared and authorized is counted as such, whatever was captured of it later.
    let is_of_captured = EventKind::parse(&indexable.kind).is_some_and(EventKind::is_of_paid);
    let paid = hold.and_then(|hold| hold.captured).or(charged);
    if let Some(captured) = paid.filter(|_| is_of_captured) {
        indexable.principal_minor = Minor::from(captured.principal).signed();
        indexable.platform_fee_minor = captured.platform.fee.signed();
        indexable.organization_fee_minor = captured.organization.fee.signed();
        indexable.total_debit_minor = captured.total_debit.signed();
    }
    indexable.request = cells.text()?;
    indexable.description = cells.text_or_none()?;
    let paid_with = cells.text_or_none()?.map(|stored| card::read(&stored)).transpose()?;
    if let Some(card) = paid_with {
        indexable.last_four = card.last_four;
        let facts = [("brand", card.brand), ("funding", card.funding), ("country", card.country)];
        indexable.card = facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    }
    Ok(indexable)
}

pub(crate) fn read_transfer(cells: &mut Cells<'_>) -> Result<IndexableEvent, Fault> {
    let mut transfer = read_digestible(cells, PaymentMethod::Ach)?;
    transfer.customer.extend([cells.text()?, cells.text()?, cells.text()?]);
    transfer.request = cells.text()?;
    transfer.description = cells.text_or_none()?;
    transfer.last_four = cells.text_or_none()?;
    Ok(transfer)
}

fn read_digestible(cells: &mut Cells<'_>, method: PaymentMethod) -> Result<IndexableEvent, Fault> {
    Ok(IndexableEvent {
        environment: cells.id()?,
        kind: cells.text()?,
        at: cells.number()?,
        method: method.as_str(),
        place: cells.id()?,
        currency: cells.text()?,
        provider: cells.text()?,
        principal_minor: cells.number()?,
        platform_fee_minor: cells.number()?,
        organization_fee_minor: cells.number()?,
        total_debit_minor: cells.number()?,
        metadata: cells.text()?,
        customer: Vec::new(),
        provider_references: Vec::new(),
        request: String::new(),
        description: None,
        last_four: None,
        card: Vec::new(),
    })
}

impl IndexableEvent {
    fn terms(&self) -> Vec<String> {
        let metadata = values_of(&self.metadata);
        let amount = |minor: i64| u64::try_from(minor).ok();
        SearchFields {
            principal: amount(self.principal_minor).and_then(Principal::new),
            total_debit: amount(self.total_debit_minor).and_then(Minor::new),
            customer: self.customer.iter().map(String::as_str).collect(),
            provider_references: self.provider_references.iter().map(String::as_str).collect(),
            request: Some(self.request.as_str()).filter(|request| !search::is_made_soon(request, self.place)),
            description: self.description.as_deref(),
            last_four: self.last_four.as_deref(),
            card: self.card.iter().map(|(name, value)| (*name, value.as_str())).collect(),
            metadata: metadata.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
        }
        .terms()
    }
}

/// The entries of metadata that are texts, numbers or truths.
fn values_of(metadata: &str) -> Vec<(String, String)> {
    let Ok(Value::Object(entries)) = serde_json::from_str(metadata) else { return Vec::new() };
    entries
        .into_iter()
        .filter_map(|(key, value)| {
            let text = match value {
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                Value::Bool(truth) => truth.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => return None,
            };
            Some((key, text))
        })
        .collect()
}

/// By what a payment is found. The order is the same for whoever writes, so that none waits for another in a circle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Term {
    pub(crate) environment: [u8; 16],
    pub(crate) text: String,
    pub(crate) place: [u8; 16],
}

/// What is counted together, in the order in which it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CountedBy {
    pub(crate) environment: [u8; 16],
    pub(crate) hour: i64,
    pub(crate) currency: String,
    pub(crate) method: &'static str,
    pub(crate) provider: String,
    pub(crate) kind: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) count: i64,
    pub(crate) principal_minor: i64,
    pub(crate) platform_fee_minor: i64,
    pub(crate) organization_fee_minor: i64,
}

/// What a number of events add to the index and to the sums.
#[derive(Debug, Default)]
pub(crate) struct Digest {
    pub(crate) terms: BTreeSet<Term>,
    pub(crate) sums: BTreeMap<CountedBy, Sums>,
}

impl Digest {
    pub(crate) fn of(events: &[IndexableEvent]) -> Self {
        let mut digest = Self::default();
        for event in events {
            digest.add(event);
        }
        digest
    }

    fn add(&mut self, event: &IndexableEvent) {
        self.terms.extend(event.terms().into_iter().map(|text| Term {
            environment: event.environment,
            text,
            place: event.place,
        }));
        let by = CountedBy {
            environment: event.environment,
            hour: event.at.saturating_sub(event.at.rem_euclid(HOUR_MILLIS)),
            currency: event.currency.clone(),
            method: event.method,
            provider: event.provider.clone(),
            kind: event.kind.clone(),
        };
        let sums = self.sums.entry(by).or_default();
        sums.count = sums.count.saturating_add(1);
        sums.principal_minor = sums.principal_minor.saturating_add(event.principal_minor);
        sums.platform_fee_minor = sums.platform_fee_minor.saturating_add(event.platform_fee_minor);
        sums.organization_fee_minor =
            sums.organization_fee_minor.saturating_add(event.organization_fee_minor);
    }
}

table! {
    SEARCH_TERMS = "search_terms" ("ON CONFLICT DO NOTHING");
    fn term_row(term: &'a Term) {
        environment_id: Id = term.environment,
        term: Text = &term.text,
        place: Id = term.place,
    }
}

table! {
    ACTIVITY = "activity" (ADD_SUMS);
    fn sums_row(by: &'a CountedBy, sums: &Sums) {
        environment_id: Id = by.environment,
        hour: Number = by.hour,
        currency: Text = &by.currency,
        method: Text = by.method,
        provider: Text = &by.provider,
        kind: Text = &by.kind,
        count: Number = sums.count,
        principal_minor: Number = sums.principal_minor,
        platform_fee_minor: Number = sums.platform_fee_minor,
        organization_fee_minor: Number = sums.organization_fee_minor,
    }
}

/// Adds a batch's sums to what is stored; none goes beyond the largest number.
const ADD_SUMS: &str = "ON CONFLICT (environment_id, hour, currency, method, provider, kind) DO UPDATE SET
     count = activity.count + excluded.count,
     principal_minor = activity.principal_minor
         + CASE WHEN excluded.principal_minor < 9223372036854775807 - activity.principal_minor
             THEN excluded.principal_minor ELSE 9223372036854775807 - activity.principal_minor END,
     platform_fee_minor = activity.platform_fee_minor
         + CASE WHEN excluded.platform_fee_minor < 9223372036854775807 - activity.platform_fee_minor
             THEN excluded.platform_fee_minor ELSE 9223372036854775807 - activity.platform_fee_minor END,
     organization_fee_minor = activity.organization_fee_minor
         + CASE WHEN excluded.organization_fee_minor < 9223372036854775807 - activity.organization_fee_minor
             THEN excluded.organization_fee_minor
             ELSE 9223372036854775807 - activity.organization_fee_minor END";

#[cfg(test)]
mod tests {
    use super::*;

    fn event(place: u8, at: i64, principal_minor: i64) -> IndexableEvent {
        IndexableEvent {
            environment: [1; 16],
            kind: "transaction.succeeded".to_owned(),
            at,
            method: "web_card",
            place: [place; 16],
            currency: "USD".to_owned(),
            provider: "stripe".to_owned(),
            principal_minor,
            platform_fee_minor: 2,
            organization_fee_minor: 0,
            total_debit_minor: principal_minor,
            metadata: r#"{"order":"A 1","n":17,"paid":true,"list":[1],"none":null,"deep":{"a":"b"}}"#
                .to_owned(),
            customer: vec!["Ada".to_owned()],
            provider_references: Vec::new(),
            request: "req_1".to_owned(),
            description: None,
            last_four: None,
            card: vec![("funding", "debit".to_owned())],
        }
    }

    #[test]
    fn events_of_an_hour_are_added_up() {
        let events =
            [event(1, 3_600_000, 10), event(2, 7_199_999, 5), event(1, 7_200_000, 10), event(1, -1, 1)];
        let digest = Digest::of(&events);
        let hours: Vec<_> =
            digest.sums.iter().map(|(by, sums)| (by.hour, sums.count, sums.principal_minor)).collect();
        assert_eq!(hours, [(-3_600_000, 1, 1), (3_600_000, 2, 15), (7_200_000, 1, 10)]);
    }

    #[test]
    fn sums_end_at_the_largest_number() {
        let digest = Digest::of(&[event(1, 0, i64::MAX), event(2, 0, 5)]);
        assert_eq!(digest.sums.values().next().unwrap().principal_minor, i64::MAX);
    }

    #[test]
    fn only_plain_values_of_metadata_are_found() {
        let terms: Vec<String> =
            Digest::of(&[event(1, 0, 10)]).terms.into_iter().map(|term| term.text).collect();
        let expected = [
            "amount:10",
            "customer:ada",
            "text:17\u{1f}n",
            "text:a 1\u{1f}order",
            "text:debit\u{1f}funding",
            "text:req_1",
            "text:true\u{1f}paid",
        ];
        assert_eq!(terms, expected);
    }
}
