//! One readable line for everything that happens: calls, webhooks, deliveries and changes of status.
//!
//! They are a log target of their own, so that the sandbox can show them to a person and production can leave them out.

use std::fmt::Display;

use tollgate_domain::{Currency, Minor, event::EventKind};
use tracing::info;

/// The target of these lines.
pub const ACTIVITY: &str = "activity";

/// A payment or transfer that is another than before.
pub(crate) fn changed(
    reference: impl Display,
    kind: EventKind,
    total: Minor,
    currency: Currency,
    provider: &str,
) {
    info!(target: ACTIVITY, "{reference} {kind}: {} {currency} at {provider}", currency.decimal(total));
}

/// A webhook of a provider that was new.
pub(crate) fn received(provider: &str, kind: &str) {
    info!(target: ACTIVITY, "webhook from {provider}: {}", kind.escape_debug());
}

/// An attempt to deliver an event. The rest of the address may hold a secret of its owner.
pub(crate) fn delivered(kind: EventKind, url: &str, outcome: &str, note: &str) {
    info!(target: ACTIVITY, "event {kind} to {}: {outcome}, {}", host(url), note.escape_debug());
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn only_the_host_of_an_endpoint_is_logged() {
        for (url, shown) in [
            ("https://shop.example/hooks?token=abc", "shop.example"),
            ("https://user:word@shop.example:8443/x", "shop.example:8443"),
            ("http://127.0.0.1:9000", "127.0.0.1:9000"),
            ("https://shop.example?a@b", "shop.example"),
        ] {
            assert_eq!(host(url), shown);
        }
    }
}
