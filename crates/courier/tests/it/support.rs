//! A listener that counts who comes, and a resolver that answers what a test says.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tollgate_courier::{CourierSettings, HttpCourier, Resolver};
use tollgate_engine::ports::{Courier as _, DeliveryError, OutboundRequest, OutboundResponse};

/// Answers every request with the same words.
pub struct Listener {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Listener {
    /// On a loopback address.
    pub async fn open(at: &str, answer: &str) -> Self {
        let listener = TcpListener::bind(at).await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let (counted, answer) = (Arc::clone(&connections), answer.to_owned());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let answer = answer.clone();
                tokio::spawn(async move {
                    let mut request = vec![0; 4096];
                    drop(stream.read(&mut request).await);
                    drop(stream.write_all(answer.as_bytes()).await);
                });
            }
        });
        Self { address, connections }
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Names and what they lead to; the first answer to a name, the second, and so on, the last for ever.
#[derive(Default)]
pub struct Names {
    known: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    asked: AtomicUsize,
}

impl Names {
    pub fn with(mut self, name: &'static str, answers: &[&[&str]]) -> Self {
        let parsed = answers.iter().map(|answer| answer.iter().map(|ip| ip.parse().unwrap()).collect());
        self.known.insert(name, parsed.collect());
        self
    }

    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Resolver for Names {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        let name = name.trim_end_matches('.');
        let answers = self.known.get(name).ok_or_else(|| io::Error::other("no such name"))?;
        Ok(answers[turn.min(answers.len() - 1)].clone())
    }
}

pub fn client_config(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

pub fn settings(allow_private: bool) -> CourierSettings {
    CourierSettings {
        allow_private,
        timeout: Duration::from_millis(1_500),
        connect_timeout: Duration::from_millis(700),
    }
}

pub fn courier(allow_private: bool, names: &Arc<Names>) -> HttpCourier {
    let names: Arc<Names> = Arc::clone(names);
    HttpCourier::with(settings(allow_private), names, client_config(RootCertStore::empty()))
}

pub async fn send(courier: &HttpCourier, url: &str) -> Result<OutboundResponse, DeliveryError> {
    let headers = vec![("content-type", "application/json".to_owned()), ("webhook-id", "evt_1".to_owned())];
    courier.send(OutboundRequest { url: url.to_owned(), headers, body: b"{}".to_vec() }).await
}
