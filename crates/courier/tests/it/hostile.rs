//! Addresses that lead to this machine or its neighbors, in every spelling, by names and by redirects: no connection.

use std::sync::Arc;

use tollgate_engine::ports::DeliveryError;

use crate::support::{Listener, Names, courier, send};

/// Spellings of this machine's own addresses, at which somebody listens. With `allowed` they do connect, so that the
/// refusals are worth something.
const OURSELVES: [&str; 24] = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7F.0.0.1",
    "0x7f.1",
    "0x7f.0x0.0x0.0x1",
    "017700000001",
    "0177.0.0.1",
    "0177.0.0.01",
    "0177.1",
    "00000177.0000.0.01",
    "127.0.0.1.",
    "127.0x0.0.1",
    "127.000.000.001",
    "１２７.0.0.1",
    "127。0。0。1",
    "%31%32%37.0.0.1",
    "0x7f.0.1",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:0001]",
    "[::FFFF:7F00:1]",
];

/// Addresses at which nobody may be asked, whoever listens there.
const OTHERS: [&str; 43] = [
    "0.0.0.0",
    "0",
    "0x0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "012.1",
    "167772161",
    "100.64.0.1",
    "100.127.255.254",
    "127.255.255.254",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "0251.0376.0251.0376",
    "169.254.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.168.1.1",
    "0xc0a80101",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[::127.0.0.1]",
    "[::ffff:169.254.169.254]",
    "[::ffff:a00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "[2001:db8::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[ff02::1]",
];

#[tokio::test]
async fn no_spelling_of_an_address_that_is_not_public_is_connected_to() {
    let listener = Listener::open("127.0.0.1:0", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let port = listener.address.port();
    let names = Arc::new(Names::default());
    let strict = courier(false, &names);
    for host in OURSELVES.iter().chain(&OTHERS) {
        for url in [
            format!("https://{host}:{port}/"),
            format!("http://{host}:{port}/"),
            format!("https://user:word@{host}:{port}/?a=b"),
        ] {
            let carried = send(&strict, &url).await;
            assert!(matches!(carried, Err(DeliveryError::Refused(_))), "{url}: {carried:?}");
        }
    }
    assert_eq!((listener.connections(), names.asked()), (0, 0));
    let lax = courier(true, &names);
    for host in OURSELVES {
        let carried = send(&lax, &format!("http://{host}:{port}/")).await;
        assert_eq!(carried.map(|receipt| receipt.status), Ok(200), "{host}");
    }
    assert_eq!(listener.connections(), OURSELVES.len());
}

#[tokio::test]
async fn no_name_that_leads_there_is_connected_to() {
    let listener = Listener::open("127.0.0.1:0", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let port = listener.address.port();
    let public = "93.184.215.14";
    let names = Names::default()
        .with("localhost", &[&["127.0.0.1"]])
        .with("loopback.example", &[&["127.0.0.1"]])
        .with("six.example", &[&["::1"]])
        .with("mapped.example", &[&["::ffff:127.0.0.1"]])
        .with("metadata.example", &[&["169.254.169.254"]])
        .with("first.example", &[&["127.0.0.1", public]])
        .with("last.example", &[&[public, "127.0.0.1"]])
        .with("unique.example", &[&["2606:4700::1111", "fd00::1"]])
        .with("nat.example", &[&["64:ff9b::7f00:1"]])
        .with("private.example", &[&["10.1.2.3"]]);
    let names = Arc::new(names);
    let strict = courier(false, &names);
    let hosts = [
        "localhost",
        "LOCALHOST",
        "loopback.example",
        "loopback.example.",
        "six.example",
        "mapped.example",
        "metadata.example",
        "first.example",
        "last.example",
        "unique.example",
        "nat.example",
        "private.example",
    ];
    for host in hosts {
        let carried = send(&strict, &format!("https://{host}:{port}/")).await;
        assert!(matches!(carried, Err(DeliveryError::Refused(_))), "{host}: {carried:?}");
    }
    assert_eq!((listener.connections(), names.asked()), (0, hosts.len()));
    let carried = send(&strict, "https://nowhere.example/").await;
    assert!(matches!(carried, Err(DeliveryError::Failed(_))), "{carried:?}");
}

#[tokio::test]
async fn the_address_that_was_looked_at_is_the_one_that_is_connected_to() {
    let listener = Listener::open("127.0.0.1:0", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    // Whoever asks twice is led elsewhere by the second answer.
    let names = Arc::new(Names::default().with("turns.example", &[&["127.0.0.1"], &["127.0.0.2"]]));
    let url = format!("http://turns.example:{}/", listener.address.port());
    let carried = send(&courier(true, &names), &url).await;
    assert_eq!(carried.map(|receipt| receipt.status), Ok(200));
    assert_eq!((listener.connections(), names.asked()), (1, 1));
}

#[tokio::test]
async fn redirects_lead_nowhere() {
    let target = Listener::open("127.0.0.1:0", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    for status in [301, 302, 303, 307, 308] {
        let answer = format!(
            "HTTP/1.1 {status} Elsewhere\r\nlocation: http://{}/\r\ncontent-length: 0\r\n\r\n",
            target.address
        );
        let front = Listener::open("127.0.0.1:0", &answer).await;
        let names = Arc::new(Names::default());
        let carried = send(&courier(true, &names), &format!("http://{}/", front.address)).await;
        assert_eq!(carried.map(|receipt| receipt.status), Ok(status));
        assert_eq!(front.connections(), 1);
    }
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn other_schemes_and_what_is_no_address_are_refused() {
    let names = Arc::new(Names::default());
    for allow_private in [false, true] {
        let courier = courier(allow_private, &names);
        for url in [
            "",
            "/events",
            "file:///etc/passwd",
            "ftp://127.0.0.1/",
            "gopher://127.0.0.1/",
            "unix:/var/run/docker.sock",
            "data:text/plain,hello",
            "https://",
            "https://exa mple/",
            "https://256.256.256.256/",
            "https://1.2.3.4.5/",
            "https://[::1/",
            "javascript:alert(1)",
        ] {
            let carried = send(&courier, url).await;
            assert!(matches!(carried, Err(DeliveryError::Refused(_))), "{url}: {carried:?}");
        }
    }
    assert_eq!(names.asked(), 0);
}
