//! A month in the books: paid, refunded and disputed in the sandbox, and shown by the command line, the API and the console.

use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{Server, Start, Terminal, wait_until};

/// A card payment that is paid.
fn paid(server: &Server, terminal: &Terminal, amount: &str) -> String {
    let order = json!({"amountMinor": amount, "currency": "USD"});
    let prepared = server.sandbox_client("secretKey").post("/client/v1/payments", &order).data(201);
    let reference = prepared["serviceReference"].as_str().unwrap().to_owned();
    terminal.shows(&["trigger", "pay", &reference]);
    reference
}

fn number(value: &Value) -> i64 {
    value.as_str().unwrap().parse().unwrap()
}

/// The statement's only environment.
fn environment(statement: &Value) -> Value {
    let all = statement["environments"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{statement:#}");
    all[0].clone()
}

#[test]
fn a_month_adds_up_to_the_cent_everywhere() {
    let mut server = Start::sandbox().run();
    let terminal = Terminal::beside(&server);
    let (refunded, disputed) = (paid(&server, &terminal, "12500"), paid(&server, &terminal, "125000"));
    terminal.shows(&["trigger", "refund", &refunded, "--amount", "5.00"]);
    let show = |terminal: &Terminal, reference: &str| terminal.json(&["payments", "show", reference]);
    wait_until("the refund is posted", Duration::from_secs(120), || {
        show(&terminal, &refunded)["postings"].as_array().unwrap().len() == 2
    });
    terminal.shows(&["trigger", "dispute", &disputed]);
    wait_until("the dispute is posted", Duration::from_secs(120), || {
        show(&terminal, &disputed)["postings"].as_array().unwrap().len() == 2
    });

    // What customers paid and got back is what the statement says.
    let statement = terminal.json(&["statement"]);
    assert_eq!(statement["complete"], true);
    let here = environment(&statement);
    let total = here["totals"][0].clone();
    let (first, second) = (show(&terminal, &refunded), show(&terminal, &disputed));
    let field = |name: &str| number(&first["transaction"][name]) + number(&second["transaction"][name]);
    let back = &first["refunds"][0];
    assert_eq!(number(&total["payments"]["principalMinor"]), field("amountMinor"));
    assert_eq!(number(&total["payments"]["platformFeesMinor"]), field("platformFeeMinor"));
    assert_eq!(number(&total["payments"]["organizationFeesMinor"]), field("organizationFeeMinor"));
    assert_eq!(total["refunds"]["principalMinor"], back["amountMinor"]);
    let returned =
        number(&total["refunds"]["platformFeesMinor"]) + number(&total["refunds"]["organizationFeesMinor"]);
    assert_eq!(returned, number(&back["feeMinor"]));
    let held = number(&second["transaction"]["totalDebitMinor"]);
    assert_eq!((number(&total["disputesHeldMinor"]), total["disputesOpened"].as_str()), (held, Some("1")));
    let due = field("totalDebitMinor") - number(&back["totalRefundMinor"]) - held;
    assert_eq!(number(&total["dueFromProviderMinor"]), due);
    assert_eq!(here["rows"].as_array().unwrap().len(), 2, "two providers: {here:#}");

    // As text, as a table, and wrongly asked.
    let month = statement["month"].as_str().unwrap();
    let text = terminal.shows(&["statement", "--month", month]);
    assert!(text.contains("TOTAL") && text.contains("card_provider_b"), "{text}");
    let csv = terminal.shows(&["statement", "--csv"]);
    assert!(csv.starts_with("month,organization,") && csv.lines().count() == 3, "{csv}");
    assert!(terminal.fails(&["statement", "--month", "2026-13"]).contains("2026-11"));
    assert!(terminal.fails(&["statement", "--organization", "org_nobody"]).contains("not found"));
    assert!(terminal.shows(&["statement", "--month", "2001-01"]).contains("Nothing was posted"));
    assert!(terminal.shows(&["audit"]).contains("4 postings of card payments"));
    let doctor = terminal.run(&["doctor"]);
    assert!(format!("{doctor:?}").contains("1 dispute is open; the next response is due by"), "{doctor:?}");
    console(&server, &disputed, &second["transaction"]["dispute"]);

    // A database from before there were books: they are made up for after the start.
    let organization = statement["organizationId"].as_str().unwrap().to_owned();
    let data_dir = server.data_dir.clone();
    server.kill();
    let database = Connection::open(data_dir.join("tollgate.db")).unwrap();
    let added_up = "SELECT count(*) FROM statement_position";
    assert_eq!(
        database.query_row(added_up, [], |row| row.get::<_, i64>(0)).unwrap(),
        1,
        "months are added up"
    );
    let lost = "INSERT INTO unposted_payments (environment_id, payment_id)
                    SELECT DISTINCT environment_id, payment_id FROM card_postings;
                DELETE FROM card_postings WHERE kind <> 'refund';
                DELETE FROM statement_position;
                DELETE FROM statement_sums;";
    database.execute_batch(lost).unwrap();
    drop(database);
    let again = Start::sandbox().within(&data_dir).run();
    let path = format!("/admin/v1/organizations/{organization}/statement?month={month}");
    let read = || again.sandbox_client("adminToken").get(&path).data(200);
    wait_until("the books are complete", Duration::from_secs(120), || read()["complete"] == true);
    assert_eq!(environment(&read())["totals"][0], total);
    let audit = again.sandbox_client("adminToken").get("/admin/v1/audit?full=true").data(200);
    assert_eq!((&audit["clean"], &audit["cardPostings"]), (&json!(true), &json!(4)), "{audit:#}");
}

/// The payment's page has a badge, the date and a way to the provider; the statement and the open disputes have pages.
fn console(server: &Server, reference: &str, dispute: &Value) {
    let form = ("content-type", "application/x-www-form-urlencoded");
    let notes = server.sandbox_json();
    let mut browser = server.client("");
    let credentials = format!("token={}&name=bob", notes["adminToken"].as_str().unwrap());
    let signed_in = browser.send("POST", "/console/sign-in", &[form], credentials.as_bytes());
    let cookie = signed_in.headers["set-cookie"].split(';').next().unwrap().to_owned();
    let base = format!("/console/{}", notes["environmentId"].as_str().unwrap());
    let mut page = |path: &str| {
        let answer = browser.send("GET", &format!("{base}{path}"), &[("cookie", &cookie)], b"");
        assert_eq!(answer.status, 200, "{path}");
        String::from_utf8_lossy(&answer.body).into_owned()
    };
    let due = dispute["respondBy"].as_str().unwrap().replace('T', " ")[..16].to_owned();
    let payment = page(&format!("/payments/{reference}"));
    for said in ["<span class=\"badge bad\">disputed</span>", "squareup.com/dashboard", "dispute_held", &due]
    {
        assert!(payment.contains(said), "{said}: {payment}");
    }
    assert!(page("/").contains(&format!("the next response is due by {due} UTC")));
    let disputes = page("/disputes");
    assert!(disputes.contains(reference) && disputes.contains(&due), "{disputes}");
    let statement = page("/statement");
    assert!(statement.contains("card_provider_b") && statement.contains("Download CSV"), "{statement}");
    assert!(page("/statement.csv?month=2001-01").starts_with("month,organization,"));
}
