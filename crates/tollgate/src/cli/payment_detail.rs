//! One payment's story for a terminal: what was asked, why it went where it went, what it cost, and everything since.

use serde_json::Value;

use super::{
    fields::Fields,
    moment::{day, moment, time_of_day},
    money::major,
    output::{Paint, Style},
    quote::route,
    reasons::{fee_steps, rules},
};

/// How far what belongs to a line of the timeline stands in.
const INDENT: usize = 14;

/// The whole story.
pub(crate) fn render(payment_detail: &Value, style: Style) -> String {
    let mut text = head(payment_detail, style);
    let transaction =
        payment_detail.field("transaction").filter(|it| !it.is_null()).unwrap_or(payment_detail);
    let currency = transaction.text("currency");
    let mut today = "";
    for line in payment_detail.list("timeline") {
        let at = line.text("at");
        if day(at) != today {
            today = day(at);
            text.extend([format!("\n{}\n", style.strong(&format!("{today} (UTC)")))]);
        }
        let request =
            line.optional_text("requestId").map(|id| style.dim(&format!("  {id}"))).unwrap_or_default();
        let detail = line.field("detail").unwrap_or(&Value::Null);
        let (sentence, below) = line_of(line.text("kind"), detail, currency, style);
        text.extend([format!("{}  {sentence}{request}\n{below}", style.dim(time_of_day(at)))]);
    }
    text.push_str(&postings(payment_detail.list("postings"), currency, style));
    text.push_str(&exceptions(payment_detail.list("exceptions"), style));
    text
}

fn head(payment_detail: &Value, style: Style) -> String {
    let transaction = payment_detail.field("transaction").filter(|it| !it.is_null());
    let facts = transaction.unwrap_or(payment_detail);
    let currency = facts.text("currency");
    let mut text = style.strong(payment_detail.text("serviceReference"));
    text.extend([format!("  {}", style.status(facts.text("status")))]);
    let amount = |field: &str| major(facts.text(field), currency);
    let (principal, total, fee) = (amount("amountMinor"), amount("totalDebitMinor"), amount("feeMinor"));
    text.extend([format!("\n{principal}, total debit {total} (fees {fee})\n")]);
    let mut facts_line = |label: &str, value: String| {
        if !value.is_empty() && value != "-" {
            text.push_str(&style.paint(Paint::Plain, &format!("{label:<20}{value}")));
            text.push('\n');
        }
    };
    facts_line("method", facts.word("paymentMethod"));
    facts_line("provider", facts.word("provider"));
    facts_line("provider reference", facts.word("providerReference"));
    facts_line(
        "preparation",
        if transaction.is_some() { payment_detail.word("/preparation/status") } else { String::new() },
    );
    facts_line("description", facts.word("description"));
    facts_line("bank account", {
        let account = payment_detail.text("/transfer/bankAccount/last4");
        let bank = format!("{}, …{account}", payment_detail.text("/transfer/bankAccount/bankName"));
        if account.is_empty() { String::new() } else { bank }
    });
    facts_line("recipient", payment_detail.word("/transfer/recipientKind"));
    facts_line("purpose", payment_detail.word("/transfer/purpose"));
    facts_line("statement descriptor", payment_detail.word("/transfer/statementDescriptor"));
    facts_line("expected on", payment_detail.word("/transfer/expectedSettlementOn"));
    if let Some(failure) = facts.field("failure").filter(|failure| !failure.is_null()) {
        facts_line("failure", format!("{}: {}", failure.text("code"), failure.text("message")));
    }
    if let Some(authorized) = facts.field("authorized").filter(|authorized| !authorized.is_null()) {
        facts_line("authorized", major(authorized.text("totalDebitMinor"), currency));
    }
    let is_held = facts.text("status") == "authorized";
    let end = facts.optional_text("captureBefore").filter(|_| is_held).map(moment);
    facts_line("capture before", end.unwrap_or_default());
    facts_line("in progress", facts.word("pendingAction"));
    let refunded = facts.text("refundedMinor");
    facts_line(
        "refunded",
        if refunded == "0" || refunded.is_empty() { String::new() } else { major(refunded, currency) },
    );
    if let Some(dispute) = facts.field("dispute").filter(|dispute| !dispute.is_null()) {
        facts_line(
            "dispute",
            [
                format!("{} {}, {}", dispute.text("id"), dispute.text("status"), dispute.word("reason")),
                dispute.optional_text("respondBy").map(|by| format!(", respond by {by}")).unwrap_or_default(),
            ]
            .concat(),
        );
    }
    facts_line("pending reason", payment_detail.word("waitingFor"));
    facts_line("next check", payment_detail.optional_text("nextCheckAt").map(moment).unwrap_or_default());
    text
}

/// A line's sentence, and what stands below it.
fn line_of(kind: &str, detail: &Value, currency: &str, style: Style) -> (String, String) {
    let plain = |text: &str| style.paint(Paint::Plain, text);
    let sentence = match kind {
        "request" => return (plain("requested"), asked(detail, style)),
        "routing" => {
            let decision = detail.field("decision").unwrap_or(&Value::Null);
            let version = detail.number("configVersion");
            let sentence = format!("routed by configuration {version}  {}", route(decision));
            let below = match detail.field("rules") {
                Some(Value::Array(list)) => rules(list, style),
                _ => "  (that configuration can no longer be read)\n".to_owned(),
            };
            return (plain(&sentence), indented(&below));
        }
        "fee" => {
            let total = major(detail.text("totalDebitMinor"), currency);
            let fee = major(detail.text("feeMinor"), currency);
            let below = fee_steps(detail.list("steps"), currency, style.behind(INDENT));
            return (plain(&format!("fees {fee}, total debit {total}")), indented(&below));
        }
        "provider_call" => return call(detail, style),
        "status" | "preparation" => return (moved(kind, detail, style), String::new()),
        "webhook" => {
            let note = detail.optional_text("note").map(|note| format!(": {note}")).unwrap_or_default();
            format!("webhook {} {}{note}", detail.text("type"), detail.text("eventId"))
        }
        // What was recorded before refunds were records of their own says only how much there was in total.
        "refund" if detail.text("refundReference").is_empty() => {
            format!("refunded {} so far", major(detail.text("refundedMinor"), currency))
        }
        "refund" => {
            let total = major(detail.text("totalRefundMinor"), currency);
            let fee = major(detail.text("feeMinor"), currency);
            let (reference, status) = (detail.text("refundReference"), detail.text("status"));
            let why = why(detail);
            format!("refund {status} {reference}: {total}, including {fee} fee{why}")
        }
        "capture" | "void" => {
            let amount = detail.optional_text("amountMinor").map(|amount| major(amount, currency));
            let amount = amount.map(|amount| format!(" of {amount}")).unwrap_or_default();
            let why = why(detail);
            format!("{kind}{amount} {}{why}", detail.text("status"))
        }
        "cancel_requested" => {
            let by = detail.optional_text("actor").map(|actor| format!(" by {actor}")).unwrap_or_default();
            format!("cancellation requested{by}")
        }
        "note" => format!("note by {}: {}", detail.text("actor"), detail.text("text")),
        "approval_required" => "waiting for approval".to_owned(),
        "approved" => format!("approved by {}", detail.text("actor")),
        "denied" => format!("denied by {}", detail.text("actor")),
        "unanswered" => format!("the provider did not answer: {}", detail.text("reason")),
        "cancel_rejected" => "cancellation rejected: the provider can no longer cancel it".to_owned(),
        "hold_requested" => format!("{} requested by {}", detail.text("action"), detail.text("actor")),
        "refund_requested" => format!("refund requested by {}", detail.text("actor")),
        "dispute" => {
            let amount =
                detail.optional_text("amountMinor").map(|amount| major(amount, currency)).unwrap_or_default();
            format!(
                "dispute {} {} {} {amount}",
                detail.text("disputeId"),
                detail.text("status"),
                detail.word("reason")
            )
        }
        "exception" => {
            let line = format!(
                "exception {}: expected {}, found {} (source: {})",
                detail.text("kind"),
                detail.text("expected"),
                detail.text("found"),
                detail.text("source")
            );
            return (style.paint(Paint::Bad, &line), String::new());
        }
        "confirm" => format!("confirmed, attempt {}", detail.number("attempt")),
        "waiting" => {
            return (style.paint(Paint::Notice, detail.text("reason")), String::new());
        }
        "route" => {
            format!("{} {}: {}", detail.text("provider"), detail.text("outcome"), detail.text("reason"))
        }
        "refused" => format!("refused by the provider: {}", detail.text("/failure/message")),
        "account_revealed" => format!("corrected account number shown to {}", detail.text("actor")),
        "notification_of_change" => {
            let changes = detail.as_array().map(Vec::as_slice).unwrap_or_default();
            let said: Vec<_> = changes.iter().map(facts).collect();
            format!("notification of change: {}", said.join("; "))
        }
        "trouble" => {
            return (
                style.paint(Paint::Notice, &format!("problem: {}", detail.text("reason"))),
                String::new(),
            );
        }
        other => format!("{} {}", other.replace('_', " "), facts(detail)),
    };
    (plain(&sentence), String::new())
}

/// From where to where, and why.
fn moved(kind: &str, detail: &Value, style: Style) -> String {
    let plain = |text: &str| style.paint(Paint::Plain, text);
    let from = detail.optional_text("from").unwrap_or("(nothing)");
    let mut sentence = format!("{} {} -> {}", plain(kind), plain(from), style.status(detail.text("to")));
    if let Some(failure) = detail.field("failure").filter(|failure| !failure.is_null()) {
        let why = format!("  {}: {}", failure.text("code"), failure.text("message"));
        sentence.push_str(&style.paint(Paint::Bad, &why));
    }
    if let Some(reference) = detail.optional_text("providerReference") {
        sentence.push_str(&style.dim(&format!("  {reference}")));
    }
    sentence
}

/// The failure's message behind a colon, if something failed.
fn why(detail: &Value) -> String {
    let failure = detail.field("failure").filter(|failure| !failure.is_null());
    failure.map(|failure| format!(": {}", failure.text("message"))).unwrap_or_default()
}

fn asked(detail: &Value, style: Style) -> String {
    let Some(fields) = detail.as_object() else { return String::new() };
    let mut text = String::new();
    for (name, value) in fields {
        let empty =
            value.is_null() || value.as_object().is_some_and(|object| object.values().all(Value::is_null));
        if name == "amountMinor" || name == "currency" || empty {
            continue;
        }
        let shown = if value.is_object() { facts(value) } else { detail.word(name) };
        text.push_str(&style.paint(Paint::Plain, &format!("                {name:<16}{shown}")));
        text.push('\n');
    }
    let amount = major(detail.text("amountMinor"), detail.text("currency"));
    format!("                {:<16}{amount}\n{text}", "amount")
}

/// What was asked of a provider, every try of it.
fn call(detail: &Value, style: Style) -> (String, String) {
    let tries = detail.list("tries");
    let outcome = tries.last().map(|last| last.word("outcome")).unwrap_or_default();
    let sentence = format!("called {} at {}: {outcome}", detail.text("operation"), detail.text("provider"));
    let mut below = String::new();
    for (place, exchange) in tries.iter().enumerate() {
        let status = exchange.field("status").filter(|status| !status.is_null());
        let status = status.map_or_else(|| "no response".to_owned(), |status| format!("status {status}"));
        let line = format!(
            "                try {} after {} ms: {status} in {} ms, {}",
            place + 1,
            exchange.number("afterMs"),
            exchange.number("tookMs"),
            exchange.word("outcome")
        );
        let request =
            exchange.optional_text("providerRequestId").map(|id| format!("  {id}")).unwrap_or_default();
        below.push_str(&style.dim(&format!("{line}{request}")));
        below.push('\n');
    }
    (style.paint(Paint::Plain, &sentence), below)
}

fn postings(postings: &[Value], currency: &str, style: Style) -> String {
    if postings.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", style.strong("Ledger postings"));
    for posting in postings {
        let entries = posting.list("entries").iter();
        let entries = entries
            .map(|entry| format!("{} {}", entry.text("account"), major(entry.text("amountMinor"), currency)));
        let line = format!(
            "  {} {}: {}",
            moment(posting.text("at")),
            posting.text("cause"),
            entries.collect::<Vec<_>>().join(", ")
        );
        text.push_str(&style.paint(Paint::Plain, &line));
        text.push('\n');
    }
    text
}

fn exceptions(exceptions: &[Value], style: Style) -> String {
    if exceptions.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", style.strong("Exceptions"));
    for exception in exceptions {
        let line = format!(
            "  {} {}: expected {}, found {}",
            exception.text("id"),
            exception.text("kind"),
            exception.text("expected"),
            exception.text("found")
        );
        let state = match exception.optional_text("/resolution/note") {
            Some(note) => style.paint(Paint::Good, &format!("  resolved: {note}")),
            None => style.paint(Paint::Bad, "  open"),
        };
        text.extend([format!("{}{state}\n", style.paint(Paint::Plain, &line))]);
    }
    text
}

/// An object's fields on one line.
fn facts(value: &Value) -> String {
    let Some(fields) = value.as_object() else { return value.to_string() };
    let shown = fields.iter().filter(|(_, value)| !value.is_null());
    let shown = shown.map(|(name, _)| format!("{name}={}", value.word(name)));
    shown.collect::<Vec<_>>().join(" ")
}

fn indented(text: &str) -> String {
    let mut indented = String::new();
    for line in text.lines() {
        indented.extend([format!("{:INDENT$}{line}\n", "")]);
    }
    indented
}
