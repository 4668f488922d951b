//! The documents for users, in the order of the menu.

/// A file of `docs/`.
#[derive(Debug)]
pub(crate) struct Document {
    /// Its path below `docs/`, without `.md`.
    pub(crate) name: &'static str,
    /// What the menu calls it.
    pub(crate) label: &'static str,
    /// What it is for, in one sentence.
    pub(crate) summary: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! documents {
    ($($group:literal: $($name:literal $label:literal $summary:literal)*;)*) => {
        /// Every document, by the groups of the menu.
        pub(crate) const GROUPS: &[(&str, &[Document])] = &[$(($group, &[$(Document {
            name: $name,
            label: $label,
            summary: $summary,
            text: include_str!(concat!("../../../docs/", $name, ".md")),
        },)*]),)*];
    };
}

documents! {
    "Guides":
        "guides/first-payment" "First payment" "From a new sandbox to a paid card payment, in curl, Python, TypeScript and Rust."
        "guides/hosted-checkout" "Hosted checkout" "Customers pay on the provider's page and come back to yours."
        "guides/stripe-elements" "Stripe Elements" "A page and a backend to copy, with Stripe's card fields."
        "guides/square-web-payments" "Square Web Payments" "A page and a backend to copy, with Square's card fields."
        "guides/adyen-drop-in" "Adyen Drop-in" "A page and a backend to copy, with Adyen's card fields."
        "payment-page" "Payment page" "What a page with card fields runs and allows, and how changes show: SAQ A, PCI DSS 6.4.3 and 11.6.1."
        "guides/capture-later" "Capture later" "Hold the money when the customer orders and take it when you ship."
        "guides/bank-transfer" "Bank transfer" "Pay somebody from the wallet by ACH, and follow the transfer."
        "webhooks" "Webhooks" "Signed events to your backend: verifying, retries, catching up, rotating secrets.";
    "Concepts":
        "concepts" "Concepts" "Statuses, fees, routing, idempotency, unknown outcomes and reconciliation, each with an example."
        "lawful-card-fees" "Lawful card fees" "Fees decided by card, network and place: the rules, the program of a merchant, and how to try it.";
    "API":
        "client-api" "Client API" "The calls your backend makes, field by field."
        "api-examples" "API examples" "Every operation of the client API with a call in curl, TypeScript and Python, and its answer."
        "admin-api" "Admin API" "The calls operators make: tenants, keys, configuration, wallets, payments, events, users."
        "api-reference" "OpenAPI document" "The OpenAPI document, and generating a client from it."
        "errors" "Errors" "Every error code with when it is sent and what to do about it."
        "sdks" "SDKs" "The libraries for TypeScript and Python, and card fields in the browser.";
    "Operations":
        "configuration" "Configuration" "Providers, routing, fees, limits and settings of an environment."
        "providers" "Providers" "What each provider needs, its webhooks and statuses, and how it behaves."
        "console" "Console" "The operator's pages, and the request log."
        "cli" "Command line" "Every command with what it prints."
        "install" "Install" "cargo, Debian and RPM packages, containers, Helm, or from source."
        "production" "Going to production" "Database, keys, TLS, back-ups and upgrades, step by step."
        "operating" "Running Tollgate" "Settings, databases, health, metrics, logs and limits."
        "settlement" "Bank files" "Verifying bank statements and files of ACH returns: formats, checks, the mapping of CSV."
        "scaling" "Scaling" "What a request costs, how many nodes to run, and a database that survives its machine."
        "security" "Security" "How bank details, customers' data and credentials are protected, and where copies remain."
        "questionnaire" "Questionnaires" "PCI DSS, SOC 2 and Nacha: what Tollgate does, what you must do, and where to see it."
        "mcp" "Assistants (MCP)" "Tools for an assistant that answers from your own data.";
}

/// Every document.
pub(crate) fn all() -> impl Iterator<Item = &'static Document> {
    GROUPS.iter().flat_map(|(_, documents)| documents.iter())
}

pub(crate) fn named(name: &str) -> Option<&'static Document> {
    all().find(|document| document.name == name)
}

impl Document {
    /// Its first heading.
    pub(crate) fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// Its page's path.
    pub(crate) fn path(&self) -> String {
        format!("/docs/{}", self.name)
    }
}

/// The guides: the paths of their pages, and their titles.
pub fn guides() -> impl Iterator<Item = (String, &'static str)> {
    all().filter(|document| document.name.starts_with("guides/")).map(|it| (it.path(), it.title()))
}

/// The list of pages with a sentence each, as `llms.txt` has it.
pub(crate) fn list() -> String {
    let mut list = String::from(
        "# Tollgate\n\n\
         > Payment orchestration in one binary: between your backend and your card and bank-transfer providers. It selects the \
         provider by your rules, computes every fee exactly, and keeps asking until it knows what became of a payment.\n\n\
         This documentation is part of the server and matches its version. Add `.md` to the address of a page for its \
         Markdown. The [API reference](/docs) lists every call, and you can try them there.\n",
    );
    for (group, documents) in GROUPS {
        list.extend(["\n## ", group, "\n\n"]);
        for document in *documents {
            list.extend(["- [", document.title(), "](", &document.path(), ".md): ", document.summary, "\n"]);
        }
    }
    list.push_str(
        "\n## For programs\n\n\
         - [OpenAPI document](/openapi.json): every operation, every field and every failure, for generating a client.\n\
         - [This list](/llms.txt): the pages with a sentence each.\n",
    );
    list
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_document_for_users_is_there_and_has_a_title() {
        for document in all() {
            assert!(document.text.starts_with("# "), "{}", document.name);
        }
        // How it is built, tested and measured is for those who have the repository.
        let left_out = [
            "ARCHITECTURE",
            "adding-a-provider",
            "benchmarks",
            "drill",
            "live-tests",
            "releasing",
            "simulation",
        ];
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        for (folder, prefix) in [(docs.to_owned(), ""), (format!("{docs}/guides"), "guides/")] {
            for file in fs::read_dir(folder).unwrap() {
                let path = file.unwrap().path();
                let name = format!("{prefix}{}", path.file_stem().unwrap().to_string_lossy());
                let is_markdown = path.extension().is_some_and(|it| it == "md");
                let is_known = named(&name).is_some() || left_out.contains(&name.as_str());
                assert!(is_known || !is_markdown, "{name} is not on the site");
            }
        }
    }
}
