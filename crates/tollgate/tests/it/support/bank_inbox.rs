//! A receiver of the bank provider's webhooks that keeps what it gets, signature and all, for tests that deliver it
//! later, in another order, or more than once.

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

use super::{
    bank_simulator::BankSimulator,
    bank_world::{BANK_WAIT_TIMEOUT, Desk},
    client::{Answer, Client},
    server::wait_until,
};

/// A webhook as it was sent.
#[derive(Debug, Clone)]
pub struct BankLetter {
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl BankLetter {
    /// Whether it names this object of the provider's.
    pub fn is_about(&self, id: &str) -> bool {
        String::from_utf8_lossy(&self.body).contains(&format!("\"{id}\""))
    }

    /// Delivers it, as it was signed, with some headers changed.
    pub fn deliver_with(&self, desk: &Desk, changed: &[(&str, &str)]) -> Answer {
        let headers: Vec<_> = self
            .headers
            .iter()
            .map(|(name, value)| {
                let other = changed.iter().find(|(changed, _)| changed == name);
                (name.as_str(), other.map_or(value.as_str(), |(_, value)| value))
            })
            .collect();
        Client::new(desk.server, "").send("POST", &desk.webhook_path(), &headers, &self.body)
    }

    /// Delivers it as it is.
    #[track_caller]
    pub fn deliver(&self, desk: &Desk) {
        self.deliver_with(desk, &[]).data(200);
    }
}

/// Dropped, it is closed.
pub struct BankInbox {
    address: SocketAddr,
    letters: Arc<Mutex<Vec<BankLetter>>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl BankInbox {
    /// Has the simulator send everything here, and nothing elsewhere.
    pub fn of(simulator: &BankSimulator, desk: &Desk) -> Self {
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
        simulator.send_no_webhooks();
        simulator.send_webhooks_to(&format!("http://{address}/kept"), &desk.webhook_secret());
        Self { address, letters, over, thread: Some(thread) }
    }

    /// Waits until nothing is on its way anymore, and takes what has come.
    #[track_caller]
    pub fn take(&self, simulator: &BankSimulator) -> Vec<BankLetter> {
        wait_until("every webhook has come", BANK_WAIT_TIMEOUT, || simulator.webhooks_pending() == 0);
        std::mem::take(&mut *self.letters.lock().unwrap())
    }
}

impl Drop for BankInbox {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        drop(TcpStream::connect_timeout(&self.address, Duration::from_secs(1)));
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Answers every request on a connection with 200.
fn receive(stream: &TcpStream, kept: &Mutex<Vec<BankLetter>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        let (mut length, mut headers) = (0, Vec::new());
        loop {
            line.clear();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
            if name == "content-length" {
                length = value.parse().ok()?;
            } else if name.starts_with("webhook-") || name.starts_with("x-") || name == "content-type" {
                headers.push((name, value));
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        kept.lock().unwrap().push(BankLetter { headers, body });
        let mut writer = stream;
        writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").ok()?;
    }
}
