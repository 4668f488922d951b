//! A request tried on the current configuration: where it would go, why, and what it would cost.

use askama::Template;
use tollgate_domain::{Currency, Flow, PaymentMethod, Principal};
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
    let mut errors = Vec::new();
    let request = read(&amount, &currency, &method, &flow, &metadata, &mut errors);
    let view = signed_in.view(environment)?;
    let engine = &signed_in.console.engine;
    let answer = request.map(|request| {
        let configuration = &view.configuration;
        let explained = explain(configuration, &request);
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
                }
            }
            Err(unroutable) => Answer {
                decision: unroutable.to_string(),
                rules,
                layers: Vec::new(),
                fee: String::new(),
                total: String::new(),
                is_routed: false,
            },
        }
    });
    if amount.is_empty() {
        errors.clear();
    }
    page::render(&TryPage { frame, amount, currency, method, flow, metadata, errors, answer })
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
    Some(QuoteRequest { principal: principal?, currency: known?, method, flow, metadata: pairs? })
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
