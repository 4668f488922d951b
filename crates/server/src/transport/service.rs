//! The service without its sockets: a request in, its answer out. For whoever brings a transport of their own.

use std::{net::IpAddr, sync::Arc};

use axum::{body::Body, response::Response};
use http::Request;
use tollgate_engine::Engine;

use crate::{
    app::App,
    transport::edge::{Edge, ServedTo},
};

/// Everything behind a connection.
#[derive(Clone)]
pub struct Service(Arc<Edge>);

impl Service {
    /// Puts routes, authentication and answers in front of an application.
    pub fn new(app: App) -> Self {
        Self(Edge::new(app))
    }

    /// The use-cases behind it.
    pub fn engine(&self) -> &Arc<Engine> {
        self.0.app().engine()
    }

    /// Answers one request, whatever happens inside.
    pub async fn answer(&self, peer: IpAddr, request: Request<Body>) -> Response {
        let Ok(response) = Arc::clone(&self.0).answer(peer, ServedTo::Everybody, request).await;
        response
    }
}
