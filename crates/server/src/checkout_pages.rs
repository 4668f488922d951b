//! Where a hosted checkout sends customers whose caller named no place of its own: a receipt, and a page for those who gave
//! up. Nothing to load; the receipt looks again by itself until its payment is final, and reads well without a script.

use axum::{
    body::Body,
    extract::{RawQuery, State},
    response::Response,
};
use http::{HeaderName, HeaderValue, header};
use tollgate_domain::{Minor, card::Preparation, card_fee::FeeKind, transaction::Status};
use tollgate_engine::ports::CardPayment;

use crate::app::SharedApp;

const PAGE: &str = r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><title>TITLE</title>
<style>body{font:1.125rem/1.6 system-ui,sans-serif;max-width:30rem;margin:12vh auto 2rem;padding:0 1.5rem;text-align:center}
h1{font-size:1.6rem;margin:0 0 .5rem}p{margin:0}
dl{margin:2rem 0 0;text-align:left;border-top:1px solid}
dl div{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1.5rem;padding:.5rem 0;border-bottom:1px solid}
dt,dd{margin:0}dd{font-variant-numeric:tabular-nums;overflow-wrap:anywhere}.total{font-weight:600}</style></head>
<body><main aria-live="polite" data-final="FINAL"><h1>TITLE</h1><p>TEXT</p>ROWS</main>SCRIPT</body></html>"#;

/// Looks again, less and less often, until the payment is final.
const SCRIPT: &str = r#"<script nonce="NONCE">(function () {
  var main = document.querySelector("main"), wait = 2000;
  function again() { setTimeout(look, wait); wait = Math.min(wait * 1.3, 60000); }
  function look() {
    fetch(location.href).then(function (answer) { return answer.text(); }).then(function (text) {
      var page = new DOMParser().parseFromString(text, "text/html"), next = page.querySelector("main");
      if (next && next.innerHTML !== main.innerHTML) { main.innerHTML = next.innerHTML; document.title = page.title; }
      if (!next || next.dataset.final !== "true") again();
    }, again);
  }
  again();
})();</script>"#;

struct Said {
    title: &'static str,
    text: &'static str,
    rows: String,
    is_final: bool,
}

impl Said {
    const fn plain(title: &'static str, text: &'static str) -> Self {
        Self { title, text, rows: String::new(), is_final: true }
    }
}

/// A receipt for whoever has its address; for anybody else a page that says nothing about any payment.
pub(crate) async fn paid(State(app): State<SharedApp>, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let field = |name: &str| {
        let mut fields = form_urlencoded::parse(query.as_bytes());
        fields.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    };
    let asked = field("environment").zip(field("payment")).zip(field("receipt"));
    let asked = asked.and_then(|((environment, payment), token)| {
        Some((environment.parse().ok()?, payment.parse().ok()?, token))
    });
    let payment = match asked {
        Some((environment, payment, token)) => app.engine.receipt(environment, payment, &token).await.ok(),
        None => None,
    };
    let said = payment
        .as_ref()
        .map_or(Said::plain("Thank you", "You can close this window and go back to the shop."), receipt);
    let nonce: [u8; 16] = app.engine.random().unwrap_or_default();
    page(&said, &format!("{:032x}", u128::from_be_bytes(nonce)))
}

pub(crate) async fn canceled() -> Response {
    page(&Said::plain("Payment canceled", "You left the checkout. Go back to the shop to try again."), "")
}

fn receipt(payment: &CardPayment) -> Said {
    let order = &payment.order;
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    let (title, text, word, is_final) = match status {
        Some(Status::Succeeded) => {
            ("Thank you", "Your payment is complete. You can close this window.", "Paid", true)
        }
        Some(Status::Authorized) => (
            "Thank you",
            "Your payment is authorized; the shop will complete it. You can close this window.",
            "Authorized",
            true,
        ),
        Some(Status::Refunded) => {
            ("Payment refunded", "The whole amount has been refunded.", "Refunded", true)
        }
        Some(Status::Failed) => {
            ("Payment failed", "Nothing was charged. Go back to the shop to try again.", "Failed", true)
        }
        Some(Status::Canceled) => {
            ("Payment canceled", "Nothing was charged. Go back to the shop to try again.", "Canceled", true)
        }
        Some(Status::Pending | Status::Processing) => {
            ("Thank you", "Your payment is being processed. You can close this window.", "Processing", false)
        }
        None if is_open(payment.progress.preparation) => (
            "Thank you",
            "Your payment is being confirmed. You can close this window.",
            "Waiting for confirmation",
            false,
        ),
        None => (
            "Payment not completed",
            "This checkout has ended. Go back to the shop to try again.",
            "Not paid",
            true,
        ),
    };
    let money = |amount: Minor| format!("{} {}", order.currency.decimal(amount), order.currency);
    let refunded = payment.transaction.as_ref().map(|transaction| transaction.state.refunded);
    let refunded = refunded.filter(|amount| *amount > Minor::ZERO);
    let amounts = payment.amounts();
    let kind = payment.progress.card_fee.as_ref().map(|card_fee| card_fee.kind());
    let fee =
        (amounts.fee > Minor::ZERO).then(|| (kind.map_or("Fee", FeeKind::label), money(amounts.fee), ""));
    let lines = [
        Some(("Amount", money(amounts.principal.into()), "")),
        fee,
        Some(("Total", money(amounts.total_debit), " class=\"total\"")),
        refunded.map(|amount| ("Refunded", money(amount), "")),
        Some(("Status", word.to_owned(), "")),
        Some(("Reference", order.id.to_string(), "")),
    ];
    // Numbers, codes and our own words: nothing in them comes from anybody else.
    let rows: Vec<String> = lines
        .into_iter()
        .flatten()
        .map(|(name, value, class)| format!("<div{class}><dt>{name}</dt><dd>{value}</dd></div>"))
        .collect();
    Said { title, text, rows: format!("<dl>{}</dl>", rows.concat()), is_final }
}

fn is_open(preparation: Preparation) -> bool {
    matches!(preparation, Preparation::Preparing | Preparation::Prepared)
}

fn page(said: &Said, nonce: &str) -> Response {
    let script = if said.is_final { String::new() } else { SCRIPT.replace("NONCE", nonce) };
    let html = PAGE
        .replace("TITLE", said.title)
        .replace("TEXT", said.text)
        .replace("FINAL", if said.is_final { "true" } else { "false" })
        .replace("ROWS", &said.rows)
        .replace("SCRIPT", &script);
    let mut response = Response::new(Body::from(html));
    let headers = response.headers_mut();
    let scripts = if said.is_final { "'none'".to_owned() } else { format!("'nonce-{nonce}'") };
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src {scripts}; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    );
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // The address is the receipt: it is passed on to nobody.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"));
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
