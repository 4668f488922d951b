//! A network between a server and its provider, in which something happens at the very moment the provider has answered:
//! what was asked for is done there, and nothing of it is known here yet.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

type Strike = Box<dyn FnOnce() + Send>;

/// What is to happen, and at the answer to which request.
struct Armed {
    request: String,
    strike: Strike,
}

/// Dropped, it takes no more connections.
pub struct Trap {
    pub address: SocketAddr,
    armed: Arc<Mutex<Option<Armed>>>,
    /// Whatever was sent to the provider.
    sent: Arc<Mutex<Vec<u8>>>,
    is_over: Arc<AtomicBool>,
}

impl Trap {
    pub fn before(provider: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let trap = Self { address, armed: Arc::default(), sent: Arc::default(), is_over };
        let (armed, is_over) = (Arc::clone(&trap.armed), Arc::clone(&trap.is_over));
        let sent = Arc::clone(&trap.sent);
        thread::spawn(move || {
            for client in listener.incoming() {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(provider)) else { continue };
                carry(&client, &server, &armed, &sent);
            }
        });
        trap
    }

    /// Has `strike` happen once, when the answer to the next request that begins so has come, and before it is passed on.
    pub fn arm(&self, request: &str, strike: impl FnOnce() + Send + 'static) {
        let armed = Armed { request: request.to_owned(), strike: Box::new(strike) };
        *self.armed.lock().unwrap() = Some(armed);
    }

    /// Whatever was sent to the provider so far.
    pub fn sent(&self) -> String {
        String::from_utf8_lossy(&self.sent.lock().unwrap()).into_owned()
    }

    /// Whether it has happened.
    pub fn has_struck(&self) -> bool {
        self.armed.lock().unwrap().is_none()
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
    }
}

/// Carries both ways on threads of their own, until either side ends.
fn carry(
    client: &TcpStream,
    server: &TcpStream,
    armed: &Arc<Mutex<Option<Armed>>>,
    sent: &Arc<Mutex<Vec<u8>>>,
) {
    let is_awaited = Arc::new(AtomicBool::new(false));
    let ends = || (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (from, to) = ends();
    let (waiting, awaited, sent) = (Arc::clone(armed), Arc::clone(&is_awaited), Arc::clone(sent));
    thread::spawn(move || {
        pass(&from, &to, |bytes| {
            sent.lock().unwrap().extend_from_slice(bytes);
            let armed = waiting.lock().unwrap();
            if armed.as_ref().is_some_and(|armed| bytes.starts_with(armed.request.as_bytes())) {
                awaited.store(true, Ordering::SeqCst);
            }
        })
    });
    let (to, from) = ends();
    let armed = Arc::clone(armed);
    thread::spawn(move || {
        pass(&from, &to, |_| {
            if is_awaited.swap(false, Ordering::SeqCst) {
                let struck = armed.lock().unwrap().take();
                if let Some(armed) = struck {
                    (armed.strike)();
                }
            }
        })
    });
}

fn pass(mut from: &TcpStream, mut to: &TcpStream, mut seen: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = [0; 16 * 1024];
    loop {
        let count = from.read(&mut buffer).unwrap_or(0);
        if count == 0 {
            drop(from.shutdown(Shutdown::Both));
            return to.shutdown(Shutdown::Both);
        }
        seen(&buffer[..count]);
        to.write_all(&buffer[..count])?;
    }
}
