//! The first page of an environment: how it goes, and what needs a person.

use std::collections::BTreeMap;

use askama::Template;
use tollgate_domain::{Currency, Timestamp, event::EventKind, transaction::Status};
use tollgate_engine::{
    Check, CheckStatus, FoundPayment,
    ports::{Activity, TransactionFilter},
};

use crate::{
    layout::{
        format::{amount, count, money, stamp},
        frame::{Frame, page_of},
        page::{self, Page},
        plot::{self, Bar},
    },
    pages::payment_rows::Row,
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
    /// From the top of the axis to its middle.
    axis: [String; 2],
}

/// A number with what it was in the time before.
struct Tile {
    id: &'static str,
    title: &'static str,
    value: String,
    change: Option<String>,
}

/// What the bars show, in words.
struct StepRow {
    at: String,
    volume: String,
    succeeded: String,
    failed: String,
    rate: String,
    fees: String,
}

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    frame: Frame,
    spans: Vec<Tab>,
    currencies: Vec<Tab>,
    tiles: Vec<Tile>,
    /// What the numbers are compared with: "24 hours".
    period: &'static str,
    rows: Vec<StepRow>,
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
    platform: i128,
    organization: i128,
    succeeded: u64,
    failed: u64,
    refunds: u64,
}

impl Step {
    fn fees(self) -> i128 {
        self.platform.saturating_add(self.organization)
    }

    fn add(&mut self, cell: &Activity) {
        match cell.kind {
            EventKind::Transaction(Status::Succeeded) => {
                self.volume = self.volume.saturating_add(cell.principal_minor.into());
                self.platform = self.platform.saturating_add(cell.platform_fee_minor.into());
                self.organization = self.organization.saturating_add(cell.organization_fee_minor.into());
                self.succeeded = self.succeeded.saturating_add(cell.count);
            }
            EventKind::Transaction(Status::Failed) => self.failed = self.failed.saturating_add(cell.count),
            EventKind::RefundSucceeded => self.refunds = self.refunds.saturating_add(cell.count),
            _ => {}
        }
    }

    fn sum(steps: &[Self]) -> Self {
        steps.iter().fold(Self::default(), |sum, step| Self {
            volume: sum.volume.saturating_add(step.volume),
            platform: sum.platform.saturating_add(step.platform),
            organization: sum.organization.saturating_add(step.organization),
            succeeded: sum.succeeded.saturating_add(step.succeeded),
            failed: sum.failed.saturating_add(step.failed),
            refunds: sum.refunds.saturating_add(step.refunds),
        })
    }
}

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Overview", "overview").await?;
    let engine = &signed_in.console.engine;
    let span = SPANS.into_iter().find(|span| signed_in.query("span") == Some(span.name)).unwrap_or(SPANS[0]);
    let now = engine.clock().now();
    let step = span.hours.saturating_mul(HOUR_MILLIS);
    let end = now.unix_millis().div_euclid(step).saturating_add(1).saturating_mul(step);
    let length = span.bars.saturating_mul(step);
    let begin = end.saturating_sub(length);
    // The time before, as long, is what this one is compared with.
    let from = begin.saturating_sub(length);
    let between = (Timestamp::from_unix_millis(from), Timestamp::from_unix_millis(end));
    let activity = engine.activity(environment, between.0, between.1).await?;

    let currencies = by_volume(&activity);
    let wanted = signed_in.query("currency").and_then(Currency::parse);
    let currency = wanted.or_else(|| currencies.first().copied()).unwrap_or(Currency::USD);
    let bars = usize::try_from(span.bars).unwrap_or(0);
    let mut both = vec![Step::default(); bars.saturating_mul(2)];
    for cell in activity.iter().filter(|cell| cell.currency == currency) {
        let place = cell.hour.unix_millis().saturating_sub(from).div_euclid(step);
        if let Some(at) = usize::try_from(place).ok().and_then(|place| both.get_mut(place)) {
            at.add(cell);
        }
    }
    let (before, steps) = both.split_at(bars);
    let label = |place: i64| {
        let at = begin.saturating_add(place.saturating_mul(step));
        stamp(Timestamp::from_unix_millis(at), span.pattern)
    };
    signed_in.record_list("payment.list", environment).await?;
    let recent = engine.transactions(environment, &TransactionFilter::default(), None, RECENT).await?;
    let recent: Vec<_> = recent.into_iter().map(|it| FoundPayment::Transaction(Box::new(it))).collect();
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
        tiles: tiles(Step::sum(steps), Step::sum(before), currency),
        period: span.title,
        rows: rows(steps, currency, &label),
        figures: figures(steps, before, currency, &label),
        first: label(0),
        last: label(span.bars.saturating_sub(1)),
        notices: notices(&frame),
        recent: Row::all(&signed_in, environment, &recent, &frame.base).await?,
        frame,
    })
}

fn tiles(now: Step, before: Step, currency: Currency) -> Vec<Tile> {
    let tile =
        |id, title, value, [now, before]: [i128; 2]| Tile { id, title, value, change: change(now, before) };
    let amount = |id, title, now, before| tile(id, title, money(now, currency), [now, before]);
    let number = |id, title, now: u64, before: u64| tile(id, title, count(now), [now.into(), before.into()]);
    vec![
        amount("volume", "Volume", now.volume, before.volume),
        number("succeeded", "Successful payments", now.succeeded, before.succeeded),
        Tile {
            id: "rate",
            title: "Success rate",
            value: rate_text(now),
            change: permille(before).and(Some(format!("was {}", rate_text(before)))),
        },
        amount("platform-fees", "Platform fees", now.platform, before.platform),
        amount("organization-fees", "Organization fees", now.organization, before.organization),
        number("refunded", "Refunds", now.refunds, before.refunds),
    ]
}

/// By how many percent something changed; nothing can be said of what was nothing.
fn change(now: i128, before: i128) -> Option<String> {
    let percent = now.checked_sub(before)?.checked_mul(100)?.checked_div(before)?;
    Some(match percent {
        0 => "unchanged".to_owned(),
        1.. => format!("+{percent} %"),
        _ => format!("−{} %", percent.unsigned_abs()),
    })
}

fn rows(steps: &[Step], currency: Currency, label: &dyn Fn(i64) -> String) -> Vec<StepRow> {
    let row = |(place, step): (i64, &Step)| StepRow {
        at: label(place),
        volume: money(step.volume, currency),
        succeeded: count(step.succeeded),
        failed: count(step.failed),
        rate: rate_text(*step),
        fees: money(step.fees(), currency),
    };
    (0..).zip(steps).map(row).collect()
}

fn figures(
    steps: &[Step],
    before: &[Step],
    currency: Currency,
    label: &dyn Fn(i64) -> String,
) -> Vec<Figure> {
    let bars = |value: &dyn Fn(Step) -> i128, text: &dyn Fn(Step) -> String| -> Vec<Bar> {
        let bar = |(place, (step, before)): (i64, (&Step, &Step))| Bar {
            title: format!("{}: {} (before: {})", label(place), text(*step), text(*before)),
            value: value(*step),
            before: value(*before),
        };
        (0..).zip(steps.iter().zip(before)).map(bar).collect()
    };
    let total = Step::sum(steps);
    let amounts = |title, class, value: &dyn Fn(Step) -> i128| {
        let bars = bars(value, &|step| money(value(step), currency));
        let most = plot::axis_end(&bars);
        Figure {
            title,
            class,
            sum: money(value(total), currency),
            svg: plot::bars(&bars, most),
            axis: [most, most / 2].map(|value| amount(value, currency)),
        }
    };
    let rates = bars(&|step| permille(step).map_or(0, i128::from), &rate_text);
    vec![
        amounts("Volume", "volume", &|step| step.volume),
        Figure {
            title: "Success rate",
            class: "rate",
            sum: rate_text(total),
            svg: plot::bars(&rates, 1_000),
            axis: ["100 %", "50 %"].map(str::to_owned),
        },
        amounts("Fees", "fee", &Step::fees),
    ]
}

/// The currencies that something happened in, the busiest first.
fn by_volume(activity: &[Activity]) -> Vec<Currency> {
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
