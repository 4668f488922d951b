//! A customer: their payments, and what is kept of them.

use std::collections::BTreeSet;

use askama::Template;
use data_encoding::HEXLOWER;
use tollgate_engine::{CustomerPayment, FoundPayment};

use crate::{
    layout::{
        frame::Frame,
        page::{self, Page, PageError},
    },
    pages::{
        payment_rows::{Row, card_words, customer_words},
        payment_totals,
        payments::read_place,
    },
    request::signed_in::SignedIn,
};

const SLICE: usize = 50;

#[derive(Template)]
#[template(path = "customer.html")]
struct CustomerPage {
    frame: Frame,
    /// The e-mail address or external ID the page was opened with.
    name: String,
    /// By what a person would call them.
    title: String,
    facts: Vec<(&'static str, String)>,
    totals: Vec<String>,
    rows: Vec<Row>,
    next: Option<String>,
    /// Payments that mention them in whatever way.
    search: String,
    /// Where their data is erased.
    erase: String,
}

/// Where a customer's page is, by their address or else the caller's own ID.
pub(crate) fn link(base: &str, name: &str) -> String {
    format!("{base}/customer?{}", query(&[("q", Some(name))]))
}

fn query(fields: &[(&str, Option<&str>)]) -> String {
    let mut text = form_urlencoded::Serializer::new(String::new());
    for (field, value) in fields {
        if let Some(value) = value {
            text.append_pair(field, value);
        }
    }
    text.finish()
}

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let name = signed_in.query("q").ok_or(PageError::Missing)?.to_owned();
    signed_in.record_list("payment.list", environment).await?;
    let before = signed_in.query("before").and_then(read_place);
    let engine = &signed_in.console.engine;
    let (found, next) = engine.payments_of_customer(environment, &name, before, SLICE).await?;
    let is_whole = before.is_none() && next.is_none() && !found.is_empty();
    let title = found.first().map_or(&*name, |(_, customer)| customer_words(customer)).to_owned();
    let frame = signed_in.frame(&title, "payments").await?;
    let external_id = found.iter().find_map(|(_, customer)| customer.external_id.clone());
    let email = found.iter().find_map(|(_, customer)| customer.email.clone());
    let facts = facts(&found);
    let payments: Vec<_> = found.into_iter().map(|(payment, _)| payment).collect();
    page::render(&CustomerPage {
        title,
        facts,
        totals: if is_whole { payment_totals::of_found(&payments) } else { Vec::new() },
        rows: Row::all(&signed_in, environment, &payments, &frame.base).await?,
        next: next.map(|place| signed_in.link_with("before", &HEXLOWER.encode(&place))),
        search: format!("{}/payments?{}", frame.base, query(&[("q", Some(&name))])),
        erase: erase_link(&frame.base, external_id.as_deref(), email.as_deref(), &name),
        name,
        frame,
    })
}

/// What is kept of them, as their payments on this page have it.
fn facts(found: &[CustomerPayment]) -> Vec<(&'static str, String)> {
    let joined = |all: BTreeSet<String>| all.into_iter().collect::<Vec<_>>().join(", ");
    let customers = || found.iter().map(|(_, customer)| customer);
    let cards = found.iter().filter_map(|(payment, _)| match payment {
        FoundPayment::Transaction(transaction) => {
            let card = transaction.state.card.as_deref()?;
            let expiry = card.expiry_month.zip(card.expiry_year);
            let expiry = expiry.map(|(month, year)| format!(", expires {month:02}/{year}"));
            Some(card_words(card)? + &expiry.unwrap_or_default())
        }
        FoundPayment::Preparation(_) => None,
    });
    let accounts = customers().filter_map(|customer| {
        let (bank, digits) = (customer.bank_name.as_ref()?, customer.last_four.as_ref()?);
        Some(format!("{bank} ····{digits}"))
    });
    let facts = [
        ("Names", joined(customers().filter_map(|it| it.name.clone()).collect())),
        ("E-mail", joined(customers().filter_map(|it| it.email.clone()).collect())),
        ("Your ID", joined(customers().filter_map(|it| it.external_id.clone()).collect())),
        ("Cards", joined(cards.collect())),
        ("Bank accounts", joined(accounts.collect())),
    ];
    facts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

fn erase_link(base: &str, external_id: Option<&str>, email: Option<&str>, name: &str) -> String {
    // Whoever has no payments may still have tokens.
    let is_unknown = external_id.is_none() && email.is_none();
    let unknown = if name.contains('@') { "email" } else { "customer" };
    let given = [("customer", external_id), ("email", email), (unknown, Some(name).filter(|_| is_unknown))];
    format!("{base}/erase?{}", query(&given))
}
