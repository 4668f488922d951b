//! A network in the way, which can be cut, fall silent or swallow an answer.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use tokio::{
    net::{TcpListener, TcpStream, tcp},
    sync::watch,
};

/// What the network does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weather {
    Clear,
    /// Nothing gets through in either direction, and nothing is closed.
    Silent,
    /// Every connection is closed, and each new one at once.
    Cut,
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    weather: watch::Sender<Weather>,
    swallow: Arc<AtomicU32>,
    task: tokio::task::JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn start((host, port): (String, u16)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own_port = listener.local_addr().unwrap().port();
        let weather = watch::Sender::new(Weather::Clear);
        let swallow = Arc::new(AtomicU32::new(0));
        let task = tokio::spawn({
            let (weather, swallow) = (weather.clone(), Arc::clone(&swallow));
            async move {
                loop {
                    let Ok((client, _)) = listener.accept().await else { return };
                    let Ok(server) = TcpStream::connect((host.as_str(), port)).await else { continue };
                    tokio::spawn(carry(client, server, weather.subscribe(), Arc::clone(&swallow)));
                }
            }
        });
        Self { port: own_port, weather, swallow, task }
    }

    pub(crate) fn set(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }

    /// The `nth` answer from the server, 1 being the next, is not delivered; its connection is closed instead. An answer ends
    /// where the server says that it is ready for the next request, however the network cuts it into pieces.
    pub(crate) fn swallow_answer(&self, nth: u32) {
        self.swallow.store(nth, Ordering::SeqCst);
    }

    /// Whether that has happened. If not, it no longer will.
    pub(crate) fn has_swallowed(&self) -> bool {
        self.swallow.swap(0, Ordering::SeqCst) == 0
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn carry(
    client: TcpStream,
    server: TcpStream,
    mut weather: watch::Receiver<Weather>,
    swallow: Arc<AtomicU32>,
) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let mut answers = Answers::default();
    loop {
        let now = *weather.borrow_and_update();
        let open = match now {
            Weather::Cut => return,
            Weather::Silent => weather.changed().await.is_ok(),
            Weather::Clear => tokio::select! {
                changed = weather.changed() => changed.is_ok(),
                ready = from_client.readable() => ready.is_ok() && pass(&from_client, &to_server, None).await.is_ok(),
                ready = from_server.readable() => {
                    ready.is_ok() && pass(&from_server, &to_client, Some((&mut answers, &swallow))).await.is_ok()
                }
            },
        };
        if !open {
            return;
        }
    }
}

/// Where in the server's messages we are. Each is a letter and a length, which counts itself but not the letter.
#[derive(Default)]
struct Answers {
    head: Vec<u8>,
    rest: usize,
}

impl Answers {
    /// Takes one more byte; whether it is the last of an answer.
    fn take(&mut self, byte: u8) -> bool {
        if self.rest > 0 {
            self.rest -= 1;
        } else {
            self.head.push(byte);
            if self.head.len() < 5 {
                return false;
            }
            let length = u32::from_be_bytes([self.head[1], self.head[2], self.head[3], self.head[4]]);
            self.rest = usize::try_from(length).unwrap() - 4;
        }
        let over = self.rest == 0;
        let ready = over && self.head.first() == Some(&b'Z');
        if over {
            self.head.clear();
        }
        ready
    }
}

/// Carries what is there to read, unless the turn of an answer to be swallowed has come.
async fn pass(
    from: &tcp::OwnedReadHalf,
    to: &tcp::OwnedWriteHalf,
    mut swallow: Option<(&mut Answers, &AtomicU32)>,
) -> io::Result<()> {
    let mut buffer = vec![0; 16 * 1024];
    let count = match from.try_read(&mut buffer) {
        Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(count) => count,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
        Err(error) => return Err(error),
    };
    let (mut whole, mut swallowed) = (0, false);
    if let Some((answers, turn)) = &mut swallow {
        for (place, byte) in buffer[..count].iter().enumerate() {
            if answers.take(*byte) && !swallowed {
                let left = turn.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
                swallowed = left == Ok(1);
                whole = if swallowed { whole } else { place + 1 };
            }
        }
    }
    let mut rest = &buffer[..if swallowed { whole } else { count }];
    while !rest.is_empty() {
        to.writable().await?;
        match to.try_write(rest) {
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    if swallowed { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
}
