//! What card fees may be charged where, why and since when; and the fee program, as a form.

use std::{cmp::Reverse, collections::BTreeMap};

use askama::Template;
use axum::response::Response;
use serde_json::{Map, Value, json};
use tollgate_configuration::{Allowance, Configuration, PlaceFees, TABLE_KINDS, TableCell};
use tollgate_domain::{
    PaymentMethod,
    card_fee::{FeeKind, FeeProgram},
};

use crate::{
    layout::{
        frame::Frame,
        page::{self, Page, PageError},
    },
    pages::{
        config as config_pages,
        routing::{read_percent, text},
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

struct Row {
    place: String,
    name: String,
    cells: Vec<Cell>,
    since: String,
    read_on: String,
    statute: String,
    note: String,
}

struct Cell {
    allowed: String,
    is_allowed: bool,
    /// The reason's name, which its sentence explains.
    code: &'static str,
    rule: &'static str,
    source: Option<String>,
}

/// A kind of fee, and the places that say the same about it.
struct Summary {
    kind: &'static str,
    groups: Vec<Group>,
}

impl Summary {
    fn is_same_everywhere(&self) -> bool {
        self.groups.len() == 1
    }
}

struct Group {
    allowed: String,
    is_allowed: bool,
    rule: &'static str,
    /// Each with the day from which its law holds, where that is known.
    places: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "card_fees.html")]
struct CardFeesPage {
    frame: Frame,
    has_program: bool,
    merchant: String,
    /// What the merchant has said and attested.
    program: Vec<(&'static str, String)>,
    kinds: Vec<&'static str>,
    summaries: Vec<Summary>,
    rows: Vec<Row>,
    rules_version: String,
    as_of: String,
}

impl CardFeesPage {
    /// Side by side; where only the first kind has anything to tell apart, that has the room.
    fn layout(&self) -> &'static str {
        let is_first_alone = self.summaries.iter().skip(1).all(Summary::is_same_everywhere);
        if is_first_alone { "columns summaries" } else { "grid" }
    }
}

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Card fees by place", "fees").await?;
    let view = signed_in.view(environment)?;
    let configuration = &view.configuration;
    let today = signed_in.console.engine.clock().now().utc_date();
    let program = configuration.settings.fee_program.as_ref();
    let fees = configuration.fees_by_place(today);
    page::render(&CardFeesPage {
        frame,
        has_program: program.is_some(),
        merchant: program.map(|program| program.merchant.to_string()).unwrap_or_default(),
        program: program.map(|program| attested(program, configuration)).unwrap_or_default(),
        kinds: TABLE_KINDS.map(FeeKind::label).into(),
        summaries: TABLE_KINDS.iter().enumerate().map(|(place, kind)| summary(*kind, place, &fees)).collect(),
        rows: fees.iter().map(row).collect(),
        rules_version: configuration.fee_rules.version.to_string(),
        as_of: configuration.fee_rules.as_of.to_string(),
    })
}

/// What all places say about a kind, those that allow the most first.
fn summary(kind: FeeKind, position: usize, fees: &[PlaceFees<'_>]) -> Summary {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for place in fees {
        let Some(cell) = place.fees.get(position) else { continue };
        let since = place.rule.from.map(|from| from.to_string()).unwrap_or_default();
        let key = (Reverse(cell.allowance.rank()), cell.reason);
        groups.entry(key).or_default().push((cell, (place.rule.place.to_string(), since)));
    }
    let groups = groups.into_values().filter_map(|places| {
        let (first, _) = places.first()?;
        let Cell { allowed, is_allowed, rule, .. } = cell(first);
        let places = places.iter().map(|(_, place)| place.clone()).collect();
        Some(Group { allowed, is_allowed, rule, places })
    });
    Summary { kind: kind.label(), groups: groups.collect() }
}

fn row(fees: &PlaceFees<'_>) -> Row {
    let rule = fees.rule;
    Row {
        place: rule.place.to_string(),
        name: rule.name.to_string(),
        cells: fees.fees.iter().map(cell).collect(),
        since: rule.from.map(|from| from.to_string()).unwrap_or_default(),
        read_on: rule.read_on.to_string(),
        statute: rule.statute.as_deref().unwrap_or_default().to_owned(),
        note: rule.note.as_deref().unwrap_or_default().to_owned(),
    }
}

fn cell(cell: &TableCell) -> Cell {
    let allowed = match cell.allowance {
        Allowance::Nothing => "none".to_owned(),
        Allowance::Share(bps) => {
            let text = format!("{}.{:02}", bps.get() / 100, bps.get() % 100);
            format!("up to {} %", text.trim_end_matches('0').trim_end_matches('.'))
        }
        Allowance::Cost => "up to cost".to_owned(),
        Allowance::Any => "as configured".to_owned(),
    };
    Cell {
        allowed,
        is_allowed: cell.allowance != Allowance::Nothing,
        code: cell.reason.as_str(),
        rule: cell.reason.rule(),
        source: cell.source.as_deref().map(str::to_owned),
    }
}

fn attested(program: &FeeProgram, configuration: &Configuration) -> Vec<(&'static str, String)> {
    let yes = |is_so: bool| if is_so { "yes" } else { "no" }.to_owned();
    let brands = program.accepted_brands.iter().map(|brand| brand.title()).collect::<Vec<_>>().join(", ");
    let cost = program.cost.iter().map(|(provider, cost)| {
        let bps = cost.percent.get();
        format!("{provider} {}.{:02} % + {} minor units", bps / 100, bps % 100, cost.fixed)
    });
    let cost = cost.collect::<Vec<_>>().join(", ");
    let kinds = configuration
        .fees
        .kinds()
        .map(|(provider, currency, kind, _)| format!("{} of {provider} in {currency}", kind.as_str()));
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    let or_none = |text: String| if text.is_empty() { "none".to_owned() } else { text };
    let overrides = program.overrides.iter().map(|given| format!("{} until {}", given.id, given.expires_on));
    vec![
        ("Fees with a kind", or_none(kinds)),
        ("Category", program.mcc.map_or_else(|| "not set".to_owned(), |mcc| mcc.to_string())),
        ("Accepted networks", if brands.is_empty() { "all".to_owned() } else { brands }),
        ("Cost of acceptance", or_none(cost)),
        (
            "Notice to acquirer and networks",
            program.notice_given_on.map_or_else(|| "not given".to_owned(), |day| day.to_string()),
        ),
        ("Notice where card brands are first shown", yes(program.entry_notice_attested)),
        ("American Express treated equally", yes(program.amex_parity_confirmed)),
        ("Posted prices include the surcharge", yes(program.posted_total_price)),
        ("Sells only online", program.online_only.map_or_else(|| "not said".to_owned(), yes)),
        ("Overrides", or_none(overrides.collect::<Vec<_>>().join(", "))),
    ]
}

struct CostFields {
    provider: String,
    percent: String,
    fixed: String,
}

#[derive(Template)]
#[template(path = "fee_program.html")]
struct ProgramPage {
    frame: Frame,
    version: u64,
    country: String,
    state: String,
    mcc: String,
    brands: String,
    costs: Vec<CostFields>,
    notice: String,
    entry_notice: bool,
    parity: bool,
    posted: bool,
    online_only: String,
    overrides: String,
    errors: Vec<String>,
}

pub(crate) async fn edit(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let _turn = signed_in.config_read_turn().await?;
    let read = signed_in.console.engine.config_document(environment, None).await?;
    let empty = json!({});
    let program = read.document.pointer("/settings/feeProgram").filter(|program| !program.is_null());
    let program = program.unwrap_or(&empty);
    let flag = |name: &str| program.get(name) == Some(&Value::Bool(true));
    let merchant = program.get("merchant").unwrap_or(&empty);
    let brands =
        program.get("acceptedBrands").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let costs = card_providers(&read.document).into_iter().map(|provider| {
        let cost = program.pointer(&format!("/cost/{provider}")).unwrap_or(&empty);
        let bps = cost.get("percentBps").and_then(Value::as_u64);
        CostFields {
            percent: bps.map(|bps| format!("{}.{:02}", bps / 100, bps % 100)).unwrap_or_default(),
            fixed: text(cost, "fixedMinor"),
            provider,
        }
    });
    let overrides = program.get("overrides").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let overrides = overrides
        .iter()
        .map(|given| ["id", "expiresOn", "document", "reason"].map(|field| text(given, field)).join(" | "));
    page::render(&ProgramPage {
        frame: signed_in.frame("Fee program", "fees").await?,
        version: read.version,
        country: text(merchant, "country"),
        state: text(merchant, "state"),
        mcc: text(merchant, "mcc"),
        brands: brands.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        costs: costs.collect(),
        notice: text(program, "noticeGivenOn"),
        entry_notice: flag("entryNoticeAttested"),
        parity: flag("amexParityConfirmed"),
        posted: flag("postedTotalPrice"),
        online_only: text(program, "onlineOnly"),
        overrides: overrides.collect::<Vec<_>>().join("\n"),
        errors: Vec::new(),
    })
}

/// The names of the providers that take cards.
fn card_providers(document: &Value) -> Vec<String> {
    let providers = document.get("providers").and_then(Value::as_object).into_iter().flatten();
    let takes_cards = |entry: &Value| {
        let adapter = entry.get("adapter").and_then(Value::as_str);
        let adapter = adapter.and_then(tollgate_configuration::Adapter::parse);
        adapter.is_some_and(|adapter| adapter.method() == PaymentMethod::WebCard)
    };
    providers.filter(|(_, entry)| takes_cards(entry)).map(|(name, _)| name.clone()).collect()
}

pub(crate) async fn review(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let _turn = signed_in.config_read_turn().await?;
    let read = signed_in.console.engine.config_document(environment, None).await?;
    let mut document = read.document;
    let mut errors = Vec::new();
    if form.field("version").parse() != Ok(read.version) {
        errors.push("The configuration has changed; review the current program.".to_owned());
    }
    let providers = card_providers(&document);
    let program = read_program(&form, &providers, &mut errors);
    if !errors.is_empty() {
        let costs = providers.into_iter().map(|provider| CostFields {
            percent: form.field(&format!("cost.{provider}.percent")).to_owned(),
            fixed: form.field(&format!("cost.{provider}.fixed")).to_owned(),
            provider,
        });
        return page::render(&ProgramPage {
            frame: signed_in.frame("Fee program", "fees").await?,
            version: read.version,
            country: form.field("country").to_owned(),
            state: form.field("state").to_owned(),
            mcc: form.field("mcc").to_owned(),
            brands: form.field("brands").to_owned(),
            costs: costs.collect(),
            notice: form.field("notice").to_owned(),
            entry_notice: form.is_ticked("entryNotice"),
            parity: form.is_ticked("parity"),
            posted: form.is_ticked("posted"),
            online_only: form.field("onlineOnly").to_owned(),
            overrides: form.field("overrides").to_owned(),
            errors,
        });
    }
    if let Some(settings) = document.pointer_mut("/settings").and_then(Value::as_object_mut) {
        settings.insert("feeProgram".to_owned(), program);
    }
    config_pages::show_review(signed_in, environment, document, Some(read.version), "routing").await
}

/// The program as the document has it; an empty country is no program. What the document's own rules say comes with the review.
fn read_program(form: &Submitted, providers: &[String], errors: &mut Vec<String>) -> Value {
    let optional = |name: &str| Some(form.field(name)).filter(|text| !text.is_empty());
    if optional("country").is_none() {
        return Value::Null;
    }
    let mut cost = Map::new();
    for provider in providers {
        let percent = form.field(&format!("cost.{provider}.percent"));
        let fixed = form.field(&format!("cost.{provider}.fixed"));
        if percent.is_empty() && fixed.is_empty() {
            continue;
        }
        let Some(bps) = read_percent(percent) else {
            errors.push(format!("{provider}: the cost must be a percentage with two places, such as 2.90."));
            continue;
        };
        let fixed = if fixed.is_empty() { "0" } else { fixed };
        cost.insert(provider.clone(), json!({ "percentBps": bps, "fixedMinor": fixed }));
    }
    let words = |text: &str| -> Vec<String> {
        text.split([',', ' ']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let mut overrides = Vec::new();
    for line in form.field("overrides").lines().map(str::trim).filter(|line| !line.is_empty()) {
        let parts: Vec<_> = line.splitn(4, '|').map(str::trim).collect();
        let [id, expires_on, document, reason] = parts.as_slice() else {
            errors.push(format!("`{line}` is not ID | last day | document | reason."));
            continue;
        };
        let document = Some(*document).filter(|document| !document.is_empty());
        overrides.push(json!({ "id": id, "expiresOn": expires_on, "document": document, "reason": reason }));
    }
    json!({
        "merchant": { "country": form.field("country"), "state": optional("state"), "mcc": optional("mcc") },
        "acceptedBrands": words(form.field("brands")),
        "cost": cost,
        "noticeGivenOn": optional("notice"),
        "entryNoticeAttested": form.is_ticked("entryNotice"),
        "amexParityConfirmed": form.is_ticked("parity"),
        "postedTotalPrice": form.is_ticked("posted"),
        "onlineOnly": optional("onlineOnly").map(|text| text == "true"),
        "overrides": overrides,
    })
}
