//! `tollgate providers`: what is configured, what is missing, where webhooks go, and what became of those that came.

use clap::{Args, Subcommand};

use super::{
    fields::Fields,
    http::{query, segment},
    moment::moment,
    output::{paint_of, printable},
    provider_test,
    session::Session,
    table::{Cell, Table, more},
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Providers {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List providers (default).
    List,
    /// Ask a provider whether its configuration is right; moves no money.
    Test {
        /// The provider's name in the configuration.
        name: String,
        /// Create the webhook endpoint at the provider if none sends here, and store its secret.
        #[arg(long)]
        register_webhook: bool,
    },
    /// Decide whether a provider gets new work.
    Circuit {
        /// The provider's name in the configuration.
        name: String,
        /// open: no new work; closed: new work, however it answers; automatic: by how it answers.
        #[arg(value_parser = ["open", "closed", "automatic"])]
        state: String,
    },
    /// List events received from providers, newest first.
    Events {
        /// Only events in this state: waiting, applied, ignored or parked.
        #[arg(long)]
        state: Option<String>,
        /// Maximum number of results.
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// Only results before this one.
        #[arg(long, value_name = "CURSOR")]
        before: Option<String>,
    },
    /// Retry a parked event.
    Retry {
        /// The provider's name in the configuration.
        provider: String,
        /// The event's id at the provider.
        event: String,
    },
    /// Register a web domain at a provider, so that its component shows Apple Pay, Google Pay and the like there.
    RegisterDomain {
        /// The provider's name in the configuration.
        provider: String,
        /// The host name of the page, such as shop.example.com.
        domain: String,
    },
}

pub(crate) async fn run(session: Session, providers: Providers) -> Result<(), Failure> {
    match providers.action {
        None | Some(Action::List) => list(&session).await,
        Some(Action::Test { name, register_webhook }) => {
            let tested = provider_test::run(&session, &name, register_webhook).await?;
            session.output.show(&tested, |style| provider_test::render(&tested, style))?;
            provider_test::verdict(&[(name, tested)])
        }
        Some(Action::Circuit { name, state }) => {
            let path = session.path(&format!("/providers/{}/circuit", segment(&name))).await?;
            let forced = session.client.post(&path, &serde_json::json!({ "state": state })).await;
            let forced = forced.map_err(|failure| {
                failure.if_missing(|| {
                    format!("no provider {name} is configured; `tollgate providers` lists them")
                })
            })?;
            session.output.show(&forced, |_| {
                let version = forced.number("configVersion");
                format!("The circuit of {name} is {state} (configuration version {version}).")
            })
        }
        Some(Action::Events { state, limit, before }) => {
            let query = query(&[("limit", Some(limit.to_string())), ("state", state), ("before", before)]);
            let path = session.path(&format!("/provider-events{query}")).await?;
            let list = session.client.get(&path).await?;
            session.output.show(&list, |style| {
                let heads = ["RECEIVED", "PROVIDER", "EVENT", "TYPE", "=STATE", ">TRIES", "NOTE"];
                let mut table = Table::new(&heads).leaving_out(&["TRIES", "NOTE"]);
                for event in list.list("items") {
                    let state = event.word("state");
                    table.row([
                        moment(event.text("receivedAt")).into(),
                        event.word("provider").into(),
                        event.word("eventId").into(),
                        event.word("type").into(),
                        Cell::painted(&state, paint_of(&state)),
                        event.number("tries").to_string().into(),
                        event.word("note").into(),
                    ]);
                }
                table.draw(style, "No events.") + &more(&list, "--before")
            })
        }
        Some(Action::Retry { provider, event }) => {
            let path = format!("/provider-events/{}/{}/retry", segment(&provider), segment(&event));
            let path = session.path(&path).await?;
            let retried = session.client.post(&path, &serde_json::json!({})).await;
            let retried = retried.map_err(|failure| {
                failure.if_missing(|| {
                    format!("{provider} has no parked event {event}; `tollgate providers events --state parked` lists them")
                })
            })?;
            session.output.show(&retried, |_| format!("{event} is being retried."))
        }
        Some(Action::RegisterDomain { provider, domain }) => {
            let path = session.path(&format!("/providers/{}/domains", segment(&provider))).await?;
            let body = serde_json::json!({ "domain": domain });
            let registered = session.client.post(&path, &body).await.map_err(|failure| {
                failure.if_missing(|| {
                    format!("no provider {provider} is configured; `tollgate providers` lists them")
                })
            })?;
            session.output.show(&registered, |style| {
                let mut table = Table::new(&["WALLET", "ACTIVE", "PROBLEM"]);
                for wallet in registered.list("wallets") {
                    let active = if wallet.flag("active") { "yes" } else { "no" };
                    table.row([
                        wallet.word("name").into(),
                        Cell::painted(active, paint_of(active)),
                        wallet.word("problem").into(),
                    ]);
                }
                let name = registered.word("domain");
                format!("{name} is registered at {provider}.\n") + &table.draw(style, "No wallets.")
            })
        }
    }
}

async fn list(session: &Session) -> Result<(), Failure> {
    let list = session.client.get(&session.path("/providers").await?).await?;
    session.output.show(&list, |style| {
        let heads = ["NAME", "ADAPTER", "METHOD", "=STATE", "CIRCUIT", "MISSING", "=WEBHOOK URL"];
        let mut table = Table::new(&heads).leaving_out(&["WEBHOOK URL", "METHOD"]);
        let mut incidents = String::new();
        for provider in list.list("items") {
            let state = provider.word("state");
            let missing = provider.joined("missing");
            if let Some(incident) = provider.get("incident").filter(|incident| !incident.is_null()) {
                incidents.extend([format!(
                    "\n{} is {state} since {}: {} payments affected; last error: {}\n",
                    provider.word("name"),
                    moment(incident.text("since")),
                    incident.number("affectedPayments"),
                    printable(incident.text("lastError"))
                )]);
            }
            table.row([
                provider.word("name").into(),
                provider.word("adapter").into(),
                provider.word("paymentMethod").into(),
                Cell::painted(&state, paint_of(&state)),
                provider.word("circuit").into(),
                if missing.is_empty() { "-".into() } else { missing.into() },
                provider.word("webhookUrl").into(),
            ]);
        }
        table.draw(style, "No providers configured; apply a configuration with `tollgate apply FILE`.")
            + &incidents
    })
}
