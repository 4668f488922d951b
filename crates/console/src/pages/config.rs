//! The configuration document: edited, checked, compared, tried on the past, saved, and brought back.

use askama::Template;
use axum::response::Response;
use serde_json::Value;
use tollgate_configuration::{ConfigWarning, Configuration, parse_document};
use tollgate_domain::{
    id::{ApprovalId, EnvironmentId},
    people::Permission,
};
use tollgate_engine::{
    Audited, ConfigureError, Configured, ProposedChange, Replay, ports::ConfigVersionSummary,
};

use crate::{
    layout::{
        format::{count, minor, money, second},
        frame::Frame,
        page::{self, Page, PageError},
        review::{Choice, Review},
    },
    pages::config_words::Described,
    request::{signed_in::SignedIn, submitted::Submitted},
};

/// How many payments of the past a change is tried on.
const REPLAYED: u32 = 1_000;
const SLICE: u32 = 20;
/// How many rules a page of the history compares; what is beyond is compared one by one.
const MAX_COMPARED_RULES: usize = 5_000;

#[derive(Template)]
#[template(path = "config.html")]
struct ConfigPage {
    frame: Frame,
    version: u64,
    document: String,
    errors: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "config_review.html")]
struct ConfigReviewPage {
    frame: Frame,
    version: u64,
    document: String,
    changes: Described,
    replay: ReplayView,
    warnings: Vec<ConfigWarning>,
    /// The version to bring back, where this is no new document.
    restores: Option<u64>,
    /// What puts it in force, where it is no new document: a proposal or a version of the past.
    review: Option<Review>,
    /// Whether somebody else has to approve it.
    waits: bool,
    /// The page that the change was begun on.
    returns: &'static str,
}

/// What a proposed change would do.
pub(crate) async fn show_proposal(
    signed_in: &SignedIn,
    environment: EnvironmentId,
    change: ProposedChange,
    review: Review,
) -> Page {
    let engine = &signed_in.console.engine;
    let replay = engine.replay_history(environment, &change.configuration, REPLAYED).await?;
    let current = engine.config(environment).await?;
    let document = pretty(&change.configuration.to_public());
    page::render(&ConfigReviewPage {
        frame: signed_in.frame("Proposed change of the configuration", "approvals").await?,
        version: change.version,
        document,
        changes: described(signed_in, current.configuration, change.configuration).await?,
        replay: ReplayView::of(&replay),
        warnings: change.warnings,
        restores: None,
        review: Some(review),
        waits: true,
        returns: "approvals",
    })
}

struct ReplayView {
    examined: u64,
    summary: Vec<String>,
    money: Vec<MoneyRow>,
    examples: Vec<ExampleRow>,
}

struct MoneyRow {
    currency: String,
    platform: (String, String, String),
    organization: (String, String, String),
}

struct ExampleRow {
    reference: String,
    before: String,
    after: String,
}

struct VersionRow {
    version: u64,
    actor: String,
    at: String,
    /// What it changed; `None` where the page leaves that to a comparison.
    changes: Option<VersionChanges>,
}

struct VersionChanges {
    lines: Vec<String>,
    /// The version that it is the same as, apart from credentials.
    back_to: Option<u64>,
}

#[derive(Template)]
#[template(path = "history.html")]
struct HistoryPage {
    frame: Frame,
    current: u64,
    versions: Vec<VersionRow>,
    next: Option<String>,
}

pub(crate) async fn edit(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let _turn = signed_in.config_read_turn().await?;
    let read = signed_in.console.engine.config_document(environment, None).await?;
    editor(&signed_in, read.version, pretty(&read.document), Vec::new()).await
}

async fn editor(signed_in: &SignedIn, version: u64, document: String, errors: Vec<(String, String)>) -> Page {
    let frame = signed_in.frame("Configuration", "routing").await?;
    page::render(&ConfigPage { frame, version, document, errors })
}

pub(crate) async fn export(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let exported = Audited::new("config.export", environment).in_environment(environment);
    signed_in.console.engine.record_repeatable(&signed_in.origin(), exported).await?;
    let _turn = signed_in.config_read_turn().await?;
    let read = signed_in.console.engine.config_document(environment, None).await?;
    Ok(page::file("config.json", "application/json", pretty(&read.document)))
}

pub(crate) async fn review(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let version = form.field("version").parse().ok();
    let _turn = signed_in.console.engine.config_turn().await.ok_or(PageError::Busy)?;
    match parse_document(form.field("document").as_bytes()) {
        Ok(document) => show_review(signed_in, environment, document, version, "routing").await,
        Err(fault) => {
            let errors = vec![(String::new(), fault.to_string())];
            editor(signed_in, version.unwrap_or(0), form.field("document").to_owned(), errors).await
        }
    }
}

/// What a document would change, or what is wrong with it.
pub(crate) async fn show_review(
    signed_in: &SignedIn,
    environment: EnvironmentId,
    document: Value,
    expected: Option<u64>,
    returns: &'static str,
) -> Page {
    let engine = &signed_in.console.engine;
    let current = engine.config(environment).await?;
    let version = expected.unwrap_or(current.version);
    let checked = match engine.check_config(environment, document.clone()).await {
        Ok(checked) => checked,
        Err(ConfigureError::Faulty(errors)) => {
            let errors = errors.into_iter().map(|fault| (fault.field, fault.message));
            return editor(signed_in, version, pretty(&document), errors.collect()).await;
        }
        Err(error) => return Err(error.into()),
    };
    let replay = engine.replay_history(environment, &checked.configuration, REPLAYED).await?;
    let changes = described(signed_in, current.configuration, checked.configuration).await?;
    let frame = signed_in.frame("Review the change", returns).await?;
    page::render(&ConfigReviewPage {
        frame,
        version,
        document: pretty(&document),
        changes,
        replay: ReplayView::of(&replay),
        warnings: checked.warnings,
        restores: None,
        review: None,
        waits: signed_in.view(environment)?.configuration.approvals.configuration,
        returns,
    })
}

pub(crate) async fn save(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let version: u64 = form.field("version").parse().map_err(|_| PageError::Missing)?;
    let _turn = signed_in.console.engine.config_turn().await.ok_or(PageError::Busy)?;
    let document = parse_document(form.field("document").as_bytes())
        .map_err(|fault| PageError::Refused(format!("{fault}.")))?;
    let saved =
        signed_in.console.engine.put_config(environment, document, Some(version), signed_in.origin()).await?;
    let version = match saved.outcome {
        Configured::InForce { version } => version,
        Configured::Proposed { approval } => return Ok(proposed(signed_in, environment, approval).await),
    };
    let said = match saved.warnings.len() {
        0 => format!("Saved as version {version}."),
        _ => format!("Saved as version {version}. See the warnings below."),
    };
    let page = if form.field("returns") == "providers" { "providers" } else { "routing" };
    Ok(signed_in.done(&format!("/console/{environment}/{page}"), &said).await)
}

/// What differs, found on a thread of its own: thousands of rules take a while.
async fn described(
    signed_in: &SignedIn,
    before: Configuration,
    after: Configuration,
) -> Result<Described, PageError> {
    let comparing = signed_in.console.engine.host().compute(move || Described::of(&before, &after));
    comparing.await.map_err(|error| PageError::Broken(error.to_string()))
}

async fn proposed(signed_in: &SignedIn, environment: EnvironmentId, approval: ApprovalId) -> Response {
    let to = format!("/console/{environment}/approvals/{approval}");
    signed_in.done(&to, "Proposed. Nothing has changed yet; another person must approve it.").await
}

pub(crate) async fn history(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Configuration history", "routing").await?;
    let engine = &signed_in.console.engine;
    let current = signed_in.view(environment)?.config_version;
    let before = signed_in.query("before").and_then(|text| text.parse().ok());
    let versions = engine.config_history(environment, before, SLICE).await?;
    let is_full = u32::try_from(versions.len()).is_ok_and(|count| count == SLICE);
    let _turn = signed_in.config_read_turn().await?;
    let mut changes = version_changes(&signed_in, environment, &versions).await?.into_iter();
    page::render(&HistoryPage {
        current,
        next: versions.last().filter(|_| is_full).map(|last| format!("?before={}", last.version)),
        versions: versions
            .into_iter()
            .map(|one| VersionRow {
                version: one.version,
                actor: one.actor,
                at: second(one.at),
                changes: changes.next(),
            })
            .collect(),
        frame,
    })
}

/// What each of these versions changed, the newest first: of as many as a page has time for.
async fn version_changes(
    signed_in: &SignedIn,
    environment: EnvironmentId,
    versions: &[ConfigVersionSummary],
) -> Result<Vec<VersionChanges>, PageError> {
    let engine = &signed_in.console.engine;
    let before = versions.last().map(|oldest| oldest.version.saturating_sub(1));
    let mut read = Vec::new();
    let mut rules = 0_usize;
    for version in versions.iter().map(|one| one.version).chain(before) {
        // The newest is always compared.
        if rules > MAX_COMPARED_RULES && read.len() > 1 {
            break;
        }
        let configuration = match engine.config_version(environment, version).await {
            Ok(found) => found.configuration,
            Err(ConfigureError::Missing) => Configuration::default(),
            Err(ConfigureError::Store(error)) => return Err(error.into()),
            Err(_) => break,
        };
        for table in [&configuration.web_card, &configuration.ach] {
            rules = rules.saturating_add(table.rules().len());
        }
        read.push((version, configuration));
    }
    let comparing = engine.host().compute(move || compared(&read));
    comparing.await.map_err(|error| PageError::Broken(error.to_string()))
}

/// What each configuration changed in the one that follows it, which is the version before.
fn compared(configurations: &[(u64, Configuration)]) -> Vec<VersionChanges> {
    let without_credentials = |(version, configuration): &(u64, Configuration)| {
        let mut document = configuration.to_public();
        let providers = document.get_mut("providers").and_then(Value::as_object_mut);
        for provider in providers.into_iter().flat_map(|providers| providers.values_mut()) {
            provider.as_object_mut().map(|provider| provider.remove("credentials"));
        }
        (*version, document)
    };
    let documents: Vec<_> = configurations.iter().map(without_credentials).collect();
    let pairs = configurations.iter().zip(configurations.iter().skip(1)).zip(&documents).enumerate();
    let changes = pairs.map(|(place, (((_, after), (_, before)), (_, document)))| {
        let mut older = documents.iter().skip(place.saturating_add(1)).peekable();
        let is_other = older.peek().is_some_and(|(_, previous)| previous != document);
        let same = older.find(|(_, known)| is_other && known == document);
        let lines = Described::of(before, after).summary();
        VersionChanges { lines, back_to: same.map(|(version, _)| *version) }
    });
    changes.collect()
}

/// A version of the past: what bringing it back would change.
pub(crate) async fn version(signed_in: SignedIn) -> Page {
    let (environment, version) = (signed_in.environment()?, signed_in.path("version")?);
    let _turn = signed_in.config_read_turn().await?;
    let engine = &signed_in.console.engine;
    let current = engine.config(environment).await?;
    let mut old = engine.config_version(environment, version).await?.configuration;
    let (document, waits) = (pretty(&old.to_public()), current.configuration.approvals.configuration);
    let warnings =
        old.warnings(&signed_in.view(environment)?.environment.name, engine.clock().now().utc_date());
    // Secrets in force stay, unless they would be sent elsewhere: that is refused.
    if let Ok(providers) = old.providers.clone().with_secrets_of(&current.configuration.providers) {
        old.providers = providers;
    }
    let replay = engine.replay_history(environment, &old, REPLAYED).await?;
    let changes = described(&signed_in, current.configuration, old).await?;
    let mut review = restoration(environment, version, current.version, waits);
    let is_allowed = signed_in.identity.may(Permission::Configure);
    if changes.fields.is_empty() {
        review.effect = "Nothing would change".into();
    }
    if changes.fields.is_empty() || !is_allowed {
        review.choices.clear();
        let reason = if is_allowed {
            "It is the same as the current version."
        } else {
            "Your role may not restore it."
        };
        review.obstacle = Some(reason.to_owned());
    }
    page::render(&ConfigReviewPage {
        frame: signed_in.frame(&format!("Version {version}"), "routing").await?,
        version: current.version,
        document,
        changes,
        replay: ReplayView::of(&replay),
        warnings,
        restores: Some(version),
        review: Some(review),
        waits,
        returns: "routing",
    })
}

/// What a version of the past does once it is in force again.
fn restoration(environment: EnvironmentId, version: u64, current: u64, waits: bool) -> Review {
    let title = if waits {
        format!("Propose to restore version {version}")
    } else {
        format!("Restore version {version}")
    };
    Review {
        effect: if waits {
            format!("Another person will be asked to put version {version} in force").into()
        } else {
            format!("Version {version} will be in force again").into()
        },
        affected: "Payments that are prepared or sent from then on; those before keep their route and fee."
            .into(),
        permanent: format!(
            "Nothing: version {current} stays in the history and can be restored. Secrets stay as they are."
        )
        .into(),
        action: format!("/console/{environment}/config/history/{version}"),
        fields: vec![("version".to_owned(), current.to_string())],
        choices: vec![Choice::plain(title)],
        back: ("Back to history".to_owned(), format!("/console/{environment}/config/history")),
        ..Review::default()
    }
}

pub(crate) async fn restore(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let (environment, version) = (signed_in.environment()?, signed_in.path("version")?);
    let expected: u64 = form.field("version").parse().map_err(|_| PageError::Missing)?;
    let engine = &signed_in.console.engine;
    if !form.is_confirmed() {
        return Err(PageError::Refused("Compare the version first; nothing was restored.".to_owned()));
    }
    let _turn = engine.config_turn().await.ok_or(PageError::Busy)?;
    let said = match engine.restore_config(environment, version, expected, signed_in.origin()).await? {
        Configured::InForce { version: saved } => format!("Version {version} restored as version {saved}."),
        Configured::Proposed { approval } => return Ok(proposed(signed_in, environment, approval).await),
    };
    Ok(signed_in.done(&format!("/console/{environment}/routing"), &said).await)
}

impl ReplayView {
    fn of(replay: &Replay) -> Self {
        let mut summary = Vec::new();
        for moved in &replay.rerouted {
            let ((from, from_channel), (to, to_channel)) = (&moved.from, &moved.to);
            summary.push(format!(
                "{} would go to {to}, {} instead of {from}, {}.",
                count(moved.count),
                to_channel.as_str(),
                from_channel.as_str()
            ));
        }
        if replay.refused > 0 {
            summary.push(format!("{} would have no route and be rejected.", count(replay.refused)));
        }
        if replay.repriced > 0 {
            summary.push(format!("{} would have had a different fee.", count(replay.repriced)));
        }
        if summary.is_empty() && replay.examined > 0 {
            summary.push("All of them would have had the same route and fee.".to_owned());
        }
        let money_row = |before: i128, after: i128, currency| {
            let change = after.saturating_sub(before);
            let sign = if change > 0 { "+" } else { "" };
            (money(before, currency), money(after, currency), format!("{sign}{}", money(change, currency)))
        };
        Self {
            examined: replay.examined,
            summary,
            money: replay
                .money
                .iter()
                .map(|sums| MoneyRow {
                    currency: sums.currency.to_string(),
                    platform: money_row(sums.platform_before, sums.platform_after, sums.currency),
                    organization: money_row(sums.organization_before, sums.organization_after, sums.currency),
                })
                .collect(),
            examples: replay
                .examples
                .iter()
                .map(|example| {
                    let said = |(provider, channel, fee): &(String, tollgate_domain::Channel, _)| {
                        format!("{provider}, {}, fee {}", channel.as_str(), minor(*fee, example.currency))
                    };
                    ExampleRow {
                        reference: example.reference.to_string(),
                        before: said(&example.before),
                        after: example.after.as_ref().map_or_else(|| "no route".to_owned(), said),
                    }
                })
                .collect(),
        }
    }
}

fn pretty(document: &Value) -> String {
    serde_json::to_string_pretty(document).unwrap_or_default()
}
