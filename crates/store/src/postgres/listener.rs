//! A connection of its own that hears what any node announces.

use std::{future::poll_fn, pin::pin, time::Duration};

use tokio::task::JoinHandle;
use tokio_postgres::AsyncMessage;

use super::{connect::Connector, fault::describe};
use crate::signal::Announcer;

/// Where changes of the directory are announced, in the transaction that makes them.
pub(super) const CHANNEL: &str = "tollgate_directory";

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Listens until dropped.
#[derive(Debug)]
pub(super) struct Listener {
    announcer: Announcer,
    task: JoinHandle<()>,
}

impl Listener {
    pub(super) fn start(connector: Connector) -> Self {
        let announcer = Announcer::new();
        let task = tokio::spawn(listen(connector, announcer.clone()));
        Self { announcer, task }
    }

    pub(super) fn announcer(&self) -> &Announcer {
        &self.announcer
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Connects again and again, with pauses that grow while it does not work.
async fn listen(connector: Connector, announcer: Announcer) {
    let mut pause = FIRST_PAUSE;
    loop {
        let mut heard = false;
        match listen_once(&connector, &announcer, &mut heard).await {
            Ok(()) => tracing::warn!("the server closed the connection that listens for changes"),
            Err(error) => tracing::warn!(error = describe(&error), "not listening for changes right now"),
        }
        pause = if heard { FIRST_PAUSE } else { pause.saturating_mul(2).min(MAX_PAUSE) };
        // Nodes that lost the same server do not come back all at once.
        tokio::time::sleep(rand::random_range(pause / 2..=pause)).await;
    }
}

async fn listen_once(
    connector: &Connector,
    announcer: &Announcer,
    heard: &mut bool,
) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = connector.connect().await?;
    let subscribe = format!("LISTEN {CHANNEL}");
    let mut subscribing = pin!(client.batch_execute(&subscribe));
    loop {
        tokio::select! {
            subscribed = &mut subscribing, if !*heard => {
                subscribed?;
                *heard = true;
                // What was announced while nobody listened is lost: look at once.
                announcer.announce();
            }
            message = poll_fn(|context| connection.poll_message(context)) => match message {
                Some(Ok(AsyncMessage::Notification(_))) => announcer.announce(),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
                None => return Ok(()),
            },
        }
    }
}
