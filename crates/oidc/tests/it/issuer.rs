//! A small issuer on this machine, which answers what a test tells it to.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use data_encoding::{BASE64, BASE64URL_NOPAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

pub(crate) const CLIENT_ID: &str = "console";
/// With letters that have to be escaped.
pub(crate) const CLIENT_SECRET: &str = "a client's secret: 100%";

/// The issuer; its thread ends with the process.
pub(crate) struct TestIssuer {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    url: String,
    keys: Vec<Value>,
    grants: HashMap<String, Grant>,
    issued: usize,
    asked: Vec<String>,
    /// Instead of the usual answer at a path.
    scripted: HashMap<String, (u16, String)>,
}

/// What a code stands for.
#[derive(Clone)]
pub(crate) struct Grant {
    pub(crate) id_token: String,
    pub(crate) challenge: String,
    pub(crate) user_info: Option<Value>,
}

impl TestIssuer {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { url: url.clone(), ..State::default() }));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&shared);
                thread::spawn(move || drop(serve(stream, &state)));
            }
        });
        Self { url, state }
    }

    pub(crate) fn publish(&self, keys: Vec<Value>) {
        self.state.lock().unwrap().keys = keys;
    }

    /// Answers this at a path from now on.
    pub(crate) fn script(&self, path: &str, status: u16, body: &str) {
        self.state.lock().unwrap().scripted.insert(path.to_owned(), (status, body.to_owned()));
    }

    /// A code that can be redeemed once.
    pub(crate) fn code(&self, grant: Grant) -> String {
        let mut state = self.state.lock().unwrap();
        state.issued += 1;
        let code = format!("code-not-to-be-logged-{}", state.issued);
        state.grants.insert(code.clone(), grant);
        code
    }

    /// How often a path was asked for.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.state.lock().unwrap().asked.iter().filter(|asked| *asked == path).count()
    }
}

/// The challenge that goes with a verifier.
pub(crate) fn challenge(verifier: &str) -> String {
    BASE64URL_NOPAD.encode(&Sha256::digest(verifier))
}

fn serve(stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut path, mut length, mut authorization) = (String::new(), 0, String::new());
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if path.is_empty() {
            line.split(' ').nth(1).unwrap_or_default().clone_into(&mut path);
        } else if let Some((name, value)) = line.split_once(':') {
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap_or(0),
                "authorization" => value.trim().clone_into(&mut authorization),
                _ => {}
            }
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let (status, answer) = state.lock().unwrap().answer(&path, &authorization, &body);
    let head = format!(
        "HTTP/1.1 {status} Answer\r\ncontent-type: application/json\r\nlocation: /elsewhere\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        answer.len()
    );
    let mut stream = reader.into_inner();
    stream.write_all(head.as_bytes())?;
    stream.write_all(answer.as_bytes())
}

impl State {
    fn answer(&mut self, path: &str, authorization: &str, body: &[u8]) -> (u16, String) {
        self.asked.push(path.to_owned());
        if let Some(scripted) = self.scripted.get(path) {
            return scripted.clone();
        }
        let url = &self.url;
        let (status, answer) = match path {
            "/.well-known/openid-configuration" => (
                200,
                json!({
                    "issuer": url, "authorization_endpoint": format!("{url}/authorize?tenant=1"),
                    "token_endpoint": format!("{url}/token"), "jwks_uri": format!("{url}/keys"),
                    "userinfo_endpoint": format!("{url}/userinfo"),
                }),
            ),
            "/keys" => (200, json!({ "keys": self.keys })),
            "/token" => self.redeem(authorization, body),
            "/userinfo" => {
                let code = authorization.strip_prefix("Bearer access-").unwrap_or_default();
                let info = self.grants.get(&format!("used {code}")).and_then(|grant| grant.user_info.clone());
                info.map_or((401, json!({})), |info| (200, info))
            }
            _ => (404, json!({})),
        };
        (status, answer.to_string())
    }

    fn redeem(&mut self, authorization: &str, body: &[u8]) -> (u16, Value) {
        let escaped = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let pair = format!("{}:{}", escaped(CLIENT_ID), escaped(CLIENT_SECRET));
        if authorization != format!("Basic {}", BASE64.encode(pair.as_bytes())) {
            return (401, json!({"error": "invalid_client"}));
        }
        let form: HashMap<String, String> = form_urlencoded::parse(body).into_owned().collect();
        let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
        let code = field("code");
        let Some(grant) = self.grants.remove(code) else { return (400, json!({"error": "invalid_grant"})) };
        if challenge(field("code_verifier")) != grant.challenge {
            return (400, json!({"error": "invalid_grant"}));
        }
        let answer = json!({"id_token": grant.id_token, "access_token": format!("access-{code}"), "token_type": "Bearer"});
        self.grants.insert(format!("used {code}"), grant);
        (200, answer)
    }
}
