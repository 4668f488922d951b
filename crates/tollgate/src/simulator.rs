//! `tollgate simulator`: the provider simulator as a process of its own.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use tollgate_simulator::{Config, Simulator, Wire};
use tracing::info;

use crate::{
    failure::Failure,
    logging::{self, Activity},
    node,
    settings::ServerSettings,
};

/// Which providers, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct SimulatorArgs {
    /// The address to listen on; port 0 picks a free port.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4010")]
    listen: String,
    /// Serve one provider, at the root of the address: for client libraries that take a host but no path.
    #[arg(long, value_name = "PROVIDER", value_parser = provider())]
    only: Option<Wire>,
}

fn provider() -> impl TypedValueParser<Value = Wire> {
    PossibleValuesParser::new(Wire::ALL.map(Wire::name))
        .try_map(|name| Wire::ALL.into_iter().find(|wire| wire.name() == name).ok_or("unknown provider"))
}

pub(crate) async fn run(SimulatorArgs { listen, only }: SimulatorArgs) -> Result<(), Failure> {
    let _log = logging::start(&ServerSettings::load(None)?.log, Activity::Hidden, None)?;
    let (listener, address) = node::bind(&listen, "--listen").await?;
    let origin = format!("http://{address}");
    let config = Config { public_url: origin.clone(), only, ..Config::default() };
    for wire in Wire::ALL.into_iter().filter(|wire| only.is_none_or(|only| only == *wire)) {
        let name = wire.name();
        let base = if only.is_some() { origin.clone() } else { format!("{origin}/{name}") };
        let key = match wire {
            Wire::Stripe => &config.stripe.secret_key,
            Wire::Square => &config.square.access_token,
            Wire::Increase => &config.increase.api_key,
            Wire::ModernTreasury => &config.modern_treasury.api_key,
            Wire::Adyen => &config.adyen.api_key,
        };
        println!("{name:<16} {base}  {key}");
    }
    println!("{:<16} {origin}/control", "control");
    let simulator = Simulator::new(config);
    let stop = node::stop_signal()?;
    info!(%address, "listening");
    // Nothing here is worth waiting for: whoever tests with it has stopped asking.
    tokio::select! {
        ended = axum::serve(listener, simulator.router()) => {
            ended.map_err(|error| Failure::new(format!("the simulator stopped: {error}")))?;
        }
        () = stop => {}
    }
    simulator.stop();
    info!("stopped");
    Ok(())
}
