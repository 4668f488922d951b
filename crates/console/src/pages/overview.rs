//! The first page of an environment: how it goes, and what needs a person.

use std::collections::BTreeMap;

use askama::Template;
use tollgate_domain::{Currency, Timestamp, event::EventKind, transaction::Status};
use tollgate_engine::{
    Check, CheckStatus,
    ports::{Activity, TransactionFilter},
};

use crate::{
    layout::{
        format::{count, money, stamp},
        frame::{Frame, page_of},
        page::{self, Page},
        plot::{self, Bar},
    },
    pages::payments::Row,
    request::signed_in::SignedIn,
};

const RECENT: u32 = 8;
const HOUR_MILLIS: i64 = 3_600_000;

/// How far back, and in which steps.
#[derive(Clone, Copy)]
struct Span {
    name: &'static str,
    title: &'static str,
    /// How many bars, and how many hours each.
    bars: i64,
    hours: i64,
    pattern: &'static str,
}

const SPANS: [Span; 3] = [
    Span { name: "day", title: "24 hours", bars: 24, hours: 1, pattern: "%H:%M" },
    Span { name: "week", title: "7 days", bars: 28, hours: 6, pattern: "%a %H:%M" },
    Span { name: "month", title: "30 days", bars: 30, hours: 24, pattern: "%-d %b" },
];

struct Tab {
    title: String,
    link: String,
    is_here: bool,
}

struct AttentionItem {
    link: String,
    class: &'static str,
    status: &'static str,
    text: String,
}

struct Figure {
    title: &'static str,
    class: &'static str,
    sum: String,
    svg: String,
}

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    frame: Frame,
    spans: Vec<Tab>,
    currencies: Vec<Tab>,
    volume: String,
    succeeded: String,
    rate: String,
    platform_fees: String,
    organization_fees: String,
    refunded: String,
    figures: Vec<Figure>,
    first: String,
    last: String,
    notices: Vec<AttentionItem>,
    recent: Vec<Row>,
}

/// What one bar of the plots stands on.
#[derive(Default, Clone, Copy)]
struct Step {
    volume: i128,
    fees: i128,
    succeeded: u64,
    failed: u64,
}

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Overview", "overview").await?;
    let engine = &signed_in.console.engine;
    let span = SPANS.into_iter().find(|span| signed_in.query("span") == Some(span.name)).unwrap_or(SPANS[0]);
    let now = engine.clock().now();
    let step = span.hours.saturating_mul(HOUR_MILLIS);
    let end = now.unix_millis().div_euclid(step).saturating_add(1).saturating_mul(step);
    let begin = end.saturating_sub(span.bars.saturating_mul(step));
    let (from, until) = (Timestamp::from_unix_millis(begin), Timestamp::from_unix_millis(end));
    let activity = engine.activity(environment, from, until).await?;
    let shown: Vec<&Activity> = activity.iter().collect();

    let currencies = by_volume(&shown);
    let wanted = signed_in.query("currency").and_then(Currency::parse);
    let currency = wanted.or_else(|| currencies.first().copied()).unwrap_or(Currency::USD);
    let mut steps = vec![Step::default(); usize::try_from(span.bars).unwrap_or(0)];
    let (mut platform, mut organization, mut refunds) = (0_i128, 0_i128, 0_u64);
    for cell in shown.iter().filter(|cell| cell.currency == currency) {
        let place = cell.hour.unix_millis().saturating_sub(begin).div_euclid(step);
        let Some(at) = usize::try_from(place).ok().and_then(|place| steps.get_mut(place)) else { continue };
        match cell.kind {
            EventKind::Transaction(Status::Succeeded) => {
                at.volume = at.volume.saturating_add(cell.principal_minor.into());
                at.succeeded = at.succeeded.saturating_add(cell.count);
                platform = platform.saturating_add(cell.platform_fee_minor.into());
                organization = organization.saturating_add(cell.organization_fee_minor.into());
                at.fees = at.fees.saturating_add(cell.platform_fee_minor.into());
                at.fees = at.fees.saturating_add(cell.organization_fee_minor.into());
            }
            EventKind::Transaction(Status::Failed) => at.failed = at.failed.saturating_add(cell.count),
            EventKind::RefundSucceeded => refunds = refunds.saturating_add(cell.count),
            _ => {}
        }
    }
    let label = |place: i64| {
        let at = begin.saturating_add(place.saturating_mul(step));
        stamp(Timestamp::from_unix_millis(at), span.pattern)
    };
    let total = steps.iter().fold(Step::default(), |sum, step| Step {
        volume: sum.volume.saturating_add(step.volume),
        fees: sum.fees.saturating_add(step.fees),
        succeeded: sum.succeeded.saturating_add(step.succeeded),
        failed: sum.failed.saturating_add(step.failed),
    });
    let recent = engine.transactions(environment, &TransactionFilter::default(), None, RECENT).await?;
    page::render(&OverviewPage {
        spans: tabs(
            &SPANS.map(|one| (one.name, one.title.to_owned(), one.name == span.name)),
            "span",
            &signed_in,
        ),
        currencies: tabs(
            &currencies.iter().map(|one| (one.code(), one.to_string(), *one == currency)).collect::<Vec<_>>(),
            "currency",
            &signed_in,
        ),
        volume: money(total.volume, currency),
        succeeded: count(total.succeeded),
        rate: rate_text(total),
        platform_fees: money(platform, currency),
        organization_fees: money(organization, currency),
        refunded: count(refunds),
        figures: figures(&steps, total, currency, &label),
        first: label(0),
        last: label(span.bars.saturating_sub(1)),
        notices: notices(&frame),
        recent: recent.iter().map(|transaction| Row::of_transaction(transaction, &frame.base)).collect(),
        frame,
    })
}

fn figures(steps: &[Step], total: Step, currency: Currency, label: &dyn Fn(i64) -> String) -> Vec<Figure> {
    let draw = |text: &dyn Fn(&Step) -> String, value: &dyn Fn(&Step) -> i128, most: Option<i128>| {
        let bars: Vec<Bar> = (0_i64..)
            .zip(steps)
            .map(|(place, step)| Bar {
                title: format!("{}: {}", label(place), text(step)),
                value: value(step),
            })
            .collect();
        plot::bars(&bars, most)
    };
    vec![
        Figure {
            title: "Volume",
            class: "volume",
            sum: money(total.volume, currency),
            svg: draw(&|step| money(step.volume, currency), &|step| step.volume, None),
        },
        Figure {
            title: "Success rate",
            class: "rate",
            sum: rate_text(total),
            svg: draw(&|step| rate_text(*step), &|step| permille(*step).map_or(0, i128::from), Some(1_000)),
        },
        Figure {
            title: "Fees",
            class: "fee",
            sum: money(total.fees, currency),
            svg: draw(&|step| money(step.fees, currency), &|step| step.fees, None),
        },
    ]
}

/// The currencies that something happened in, the busiest first.
fn by_volume(activity: &[&Activity]) -> Vec<Currency> {
    let mut counts: BTreeMap<String, (Currency, u64)> = BTreeMap::new();
    for cell in activity {
        let entry = counts.entry(cell.currency.to_string()).or_insert((cell.currency, 0));
        entry.1 = entry.1.saturating_add(cell.count);
    }
    let mut counted: Vec<(Currency, u64)> = counts.into_values().collect();
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counted.into_iter().map(|(currency, _)| currency).collect()
}

/// Of a thousand that ended, how many succeeded.
fn permille(step: Step) -> Option<u64> {
    let ended = step.succeeded.saturating_add(step.failed);
    step.succeeded.saturating_mul(1_000).checked_div(ended)
}

fn rate_text(step: Step) -> String {
    match permille(step) {
        None => "–".to_owned(),
        Some(permille) => format!("{}.{} %", permille / 10, permille % 10),
    }
}

fn tabs(entries: &[(&str, String, bool)], field: &str, signed_in: &SignedIn) -> Vec<Tab> {
    let rest = signed_in.query_without(field);
    let link = |name: &str| {
        if rest.is_empty() { format!("?{field}={name}") } else { format!("?{rest}&{field}={name}") }
    };
    entries
        .iter()
        .map(|(name, title, is_here)| Tab { title: title.clone(), link: link(name), is_here: *is_here })
        .collect()
}

/// What needs a person, the most pressing first: what the doctor says of this environment, and nothing else.
fn notices(frame: &Frame) -> Vec<AttentionItem> {
    let notice = |check: &Check| AttentionItem {
        link: format!("{}{}", frame.base, page_of(check)),
        class: if check.status == CheckStatus::Problem { "bad" } else { "warn" },
        status: check.status.as_str(),
        text: capitalized(&check.finding),
    };
    frame.needs_attention().into_iter().map(notice).collect()
}

/// A finding as a sentence of its own; a provider's name and a URL stay as they are.
fn capitalized(text: &str) -> String {
    let is_word =
        text.split(' ').next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if is_word => first.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}
