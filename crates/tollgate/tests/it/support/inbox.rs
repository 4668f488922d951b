//! A receiver of webhooks that keeps what it gets: for tests that deliver it later, in another order, or altered.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::Value;

use super::{
    server::wait_until,
    shop::WAIT_TIMEOUT,
    simulator::{Simulator, Wire},
};

/// A webhook's body, as it was sent.
#[derive(Debug, Clone)]
pub struct Letter {
    pub wire: Wire,
    pub body: Vec<u8>,
}

impl Letter {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The event's type.
    pub fn kind(&self) -> String {
        self.text(if self.wire == Wire::Adyen { "eventCode" } else { "type" })
    }

    fn text(&self, field: &str) -> String {
        let json = self.json();
        let item = &json["notificationItems"][0]["NotificationRequestItem"];
        let event = if self.wire == Wire::Adyen { item } else { &json };
        event[field].as_str().unwrap().to_owned()
    }

    /// The event's own name.
    pub fn id(&self) -> String {
        let field = match self.wire {
            Wire::Stripe => "id",
            Wire::Square => "event_id",
            Wire::Adyen => return ["eventCode", "pspReference"].map(|name| self.text(name)).join("."),
        };
        self.text(field)
    }
}

/// What letters are signed with; the third provider's key is hexadecimal.
fn kept_secret(wire: Wire) -> String {
    if wire == Wire::Adyen { "00".repeat(32) } else { "kept".to_owned() }
}

/// Dropped, it is closed.
pub struct Inbox {
    address: SocketAddr,
    letters: Arc<Mutex<Vec<Letter>>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Inbox {
    /// Has the simulator send everything here, and nothing elsewhere.
    pub fn of(simulator: &Simulator) -> Self {
        let inbox = Self::open();
        simulator.send_no_webhooks();
        inbox.collect_from(simulator);
        inbox
    }

    /// Has the simulator send everything here too.
    pub fn collect_from(&self, simulator: &Simulator) {
        for wire in Wire::ALL {
            simulator.send_webhooks_to(
                wire,
                &format!("http://{}/{}", self.address, wire.name()),
                &kept_secret(wire),
            );
        }
    }

    pub fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (letters, over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (kept, ended) = (Arc::clone(&letters), Arc::clone(&over));
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let kept = Arc::clone(&kept);
                // Ends when the sender hangs up, which it does when it is killed.
                thread::spawn(move || stream.map(|stream| receive(&stream, &kept)));
            }
        });
        Self { address, letters, over, thread: Some(thread) }
    }

    /// Waits until nothing is on its way anymore, and takes what has come.
    #[track_caller]
    pub fn take(&self, simulator: &Simulator) -> Vec<Letter> {
        wait_until("every webhook has come", WAIT_TIMEOUT, || simulator.webhooks_pending() == 0);
        std::mem::take(&mut *self.letters.lock().unwrap())
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        drop(TcpStream::connect_timeout(&self.address, Duration::from_secs(1)));
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Answers every request on a connection with 200.
fn receive(stream: &TcpStream, kept: &Mutex<Vec<Letter>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        let wire = Wire::ALL.into_iter().find(|wire| line.contains(&format!("/{}", wire.name())));
        let wire = wire.unwrap_or(Wire::Square);
        let mut length = 0;
        loop {
            line.clear();
            reader.read_line(&mut line).ok()?;
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().ok()?;
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        kept.lock().unwrap().push(Letter { wire, body });
        let mut writer = stream;
        writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").ok()?;
    }
}
