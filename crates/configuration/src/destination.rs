//! A rule's `target`, and `default`: one provider and channel, or a split among several, and the fallbacks of either.

use std::{collections::HashSet, sync::Arc};

use serde_json::{Map, Value, json};
use tollgate_domain::{
    Channel, PaymentMethod,
    routing::{Destination, Field, Share, Split, Target},
};

use crate::{
    provider::Providers,
    reader::{Node, Object},
    routing::known_provider,
    validation_error::ValidationErrors,
};

const MAX_SHARES: usize = 20;
const MAX_FALLBACKS: usize = 10;
const MAX_WEIGHT: u64 = 1_000_000;
const MAX_KEY_LENGTH: usize = 500;

pub(crate) fn read(
    node: &Node<'_>,
    method: PaymentMethod,
    providers: &Providers,
    errors: &mut ValidationErrors,
) -> Option<Destination> {
    let mut object = node.object(errors)?;
    let split = object.optional("split");
    let by = object.optional("splitBy");
    let fallbacks = object.optional("fallbacks");
    let one = match split {
        Some(_) => {
            for name in ["provider", "channel"] {
                if let Some(node) = object.optional(name) {
                    node.fault(errors, "cannot be given beside `split`; put it into an entry of the split");
                }
            }
            None
        }
        None => read_target(&mut object, method, providers, errors),
    };
    object.finish(errors);

    let fallbacks =
        fallbacks.map(|node| read_fallbacks(&node, method, providers, errors)).unwrap_or_default();
    let destination = if let Some(split) = split {
        let by = by.map(|by| read_key(&by, errors));
        let shares = read_shares(&split, method, providers, errors)?;
        Destination::split(shares, by.flatten())?
    } else {
        if let Some(by) = by {
            by.fault(errors, "needs `split` beside it");
        }
        Destination::from(one?)
    };
    // A fallback that is also an entry of the split is one for the others.
    if destination.shares().is_none() {
        for (node, target) in &fallbacks {
            if target.provider == destination.target().provider {
                node.fault(errors, "is the provider that the payment comes from; name another, or remove it");
            }
        }
    }
    Some(destination.with_fallbacks(fallbacks.into_iter().map(|(_, target)| target).collect()))
}

fn read_fallbacks<'a>(
    node: &Node<'a>,
    method: PaymentMethod,
    providers: &Providers,
    errors: &mut ValidationErrors,
) -> Vec<(Node<'a>, Target)> {
    let items: Vec<_> = node.items(MAX_FALLBACKS, errors).collect();
    let mut seen = HashSet::new();
    let mut read_fallback = |item: Node<'a>| {
        let mut object = item.object(errors)?;
        let target = read_target(&mut object, method, providers, errors);
        object.finish(errors);
        let target = target?;
        if !seen.insert(Arc::clone(&target.provider)) {
            item.fault(errors, "an earlier fallback has the same provider; it is tried only once");
            return None;
        }
        Some((item, target))
    };
    items.into_iter().filter_map(&mut read_fallback).collect()
}

/// The fields of one target.
fn read_target(
    object: &mut Object<'_>,
    method: PaymentMethod,
    providers: &Providers,
    errors: &mut ValidationErrors,
) -> Option<Target> {
    let provider = object.required("provider", errors);
    let channel = object.required("channel", errors);
    let provider = provider.and_then(|node| {
        let provider = known_provider(&node, providers, errors)?;
        if provider.adapter.method() != method {
            node.fault(errors, format!("`{}` does not support {method} payments", provider.name));
            return None;
        }
        Some(provider.name.clone())
    });
    let channel = channel.and_then(|node| read_channel(&node, method, errors));
    Some(Target { provider: provider?, channel: channel? })
}

fn read_channel(node: &Node<'_>, method: PaymentMethod, errors: &mut ValidationErrors) -> Option<Channel> {
    let text = node.text(64, errors)?;
    let read = Channel::parse(text).filter(|channel| method.channels().contains(channel));
    if read.is_none() {
        let known: Vec<_> = method.channels().iter().map(|channel| channel.as_str()).collect();
        node.fault(errors, format!("must be one of: {}", known.join(", ")));
    }
    read
}

fn read_shares(
    node: &Node<'_>,
    method: PaymentMethod,
    providers: &Providers,
    errors: &mut ValidationErrors,
) -> Option<Vec<Share>> {
    let items: Vec<_> = node.items(MAX_SHARES, errors).collect();
    if items.is_empty() && node.value.as_array().is_some_and(Vec::is_empty) {
        node.fault(errors, "must have at least one entry");
    }
    let mut seen = HashSet::new();
    let mut read_share = |item: &Node<'_>| {
        let mut object = item.object(errors)?;
        let weight = object.required("weight", errors);
        let target = read_target(&mut object, method, providers, errors);
        object.finish(errors);
        let weight = weight.and_then(|node| node.integer(1, MAX_WEIGHT, errors));
        let share = Share { target: target?, weight: u32::try_from(weight?).ok()? };
        if !seen.insert((Arc::clone(&share.target.provider), share.target.channel)) {
            item.fault(errors, "another entry has the same provider and channel; add their weights up");
            return None;
        }
        Some(share)
    };
    // Every entry is looked at, so that every fault is found.
    let shares: Vec<_> = items.iter().map(&mut read_share).collect();
    shares.into_iter().collect::<Option<Vec<_>>>().filter(|shares| !shares.is_empty())
}

/// The key of `metadata.<key>`.
fn read_key(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<Arc<str>> {
    let text = node.text(MAX_KEY_LENGTH, errors)?;
    if let Some(Field::Metadata(key)) = Field::parse(text) {
        return Some(key);
    }
    node.fault(errors, "must be `metadata.<key>`");
    None
}

pub(crate) fn write(destination: &Destination) -> Value {
    let mut written = destination.shares().map_or_else(|| write_target(destination.target()), write_split);
    if !destination.fallbacks().is_empty() {
        let fallbacks = destination.fallbacks().iter().map(|target| Value::Object(write_target(target)));
        written.insert("fallbacks".to_owned(), fallbacks.collect());
    }
    Value::Object(written)
}

fn write_split(split: &Split) -> Map<String, Value> {
    let shares = split.iter().map(|share| {
        let mut written = write_target(&share.target);
        written.insert("weight".to_owned(), share.weight.into());
        Value::Object(written)
    });
    let mut written = Map::from_iter([("split".to_owned(), shares.collect())]);
    if let Some(key) = split.by() {
        written.insert("splitBy".to_owned(), json!(format!("metadata.{key}")));
    }
    written
}

fn write_target(target: &Target) -> Map<String, Value> {
    Map::from_iter([
        ("provider".to_owned(), json!(&*target.provider)),
        ("channel".to_owned(), json!(target.channel.as_str())),
    ])
}
