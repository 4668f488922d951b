//! A provider that no longer takes what is asked of it, as the command and the caller see it.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    thread,
};

use serde_json::json;

use super::{STRIPE, Scene};
use crate::support::{Flow, Terminal, Wire};

/// Requests are made as this version wants them.
const ASKED_FOR: &str = "2026-08-26.dahlia";
/// And reach a provider that reads them as this one, which no longer has one of the parameters.
const ANSWERED_AS: &str = "2026-10-28.endive";

/// The address of a provider that takes every request for one of a newer version.
fn upgraded(provider: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let provider = TcpStream::connect(provider).unwrap();
            let (answers, asker) = (provider.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || carry(client, provider, |text| text.replace(ASKED_FOR, ANSWERED_AS)));
            thread::spawn(move || carry(answers, asker, |text| text));
        }
    });
    address
}

fn carry(mut from: TcpStream, mut to: TcpStream, changed: fn(String) -> String) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
        if to.write_all(changed(text).as_bytes()).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Write));
}

#[test]
fn the_command_says_why_requests_of_an_older_version_are_refused() {
    assert_eq!(ASKED_FOR.len(), ANSWERED_AS.len(), "the length of a request stays right");
    let scene = Scene::open();
    let terminal = Terminal::of(&scene.server);
    let mut document = scene.document();
    document["providers"][STRIPE]["options"] = json!({ "apiVersion": ASKED_FOR });
    scene.shop.configure(&document);
    let said = terminal.shows(&["providers", "test", STRIPE]);
    assert!(said.contains("ok       preparation"), "{said}");
    scene.shop.prepare(Flow::Component, Wire::Stripe);

    document["providers"][STRIPE]["baseUrl"] =
        json!(format!("http://{}/stripe", upgraded(scene.simulator.address())));
    scene.shop.configure(&document);
    let failure = terminal.run(&["providers", "test", STRIPE]);
    assert_eq!(failure.code, 1, "{failure:?}");
    let why = "The parameter `payment_method_types` is no longer supported";
    for part in ["failed   preparation", why, "set options.apiVersion to null"] {
        assert!(failure.out.contains(part), "{part} is not in {failure:?}");
    }
    for flow in Flow::BOTH {
        let refused = scene.shop.try_prepare(flow, Wire::Stripe);
        let body = String::from_utf8_lossy(&refused.body).into_owned();
        assert_eq!(refused.status, 422, "{body}");
        assert!(body.contains("provider_rejected") && body.contains(why), "{body}");
    }

    // Asked as it wants to be asked, it takes everything again.
    document["providers"][STRIPE]["options"] = json!({ "apiVersion": null });
    scene.shop.configure(&document);
    let said = terminal.shows(&["providers", "test", STRIPE]);
    assert!(said.contains("ok       preparation"), "{said}");
    for flow in Flow::BOTH {
        scene.shop.prepare(flow, Wire::Stripe);
    }
}
