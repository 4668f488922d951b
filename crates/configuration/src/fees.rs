//! The `fees` section: one entry for each currency, provider and channel.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Value, json};
use tollgate_domain::{
    BasisPoints, Channel, Currency, Minor, PaymentMethod,
    card_fee::FeeKind,
    fee::{FeeEntry, FeeLayer},
};

use crate::{provider::Providers, reader::Node, validation_error::ValidationErrors};

const MAX_ENTRIES: usize = 20_000;

/// The fees of a configuration.
#[derive(Debug, Clone, Default)]
pub struct Fees {
    /// In the document's order.
    entries: Vec<Entry>,
    places: HashMap<(Channel, Currency), Vec<usize>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Its place in the document.
    pub(crate) place: usize,
    pub(crate) provider: Arc<str>,
    pub(crate) channel: Channel,
    pub(crate) currency: Currency,
    pub(crate) layers: FeeEntry,
    pub(crate) kinds: LayerKinds,
}

/// What kind of fee each layer says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LayerKinds {
    pub(crate) platform: Option<FeeKind>,
    pub(crate) organization: Option<FeeKind>,
}

impl Entry {
    /// The kind of the whole entry: a payment carries one.
    pub(crate) fn kind(&self) -> Option<FeeKind> {
        self.kinds.platform.or(self.kinds.organization)
    }
}

impl Fees {
    /// The layers for a route; where nothing is configured both are disabled and free.
    pub fn entry(&self, provider: &str, channel: Channel, currency: Currency) -> FeeEntry {
        self.place(provider, channel, currency)
            .and_then(|place| self.entries.get(place))
            .map(|found| found.layers)
            .unwrap_or_default()
    }

    /// The layers for a route, and the kind of fee they say they are.
    pub fn entry_with_kind(
        &self,
        provider: &str,
        channel: Channel,
        currency: Currency,
    ) -> (FeeEntry, Option<FeeKind>) {
        let entry = self.place(provider, channel, currency).and_then(|place| self.entries.get(place));
        entry.map(|found| (found.layers, found.kind())).unwrap_or_default()
    }

    /// Whether a fee is configured for a route, be it zero.
    pub fn has_entry(&self, provider: &str, channel: Channel, currency: Currency) -> bool {
        self.place(provider, channel, currency).is_some()
    }

    /// The currencies that have an entry for any of the channels, or for one provider's.
    pub fn currencies(&self, channels: &[Channel], provider: Option<&str>) -> Vec<Currency> {
        let fits = |entry: &&Entry| {
            channels.contains(&entry.channel) && provider.is_none_or(|name| &*entry.provider == name)
        };
        let mut currencies: Vec<Currency> = Vec::new();
        for entry in self.entries.iter().filter(fits) {
            if !currencies.contains(&entry.currency) {
                currencies.push(entry.currency);
            }
        }
        currencies
    }

    /// The kinds of fee that cards are charged by, with the provider, its currency and both layers, in the document's order.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, Currency, FeeKind, FeeEntry)> {
        self.entries
            .iter()
            .filter_map(|entry| Some((&*entry.provider, entry.currency, entry.kind()?, entry.layers)))
    }

    /// Every entry, in the document's order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    fn place(&self, provider: &str, channel: Channel, currency: Currency) -> Option<usize> {
        let places = self.places.get(&(channel, currency))?;
        places
            .iter()
            .copied()
            .find(|place| self.entries.get(*place).is_some_and(|entry| &*entry.provider == provider))
    }

    /// `false` if there is an entry for the same key already.
    fn insert(&mut self, entry: Entry) -> bool {
        if self.place(&entry.provider, entry.channel, entry.currency).is_some() {
            return false;
        }
        self.places.entry((entry.channel, entry.currency)).or_default().push(self.entries.len());
        self.entries.push(entry);
        true
    }
}

pub(crate) fn read_all(node: &Node<'_>, providers: &Providers, errors: &mut ValidationErrors) -> Fees {
    let mut fees = Fees::default();
    let items: Vec<_> = node.items(MAX_ENTRIES, errors).collect();
    for (place, item) in items.into_iter().enumerate() {
        if let Some(entry) = read(place, &item, providers, errors)
            && !fees.insert(entry)
        {
            item.fault(errors, "duplicate entry for this provider, payment method, channel and currency");
        }
    }
    fees
}

fn read(
    place: usize,
    node: &Node<'_>,
    providers: &Providers,
    errors: &mut ValidationErrors,
) -> Option<Entry> {
    let mut object = node.object(errors)?;
    let provider = object.required("provider", errors);
    let method = object.required("paymentMethod", errors);
    let channel = object.required("channel", errors);
    let currency = object.required("currency", errors);
    let platform = object.optional("platform");
    let organization = object.optional("organization");
    object.finish(errors);

    let method = method.and_then(|node| read_method(&node, errors));
    let provider = provider.and_then(|node| read_provider(&node, method, providers, errors));
    let channel = channel.and_then(|node| read_channel(&node, method, errors));
    let currency = currency.and_then(|node| read_currency(&node, method, errors));
    let (platform, platform_kind) =
        platform.map(|node| read_layer(&node, method, errors)).unwrap_or_default();
    let (organization, organization_kind) =
        organization.map(|node| read_layer(&node, method, errors)).unwrap_or_default();
    Some(Entry {
        place,
        provider: provider?,
        channel: channel?,
        currency: currency?,
        layers: FeeEntry { platform, organization },
        kinds: LayerKinds { platform: platform_kind, organization: organization_kind },
    })
}

fn read_method(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<PaymentMethod> {
    let read = PaymentMethod::parse(node.text(64, errors)?);
    if read.is_none() {
        node.fault(errors, "must be `web_card` or `ach`");
    }
    read
}

fn read_provider(
    node: &Node<'_>,
    method: Option<PaymentMethod>,
    providers: &Providers,
    errors: &mut ValidationErrors,
) -> Option<Arc<str>> {
    let provider = crate::routing::known_provider(node, providers, errors)?;
    if method.is_some_and(|method| method != provider.adapter.method()) {
        node.fault(errors, format!("`{}` does not support this payment method", provider.name));
        return None;
    }
    Some(provider.name.clone())
}

fn read_channel(
    node: &Node<'_>,
    method: Option<PaymentMethod>,
    errors: &mut ValidationErrors,
) -> Option<Channel> {
    let text = node.text(64, errors)?;
    let channels = method?.channels();
    let read = channels.iter().copied().find(|channel| channel.fee_channel() == text);
    if read.is_none() {
        let known: Vec<_> = channels.iter().map(|channel| channel.fee_channel()).collect();
        node.fault(errors, format!("must be one of: {}", known.join(", ")));
    }
    read
}

fn read_currency(
    node: &Node<'_>,
    method: Option<PaymentMethod>,
    errors: &mut ValidationErrors,
) -> Option<Currency> {
    let Some(currency) = Currency::parse(node.text(64, errors)?) else {
        node.fault(errors, "must be an active three-letter ISO 4217 code");
        return None;
    };
    if method == Some(PaymentMethod::Ach) && currency != Currency::USD {
        node.fault(errors, "must be USD for ach");
        return None;
    }
    Some(currency)
}

fn read_layer(
    node: &Node<'_>,
    method: Option<PaymentMethod>,
    errors: &mut ValidationErrors,
) -> (FeeLayer, Option<FeeKind>) {
    let Some(mut object) = node.object(errors) else { return (FeeLayer::default(), None) };
    let kind = object.optional("feeKind");
    let enabled = object.optional("enabled");
    let fixed = object.optional("fixedFeeMinor");
    let percent = object.optional("percentFeeBps");
    let minimum = object.optional("minimumFeeMinor");
    let cap = object.optional("capFeeMinor");
    object.finish(errors);

    let enabled = enabled.map_or(Some(true), |node| node.boolean(errors)).unwrap_or_default();
    let fixed = fixed.and_then(|node| read_minor(&node, errors)).unwrap_or_default();
    let percent = percent.and_then(|node| read_percent(&node, errors)).unwrap_or_default();
    let bounds_path = minimum.clone();
    let minimum = minimum.and_then(|node| read_minor(&node, errors));
    let cap = cap.and_then(|node| read_minor(&node, errors));
    if let (Some(low), Some(high), Some(node)) = (minimum, cap, bounds_path)
        && low > high
    {
        node.fault(errors, format!("the minimum {low} is above the cap {high}"));
    }
    let kind = kind.and_then(|node| read_kind(&node, method, errors));
    (FeeLayer { enabled, fixed, percent, minimum, cap }, kind)
}

fn read_kind(
    node: &Node<'_>,
    method: Option<PaymentMethod>,
    errors: &mut ValidationErrors,
) -> Option<FeeKind> {
    let read = FeeKind::parse(node.text(20, errors)?);
    if read.is_none() {
        let known = FeeKind::ALL.map(FeeKind::as_str).join(", ");
        node.fault(errors, format!("must be one of: {known}"));
    } else if method == Some(PaymentMethod::Ach) {
        node.fault(errors, "is for card payments; omit it for ach");
    }
    read
}

pub(crate) fn read_minor(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<Minor> {
    let read = node.digits().and_then(|digits| Minor::parse_configured(&digits));
    if read.is_none() {
        node.fault(errors, "must be minor units as digits, from \"0\" to \"1000000000000000000\"");
    }
    read
}

pub(crate) fn read_percent(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<BasisPoints> {
    let bps = node.integer(0, u64::from(BasisPoints::WHOLE), errors)?;
    u16::try_from(bps).ok().and_then(BasisPoints::new)
}

pub(crate) fn write(fees: &Fees) -> Value {
    let entries = fees.entries.iter().map(|entry| {
        let method = PaymentMethod::ALL.into_iter().find(|method| method.channels().contains(&entry.channel));
        json!({
            "provider": &*entry.provider,
            "paymentMethod": method.map(PaymentMethod::as_str),
            "channel": entry.channel.fee_channel(),
            "currency": entry.currency.code(),
            "platform": write_layer(&entry.layers.platform, entry.channel, entry.kinds.platform),
            "organization": write_layer(&entry.layers.organization, entry.channel, entry.kinds.organization),
        })
    });
    entries.collect()
}

fn write_layer(layer: &FeeLayer, channel: Channel, kind: Option<FeeKind>) -> Value {
    let mut written = json!({
        "enabled": layer.enabled,
        "fixedFeeMinor": layer.fixed.to_string(),
        "percentFeeBps": layer.percent.get(),
        "minimumFeeMinor": layer.minimum.map(|minimum| minimum.to_string()),
        "capFeeMinor": layer.cap.map(|cap| cap.to_string()),
    });
    if channel == Channel::WebCard
        && let Some(fields) = written.as_object_mut()
    {
        fields.insert("feeKind".to_owned(), kind.map(FeeKind::as_str).into());
    }
    written
}
