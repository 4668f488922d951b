//! Why a payment went where it went and what it cost: every rule tried, every step of both fees.

use serde_json::Value;

use super::{
    fields::Fields,
    money::digits,
    output::{Paint, Style, paint_of},
    table::{Cell, Table},
};

/// Every rule with its verdict, and every condition with what was found.
pub(crate) fn rules(rules: &[Value], style: Style) -> String {
    if rules.is_empty() {
        return "  (no rules)\n".to_owned();
    }
    let mut text = String::new();
    for rule in rules {
        let outcome = rule.text("outcome");
        let shown = style.paint(paint_of(outcome), &outcome_words(outcome));
        text.extend([format!("  {}  {shown}\n", style.paint(Paint::Plain, rule.text("id")))]);
        for condition in rule.list("conditions") {
            let (mark, paint) =
                if condition.flag("holds") { ("met", Paint::Good) } else { ("not met", Paint::Bad) };
            let found = condition
                .optional_text("found")
                .map_or_else(|| "nothing".to_owned(), |found| format!("`{found}`"));
            let line = format!(
                "{} ({} {}): found {found}",
                condition.text("id"),
                condition.text("field"),
                condition.text("op")
            );
            text.extend([format!(
                "    {}  {}\n",
                style.paint(Paint::Plain, &line),
                style.paint(paint, mark)
            )]);
        }
    }
    text
}

fn outcome_words(outcome: &str) -> String {
    if outcome == "failed" { "did not match".to_owned() } else { outcome.replace('_', " ") }
}

/// Every rule about a card fee, and what it made of this one.
pub(crate) fn fee_rules(rules: &[Value], currency: &str, style: Style) -> String {
    let mut table = Table::new(&["  RULE", "PLACE", ">LIMIT", "=APPLIES", "SOURCE"]).leaving_out(&["SOURCE"]);
    for rule in rules {
        let place = match (rule.optional_text("side"), rule.optional_text("place")) {
            (Some(side), Some(place)) => format!("{place} ({side})"),
            (Some(side), None) => format!("({side})"),
            (None, _) => String::new(),
        };
        let limit = rule.optional_text("limitMinor").map(|limit| digits(limit, currency)).unwrap_or_default();
        let applies = if rule.flag("applies") {
            Cell::painted("yes", Paint::Bad)
        } else {
            Cell::painted("no", Paint::Good)
        };
        let source = rule.optional_text("source").unwrap_or_default().to_owned();
        table.row([
            format!("  {}", rule.text("code")).into(),
            place.into(),
            limit.into(),
            applies,
            source.into(),
        ]);
    }
    table.draw(style, "  (no rules)")
}

/// Both layers, step by step.
pub(crate) fn fee_steps(steps: &[Value], currency: &str, style: Style) -> String {
    let mut table = Table::new(&["  LAYER", ">FIXED", ">PERCENT", ">TOGETHER", "BOUND", ">FEE"]);
    for step in steps {
        let amount = |field: &str| Cell::from(digits(step.text(field), currency));
        let scope =
            if step.flag("enabled") { step.word("scope") } else { format!("{} (off)", step.word("scope")) };
        table.row([
            format!("  {scope}").into(),
            amount("fixedFeeMinor"),
            amount("percentPartMinor"),
            amount("beforeBoundsMinor"),
            step.word("bound").into(),
            Cell::painted(digits(step.text("feeMinor"), currency), Paint::Strong),
        ]);
    }
    table.draw(style, "  (no fee)")
}
