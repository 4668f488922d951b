//! Looking up names.

use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use async_trait::async_trait;
use tokio::net::lookup_host;

/// Knows the addresses of names.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// Every address of a name, in the order in which they are to be tried.
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// Asks the operating system.
#[derive(Debug, Clone, Copy)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = lookup_host((name, 0)).await?;
        Ok(found.map(|address: SocketAddr| address.ip()).collect())
    }
}
