//! A network between a server and its database, which can be cut or fall silent.

use std::{
    io,
    net::SocketAddr,
    thread::{self, JoinHandle},
};

use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::watch,
};

/// What the network does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    Clear,
    /// Connections are accepted and kept, and nothing gets through in either direction.
    Silent,
    /// Every connection is closed and new ones are refused.
    Cut,
    /// The test is over.
    Gone,
}

pub struct Proxy {
    pub address: SocketAddr,
    weather: watch::Sender<Weather>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    pub fn start(server: SocketAddr) -> Self {
        let weather = watch::Sender::new(Weather::Clear);
        let (tell, told) = std::sync::mpsc::channel();
        let watched = weather.subscribe();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = bound("127.0.0.1:0".parse().unwrap()).listen(64).unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                run(listener, server, watched).await;
            });
        });
        Self { address: told.recv().unwrap(), weather, thread: Some(thread) }
    }

    pub fn set(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.set(Weather::Gone);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Bound but not listening, a port refuses connections and nobody else can take it.
fn bound(address: SocketAddr) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(address).unwrap();
    socket
}

async fn run(mut listener: TcpListener, server: SocketAddr, mut weather: watch::Receiver<Weather>) {
    let address = listener.local_addr().unwrap();
    loop {
        let now = *weather.borrow_and_update();
        match now {
            Weather::Gone => return,
            Weather::Cut => {
                drop(listener);
                let closed = bound(address);
                drop(weather.wait_for(|weather| *weather != Weather::Cut).await);
                listener = closed.listen(64).unwrap();
            }
            Weather::Clear | Weather::Silent => tokio::select! {
                _ = weather.changed() => {}
                accepted = listener.accept() => {
                    if let Ok((client, _)) = accepted {
                        tokio::spawn(carry(client, server, weather.clone()));
                    }
                }
            },
        }
    }
}

async fn carry(client: TcpStream, server: SocketAddr, mut weather: watch::Receiver<Weather>) {
    let Ok(server) = TcpStream::connect(server).await else { return };
    loop {
        let now = *weather.borrow_and_update();
        let open = match now {
            Weather::Cut | Weather::Gone => false,
            Weather::Silent => weather.changed().await.is_ok(),
            Weather::Clear => {
                let (from, to) = tokio::select! {
                    _ = weather.changed() => continue,
                    _ = client.readable() => (&client, &server),
                    _ = server.readable() => (&server, &client),
                };
                pass(from, to).await.unwrap_or(false)
            }
        };
        if !open {
            return;
        }
    }
}

/// Carries what is there to read; false at the end.
async fn pass(from: &TcpStream, to: &TcpStream) -> io::Result<bool> {
    let mut buffer = [0; 8 * 1024];
    let count = match from.try_read(&mut buffer) {
        Ok(0) => return Ok(false),
        Ok(count) => count,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
        Err(error) => return Err(error),
    };
    let mut rest = &buffer[..count];
    while !rest.is_empty() {
        to.writable().await?;
        match to.try_write(rest) {
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
