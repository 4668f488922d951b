//! The provider's script on a page that takes cards, and what such a page must allow.

use crate::provider::{Provider, ProviderEnvironment};

/// A provider's script for browsers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BrowserScript {
    pub(crate) url: &'static str,
    /// Where a simulator of the provider has its own, below its base URL.
    pub(crate) simulated: &'static str,
    /// The style sheet that goes with it, and where a simulator has that.
    pub(crate) style: Option<(&'static str, &'static str)>,
    /// Sources by directive of a Content-Security-Policy.
    pub(crate) sources: &'static [(&'static str, &'static str)],
}

impl Provider {
    /// The script that a page loads to take cards, where the adapter has one: the provider's own for its environment, or
    /// the simulator's where the base URL does not lead to the provider.
    pub fn script_url(&self) -> Option<String> {
        let script = self.adapter.script(self.environment())?;
        Some(match self.own_environment().and_then(|environment| self.adapter.script(environment)) {
            Some(own) => own.url.to_owned(),
            None => format!("{}/{}", self.address(), script.simulated),
        })
    }

    /// The style sheet that goes with the script, where it has one.
    pub fn style_url(&self) -> Option<String> {
        let (_, simulated) = self.adapter.script(self.environment())?.style?;
        let own = self.own_environment().and_then(|environment| self.adapter.script(environment)?.style);
        Some(own.map_or_else(|| format!("{}/{simulated}", self.address()), |(url, _)| url.to_owned()))
    }

    /// What a page with that script must allow, by directive of its Content-Security-Policy.
    pub fn script_sources(&self) -> Vec<(&'static str, String)> {
        if self.adapter.script(self.environment()).is_none() {
            return Vec::new();
        }
        if let Some(own) = self.own_environment().and_then(|environment| self.adapter.script(environment)) {
            return own.sources.iter().map(|(directive, hosts)| (*directive, (*hosts).to_owned())).collect();
        }
        let mut parts = self.address().splitn(4, '/');
        let origin = [parts.next(), parts.next(), parts.next()].map(Option::unwrap_or_default).join("/");
        let styled = self.style_url().is_some();
        let directives = ["script-src", "connect-src", "frame-src"].into_iter();
        let directives = directives.chain(["style-src", "img-src"].into_iter().filter(|_| styled));
        directives.map(|directive| (directive, origin.clone())).collect()
    }

    /// Which of the provider's own environments the base URL leads to; `None` if it leads elsewhere.
    pub fn own_environment(&self) -> Option<ProviderEnvironment> {
        if self.base_url.is_none() {
            return Some(self.environment());
        }
        let is_there =
            |environment: &ProviderEnvironment| self.adapter.address(*environment) == self.address();
        let here = Some(self.environment()).filter(is_there);
        here.or_else(|| {
            [ProviderEnvironment::Sandbox, ProviderEnvironment::Production].into_iter().find(is_there)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Adapter, Configuration};

    fn script(entry: &Value) -> (Option<String>, String) {
        let document = json!({ "providers": { "one": entry } });
        let configuration = Configuration::read(&document, &Configuration::default()).unwrap();
        let provider = configuration.providers.get("one").unwrap();
        let sources = provider.script_sources().into_iter();
        let scripts = sources.filter(|(directive, _)| *directive == "script-src").map(|(_, hosts)| hosts);
        (provider.script_url(), scripts.collect())
    }

    #[test]
    fn the_script_is_of_the_release_that_the_api_version_is_of() {
        let (url, _) = script(&json!({"adapter": "stripe"}));
        let (_, release) = Adapter::Stripe.api_versions().last().unwrap().split_once('.').unwrap();
        assert_eq!(url.unwrap(), format!("https://js.stripe.com/{release}/stripe.js"));
    }

    #[test]
    fn the_script_is_that_of_the_environment() {
        let sandbox = "https://sandbox.web.squarecdn.com";
        for (entry, url, host) in [
            (json!({"adapter": "stripe"}), "https://js.stripe.com/endive/stripe.js", "https://js.stripe.com"),
            (
                json!({"adapter": "stripe", "baseUrl": "https://api.stripe.com/"}),
                "https://js.stripe.com/endive/stripe.js",
                "https://js.stripe.com",
            ),
            (
                json!({"adapter": "stripe", "baseUrl": "http://127.0.0.1:8080/simulator/stripe"}),
                "http://127.0.0.1:8080/simulator/stripe/v3.js",
                "http://127.0.0.1:8080",
            ),
            (
                json!({"adapter": "square"}),
                "https://web.squarecdn.com/v1/square.js",
                "https://web.squarecdn.com",
            ),
            (
                json!({"adapter": "square", "environment": "sandbox"}),
                "https://sandbox.web.squarecdn.com/v1/square.js",
                sandbox,
            ),
            (
                json!({"adapter": "square", "credentials": {"applicationId": "sandbox-sq0idb-x"}}),
                "https://sandbox.web.squarecdn.com/v1/square.js",
                sandbox,
            ),
            (
                json!({"adapter": "square", "baseUrl": "https://connect.squareupsandbox.com"}),
                "https://sandbox.web.squarecdn.com/v1/square.js",
                sandbox,
            ),
            (
                json!({"adapter": "square", "baseUrl": "http://[::1]:9/square"}),
                "http://[::1]:9/square/web-payments.js",
                "http://[::1]:9",
            ),
        ] {
            let (found, hosts) = script(&entry);
            assert_eq!(found.as_deref(), Some(url), "{entry}");
            assert_eq!(hosts.split(' ').next(), Some(host), "{entry}");
        }
        assert_eq!(script(&json!({"adapter": "increase"})), (None, String::new()));
    }

    /// The frames of 3-D Secure come from the hosts of card issuers.
    #[test]
    fn square_may_frame_every_issuer() {
        for environment in ["sandbox", "production"] {
            let document =
                json!({ "providers": { "one": { "adapter": "square", "environment": environment } } });
            let configuration = Configuration::read(&document, &Configuration::default()).unwrap();
            let sources = configuration.providers.get("one").unwrap().script_sources();
            let frames: Vec<_> = sources.iter().filter(|(directive, _)| *directive == "frame-src").collect();
            assert_eq!(frames, [&("frame-src", "https:".to_owned())], "{environment}");
        }
    }
}
