//! `tollgate quote` and `tollgate explain`: what a payment would cost, and why it would go where it goes.

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::{
    fields::Fields,
    money::{Amount, major},
    output::{Paint, Style},
    reasons::{fee_rules, fee_steps, rules},
    session::Session,
    table::{Cell, Table},
};
use crate::failure::Failure;

/// The payment that is asked about.
#[derive(Debug, Args)]
pub(crate) struct Payment {
    #[command(flatten)]
    amount: Amount,
    /// The payment method.
    #[arg(long, value_enum, default_value = "web-card")]
    method: Method,
    /// The card flow; cards only.
    #[arg(long, value_enum)]
    flow: Option<Flow>,
    /// Metadata for routing rules; repeatable.
    #[arg(long, value_name = "KEY=VALUE")]
    metadata: Vec<String>,
    /// The card's network, such as visa; with --funding. Decides a card fee that has a kind.
    #[arg(long, requires = "funding")]
    brand: Option<String>,
    /// Whose money the card spends: credit, debit, prepaid or unknown.
    #[arg(long, requires = "brand")]
    funding: Option<String>,
    /// The card was issued to a business.
    #[arg(long, requires = "brand")]
    commercial: bool,
    /// Where the payer is, such as US-GA.
    #[arg(long, value_name = "PLACE")]
    payer: Option<String>,
    /// The payment is one of a series.
    #[arg(long)]
    recurring: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Method {
    #[value(alias = "web_card")]
    WebCard,
    Ach,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Flow {
    #[value(alias = "payment_component")]
    PaymentComponent,
    #[value(alias = "hosted_checkout")]
    HostedCheckout,
}

impl Payment {
    fn body(&self) -> Result<Value, Failure> {
        let mut metadata = Map::new();
        for pair in &self.metadata {
            let wrong = || Failure::new(format!("`{pair}` is not KEY=VALUE"));
            let (key, value) = pair.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(wrong)?;
            metadata.insert(key.to_owned(), value.into());
        }
        let method = match self.method {
            Method::WebCard => "web_card",
            Method::Ach => "ach",
        };
        let mut body = json!({
            "amountMinor": self.amount.minor()?,
            "currency": self.amount.currency()?.code(),
            "paymentMethod": method,
            "metadata": metadata,
        });
        let flow = self.flow.map(|flow| match flow {
            Flow::PaymentComponent => "payment_component",
            Flow::HostedCheckout => "hosted_checkout",
        });
        if let Some(fields) = body.as_object_mut() {
            fields.extend(flow.map(|flow| ("flow".to_owned(), flow.into())));
            fields.extend(self.card_fee());
        }
        Ok(body)
    }
}

impl Payment {
    /// What is said of card and payer.
    fn card_fee(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        if let (Some(brand), Some(funding)) = (&self.brand, &self.funding) {
            let commercial = self.commercial.then_some(true);
            let card = json!({ "brand": brand, "funding": funding, "commercial": commercial });
            fields.insert("card".to_owned(), card);
        }
        if let Some(payer) = &self.payer {
            let (country, state) = payer
                .split_once('-')
                .map_or((payer.as_str(), None), |(country, state)| (country, Some(state)));
            fields.insert("payer".to_owned(), json!({ "country": country, "state": state }));
        }
        if self.recurring {
            fields.insert("recurring".to_owned(), true.into());
        }
        fields
    }
}

/// `tollgate quote`: as the client API answers it.
pub(crate) async fn quote(session: Session, payment: Payment) -> Result<(), Failure> {
    let explained = ask(&session, &payment).await?;
    let Some(quote) = explained.field("quote").filter(|quote| !quote.is_null()) else {
        return Err(Failure::new(format!(
            "no quote: {}; `tollgate explain` shows every rule that was evaluated",
            explained.text("unavailable")
        )));
    };
    session.output.show(quote, |style| amounts(quote, style))
}

/// `tollgate explain`: the same with every rule tried and every step of both fees.
pub(crate) async fn explain(session: Session, payment: Payment) -> Result<(), Failure> {
    let explained = ask(&session, &payment).await?;
    session.output.show(&explained, |style| {
        let currency = payment.amount.currency().map(|currency| currency.to_string()).unwrap_or_default();
        let version = explained.number("configVersion");
        let mut text = format!("{}\n", style.strong(&format!("Rules (configuration version {version})")));
        text.push_str(&rules(explained.list("rules"), style));
        let Some(quote) = explained.field("quote").filter(|quote| !quote.is_null()) else {
            let why = format!("No route: {}", explained.text("unavailable"));
            return text + &style.paint(Paint::Bad, &why);
        };
        text.extend([format!("{}\n", route(quote.field("routing").unwrap_or(&Value::Null)))]);
        for fallback in explained.list("fallbacks") {
            let total = major(fallback.text("totalDebitMinor"), &currency);
            let skipped = fallback.optional_text("skipped").map(|why| format!(" (skipped: {why})"));
            text.extend([format!(
                "   else {} for {total}{}\n",
                fallback.text("provider"),
                skipped.unwrap_or_default()
            )]);
        }
        text.push('\n');
        text.extend([format!("{}\n", style.strong("Fees"))]);
        text.push_str(&fee_steps(explained.list("feeSteps"), &currency, style));
        let rules = explained.list("feeRules");
        if !rules.is_empty() {
            text.extend([format!("\n{}\n", style.strong("Card fee rules"))]);
            text.push_str(&fee_rules(rules, &currency, style));
        }
        text.extend([format!("\n{}", amounts(quote, style))]);
        text
    })
}

async fn ask(session: &Session, payment: &Payment) -> Result<Value, Failure> {
    session.client.post(&session.path("/explain").await?, &payment.body()?).await
}

/// One sentence about where it goes.
pub(crate) fn route(routing: &Value) -> String {
    let why = match routing.optional_text("matchedRuleId") {
        Some(rule) => format!("rule {rule} matched"),
        None => "no rule matched; default".to_owned(),
    };
    let mut said = format!("-> {} over {} ({why})", routing.text("provider"), routing.text("channel"));
    let shares = routing.list("split");
    let total = shares.iter().fold(0_u64, |sum, share| sum.saturating_add(share.number("weight"))).max(1);
    for share in shares {
        let tenths = share.number("weight").saturating_mul(1_000).saturating_add(total / 2) / total;
        said.extend([format!("\n   {}.{} % {}", tenths / 10, tenths % 10, share.text("provider"))]);
    }
    let attempts = routing.list("attempts").iter().filter(|attempt| attempt.text("outcome") != "selected");
    for attempt in attempts {
        let (provider, outcome) = (attempt.text("provider"), attempt.text("outcome"));
        said.extend([format!("\n   {provider} {outcome}: {}", attempt.text("reason"))]);
    }
    said
}

fn amounts(quote: &Value, style: Style) -> String {
    let currency = quote.text("currency");
    let mut table = Table::new(&["", ">"]);
    for (label, field) in [
        ("Principal", "amountMinor"),
        ("Platform fee", "platformFeeMinor"),
        ("Organization fee", "organizationFeeMinor"),
        ("Total debit", "totalDebitMinor"),
    ] {
        let paint = if field == "totalDebitMinor" { Paint::Strong } else { Paint::Plain };
        table.row([Cell::painted(label, paint), Cell::painted(major(quote.text(field), currency), paint)]);
    }
    let drawn = table.draw(style, "");
    let without_heads = drawn.split_once('\n').map_or("", |(_, rest)| rest);
    let decided = quote.field("feeDecision").map(|decision| decided(decision, currency)).unwrap_or_default();
    format!("{without_heads}{decided}{}\n", route(quote.field("routing").unwrap_or(&Value::Null)))
}

/// Why a card fee is what it is, and how far it may go.
fn decided(decision: &Value, currency: &str) -> String {
    let kind = decision.word("kind");
    let range = decision.field("range").unwrap_or(&Value::Null);
    let (least, most) = (range.text("minMinor"), range.text("maxMinor"));
    let upto = if least == most { String::new() } else { format!(", up to {}", major(most, currency)) };
    let mut text = format!(
        "{kind} {} of {} configured{upto}\n",
        major(decision.text("feeMinor"), currency),
        major(decision.text("configuredFeeMinor"), currency)
    );
    for reason in decision.list("reasons") {
        let source = reason.optional_text("source").map(|source| format!(" ({source})")).unwrap_or_default();
        text.extend([format!("  {}: {}{source}\n", reason.text("code"), reason.text("rule"))]);
    }
    text.extend([format!("  {}\n", decision.text("disclosure"))]);
    text
}
