//! Who may call, from where, and on which listener.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::{Value, json};

use crate::support::{ADMIN_TOKEN, Answer, Client, Server, Start, Terminal, wait_until};

const QUOTE: &str = "/client/v1/fees/quote";
const PREPARE: &str = "/client/v1/payments";
const BODY: &str = r#"{"amountMinor":"12500","currency":"USD"}"#;

fn call(client: &mut Client, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut all = vec![("content-type", "application/json")];
    all.extend(headers);
    let body = if method == "POST" { BODY.as_bytes() } else { b"" };
    client.send(method, path, &all, body)
}

#[test]
fn a_limited_key_opens_only_what_it_is_limited_to() {
    let server = Start::sandbox().with("TOLLGATE_TRUSTED_PROXIES", "127.0.0.1, 10.0.0.0/8").run();
    let mut admin = server.sandbox_client("adminToken");
    let keys = server.sandbox_path("/keys");
    let limits = json!({
        "kind": "secret", "name": "Night shift", "allowedEndpoints": ["POST /client/v1/fees/quote"],
        "allowedIpRanges": ["203.0.113.0/24"], "expiresAt": "2999-01-01T00:00:00Z",
    });
    let issued = admin.post(&keys, &limits).data(201);
    for field in ["name", "allowedEndpoints", "allowedIpRanges"] {
        assert_eq!(issued[field], limits[field], "{issued}");
    }
    assert_eq!(issued["lastUsedAt"], Value::Null);
    let mut client = server.client(issued["key"].as_str().unwrap());
    let inside = [("x-forwarded-for", "198.51.100.1, 203.0.113.9, 10.0.0.3")];
    call(&mut client, "POST", QUOTE, &inside).data(200);
    for (path, method, forwarded, words) in [
        (QUOTE, "POST", "203.0.113.9, 198.51.100.1", "198.51.100.1"),
        (QUOTE, "POST", "", "127.0.0.1"),
        ("/client/v1/wallet", "GET", "203.0.113.9", "GET /client/v1/wallet"),
        (PREPARE, "POST", "203.0.113.9", "POST /client/v1/payments"),
    ] {
        let answer = call(&mut client, method, path, &[("x-forwarded-for", forwarded)]);
        assert_eq!(answer.failure(403), "key_not_allowed");
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(words), "{message}");
    }
    // An operator sees the refusals, and when the key was last used.
    let refused = server.sandbox_path("/requests?code=key_not_allowed");
    wait_until("refusals are in the request log", Duration::from_secs(120), || {
        admin.get(&refused).data(200)["items"].as_array().unwrap().len() == 4
    });
    let id = issued["id"].as_str().unwrap();
    let listed = |admin: &mut Client| {
        let items = admin.get(&keys).data(200)["items"].clone();
        items.as_array().unwrap().iter().find(|key| key["id"] == id).unwrap().clone()
    };
    wait_until("its use is written", Duration::from_secs(120), || {
        listed(&mut admin)["lastUsedAt"].is_string()
    });
    assert!(server.log().contains("\"client\":\"198.51.100.1\""), "the log names the client, not the proxy");

    let wrong = json!({
        "kind": "publishable", "name": "", "allowedEndpoints": ["POST /client/v1/fees/quote"],
        "allowedIpRanges": ["10.0.0.0/33"], "expiresAt": "2001-01-01T00:00:00Z",
    });
    let faults = admin.post(&keys, &wrong).faulty_fields();
    assert_eq!(faults, ["name", "allowedEndpoints", "allowedIpRanges", "expiresAt"]);

    let terminal = Terminal::beside(&server);
    let replaced = terminal.json(&["keys", "rotate", id, "--ip-range", "127.0.0.1", "--name", "Day shift"]);
    assert_eq!(replaced["allowedEndpoints"], limits["allowedEndpoints"]);
    call(&mut server.client(replaced["key"].as_str().unwrap()), "POST", QUOTE, &[]).data(200);
    let list = terminal.shows(&["keys", "list"]);
    assert!(list.contains("Day shift") && list.contains("POST /client/v1/fees/quote"), "{list}");
}

fn allowed_origin(answer: &Answer) -> Option<&str> {
    answer.headers.get("access-control-allow-origin").map(String::as_str)
}

#[test]
fn pages_call_with_a_publishable_key_from_allowed_origins_only() {
    let server = Start::sandbox().run();
    let mut admin = server.sandbox_client("adminToken");
    let mut secret = server.sandbox_client("secretKey");
    let mut publishable = server.sandbox_client("publishableKey");
    let ask = |origin: &str, path: &str| {
        let headers = [("origin", origin), ("access-control-request-method", "POST")];
        server.client("").send("OPTIONS", path, &headers, b"")
    };
    let (local, shop) = ("http://localhost:3000", "https://shop.example");
    // The sandbox trusts pages on this machine; a browser asks first, and reads the answer.
    let asked = ask(local, PREPARE);
    assert_eq!((asked.status, allowed_origin(&asked)), (204, Some(local)));
    assert!(asked.headers["access-control-allow-headers"].contains("authorization"));
    let prepared = call(&mut publishable, "POST", PREPARE, &[("origin", local)]);
    prepared.data(201);
    assert_eq!(allowed_origin(&prepared), Some(local));
    // Others need to be allowed, and no page may use a secret key or another endpoint.
    for origin in [shop, "null"] {
        assert_eq!((ask(origin, PREPARE).status, allowed_origin(&ask(origin, PREPARE))), (405, None));
        let refused = call(&mut publishable, "POST", PREPARE, &[("origin", origin)]);
        assert_eq!((refused.failure(403).as_str(), allowed_origin(&refused)), ("origin_not_allowed", None));
    }
    assert_eq!(ask(local, QUOTE).status, 405);
    for (method, path) in [("POST", PREPARE), ("POST", QUOTE), ("GET", "/client/v1/wallet")] {
        let refused = call(&mut secret, method, path, &[("origin", local)]);
        assert_eq!(refused.failure(403), "origin_not_allowed");
        assert!(refused.json()["message"].as_str().unwrap().contains("secret key"));
    }
    // As the test's client names the service.
    call(&mut secret, "POST", QUOTE, &[("origin", "http://localhost")]).data(200);

    let config = server.sandbox_path("/config");
    let mut document = admin.get(&config).data(200);
    document["settings"]["allowedOrigins"] = json!([shop]);
    admin.put(&config, &document).data(200);
    assert_eq!(allowed_origin(&ask(shop, PREPARE)), Some(shop));
    let prepared = call(&mut publishable, "POST", PREPARE, &[("origin", shop)]);
    prepared.data(201);
    assert_eq!(allowed_origin(&prepared), Some(shop));
    // A page can read why a call failed.
    let failed = call(&mut server.client("pk_test_nonsense"), "POST", PREPARE, &[("origin", shop)]);
    assert_eq!((failed.failure(401).as_str(), allowed_origin(&failed)), ("unauthenticated", Some(shop)));
    let refused = server.sandbox_path("/requests?code=origin_not_allowed");
    wait_until("refusals are in the request log", Duration::from_secs(120), || {
        admin.get(&refused).data(200)["items"].as_array().unwrap().len() == 5
    });
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = data_encoding::BASE64.encode(der);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

pub fn admin_address(server: &Server) -> SocketAddr {
    let log = server.log();
    let line = log.lines().find(|line| line.contains("\"listening\"")).unwrap();
    let json: Value = serde_json::from_str(line).unwrap();
    json["admin_address"].as_str().unwrap().parse().unwrap()
}

#[test]
fn operators_are_served_only_on_their_own_listener() {
    let mut server = Start::serve().with("TOLLGATE_ADMIN_LISTEN", "127.0.0.1:0").run();
    let address = admin_address(&server);
    let admin = || Client::new(address, ADMIN_TOKEN);
    for path in ["/admin/v1/organizations", "/admin", "/console", "/console/sign-in", "/admin/v1/nothing"] {
        let hidden = server.client(ADMIN_TOKEN).get(path);
        assert_eq!(hidden.failure(404), "not_found", "{path}");
        assert_eq!(hidden.json()["message"], server.client("").get("/nowhere").json()["message"], "{path}");
    }
    admin().get("/admin/v1/organizations").data(200);
    assert_eq!(admin().get("/console/sign-in").status, 200);
    server.client("").get("/healthz").data(200);
    admin().get("/readyz").data(200);
    let proxied = [("x-forwarded-for", "203.0.113.9")];
    assert_eq!(server.client("").send("GET", "/metrics", &proxied, b"").status, 401);
    assert_eq!(admin().send("GET", "/metrics", &proxied, b"").status, 200);

    // Told to stop, both finish what they have begun.
    let mut streams = [server.address(), address].map(|address| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(b"POST /client/v1/fees/quote HTTP/1.1\r\nhost: test\r\n").unwrap();
        let head = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{{", BODY.len());
        stream.write_all(head.as_bytes()).unwrap();
        stream
    });
    // Both connections are taken, because later ones are answered.
    admin().get("/readyz").data(200);
    server.client("").get("/healthz").data(200);
    std::thread::sleep(Duration::from_millis(500));
    server.signal_terminate();
    wait_until("both refuse new connections", Duration::from_secs(120), || {
        [server.address(), address].iter().all(|address| TcpStream::connect(address).is_err())
    });
    for stream in &mut streams {
        stream.write_all(&BODY.as_bytes()[1..]).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    }
    assert!(server.wait_end(Duration::from_secs(120)).success());
}

#[test]
fn both_listeners_speak_tls_with_the_operator_s_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(&certificate, pem("CERTIFICATE", cert.der())).unwrap();
    fs::write(&key, pem("PRIVATE KEY", &signing_key.serialize_der())).unwrap();
    let [certificate, key] = [&certificate, &key].map(|path| path.to_str().unwrap());
    let start = || Start::serve().with("TOLLGATE_TLS_CERTIFICATE", certificate);
    let mut server =
        start().with("TOLLGATE_TLS_KEY", key).with("TOLLGATE_ADMIN_LISTEN", "127.0.0.1:0").spawn();
    server.wait_listening();
    let address = admin_address(&server);
    let terminal = Terminal::nowhere(folder.path().to_owned()).with("TOLLGATE_ADMIN_TOKEN", ADMIN_TOKEN);
    let at = |port: u16| terminal.clone().with("TOLLGATE_URL", &format!("https://localhost:{port}"));
    let trusting = |port: u16| at(port).with("SSL_CERT_FILE", certificate);
    let made = trusting(address.port()).json(&["organizations", "create", "Acme"]);
    assert_eq!(made["name"], "Acme");
    // Callers are served with it as well, and operators not there.
    let refused = trusting(server.address().port()).fails(&["organizations", "list"]);
    assert!(refused.contains("not exist") || refused.contains("not found"), "{refused}");
    let unknown = at(address.port()).fails(&["organizations", "list"]);
    assert!(unknown.to_lowercase().contains("certificate"), "{unknown}");
    let plain = Client::new(address, ADMIN_TOKEN).try_send("GET", "/admin/v1/organizations", &[], b"");
    assert!(plain.is_err(), "{plain:?}");
    let script = "import http.client, ssl, sys\n\
        asked = http.client.HTTPSConnection('localhost', int(sys.argv[1]), context=ssl._create_unverified_context())\n\
        asked.request('GET', '/healthz')\n\
        print(asked.getresponse().getheader('strict-transport-security'))";
    let port = server.address().port().to_string();
    let said = std::process::Command::new("python3").args(["-c", script, &port]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), "max-age=31536000", "{said:?}");
    assert!(server.terminate().success());

    let mut half = start().spawn();
    assert!(!half.wait_end(Duration::from_secs(120)).success());
    assert!(half.log().contains("TOLLGATE_TLS_KEY"), "{}", half.log());
}
