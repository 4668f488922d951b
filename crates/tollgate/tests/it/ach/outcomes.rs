//! What becomes of a transfer, as webhooks tell it: statuses, funds, and what callers and operators read.

use serde_json::{Value, json};

use crate::support::{
    ADMIN_TOKEN, Answer, BankInbox, BankRail, BankStore, BankWorld, Client, Desk, On, SLOW_BANK, Terminal,
    on_alternate_rails, on_each_store,
};

fn a_settled_transfer_has_succeeded(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve_without_looks);
    let desk = &world.desk;
    let (reference, id) = world.taken("settled in time");
    let wallet = desk.wallet();
    assert_eq!((wallet.available, wallet.reserved), (Desk::FUNDS - 10_035, 10_035));
    world.simulator.simulate(&id, "submit", &json!({}));
    desk.wait_events(&world.simulator);
    assert_eq!(desk.status(&reference), "processing");
    world.simulator.simulate(&id, "settle", &json!({}));
    desk.wait_status(&reference, "succeeded");
    let wallet = desk.wallet();
    assert_eq!((wallet.reserved, wallet.settled, wallet.fees), (0, 10_000, 35));
    let data = desk.client().get("/client/v1/wallet").data(200);
    assert_eq!(
        (&data["items"][0]["platformFeesMinor"], &data["items"][0]["organizationFeesMinor"]),
        (&json!("25"), &json!("10"))
    );
    assert_eq!(desk.postings(&reference), ["reserve", "settle"]);
    desk.assert_books(Desk::FUNDS);
    // Asked again, the caller is told how it stands now.
    let again = desk.transfer(&desk.body("settled in time", 10_000)).data(200);
    assert_eq!(again["transaction"]["status"], "succeeded");
    assert_eq!(again["transaction"]["providerReference"], id.as_str());
}

fn a_return_at_any_age_gives_the_funds_back(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve_without_looks);
    let desk = &world.desk;
    for (number, (settled, reason, code)) in [
        (false, "no_account", "R03"),
        (true, "no_account", "R03"),
        (true, "account_closed", "R02"),
        (false, "credit_entry_refused_by_receiver", "R23"),
        (true, "account_frozen_entry_returned_per_ofac_instruction", "R16"),
    ]
    .into_iter()
    .enumerate()
    {
        let (reference, id) = world.taken(&format!("returned {number}"));
        if settled {
            world.simulator.simulate(&id, "settle", &json!({}));
            desk.wait_status(&reference, "succeeded");
        } else {
            world.simulator.simulate(&id, "submit", &json!({}));
        }
        world.simulator.simulate(&id, "return", &rail.returned(reason, code));
        desk.wait_status(&reference, "failed");
        let read = desk.transaction(&reference);
        assert_eq!(read["failure"]["code"], code, "{read:#}");
        let message = read["failure"]["message"].as_str().unwrap();
        assert!(message.ends_with('.') && message.contains(' ') && !message.contains('_'), "{message}");
        let expected: &[&str] =
            if settled { &["reserve", "settle", "reverse"] } else { &["reserve", "release"] };
        assert_eq!(desk.postings(&reference), expected);
        let wallet = desk.wallet();
        assert_eq!((wallet.available, wallet.sum()), (Desk::FUNDS, Desk::FUNDS));
        // A transfer that the provider took and the bank sent back is told, not refused.
        let again = desk.transfer(&desk.body(&format!("returned {number}"), 10_000)).data(200);
        assert_eq!(again["transaction"]["status"], "failed");
    }
    desk.wait_events(&world.simulator);
    desk.assert_books(Desk::FUNDS);
}

fn a_return_months_later_is_noticed(on: On, rail: BankRail) {
    let mut world = BankWorld::start_as(on, rail, BankStore::serve_without_looks);
    let (reference, id) = world.taken("returned much later");
    world.simulator.simulate(&id, "settle", &json!({}));
    world.desk.wait_status(&reference, "succeeded");
    // Nothing of the transfer is in this process anymore.
    world.server.terminate();
    world.serve_again(BankStore::serve_without_looks);
    world.simulator.simulate(&id, "return", &json!({}));
    world.desk.wait_status(&reference, "failed");
    assert_eq!(world.desk.postings(&reference), ["reserve", "settle", "reverse"]);
    world.desk.assert_books(Desk::FUNDS);
}

/// What a webhook tells of cannot be read while our key is refused. It waits, and is applied once the key works.
fn a_return_is_not_lost_while_our_key_is_refused(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve_without_looks);
    let desk = &world.desk;
    let (reference, id) = world.taken("returned behind our back");
    world.simulator.simulate(&id, "settle", &json!({}));
    desk.wait_status(&reference, "succeeded");
    desk.wait_events(&world.simulator);
    let right = desk.document(world.simulator.address());
    let mut wrong = right.clone();
    wrong["providers"]["ach_provider_a"]["credentials"]["apiKey"] = json!("not the key");
    desk.configure(&wrong);
    world.simulator.simulate(&id, "return", &rail.returned("no_account", "R03"));
    desk.wait(&reference, "told of", || {
        let waiting = desk.listed("provider-events?state=waiting");
        waiting.iter().any(|event| event["note"].as_str().is_some_and(|note| note.contains("credentials")))
    });
    assert_eq!(desk.status(&reference), "succeeded");
    desk.configure(&right);
    desk.wait_status(&reference, "failed");
    let failure = desk.transaction(&reference)["failure"].clone();
    assert_eq!((&failure["code"], &failure["kind"]), (&json!("R03"), &json!("return")));
    assert_eq!(desk.postings(&reference), ["reserve", "settle", "reverse"]);
    desk.wait_events(&world.simulator);
    desk.assert_books(Desk::FUNDS);
}

fn a_notification_of_change_is_kept_and_shown(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve_without_looks);
    let desk = &world.desk;
    let (reference, id) = world.taken("to be corrected");
    world.simulator.simulate(&id, "submit", &json!({}));
    world.simulator.correct(&id, "000987654321", "011401533");
    desk.wait(&reference, "corrected", || {
        desk.transaction(&reference)["transfer"]["notificationsOfChange"] != json!([])
    });
    let read = desk.transaction(&reference);
    assert_eq!(read["status"], "processing", "nothing failed by it");
    let news = &read["transfer"]["notificationsOfChange"];
    assert_eq!(news.as_array().unwrap().len(), 1, "{news}");
    assert_eq!(
        (&news[0]["corrected_account_number"], &news[0]["corrected_routing_number"]),
        (&json!("********4321"), &json!("011401533"))
    );
    assert!(!desk.story(&reference).to_string().contains("987654321"), "the account number is sealed");
    let events = desk.listed(&format!("events?reference={reference}&type=transfer.notification_of_change"));
    assert_eq!(events.len(), 1, "{events:#?}");
    let body = desk.admin().get(&desk.path(&format!("/events/{}", events[0]["id"].as_str().unwrap())));
    let body = body.data(200)["body"].clone();
    assert_eq!(body["data"]["transaction"]["serviceReference"], reference.as_str());
    assert!(!body.to_string().contains("011401533") && !body.to_string().contains("4321"), "{body}");

    // An operator asks for the number, which is recorded.
    let reveal = |reference: &str| {
        let path = desk.path(&format!("/payments/{reference}/reveal-corrected-account"));
        desk.admin().send("POST", &path, &[("tollgate-actor", "ann")], b"")
    };
    let revealed = reveal(&reference).data(200);
    assert_eq!(revealed["serviceReference"], reference.as_str());
    let change_code = match rail {
        BankRail::Increase => "incorrect_routing_number_and_account_number",
        BankRail::ModernTreasury => "C03",
    };
    assert_eq!(
        revealed["corrections"],
        json!([{"accountNumber": "000987654321", "routingNumber": "011401533", "changeCode": change_code}])
    );
    let lines = desk.story(&reference)["timeline"].as_array().unwrap().clone();
    let line = lines.iter().find(|line| line["kind"] == "account_revealed").unwrap();
    assert_eq!(line["detail"], json!({"actor": "ann"}));
    reveal_in_the_console(desk, &reference, "000987654321");
    let (other, _) = world.taken("never corrected");
    assert_eq!(reveal(&other).failure(404), "not_found");
    reveal_on_the_command_line(desk, &reference, &other);

    let kinds = kinds(desk, &reference);
    assert!(kinds.iter().any(|kind| kind == "notification_of_change"), "{kinds:?}");
    world.simulator.simulate(&id, "settle", &json!({}));
    desk.wait_status(&reference, "succeeded");
    assert_eq!(&desk.transaction(&reference)["transfer"]["notificationsOfChange"], news);
    assert_eq!(kinds.iter().filter(|kind| *kind == "notification_of_change").count(), 1);
    desk.assert_books(Desk::FUNDS);
}

/// The command asks first, because that somebody saw it is recorded.
fn reveal_on_the_command_line(desk: &Desk, reference: &str, other: &str) {
    let terminal = Terminal::nowhere(std::env::temp_dir())
        .with("TOLLGATE_URL", &format!("http://{}", desk.server))
        .with("TOLLGATE_ADMIN_TOKEN", ADMIN_TOKEN)
        .with("TOLLGATE_ENVIRONMENT", &desk.environment)
        .with("TOLLGATE_ACTOR", "carol");
    let command = ["payments", "reveal-corrected-account", reference];
    let seen_by_carol = || {
        let timeline = desk.story(reference)["timeline"].as_array().unwrap().clone();
        timeline.iter().filter(|line| line["detail"]["actor"] == "carol").count()
    };
    let asked = terminal.run(&command);
    assert!(asked.code == 1 && asked.err.contains("--yes"), "{asked:?}");
    assert_eq!(seen_by_carol(), 0);
    let shown = terminal.shows(&[&command[..], &["--yes"]].concat());
    assert!(shown.contains("000987654321") && shown.contains("011401533"), "{shown}");
    assert_eq!(seen_by_carol(), 1);
    let said = terminal.fails(&["payments", "reveal-corrected-account", other, "--yes"]);
    assert!(said.contains("no bank has asked for another account number"), "{said}");
}

/// The page has a button for it, and shows the number only after that.
fn reveal_in_the_console(desk: &Desk, reference: &str, number: &str) {
    let form = ("content-type", "application/x-www-form-urlencoded");
    let mut browser = Client::new(desk.server, "");
    let credentials = format!("token={ADMIN_TOKEN}&name=bob");
    let signed_in = browser.send("POST", "/console/sign-in", &[form], credentials.as_bytes());
    let cookie = signed_in.headers["set-cookie"].split(';').next().unwrap().to_owned();
    let page = format!("/console/{}/payments/{reference}", desk.environment);
    let text = |answer: &Answer| {
        assert_eq!(answer.status, 200);
        String::from_utf8_lossy(&answer.body).into_owned()
    };
    let before = text(&browser.send("GET", &page, &[("cookie", &cookie)], b""));
    assert!(before.contains("Reveal corrected account number") && !before.contains(number), "{before}");
    let csrf = before.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let action = format!("{page}/corrected-account");
    assert_eq!(browser.send("POST", &action, &[form, ("cookie", &cookie)], b"csrf=guessed").status, 400);
    let sent = format!("csrf={csrf}");
    let shown = text(&browser.send("POST", &action, &[form, ("cookie", &cookie)], sent.as_bytes()));
    assert!(shown.contains(number), "{shown}");
    let line = "bob was shown the corrected account number.";
    assert!(shown.contains(line), "{shown}");
}

fn what_the_providers_staff_does_is_followed(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve_without_looks);
    let desk = &world.desk;
    let (reference, id) = world.taken("looked at by a person");
    world.simulator.staff(&id, "require_attention");
    desk.wait(&reference, "waiting", || desk.listed("transfers/waiting").len() == 1);
    let waiting = &desk.listed("transfers/waiting")[0];
    assert_eq!(waiting["transaction"]["serviceReference"], reference.as_str());
    assert_eq!(waiting["transaction"]["status"], "processing");
    assert!(waiting["waitingFor"].as_str().unwrap().contains("review"), "{waiting:#}");
    world.simulator.staff(&id, "release");
    desk.wait(&reference, "released", || desk.listed("transfers/waiting").is_empty());
    assert_eq!(desk.transaction(&reference)["transfer"]["waitingFor"], json!(null));
    // Somebody of ours has to act in the provider's dashboard, and everybody can see that.
    let holds = [("require_approval", "approve"), ("require_confirmation", "confirm")];
    // The other provider knows no sessions that are confirmed.
    let known = if rail == BankRail::Increase { 2 } else { 1 };
    for (action, word) in holds.into_iter().take(known) {
        world.simulator.staff(&id, action);
        desk.wait(&reference, "held", || desk.listed("transfers/waiting").len() == 1);
        desk.wait(&reference, action, || {
            let said = desk.transaction(&reference)["transfer"]["waitingFor"].clone();
            said.as_str().is_some_and(|said| said.contains(word))
        });
        let story = desk.story(&reference);
        assert!(story["waitingFor"].as_str().unwrap().contains(word), "{story:#}");
        let lines = story["timeline"].as_array().unwrap();
        let line = lines.iter().rfind(|line| line["kind"] == "waiting").unwrap();
        assert!(line["detail"]["reason"].as_str().unwrap().contains(word), "{line}");
    }
    world.simulator.staff(&id, "release");
    desk.wait(&reference, "released again", || desk.listed("transfers/waiting").is_empty());

    let (rejected, id) = world.taken("rejected by a person");
    world.simulator.staff(&id, "reject");
    desk.wait_status(&rejected, "failed");
    let failure = desk.transaction(&rejected)["failure"].clone();
    assert_eq!((&failure["code"], &failure["kind"]), (&json!("provider_rejected"), &json!("failure")));
    assert_eq!(desk.postings(&rejected), ["reserve", "release"]);

    let (canceled, id) = world.taken("called off by a person");
    world.simulator.staff(&id, "cancel");
    desk.wait_status(&canceled, "canceled");
    assert_eq!(desk.postings(&canceled), ["reserve", "release"]);
    desk.wait_events(&world.simulator);
    desk.assert_books(Desk::FUNDS);
}

/// The wallet has the money and the provider's account does not: the transfer fails now, and does not leave later.
fn a_provider_without_the_money_refuses_for_good(on: On) {
    let world = BankWorld::start(on);
    let desk = &world.desk;
    let balance = |cents: i64| {
        let path = "increase/accounts/account_simulator/set_balance";
        world.simulator.control("POST", path, &json!({"balance": cents}));
    };
    balance(9_999);
    let body = desk.body("more than the account holds", 10_000);
    let refused = desk.transfer(&body);
    assert_eq!(refused.failure(422), "provider_rejected");
    let said = refused.json()["message"].as_str().unwrap().to_owned();
    assert!(said.contains("There's an insufficient balance in the account"), "{said}");
    let reference = refused.json()["error"]["serviceReference"].as_str().unwrap().to_owned();
    let read = desk.transaction(&reference);
    assert_eq!((&read["status"], &read["failure"]["code"]), (&json!("failed"), &json!("provider_funds")));
    let wallet = desk.wallet();
    assert_eq!((wallet.available, wallet.reserved), (Desk::FUNDS, 0));
    assert_eq!(desk.postings(&reference), ["reserve", "release"]);

    // The refusal comes and the lookup after it fails: pending until that works, and never sent again.
    world.simulator.fault("ach_transfers.list", "error_before", 1_000, 0);
    let unsure = desk.made(&desk.body("refused, and not confirmed", 10_000));
    assert_eq!(desk.status(&unsure), "pending");
    balance(1_000_000);
    assert_eq!(desk.transfer(&body).failure(422), "provider_rejected");
    world.simulator.clear_faults();
    desk.wait_status(&unsure, "failed");
    assert_eq!(desk.transaction(&unsure)["failure"]["code"], "provider_funds");
    assert_eq!(world.simulator.accepted(10).len(), 0, "nothing left, though the account is funded again");
    // Another transfer leaves.
    world.taken("funded by now");
    desk.assert_books(Desk::FUNDS);
}

fn instant_transfers_arrive_or_are_rejected_at_once(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve_without_looks);
    let desk = &world.desk;
    let instant = |key: &str| {
        let mut body = desk.body(key, 10_000);
        body["metadata"] = json!({"speed": "instant"});
        body["remittanceData"] = json!("Invoice F-1");
        body
    };
    let reference = desk.made(&instant("instant and taken"));
    desk.wait_status(&reference, "processing");
    let row = world.simulator.row(&reference);
    if rail == BankRail::Increase {
        assert_eq!(row["creditor_name"], "Ada Example");
        assert_eq!(row["unstructured_remittance_information"], "Invoice F-1");
    }
    assert_eq!(desk.transaction(&reference)["transfer"]["rail"], "rtp");
    world.simulator.simulate(row["id"].as_str().unwrap(), "complete", &json!({}));
    desk.wait_status(&reference, "succeeded");
    assert_eq!(desk.postings(&reference), ["reserve", "settle"]);

    let reference = desk.made(&instant("instant and rejected"));
    desk.wait_status(&reference, "processing");
    let id = world.simulator.sole(&reference).id;
    match rail {
        BankRail::Increase => {
            let rejection = json!({"rejection": {"reject_reason_code": "account_closed"}});
            world.simulator.simulate(&id, "complete", &rejection);
        }
        BankRail::ModernTreasury => world.simulator.staff(&id, "reject"),
    }
    desk.wait_status(&reference, "failed");
    let failure = desk.transaction(&reference)["failure"].clone();
    assert!(failure["message"].as_str().unwrap().ends_with('.'), "{failure}");
    assert_eq!(desk.postings(&reference), ["reserve", "release"]);

    let mut body = instant("instant to a slow bank");
    body["routingNumber"] = json!(SLOW_BANK);
    let before = desk.listed("transactions").len();
    assert_eq!(desk.transfer(&body).failure(422), "instant_not_supported");
    assert_eq!(desk.transfer(&body).failure(422), "instant_not_supported");
    assert_eq!(desk.listed("transactions").len(), before, "nothing was recorded");
    let asked = match rail {
        BankRail::Increase => "routing_numbers.list",
        BankRail::ModernTreasury => "validations.routing_numbers",
    };
    assert_eq!(world.simulator.calls(asked), 2, "what a provider says of a bank is kept");
    assert_eq!(world.simulator.accepted(10).len(), 2);
    if rail == BankRail::Increase {
        by_fednow(&world, instant("instant by FedNow"));
    }
    desk.assert_books(Desk::FUNDS);
}

fn by_fednow(world: &BankWorld, mut body: Value) {
    let desk = &world.desk;
    // A bank that only FedNow reaches; the payment has to say who pays.
    body["routingNumber"] = json!("790000077");
    assert_eq!(desk.transfer(&body).failure(503), "provider_not_configured");
    let mut document = desk.document(world.simulator.address());
    document["providers"]["ach_provider_a"]["funding"]["companyName"] = json!("Acme");
    desk.configure(&document);
    let reference = desk.made(&body);
    desk.wait_status(&reference, "processing");
    let row = world.simulator.row(&reference);
    assert_eq!((&row["debtor_name"], &row["creditor_name"]), (&json!("Acme"), &json!("Ada Example")));
    assert_eq!(desk.transaction(&reference)["transfer"]["rail"], "fednow");
    let complete = format!("increase/fednow_transfers/{}/complete", row["id"].as_str().unwrap());
    world.simulator.control("POST", &complete, &json!({}));
    desk.wait_status(&reference, "succeeded");
    // The same bank takes what is not instant.
    let mut body = desk.body("same day to a slow bank", 10_000);
    body["routingNumber"] = json!(SLOW_BANK);
    body["metadata"] = json!({"speed": "same_day"});
    let reference = desk.made(&body);
    desk.wait_status(&reference, "processing");
    assert_eq!(world.simulator.row(&reference)["settlement_schedule"], "same_day");
}

fn kinds(desk: &Desk, reference: &str) -> Vec<String> {
    let story = desk.story(reference);
    let lines = story["timeline"].as_array().unwrap();
    lines.iter().map(|line| line["kind"].as_str().unwrap().to_owned()).collect()
}

fn callers_and_operators_read_the_whole_story(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve_without_looks);
    let desk = &world.desk;
    let mut body = desk.body("read by everybody", 10_000);
    body["remittanceData"] = json!({"invoice": "F-1"});
    let reference = desk.made(&body);
    desk.wait_status(&reference, "processing");
    let read = desk.transaction(&reference);
    let transfer = &read["transfer"];
    assert_eq!(
        transfer["bankAccount"],
        json!({"bankName": "First Example Bank", "accountType": "checking", "last4": "6789"})
    );
    assert_eq!(transfer["accountName"], "Ada Example");
    assert_eq!(transfer["externalCustomerId"], "customer-1");
    assert_eq!(transfer["remittanceData"], json!({"invoice": "F-1"}));
    assert_eq!(transfer["notificationsOfChange"], json!([]));
    assert_eq!(transfer["routing"]["channel"], "standard_ach");
    // In the network's own days: an evening there is the next day in UTC.
    let made_at: jiff::Timestamp = read["createdAt"].as_str().unwrap().parse().unwrap();
    let made_on = made_at.in_tz("America/New_York").unwrap().date();
    let expected_on: jiff::civil::Date = transfer["expectedSettlementOn"].as_str().unwrap().parse().unwrap();
    assert!(expected_on > made_on, "{expected_on} {made_on}");
    let listed = desk.client().get("/client/v1/transactions?paymentMethod=ach").data(200);
    assert_eq!(listed["items"][0]["serviceReference"], reference.as_str());
    assert_eq!(desk.read("ach_00000000000000000000000000").failure(404), "not_found");

    world.simulator.simulate(&world.simulator.sole(&reference).id, "settle", &json!({}));
    desk.wait_status(&reference, "succeeded");
    let kinds = kinds(desk, &reference);
    for kind in ["request", "routing", "fee", "provider_call", "status", "webhook"] {
        assert!(kinds.iter().any(|it| it == kind), "{kind} is not in {kinds:?}");
    }
    assert_eq!(kinds[..3], ["request", "routing", "fee"]);
    assert_eq!(desk.moves(&reference), ["processing", "succeeded"]);
    let story = desk.story(&reference);
    let call =
        story["timeline"].as_array().unwrap().iter().find(|line| line["kind"] == "provider_call").unwrap();
    assert_eq!(call["detail"]["idempotencyKey"], reference.as_str(), "the provider's key is our reference");
    assert!(call["requestId"].as_str().unwrap().starts_with("req_"));
    assert_eq!(story["transaction"]["status"], "succeeded");
    assert_eq!(story["exceptions"], json!([]));
    assert!(story["configVersion"].as_u64().unwrap() > 0);
}

fn webhooks_that_are_not_the_providers_change_nothing(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve_without_looks);
    let desk = &world.desk;
    let inbox = BankInbox::of(&world.simulator, desk);
    let (reference, id) = world.taken("told of by somebody else");
    world.simulator.simulate(&id, "settle", &json!({}));
    let letters = inbox.take(&world.simulator);
    let letter = letters.last().unwrap();
    let zeros = "0".repeat(64);
    let forgeries: &[(&str, &str)] = match rail {
        BankRail::Increase => &[
            ("webhook-signature", "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
            ("webhook-signature", "nothing"),
            ("webhook-timestamp", "1000000000"),
            ("webhook-timestamp", "soon"),
            ("webhook-id", "another"),
        ],
        // It signs the body, and nothing else.
        BankRail::ModernTreasury => {
            &[("x-signature", &zeros), ("x-signature", "nothing"), ("x-signature", "")]
        }
    };
    for changed in forgeries {
        assert_eq!(letter.deliver_with(desk, &[*changed]).failure(401), "unauthenticated", "{changed:?}");
    }
    // Signed for another environment.
    let elsewhere = world.another_desk();
    assert_eq!(letter.deliver_with(&elsewhere, &[]).failure(401), "unauthenticated");
    assert_eq!(desk.listed("provider-events"), Vec::<Value>::new());
    assert_eq!(desk.status(&reference), "processing");
    letter.deliver(desk);
    desk.wait_status(&reference, "succeeded");
    desk.assert_books(Desk::FUNDS);
}

on_alternate_rails! {
    a_settled_transfer_has_succeeded
    a_return_at_any_age_gives_the_funds_back
    a_return_months_later_is_noticed
    a_return_is_not_lost_while_our_key_is_refused
    a_notification_of_change_is_kept_and_shown
    what_the_providers_staff_does_is_followed
    instant_transfers_arrive_or_are_rejected_at_once
    callers_and_operators_read_the_whole_story
    webhooks_that_are_not_the_providers_change_nothing
}

/// The other provider shows no balance of its account, and does not refuse for the lack of one.
mod funds {
    use super::{a_provider_without_the_money_refuses_for_good, on_each_store};

    on_each_store! { a_provider_without_the_money_refuses_for_good }
}
