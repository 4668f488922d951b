//! Ten thousand webhooks that are not what they claim to be, each made from a genuine one.

use std::collections::BTreeMap;

use rand::{RngExt, rngs::StdRng};
use serde_json::{Value, json};

use super::everything;
use crate::support::{
    Client, Flow, Inbox, Letter, Shop, StoreKind, Wire, World, on_both_stores, randomness, seed,
    signature_header, square_signature, stripe_signature, unix_seconds,
};

on_both_stores! {
    ten_thousand_forgeries_and_replays_change_nothing
}

const CASES: u64 = 10_000;

/// What is done to a genuine webhook.
const TRICKS: [&str; 24] = [
    "replay",
    "replay with another body",
    "flipped bit in the body",
    "flipped bit in the signature",
    "cut body",
    "longer body",
    "empty body",
    "other secret",
    "other shop's secret",
    "other provider's secret",
    "other provider's scheme",
    "other shop's address",
    "wrong address signed",
    "stale",
    "from the future",
    "time altered",
    "no time",
    "no header",
    "header under another name",
    "header twice",
    "empty header",
    "nonsense in the header",
    "nothing but a prefix of the signature",
    "huge body",
];

/// One webhook ready to be sent, and what it must be answered.
struct Forgery {
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    status: u16,
}

struct Forger<'w> {
    shop: &'w Shop,
    other: &'w Shop,
    letters: Vec<Letter>,
}

fn pick<'t, T>(random: &mut StdRng, items: &'t [T]) -> &'t T {
    &items[random.random_range(0..items.len())]
}

/// Any text of letters and digits.
fn noise(random: &mut StdRng, length: usize) -> String {
    (0..length).map(|_| char::from(*pick(random, b"abcdefghijklmnopqrstuvwxyz0123456789"))).collect()
}

fn flip(random: &mut StdRng, bytes: &mut [u8]) {
    let place = random.random_range(0..bytes.len());
    bytes[place] ^= 1 << random.random_range(0..7_u8);
}

impl Forger<'_> {
    fn make(&self, trick: &str, random: &mut StdRng) -> Forgery {
        let letter = pick(random, &self.letters).clone();
        let wire = letter.wire;
        let (mut body, mut path) = (letter.body.clone(), self.shop.webhook_path(wire));
        let (mut secret, mut url, mut at) =
            (self.shop.webhook_secret(wire), self.shop.webhook_url(wire), unix_seconds());
        let mut status = 401;
        match trick {
            "replay" => status = 200,
            // Genuine by its signature; its name is known, so that nothing in it counts.
            "replay with another body" => {
                let mut json = letter.json();
                json["forged"] = json!(noise(random, 20));
                json["created"] = json!(random.random_range(0..2_000_000_000));
                body = json.to_string().into_bytes();
                status = 200;
            }
            "empty body" => body.clear(),
            "huge body" => {
                body.resize(512 * 1024 + 1 + random.random_range(0..2_048), b' ');
                status = 413;
            }
            "other secret" => secret = format!("whsec_{}", noise(random, 64)),
            "other shop's secret" => secret = self.other.webhook_secret(wire),
            "other provider's secret" => {
                secret =
                    self.shop.webhook_secret(if wire == Wire::Stripe { Wire::Square } else { Wire::Stripe });
            }
            "other shop's address" => path = self.other.webhook_path(wire),
            "stale" => at -= random.random_range(302..1_000_000),
            "from the future" => at += random.random_range(305..1_000_000),
            "wrong address signed" => {
                let wrong = [
                    format!("{url}/"),
                    format!("{url}?x=1"),
                    url.replace("http://", "https://"),
                    url.replace("card_provider_b", "card_provider_a"),
                    url.replace("127.0.0.1", "localhost"),
                    self.other.webhook_url(wire),
                    String::new(),
                ];
                url.clone_from(pick(random, &wrong));
            }
            _ => {}
        }
        let no_time_in_it = ["stale", "from the future"].contains(&trick) && wire == Wire::Square;
        let no_address_in_it = trick == "wrong address signed" && wire == Wire::Stripe;
        if no_time_in_it || no_address_in_it {
            // What the provider does not sign cannot be wrong: a stranger's signature instead.
            secret = noise(random, 32);
        }
        let signature = sign(wire, &secret, &url, at, &body);
        let name = signature_header(wire);
        let mut headers = vec![(name.to_owned(), signature.clone())];
        match trick {
            "flipped bit in the body" => flip(random, &mut body),
            "cut body" => body.truncate(random.random_range(1..letter.body.len())),
            "longer body" => body.extend(pick(random, &[&b" "[..], b"\n", b"{}", b"\0"]).iter()),
            "flipped bit in the signature" => headers[0].1 = spoiled(wire, &signature, random),
            "other provider's scheme" => {
                let other = if wire == Wire::Stripe { Wire::Square } else { Wire::Stripe };
                let signature = sign(other, &secret, &url, at, &body);
                headers = vec![(signature_header(other).to_owned(), signature)];
            }
            "time altered" => headers[0].1 = signature.replacen(&at.to_string(), &(at - 1).to_string(), 1),
            "no time" => signature.split(',').next_back().unwrap().clone_into(&mut headers[0].1),
            "no header" => headers.clear(),
            "header under another name" => {
                let names = [
                    "x-stripe-signature",
                    "stripe_signature",
                    "x-square-signature",
                    "signature",
                    "authorization",
                ];
                (*pick(random, &names)).clone_into(&mut headers[0].0);
            }
            "header twice" => headers.push((name.to_owned(), noise(random, 40))),
            "empty header" => headers[0].1.clear(),
            "nonsense in the header" => headers[0].1 = nonsense(random),
            "nothing but a prefix of the signature" => {
                headers[0].1.truncate(signature.len() - random.random_range(1..20));
            }
            _ => {}
        }
        // A square signature has no time to alter or leave out.
        if wire == Wire::Square && ["time altered", "no time"].contains(&trick) {
            headers[0].1 = noise(random, 44);
        }
        Forgery { path, headers, body, status }
    }
}

/// A wire's signature of a body.
fn sign(wire: Wire, secret: &str, url: &str, at: i64, body: &[u8]) -> String {
    match wire {
        Wire::Stripe => stripe_signature(secret, at, body),
        Wire::Adyen => panic!("not played here"),
        Wire::Square => square_signature(secret, url, body),
    }
}

/// A signature with one digit changed to another.
fn spoiled(wire: Wire, signature: &str, random: &mut StdRng) -> String {
    let digits: &[u8] = match wire {
        Wire::Stripe => b"0123456789abcdef",
        Wire::Adyen => panic!("not played here"),
        Wire::Square => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    };
    let mut bytes = signature.as_bytes().to_vec();
    let end = if wire == Wire::Square { bytes.len() - 1 } else { bytes.len() };
    let begin = if wire == Wire::Stripe { end - 64 } else { 0 };
    let place = random.random_range(begin..end);
    let others: Vec<u8> = digits.iter().copied().filter(|digit| *digit != bytes[place]).collect();
    bytes[place] = *pick(random, &others);
    String::from_utf8(bytes).unwrap()
}

fn nonsense(random: &mut StdRng) -> String {
    let length = random.random_range(1..4_000);
    let choices = [
        noise(random, length),
        "t=,v1=".to_owned(),
        format!("t={},v1=", unix_seconds()),
        format!("t={},v1={}", unix_seconds(), "0".repeat(64)),
        format!("t={0},t={0},v1=00", unix_seconds()),
        format!("t=-1,v1={}", noise(random, 64)),
        format!("t=99999999999999999999,v1={}", noise(random, 64)),
        ",".repeat(2_000),
        "=".repeat(44),
        "v1=".repeat(500),
    ];
    pick(random, &choices).clone()
}

/// Payments in every state, with everything their provider said about them delivered once.
fn settle_down(world: &World) -> Vec<Letter> {
    let (shop, simulator) = (&world.shop, &world.simulator);
    let inbox = Inbox::of(simulator);
    for wire in Wire::BOTH {
        let paid = shop.prepare(Flow::Hosted, wire);
        simulator.pay_page(paid.checkout_url());
        let declined = shop.prepare(Flow::Hosted, wire);
        simulator.submit(declined.checkout_url(), crate::support::DECLINED_CARD);
        shop.prepare(Flow::Hosted, wire);
        let component = shop.prepare(Flow::Component, wire);
        if wire == Wire::Stripe {
            simulator.pay_intent(component.component());
        }
        shop.confirm(&component.reference, &component.confirm_body()).data(200);
        let id = shop.read_transaction(&component.reference).data(200)["providerReference"].clone();
        let kind = if wire == Wire::Stripe { "payment_intents" } else { "payments" };
        simulator.drive(
            &format!("{}/{kind}/{}/refund", wire.name(), id.as_str().unwrap()),
            &json!({"amount": 100}),
        );
    }
    let letters = inbox.take(simulator);
    for letter in &letters {
        shop.forward(letter);
        // One after the other: each finds the payment as the one before left it.
        shop.wait_events(simulator);
    }
    letters
}

fn ten_thousand_forgeries_and_replays_change_nothing(kind: StoreKind) {
    let seed = seed();
    let world = World::start_without_looks(kind);
    let other = world.another_shop();
    let letters = settle_down(&world);
    assert!(letters.len() >= 15, "{} letters", letters.len());
    for wire in Wire::BOTH {
        assert!(letters.iter().filter(|letter| letter.wire == wire).count() >= 5);
    }
    let before: Value = json!([everything(&world.shop), everything(&other)]);
    let calls = world.simulator.state()["calls"].clone();
    let forger = Forger { shop: &world.shop, other: &other, letters };
    let mut client = Client::new(world.server.address(), "");
    let mut tally = BTreeMap::<(&str, u16), u64>::new();
    for case in 0..CASES {
        let mut random = randomness(seed, case);
        let trick = match TRICKS[usize::try_from(case).unwrap() % TRICKS.len()] {
            // Half a megabyte each: a few of them are enough.
            "huge body" if random.random_range(0..20) > 0 => "flipped bit in the body",
            trick => trick,
        };
        let forgery = forger.make(trick, &mut random);
        let headers: Vec<_> =
            forgery.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let answer = client.send("POST", &forgery.path, &headers, &forgery.body);
        assert_eq!(
            answer.status,
            forgery.status,
            "case {case}, {trick}: {}\nto {} with {:?} and {}",
            String::from_utf8_lossy(&answer.body),
            forgery.path,
            forgery.headers,
            String::from_utf8_lossy(&forgery.body)
        );
        match forgery.status {
            200 => assert_eq!(answer.data(200), json!({"received": true})),
            401 => assert_eq!(answer.failure(401), "unauthenticated"),
            status => assert_eq!(answer.failure(status), "body_too_large"),
        }
        *tally.entry((trick, answer.status)).or_default() += 1;
    }
    println!("{tally:#?}");
    assert_eq!(tally.len(), TRICKS.len(), "a trick was never played");
    assert_eq!(json!([everything(&world.shop), everything(&other)]), before, "something changed");
    let calls_since = without_daily_lists(world.simulator.state()["calls"].clone());
    assert_eq!(calls_since, without_daily_lists(calls), "a provider was asked because of it");
}

/// Disputes are listed once a day, whether webhooks arrive or not.
fn without_daily_lists(mut calls: Value) -> Value {
    calls.as_object_mut().unwrap().shift_remove("square.disputes.list");
    calls
}
