//! Payments as they are found, added up and looked back at.

use tollgate_domain::{
    Channel, Currency, Flow, PaymentMethod, ServiceReference, Timestamp,
    event::EventKind,
    id::{PaymentId, TransferId},
};
use tollgate_engine::ports::{Activity, PastPayment, SearchHit};

use super::fee;
use crate::prelude::*;

/// The columns that [`read_activity`] takes.
macro_rules! activity_columns {
    () => {
        "hour, currency, method, provider, kind, count, principal_minor, platform_fee_minor, organization_fee_minor"
    };
}

/// The columns that [`read_past_card`] takes, of card_payments as `p`; the first is its place.
macro_rules! past_card_columns {
    () => {
        "p.id, p.id, p.created_at, p.flow, p.currency, p.metadata, p.provider, p.channel, p.principal_minor,
         p.platform_fee_minor, p.organization_fee_minor, p.fee_minor, p.total_debit_minor, p.fee_layers"
    };
}

/// The columns that [`read_past_transfer`] takes, of transactions as `t`; the first is its place.
macro_rules! past_transfer_columns {
    () => {
        "t.id, t.reference, t.created_at, t.currency, t.metadata, t.provider, t.channel, t.principal_minor,
         t.platform_fee_minor, t.organization_fee_minor, t.fee_minor, t.total_debit_minor, t.fee_layers"
    };
}

pub(crate) use {activity_columns, past_card_columns, past_transfer_columns};

/// Reads the columns place, method and reference.
pub(crate) fn read_found(cells: &mut Cells<'_>) -> Result<SearchHit, Fault> {
    let place = cells.id()?;
    let method = cells.word("payment method", PaymentMethod::parse)?;
    Ok(SearchHit { place, reference: ServiceReference::from_bytes(method, cells.id()?) })
}

pub(crate) fn read_activity(cells: &mut Cells<'_>) -> Result<Activity, Fault> {
    Ok(Activity {
        hour: cells.moment()?,
        currency: cells.word("currency", Currency::parse)?,
        method: cells.word("payment method", PaymentMethod::parse)?,
        provider: cells.text()?,
        kind: cells.word("kind of event", EventKind::parse)?,
        count: cells.count("number of events")?,
        principal_minor: cells.number()?,
        platform_fee_minor: cells.number()?,
        organization_fee_minor: cells.number()?,
    })
}

/// A payment of the past at its place.
pub(crate) type Placed = ([u8; 16], PastPayment);

pub(crate) fn read_past_card(cells: &mut Cells<'_>) -> Result<Placed, Fault> {
    let place = cells.id()?;
    let reference = ServiceReference::Card(PaymentId::from_bytes(cells.id()?));
    let at = cells.moment()?;
    let flow = Some(cells.word("flow", Flow::parse)?);
    Ok((place, read_past(cells, reference, at, flow)?))
}

pub(crate) fn read_past_transfer(cells: &mut Cells<'_>) -> Result<Placed, Fault> {
    let place = cells.id()?;
    let reference = ServiceReference::Ach(TransferId::from_bytes(cells.id()?));
    let at = cells.moment()?;
    Ok((place, read_past(cells, reference, at, None)?))
}

fn read_past(
    cells: &mut Cells<'_>,
    reference: ServiceReference,
    at: Timestamp,
    flow: Option<Flow>,
) -> Result<PastPayment, Fault> {
    Ok(PastPayment {
        reference,
        at,
        flow,
        currency: cells.word("currency", Currency::parse)?,
        metadata: cells.text()?,
        provider: cells.text()?,
        channel: cells.word("channel", Channel::parse)?,
        fee: fee::read(cells)?,
    })
}

/// The newest of both, newest first.
pub(crate) fn merged(cards: Vec<Placed>, transfers: Vec<Placed>, limit: u32) -> Vec<PastPayment> {
    let mut all = cards;
    all.extend(transfers);
    all.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    all.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    all.into_iter().map(|(_, payment)| payment).collect()
}
