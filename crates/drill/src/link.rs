//! A network connection that can be cut or fall silent: everything that talks to a PostgreSQL node goes through one.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tollgate_bench::Fault;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    /// Connections are accepted and kept, and nothing gets through in either direction until it opens again.
    Silent,
    /// Every connection is closed, and new ones at once.
    Cut,
}

/// Listens on an address of its own and carries to another.
pub(crate) struct Link {
    pub(crate) address: SocketAddr,
    state: watch::Sender<State>,
    task: JoinHandle<()>,
}

impl Link {
    pub(crate) async fn start(to: SocketAddr) -> Result<Self, Fault> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let state = watch::Sender::new(State::Open);
        let task = tokio::spawn(serve(listener, to, state.subscribe()));
        Ok(Self { address, state, task })
    }

    pub(crate) fn set(&self, state: State) {
        self.state.send_replace(state);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.state.send_replace(State::Cut);
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, to: SocketAddr, state: watch::Receiver<State>) {
    loop {
        let Ok((client, _)) = listener.accept().await else { return };
        if *state.borrow() != State::Cut {
            tokio::spawn(carry(client, to, state.clone()));
        }
    }
}

async fn carry(client: TcpStream, to: SocketAddr, state: watch::Receiver<State>) {
    let Ok(server) = TcpStream::connect(to).await else { return };
    // Small messages go back and forth; waiting for more would be measured.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    // Whichever side ends first ends both.
    tokio::select! {
        () = pump(from_client, to_server, state.clone()) => {}
        () = pump(from_server, to_client, state) => {}
    }
}

async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut state: watch::Receiver<State>) {
    let mut cut = state.clone();
    let mut buffer = vec![0; 32 << 10];
    loop {
        let count = tokio::select! {
            _ = cut.wait_for(|state| *state == State::Cut) => return,
            count = from.read(&mut buffer) => count,
        };
        let received = match count {
            Ok(count) if count > 0 => buffer.get(..count).unwrap_or_default(),
            _ => return,
        };
        let open =
            state.wait_for(|state| *state != State::Silent).await.is_ok_and(|state| *state == State::Open);
        if !open || to.write_all(received).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn echo() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (mut from, mut to) = stream.into_split();
                tokio::spawn(async move { tokio::io::copy(&mut from, &mut to).await });
            }
        });
        address
    }

    async fn answer(stream: &mut TcpStream) -> Option<u8> {
        tokio::time::timeout(Duration::from_millis(200), stream.read_u8()).await.ok()?.ok()
    }

    #[tokio::test]
    async fn silence_delays_and_a_cut_ends() {
        let link = Link::start(echo().await).await.unwrap();
        let mut stream = TcpStream::connect(link.address).await.unwrap();
        stream.write_all(b"a").await.unwrap();
        assert_eq!(answer(&mut stream).await, Some(b'a'));
        link.set(State::Silent);
        stream.write_all(b"b").await.unwrap();
        assert_eq!(answer(&mut stream).await, None);
        link.set(State::Open);
        assert_eq!(answer(&mut stream).await, Some(b'b'));
        link.set(State::Cut);
        assert_eq!(stream.read(&mut [0]).await.unwrap_or(0), 0);
        let mut refused = TcpStream::connect(link.address).await.unwrap();
        assert_eq!(refused.read(&mut [0]).await.unwrap_or(0), 0);
    }
}
