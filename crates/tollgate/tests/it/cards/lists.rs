//! Lists of transactions and payments: filters, cursors, order, and what is not in the right form.

use serde_json::{Value, json};

use crate::support::{Flow, Shop, StoreKind, Wire, World, on_both_stores};

on_both_stores! {
    transactions_are_listed_newest_first_filtered_and_in_slices
    operators_list_payments_by_what_became_of_them
}

const LIST: &str = "/client/v1/transactions";

fn references(items: &Value) -> Vec<String> {
    let items = items.as_array().unwrap();
    items.iter().map(|item| item["serviceReference"].as_str().unwrap().to_owned()).collect()
}

/// Reference, wire, status and time of a transaction.
type Made = (String, Wire, &'static str, String);

/// Follows the cursor to the end.
fn all(shop: &Shop, query: &str, limit: usize) -> Vec<String> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let data = shop.client().get(&format!("{LIST}?limit={limit}{query}{cursor}")).data(200);
        let page = references(&data["items"]);
        assert!(page.len() <= limit);
        assert!(!page.is_empty() || cursor.is_empty(), "a cursor led to an empty page");
        found.extend(page);
        assert!(found.len() <= 1_000, "the cursor leads nowhere");
        match data["nextCursor"].as_str() {
            Some(next) => cursor = format!("&before={next}"),
            None => return found,
        }
    }
}

fn transactions_are_listed_newest_first_filtered_and_in_slices(kind: StoreKind) {
    let world = World::start(kind);
    let shop = &world.shop;
    assert_eq!(shop.client().get(LIST).data(200), json!({"items": [], "nextCursor": null}));
    let (mut made, mut middle) = (Vec::new(), String::new());
    for number in 0..14 {
        let wire = if number % 2 == 0 { Wire::Square } else { Wire::Stripe };
        let prepared = shop.prepare(Flow::Component, wire);
        let (status, body) = match (wire, number % 3) {
            (Wire::Square, 0) => ("failed", json!({"sourceId": "cnon:card-nonce-declined"})),
            (Wire::Square, _) => ("succeeded", json!({"sourceId": "cnon:card-nonce-ok"})),
            (Wire::Stripe | Wire::Adyen, _) => ("pending", prepared.confirm_body()),
        };
        let data = shop.confirm(&prepared.reference, &body).data(200);
        assert_eq!(data["transaction"]["status"], status);
        if number == 7 {
            data["transaction"]["createdAt"].as_str().unwrap().clone_into(&mut middle);
        }
        made.push((
            prepared.reference,
            wire,
            status,
            data["transaction"]["createdAt"].as_str().unwrap().to_owned(),
        ));
    }
    // Prepared and never paid: no transaction.
    shop.prepare(Flow::Hosted, Wire::Stripe);
    made.reverse();
    let those = |fits: &dyn Fn(&Made) -> bool| -> Vec<String> {
        made.iter().filter(|it| fits(it)).map(|it| it.0.clone()).collect()
    };
    for limit in [1, 3, 13, 14, 15, 200] {
        assert_eq!(all(shop, "", limit), those(&|_| true), "limit {limit}");
        assert_eq!(all(shop, "&status=succeeded", limit), those(&|it| it.2 == "succeeded"));
        assert_eq!(
            all(shop, "&status=pending&provider=card_provider_a", limit),
            those(&|it| it.2 == "pending")
        );
        assert_eq!(all(shop, "&provider=card_provider_b", limit), those(&|it| it.1 == Wire::Square));
        assert_eq!(all(shop, "&paymentMethod=web_card", limit), those(&|_| true));
        assert_eq!(all(shop, "&paymentMethod=ach", limit), Vec::<String>::new());
        assert_eq!(all(shop, "&status=refunded", limit), Vec::<String>::new());
        assert_eq!(all(shop, &format!("&createdFrom={middle}"), limit), those(&|it| it.3 >= middle));
        assert_eq!(all(shop, &format!("&createdBefore={middle}"), limit), those(&|it| it.3 < middle));
        let both = format!("&createdFrom={middle}&status=failed&provider=card_provider_b");
        assert_eq!(all(shop, &both, limit), those(&|it| it.3 >= middle && it.2 == "failed"));
    }
    // A listed transaction is the one that is read alone.
    let first = shop.client().get(&format!("{LIST}?limit=1")).data(200)["items"][0].clone();
    let mut read = shop.read_transaction(first["serviceReference"].as_str().unwrap()).data(200);
    read["revision"] = first["revision"].clone();
    assert_eq!(read, first);
    // An operator sees the same.
    assert_eq!(references(&json!(shop.listed("transactions"))), those(&|_| true));
    assert_eq!(references(&json!(shop.listed("transactions?status=failed"))), those(&|it| it.2 == "failed"));
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=many", "limit"),
        ("status=paid", "status"),
        ("paymentMethod=card", "paymentMethod"),
        ("createdFrom=yesterday", "createdFrom"),
        ("createdBefore=2026-13-01", "createdBefore"),
        ("before=nonsense", "before"),
    ] {
        assert_eq!(shop.client().get(&format!("{LIST}?{query}")).faulty_fields(), [field], "{query}");
    }
}

fn operators_list_payments_by_what_became_of_them(kind: StoreKind) {
    let world = World::start(kind);
    let shop = &world.shop;
    let paid = world.paid(Flow::Hosted, Wire::Square).reference;
    let prepared = shop.prepare(Flow::Component, Wire::Square).reference;
    world.simulator.fault(Wire::Stripe, "checkout.sessions.create", "refuse", 1, 0);
    assert_eq!(shop.try_prepare(Flow::Hosted, Wire::Stripe).status, 422);
    let refused = shop.listed("payments")[0]["serviceReference"].as_str().unwrap().to_owned();
    world.simulator.fault(Wire::Square, "payment_links.create", "rate_limited", 3, 20_000);
    let turned_away = shop.try_prepare(Flow::Hosted, Wire::Square);
    assert_eq!(turned_away.failure(503), "provider_unavailable");
    assert_eq!(turned_away.headers["retry-after"], "20", "as long as the provider asked for");
    let withdrawn = shop.listed("payments")[0]["serviceReference"].as_str().unwrap().to_owned();
    for (query, expected) in [
        ("payments", vec![&withdrawn, &refused, &prepared, &paid]),
        ("payments?status=prepared", vec![&prepared, &paid]),
        ("payments?status=refused", vec![&refused]),
        ("payments?status=withdrawn", vec![&withdrawn]),
        ("payments?status=expired", vec![]),
        ("payments?status=preparing", vec![]),
        ("payments?waiting=true", vec![]),
    ] {
        let found = references(&json!(shop.listed(query)));
        assert!(found.iter().eq(expected), "{query}: {found:?}");
    }
    let pages: Vec<_> = (0..4)
        .scan(String::new(), |cursor, _| {
            let data = shop.admin().get(&shop.path(&format!("/payments?limit=1{cursor}"))).data(200);
            *cursor = format!("&before={}", data["nextCursor"].as_str().unwrap_or_default());
            Some(references(&data["items"]).remove(0))
        })
        .collect();
    assert_eq!(pages, [&withdrawn, &refused, &prepared, &paid].map(String::clone));
    for query in ["status=paid", "before=pay_x", "waiting=maybe", "limit=0"] {
        assert_eq!(shop.admin().get(&shop.path(&format!("/payments?{query}"))).status, 400, "{query}");
    }
    assert_eq!(
        shop.admin().get(&shop.path("/payments/pay_00000000000000000000000000")).failure(404),
        "not_found"
    );
    assert_eq!(
        shop.admin().get("/admin/v1/environments/env_00000000000000000000000000/payments").failure(404),
        "not_found"
    );
}
