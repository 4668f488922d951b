//! Webhooks in every order, each more than once, while the payment goes on: they end where the truth is.

use rand::{RngExt, seq::SliceRandom};

use serde_json::json;

use crate::support::{
    DECLINED_CARD, Flow, Inbox, Letter, Prepared, StoreKind, Wire, World, on_both_stores, randomness, seed,
    wait_agreement,
};

on_both_stores! {
    webhooks_in_every_order_end_where_the_truth_is
    webhooks_that_overtake_what_they_tell_of_change_nothing_backwards
}

/// Every order of so many things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(count - 1);
    let places = |order: &Vec<usize>| {
        (0..count)
            .map(|place| {
                let mut longer = order.clone();
                longer.insert(place, count - 1);
                longer
            })
            .collect::<Vec<_>>()
    };
    shorter.iter().flat_map(places).collect()
}

/// The letters that lead to something, of which there are few enough to be delivered in every order.
fn telling(letters: Vec<Letter>) -> Vec<Letter> {
    let silent = ["payment_intent.created", "charge.succeeded", "charge.failed", "refund.created"];
    letters.into_iter().filter(|letter| !silent.contains(&letter.kind().as_str())).collect()
}

fn provider_reference(world: &World, prepared: &Prepared, wire: Wire) -> String {
    let state = world.simulator.state();
    let (rows, names): (_, &[&str]) = match wire {
        Wire::Stripe => (&state["stripe"]["payment_intents"], &["/metadata/tollgate_reference"]),
        Wire::Adyen => panic!("not played here"),
        Wire::Square => (&state["square"]["payments"], &["/reference_id", "/order_reference_id"]),
    };
    let paid = |row: &&serde_json::Value| {
        let is_ours = |name: &&str| row.pointer(name).is_some_and(|found| *found == prepared.reference);
        let of_ours = names.iter().any(is_ours);
        of_ours && (row["status"] == "succeeded" || row["status"] == "COMPLETED")
    };
    rows.as_array().unwrap().iter().find(paid).unwrap()["id"].as_str().unwrap().to_owned()
}

fn webhooks_in_every_order_end_where_the_truth_is(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let inbox = Inbox::of(&world.simulator);
    for wire in Wire::BOTH {
        let (mut played, mut number) = (0, 0);
        loop {
            let prepared = world.shop.prepare(Flow::Hosted, wire);
            let reference = prepared.reference.as_str();
            world.simulator.submit(prepared.checkout_url(), DECLINED_CARD);
            world.simulator.pay_page(prepared.checkout_url());
            let id = provider_reference(&world, &prepared, wire);
            let kind = if wire == Wire::Stripe { "payment_intents" } else { "payments" };
            let path = format!("{}/{kind}/{id}/refund", wire.name());
            world.simulator.drive(&path, &json!({}));
            let letters = telling(inbox.take(&world.simulator));
            // Stripe: failed, succeeded, completed, refunded. Square: failed, created, completed, refunded, three more.
            let letters = &letters[..letters.len().min(5)];
            let orders = orders(letters.len());
            let order = &orders[number];
            // All of them, and the first one once more at the end.
            for place in order.iter().chain(order.first()) {
                world.shop.forward(&letters[*place]);
            }
            world.shop.wait_status(reference, "refunded");
            played += 1;
            // Each place of each letter is covered by every eighth order; all of them would take minutes.
            number += if letters.len() > 4 { 7 } else { 1 };
            if number >= orders.len() {
                break;
            }
        }
        println!("{played} orders on {wire:?}");
        assert!(played >= 17, "{played}");
    }
    world.shop.wait_events(&world.simulator);
    let audit = wait_agreement(&world.shop, &world.simulator, crate::support::WAIT_TIMEOUT);
    assert!(audit.payments >= 34, "{audit:?}");
}

/// An event can be delivered at any moment after what it tells of, also long after other things have happened.
fn webhooks_that_overtake_what_they_tell_of_change_nothing_backwards(kind: StoreKind) {
    let seed = seed();
    let world = World::start_without_looks(kind);
    let inbox = Inbox::of(&world.simulator);
    for case in 0..30 {
        let mut random = randomness(seed, case);
        let wire = Wire::BOTH[usize::from(random.random_bool(0.5))];
        let flow = Flow::BOTH[usize::from(random.random_bool(0.5))];
        let prepared = world.shop.prepare(flow, wire);
        let reference = prepared.reference.as_str();
        let mut waiting: Vec<Letter> = Vec::new();
        let mut reached = Vec::new();
        for step in ["decline", "pay", "confirm", "refund"] {
            match (step, flow, wire) {
                ("decline", Flow::Hosted, _) => {
                    drop(world.simulator.submit(prepared.checkout_url(), DECLINED_CARD));
                }
                ("decline", _, Wire::Stripe) => {
                    drop(world.simulator.confirm_intent(prepared.component(), "pm_card_chargeDeclined"));
                }
                ("decline", _, Wire::Square) => {
                    let body = json!({"sourceId": world.simulator.card_token("4000000000000002")});
                    world.shop.confirm(reference, &body).data(200);
                }
                ("pay", Flow::Hosted, _) => world.simulator.pay_page(prepared.checkout_url()),
                ("pay", _, Wire::Stripe) => world.simulator.pay_intent(prepared.component()),
                ("confirm", Flow::Component, _) => {
                    drop(world.shop.confirm(reference, &prepared.confirm_body()).data(200));
                }
                ("refund", ..) => {
                    let id = provider_reference(&world, &prepared, wire);
                    let kind = if wire == Wire::Stripe { "payment_intents" } else { "payments" };
                    world.simulator.drive(&format!("{}/{kind}/{id}/refund", wire.name()), &json!({}));
                }
                _ => {}
            }
            waiting.extend(inbox.take(&world.simulator));
            waiting.shuffle(&mut random);
            let kept = if step == "refund" { 0 } else { random.random_range(0..=waiting.len()) };
            for letter in waiting.drain(kept..) {
                world.shop.forward(&letter);
                if random.random_bool(0.3) {
                    world.shop.forward(&letter);
                }
            }
            world.shop.wait_events(&world.simulator);
            reached.push(world.shop.status(reference));
        }
        assert_eq!(reached[3].as_deref(), Some("refunded"), "seed {seed}, case {case}: {reached:?}");
        let moves = world.shop.moves(reference);
        let at = |status: &str| moves.iter().position(|to| to == status);
        assert!(at("failed") < at("refunded") && at("succeeded") < at("refunded"), "case {case}: {moves:?}");
        assert_eq!(moves.iter().filter(|to| *to == "refunded").count(), 1, "case {case}: {moves:?}");
    }
    wait_agreement(&world.shop, &world.simulator, crate::support::WAIT_TIMEOUT);
}
