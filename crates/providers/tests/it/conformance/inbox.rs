//! A receiver of webhooks that keeps everything as it came.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use tokio::net::TcpListener;
use tollgate_simulator::{Simulator, WebhookTarget, Wire};

/// Headers and body.
pub(crate) type Received = (Vec<(String, String)>, Vec<u8>);

#[derive(Clone, Default)]
pub(crate) struct Inbox {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

async fn receive(State(inbox): State<Inbox>, request: Request) {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap().to_vec();
    let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        (name.as_str().to_owned(), value.to_str().unwrap().to_owned())
    };
    inbox.received.lock().unwrap().push((parts.headers.iter().map(header).collect(), body));
}

impl Inbox {
    /// Has the simulator send a wire's webhooks here.
    pub(crate) async fn open(simulator: &Simulator, wire: Wire, secret: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hooks?of={}", listener.local_addr().unwrap(), wire.name());
        let inbox = Self { url: url.clone(), ..Self::default() };
        let router = Router::new().fallback(receive).with_state(inbox.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let target = WebhookTarget { wire, url, secret: secret.to_owned(), events: Vec::new() };
        assert!(simulator.add_webhook_target(target));
        inbox
    }

    /// Waits until what has come is enough, and answers all of it.
    pub(crate) async fn until(&self, is_enough: impl Fn(&[Received]) -> bool) -> Vec<Received> {
        for _ in 0..6_000 {
            let received = self.received.lock().unwrap().clone();
            if is_enough(&received) {
                return received;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("not everything came: {:?}", self.received.lock().unwrap());
    }
}
