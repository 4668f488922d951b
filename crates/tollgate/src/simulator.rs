//! `tollgate simulator`: the provider simulator as a process of its own.

use tollgate_simulator::{Config, Simulator};
use tracing::info;

use crate::{failure::Failure, logging, node, settings::ServerSettings};

pub(crate) async fn run(listen: String) -> Result<(), Failure> {
    let _log = logging::start(&ServerSettings::load(None)?.log)?;
    let (listener, address) = node::bind(&listen).await?;
    let origin = format!("http://{address}");
    let config = Config { public_url: origin.clone(), ..Config::default() };
    println!("stripe    {origin}/stripe    {}", config.stripe.secret_key);
    println!("square    {origin}/square    {}", config.square.access_token);
    println!("increase  {origin}/increase  {}", config.increase.api_key);
    println!("control   {origin}/control");
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
