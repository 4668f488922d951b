//! The `feeProgram` setting: what an environment says of its merchant, and what it has attested.

use std::sync::Arc;

use jiff::civil::Date;
use serde_json::{Map, Value, json};
use tollgate_domain::{
    BasisPoints, PaymentMethod,
    card_fee::{Brand, Cost, Country, FeeProgram, Mcc, Override, Place, State},
};

use crate::{
    fees::{read_minor, read_percent},
    provider::Providers,
    reader::Node,
    validation_error::ValidationErrors,
};

const MAX_BRANDS: usize = 20;
const MAX_OVERRIDES: usize = 100;
const MAX_OVERRIDE_ID: usize = 64;
const MAX_REASON: usize = 1_000;
const MAX_DOCUMENT: usize = 500;

pub(crate) fn read(
    node: &Node<'_>,
    providers: &Providers,
    errors: &mut ValidationErrors,
) -> Option<FeeProgram> {
    let mut object = node.object(errors)?;
    let merchant = object.required("merchant", errors);
    let brands = object.optional("acceptedBrands");
    let cost = object.optional("cost");
    let notice = object.optional("noticeGivenOn");
    let entry_notice = object.optional("entryNoticeAttested");
    let parity = object.optional("amexParityConfirmed");
    let posted = object.optional("postedTotalPrice");
    let online_only = object.optional("onlineOnly");
    let overrides = object.optional("overrides");
    object.finish(errors);

    let flag = |node: Option<Node<'_>>, errors: &mut ValidationErrors| {
        node.and_then(|node| node.boolean(errors)).unwrap_or_default()
    };
    let merchant = merchant.and_then(|node| read_merchant(&node, errors));
    let accepted_brands = brands.map(|node| read_brands(&node, errors)).unwrap_or_default();
    let cost = cost.map(|node| read_cost(&node, providers, errors)).unwrap_or_default();
    let notice_given_on = notice.and_then(|node| read_day(&node, errors));
    let entry_notice_attested = flag(entry_notice, errors);
    let amex_parity_confirmed = flag(parity, errors);
    let posted_total_price = flag(posted, errors);
    let online_only = online_only.and_then(|node| node.boolean(errors));
    let overrides = overrides.map(|node| read_overrides(&node, errors)).unwrap_or_default();
    let (merchant, mcc) = merchant?;
    Some(FeeProgram {
        merchant,
        mcc,
        accepted_brands,
        cost,
        notice_given_on,
        entry_notice_attested,
        amex_parity_confirmed,
        posted_total_price,
        online_only,
        overrides,
    })
}

fn read_merchant(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<(Place, Option<Mcc>)> {
    let mut object = node.object(errors)?;
    let country = object.required("country", errors);
    let state = object.optional("state");
    let mcc = object.optional("mcc");
    object.finish(errors);
    let country = country.and_then(|node| {
        let read = Country::parse(node.text(2, errors)?);
        if read.is_none() {
            node.fault(errors, "must be a country by its two letters (ISO 3166-1) such as `US`");
        }
        read
    });
    let state = state.and_then(|node| {
        let read = State::parse(node.text(3, errors)?);
        if read.is_none() {
            node.fault(
                errors,
                "must be a state or province by the letters behind the country's such as `GA`",
            );
        }
        read
    });
    let mcc = mcc.and_then(|node| {
        let read = Mcc::parse(node.text(4, errors)?);
        if read.is_none() {
            node.fault(errors, "must be a merchant category code of four digits such as `5999`");
        }
        read
    });
    Some((Place { country: country?, state }, mcc))
}

fn read_brands(node: &Node<'_>, errors: &mut ValidationErrors) -> Vec<Brand> {
    let mut brands: Vec<Brand> = Vec::new();
    for item in node.items(MAX_BRANDS, errors).collect::<Vec<_>>() {
        let Some(text) = item.text(64, errors) else { continue };
        match Brand::parse(text).filter(|brand| *brand != Brand::Unknown) {
            None => item.fault(errors, format!("must be one of: {}", brand_names())),
            Some(brand) if brands.contains(&brand) => item.fault(errors, "is listed twice"),
            Some(brand) => brands.push(brand),
        }
    }
    brands
}

fn brand_names() -> String {
    let known = Brand::ALL.into_iter().filter(|brand| *brand != Brand::Unknown);
    known.map(Brand::as_str).collect::<Vec<_>>().join(", ")
}

fn read_cost(node: &Node<'_>, providers: &Providers, errors: &mut ValidationErrors) -> Vec<(Arc<str>, Cost)> {
    let mut costs = Vec::new();
    for (name, node) in node.entries(errors).collect::<Vec<_>>() {
        let provider =
            providers.get(name).filter(|provider| provider.adapter.method() == PaymentMethod::WebCard);
        let cost = read_one_cost(&node, errors);
        match (provider, cost) {
            (None, _) => {
                let known: Vec<_> = providers
                    .iter()
                    .filter(|provider| provider.adapter.method() == PaymentMethod::WebCard)
                    .map(|provider| &*provider.name)
                    .collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                node.fault(errors, format!("is not a provider of card payments; known here: {known}"));
            }
            (Some(provider), Some(cost)) => costs.push((Arc::clone(&provider.name), cost)),
            (Some(_), None) => {}
        }
    }
    costs
}

fn read_one_cost(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<Cost> {
    let mut object = node.object(errors)?;
    let percent = object.required("percentBps", errors);
    let fixed = object.optional("fixedMinor");
    object.finish(errors);
    let percent: Option<BasisPoints> = percent.and_then(|node| read_percent(&node, errors));
    let fixed = fixed.and_then(|node| read_minor(&node, errors)).unwrap_or_default();
    Some(Cost { percent: percent?, fixed })
}

fn read_overrides(node: &Node<'_>, errors: &mut ValidationErrors) -> Vec<Override> {
    let mut overrides: Vec<Override> = Vec::new();
    for item in node.items(MAX_OVERRIDES, errors).collect::<Vec<_>>() {
        let Some(given) = read_override(&item, errors) else { continue };
        if overrides.iter().any(|known| known.id == given.id) {
            item.fault(errors, format!("`{}` is overridden twice", given.id));
        } else {
            overrides.push(given);
        }
    }
    overrides
}

fn read_override(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<Override> {
    let mut object = node.object(errors)?;
    let id = object.required("id", errors);
    let reason = object.required("reason", errors);
    let document = object.optional("document");
    let expires_on = object.required("expiresOn", errors);
    object.finish(errors);
    let id = id.and_then(|node| node.text(MAX_OVERRIDE_ID, errors));
    let reason = reason.and_then(|node| node.text(MAX_REASON, errors));
    let document = document.and_then(|node| node.text(MAX_DOCUMENT, errors));
    let expires_on = expires_on.and_then(|node| read_day(&node, errors));
    Some(Override {
        id: id?.into(),
        reason: reason?.to_owned(),
        document: document.map(str::to_owned),
        expires_on: expires_on?,
    })
}

fn read_day(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<Date> {
    let read = node.text(10, errors)?.parse().ok();
    if read.is_none() {
        node.fault(errors, "must be a date such as `2026-12-24`");
    }
    read
}

pub(crate) fn write(program: &FeeProgram) -> Value {
    let cost: Map<_, _> = program
        .cost
        .iter()
        .map(|(provider, cost)| {
            let cost = json!({ "percentBps": cost.percent.get(), "fixedMinor": cost.fixed.to_string() });
            (provider.to_string(), cost)
        })
        .collect();
    let overrides = program.overrides.iter().map(|given| {
        json!({
            "id": &*given.id,
            "reason": given.reason,
            "document": given.document,
            "expiresOn": given.expires_on.to_string(),
        })
    });
    json!({
        "merchant": {
            "country": program.merchant.country.as_str(),
            "state": program.merchant.state.map(|state| state.to_string()),
            "mcc": program.mcc.map(|mcc| mcc.to_string()),
        },
        "acceptedBrands": program.accepted_brands.iter().map(|brand| brand.as_str()).collect::<Vec<_>>(),
        "cost": cost,
        "noticeGivenOn": program.notice_given_on.map(|day| day.to_string()),
        "entryNoticeAttested": program.entry_notice_attested,
        "amexParityConfirmed": program.amex_parity_confirmed,
        "postedTotalPrice": program.posted_total_price,
        "onlineOnly": program.online_only,
        "overrides": overrides.collect::<Vec<_>>(),
    })
}
