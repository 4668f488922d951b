//! A provider that repeats everything it was sent, everywhere it can, does not get it into anything that is kept, shown or
//! logged.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tollgate_engine::ports::Adapters as _;
use tollgate_providers::{ProviderSettings, Providers};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::bench::{Bench, Case, make};
use super::descriptions::Description;
use crate::increase_script::{Answer, scripted};
use crate::increase_support::{ACCOUNT, ROUTING};
use crate::support::{EMAIL, provider, quick};

/// Everything that is logged, at every level.
#[derive(Clone, Default)]
pub(crate) struct Everything(pub(crate) Arc<Mutex<String>>);

struct Text<'a>(&'a mut String);

impl Visit for Text<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Everything {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Text(&mut self.0.lock().unwrap()));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Text(&mut self.0.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut log = self.0.lock().unwrap();
        writeln!(log).unwrap();
        log.push_str(event.metadata().target());
        event.record(&mut Text(&mut log));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Shorter parts of a bank's or an account's number than this happen by chance, in times above all.
const PART: usize = 7;

/// What was sent for a case and nobody else may see.
fn private(case: &Case, description: &Description) -> Vec<&'static str> {
    let mut private = vec![description.api_secret, description.webhook_secret.1];
    match case {
        Case::Transfer(_) => private.extend([ACCOUNT, ROUTING]),
        Case::Card(..) | Case::Refund(..) => private.extend([EMAIL, description.card_token]),
    }
    private.retain(|secret| !secret.is_empty());
    private
}

/// Nothing private is in the text, and no part of a number that is longer than what may be shown.
#[track_caller]
pub(crate) fn tells_nothing(private: &[&str], text: &str) {
    for secret in private {
        let is_number = secret.bytes().all(|byte| byte.is_ascii_digit());
        let length = if is_number { PART } else { secret.len() };
        for part in secret.as_bytes().windows(length) {
            let part = std::str::from_utf8(part).unwrap();
            assert!(!text.contains(part), "{part} in {text}");
        }
    }
}

/// Every status with every body, each repeating what was sent in several spellings.
fn answers(case: &Case, description: &Description) -> Vec<Answer> {
    let mut answers = Vec::new();
    let spaced = |text: &str| text.chars().flat_map(|letter| [letter, ' ']).collect::<String>();
    // No call has the webhooks' secret in it.
    let sent =
        private(case, description).into_iter().filter(|secret| *secret != description.webhook_secret.1);
    for secret in sent {
        let number = secret.parse::<u64>().map(|_| format!("({}) ", spaced(secret))).unwrap_or_default();
        let said =
            format!("{secret} is wrong, number:{secret};rtn={secret} {number}\"{secret}\" <{secret}>.");
        for status in [400, 401, 402, 403, 404, 409, 422, 429, 500] {
            answers.push((status, (description.problem)(&said).to_string(), Vec::new()));
        }
        for status in [200, 400] {
            answers.push((status, format!("<html>{said}"), Vec::new()));
            answers.push((status, Value::from(said.as_str()).to_string(), Vec::new()));
        }
    }
    answers
}

pub(super) async fn a_provider_that_repeats_secrets_gets_them_nowhere(description: &'static Description) {
    let logs = Everything::default();
    let _guard = tracing::subscriber::set_default(logs.clone());
    // The capture works, or the rest would prove nothing.
    tracing::trace!(canary = "seen", "a line");
    assert!(logs.0.lock().unwrap().contains("canary=\"seen\""));

    let bench = Bench::start(description, quick()).await;
    let providers = Providers::new(ProviderSettings { tries_max: 1, ..quick() }).unwrap();
    let offered = providers.capabilities(description.adapter);
    for (kind, ..) in description.makes {
        let case = bench.begin(*kind).await;
        let made = bench.make(&case).await.outcome.unwrap().name;
        let private = private(&case, description);
        for answer in answers(&case, description) {
            let (_, address) = scripted(vec![answer; 12]).await;
            let configured = provider(&(description.entry)(&address));
            let mut text = format!("{:?}", make(offered, &configured, description, &case).await);
            match &case {
                Case::Transfer(order) => {
                    let transfers = offered.transfers.unwrap();
                    write!(text, "{:?}", transfers.find(&configured, order).await).unwrap();
                    write!(text, "{:?}", transfers.read(&configured, &made).await).unwrap();
                    write!(text, "{:?}", transfers.cancel(&configured, &made).await).unwrap();
                }
                Case::Card(_, order) => {
                    let cards = offered.cards.unwrap();
                    write!(text, "{:?}", cards.check_order(&configured, order).await).unwrap();
                    write!(text, "{:?}", cards.withdraw(&configured, order, &made).await).unwrap();
                }
                Case::Refund(..) => {}
            }
            tells_nothing(&private, &text);
        }
        tells_nothing(&private, &format!("{:?} {providers:?}", bench.provider));
        tells_nothing(&private, &logs.0.lock().unwrap());
    }
}
