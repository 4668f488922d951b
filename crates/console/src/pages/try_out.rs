//! A request tried on the current configuration: where it would go, why, and what it would cost.

use askama::Template;
use tollgate_domain::{
    Currency, Flow, PaymentMethod, Principal,
    card_fee::{
        Brand, CardFacts, ExplainedStep, FeeDecision, FeeRange, Funding, Instrument, PaymentFacts, Place,
        Side,
    },
    fee::FeeSnapshot,
};
use tollgate_engine::{QuoteRequest, explain, metadata_pairs};

use crate::{
    layout::{
        format::{minor, read_amount},
        frame::Frame,
        page::{self, Page},
    },
    pages::{
        payment::{Layer, layer},
        routing::{RuleView, destination_text},
    },
    request::signed_in::SignedIn,
};

struct Answer {
    decision: String,
    rules: Vec<RuleView>,
    layers: Vec<Layer>,
    fee: String,
    total: String,
    is_routed: bool,
    /// Why the card fee is what it is, and every rule about it.
    decision_text: String,
    card_fee: Vec<CardFeeRule>,
}

struct CardFeeRule {
    code: &'static str,
    rule: &'static str,
    place: String,
    limit: String,
    applies: bool,
    source: Option<String>,
}

#[derive(Template)]
#[template(path = "try.html")]
struct TryPage {
    frame: Frame,
    amount: String,
    currency: String,
    method: String,
    flow: String,
    metadata: String,
    brand: String,
    funding: String,
    payer: String,
    brands: [Brand; 11],
    fundings: [Funding; 4],
    errors: Vec<String>,
    answer: Option<Answer>,
}

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Try a request", "routing").await?;
    let text = |name: &str, usual: &str| signed_in.query(name).unwrap_or(usual).to_owned();
    let (amount, currency) = (text("amount", ""), text("currency", "USD"));
    let (method, flow) = (text("method", "web_card"), text("flow", "payment_component"));
    let metadata = text("metadata", "");
    let (brand, funding, payer) = (text("brand", ""), text("funding", "credit"), text("payer", ""));
    let mut errors = Vec::new();
    let request = read(&amount, &currency, &method, &flow, &metadata, &mut errors);
    let card_fee = read_card_fee(&brand, &funding, &payer, &mut errors);
    let request = request.zip(card_fee).map(|(request, card_fee)| QuoteRequest { card_fee, ..request });
    let view = signed_in.view(environment)?;
    let engine = &signed_in.console.engine;
    let answer = request.map(|request| {
        let configuration = &view.configuration;
        let explained = explain(configuration, engine.clock(), &request);
        let rules = RuleView::all(&explained.routing.rules, configuration.routing(request.method).rules());
        match explained.quote() {
            Ok(quote) => {
                let target = quote.route.target;
                let by =
                    explained.routing.decision.as_ref().ok().and_then(|decision| decision.matched.as_ref());
                let by = by.map_or_else(
                    || "default: no rule matched".to_owned(),
                    |matched| format!("by rule {}", matched.rule),
                );
                let split = quote.route.destination.shares().map_or_else(String::new, |_| {
                    format!("; priced as the heaviest of: {}", destination_text(quote.route.destination))
                });
                let fallbacks = engine.explain_fallbacks(&view, &request, &explained).map(|fallback| {
                    let why = fallback.skipped.map(|why| format!(" (skipped: {why})")).unwrap_or_default();
                    let total = minor(fallback.fee.total_debit, request.currency);
                    format!("; else {} for {total}{why}", fallback.target.provider)
                });
                let fallbacks = fallbacks.collect::<Vec<_>>().concat();
                Answer {
                    decision: format!(
                        "{}, {}, {by}{split}{fallbacks}",
                        target.provider,
                        target.channel.as_str()
                    ),
                    rules,
                    layers: vec![
                        layer("Platform", &quote.fee.platform, request.currency),
                        layer("Organization", &quote.fee.organization, request.currency),
                    ],
                    fee: minor(quote.fee.fee, request.currency),
                    total: minor(quote.fee.total_debit, request.currency),
                    is_routed: true,
                    decision_text: quote
                        .decision
                        .as_ref()
                        .map(|decision| decision_text(decision, &quote.fee, request.currency))
                        .unwrap_or_default(),
                    card_fee: explained
                        .card_fee
                        .iter()
                        .map(|step| card_fee_rule(step, request.currency))
                        .collect(),
                }
            }
            Err(unroutable) => Answer {
                decision: unroutable.to_string(),
                rules,
                layers: Vec::new(),
                fee: String::new(),
                total: String::new(),
                is_routed: false,
                decision_text: String::new(),
                card_fee: Vec::new(),
            },
        }
    });
    if amount.is_empty() {
        errors.clear();
    }
    page::render(&TryPage {
        frame,
        amount,
        currency,
        method,
        flow,
        metadata,
        brand,
        funding,
        payer,
        brands: Brand::ALL,
        fundings: Funding::ALL,
        errors,
        answer,
    })
}

/// The reasons for the card fee, its range, and the disclosure to the payer.
fn decision_text(decision: &FeeDecision, fee: &FeeSnapshot, currency: Currency) -> String {
    let FeeRange { min, max } = decision.range;
    let range = if min == max { String::new() } else { format!(", up to {}", minor(max, currency)) };
    let (label, code) = (decision.kind.label(), decision.reason().as_str());
    format!("{label} ({code}{range}). {}", decision.disclosure(currency, fee))
}

fn card_fee_rule(step: &ExplainedStep, currency: Currency) -> CardFeeRule {
    let side = match step.side {
        None => "",
        Some(Side::Merchant) => "merchant ",
        Some(Side::Payer) => "payer ",
    };
    let place = step.place.map(|place| place.to_string()).unwrap_or_default();
    CardFeeRule {
        code: step.code.as_str(),
        rule: step.code.rule(),
        place: format!("{side}{place}"),
        limit: step.limit.map(|limit| minor(limit, currency)).unwrap_or_default(),
        applies: step.applies,
        source: step.source.as_deref().map(str::to_owned),
    }
}

/// What is known of card and payer; without a network the card is unknown.
fn read_card_fee(brand: &str, funding: &str, payer: &str, errors: &mut Vec<String>) -> Option<PaymentFacts> {
    let card = Brand::parse(brand).zip(Funding::parse(funding));
    let instrument = card.map_or(Instrument::Unknown, |(brand, funding)| {
        Instrument::Card(CardFacts { brand, funding, country: None, commercial: None })
    });
    let place = Place::parse(payer);
    if place.is_none() && !payer.is_empty() {
        errors.push(format!("{payer} is not a place; write it like US-GA or JP."));
        return None;
    }
    Some(PaymentFacts { instrument, payer: place, recurring: false })
}

fn read(
    amount: &str,
    currency: &str,
    method: &str,
    flow: &str,
    metadata: &str,
    errors: &mut Vec<String>,
) -> Option<QuoteRequest> {
    let known = Currency::parse(currency);
    if known.is_none() {
        errors.push(format!("{currency} is not a currency; use a three-letter code such as USD."));
    }
    let principal = known.and_then(|known| read_amount(amount, known)).and_then(Principal::new);
    if principal.is_none() && known.is_some() {
        errors.push(
            "The amount must be above zero and must not have more decimals than the currency.".to_owned(),
        );
    }
    let pairs = read_metadata(metadata);
    if pairs.is_none() {
        errors.push("Enter metadata as a JSON object, or as one key=value per line.".to_owned());
    }
    let method = PaymentMethod::parse(method).unwrap_or(PaymentMethod::WebCard);
    let flow =
        (method == PaymentMethod::WebCard).then(|| Flow::parse(flow).unwrap_or(Flow::PaymentComponent));
    Some(QuoteRequest {
        principal: principal?,
        currency: known?,
        method,
        flow,
        metadata: pairs?,
        card_fee: PaymentFacts::default(),
    })
}

fn read_metadata(text: &str) -> Option<tollgate_domain::metadata::Metadata> {
    if text.starts_with('{') {
        return metadata_pairs(text);
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let pairs: Option<serde_json::Map<String, serde_json::Value>> = lines
        .map(|line| {
            let (key, value) = line.split_once('=')?;
            Some((key.trim().to_owned(), value.trim().into()))
        })
        .collect();
    metadata_pairs(&serde_json::Value::Object(pairs?).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read_in_both_forms() {
        let plain = read_metadata("speed = same_day\n\norder=a=b").unwrap();
        assert_eq!(plain, read_metadata(r#"{"speed":"same_day","order":"a=b"}"#).unwrap());
        assert!(read_metadata("").unwrap().is_empty());
        assert!(read_metadata("no pair").is_none() && read_metadata("{").is_none());
    }
}
