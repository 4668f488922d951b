//! A month of card fees, drawn at random: the API, its CSV, the command line and the console say the same to the cent.

use std::collections::BTreeMap;

use rand::{RngExt as _, rngs::StdRng};
use serde_json::{Value, json};

use crate::support::{Client, Server, Start, Terminal, randomness, seed};

const PAYMENTS: u64 = 24;
const COMPONENT: &str = "/client/v1/payments/component";
const CARDS: [&str; 7] = [
    "4242424242424242",
    "4000056655665556",
    "5555555555554444",
    "5200828282828210",
    "5105105105105100",
    "6011111111111117",
    "378282246310005",
];
const STATES: [&str; 6] = ["GA", "CO", "CT", "TX", "IL", "NY"];

/// What a row adds up: payments, principal, fee, what was given back of it, and cost.
type Sums = [u64; 5];

fn surcharging(server: &Server) {
    let (mut admin, config) = (server.sandbox_client("adminToken"), server.sandbox_path("/config"));
    let mut document = admin.get(&config).data(200);
    for fee in document["fees"].as_array_mut().unwrap() {
        if fee["paymentMethod"] == "web_card" {
            fee["platform"]["feeKind"] = json!("surcharge");
            fee["organization"]["feeKind"] = json!("surcharge");
        }
    }
    document["settings"]["feeProgram"] = json!({
        "merchant": {"country": "US", "state": "GA", "mcc": "5999"},
        "cost": {"card_provider_a": {"percentBps": 290, "fixedMinor": "30"}},
        "noticeGivenOn": "2026-06-01", "entryNoticeAttested": true, "amexParityConfirmed": true,
    });
    admin.put(&config, &document).data(200);
}

/// A payment by a random card from a random place, whose payer agrees to the fee; what was charged, and for which row.
fn pay(server: &Server, shop: &mut Client, random: &mut StdRng) -> (String, Sums) {
    let amount = random.random_range(100..90_000_u64);
    let state = STATES[random.random_range(0..STATES.len())];
    let number = CARDS[random.random_range(0..CARDS.len())];
    let order = json!({"amountMinor": amount.to_string(), "currency": "USD", "payer": {"country": "US", "state": state}});
    let prepared = shop.post(COMPONENT, &order).data(201);
    let path = format!("{COMPONENT}/{}", prepared["serviceReference"].as_str().unwrap());
    let stripe = &server.sandbox_json()["simulators"]["stripe"];
    let card = format!(
        "payment_method_data[type]=card&payment_method_data[card][number]={number}&payment_method_data[card][exp_month]=12\
         &payment_method_data[card][exp_year]=2034&payment_method_data[card][cvc]=123"
    );
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let tokens = "/simulator/stripe/v1/test_helpers/confirmation_tokens";
    let made = server.client(stripe["apiKey"].as_str().unwrap()).send("POST", tokens, &form, card.as_bytes());
    let token = made.json()["id"].clone();
    let shown = shop.post(&format!("{path}/card"), &json!({ "confirmationToken": token })).data(200);
    let agreed = json!({"confirmationToken": token, "acceptedTotalDebitMinor": shown["totalDebitMinor"]});
    let paid = shop.post(&format!("{path}/confirm"), &agreed).data(200)["transaction"].clone();
    assert_eq!(paid["status"], "succeeded", "{paid:#}");
    let (brand, funding) = (&paid["card"]["brand"], &paid["card"]["funding"]);
    let fee = paid["feeMinor"].as_str().unwrap().parse().unwrap();
    let row = format!("{},{},US-{state}", brand.as_str().unwrap(), funding.as_str().unwrap());
    let refunded = if random.random_bool(0.3) { refund(shop, &paid, amount / 3) } else { 0 };
    (row, [1, amount, fee, refunded, amount * 290 / 10_000 + 30])
}

/// Refunds a part of a payment; what is given back of its fee.
fn refund(shop: &mut Client, paid: &Value, amount: u64) -> u64 {
    let reference = paid["serviceReference"].as_str().unwrap();
    let body = json!({"idempotencyKey": format!("a-part-of-{reference}"), "amountMinor": amount.to_string()});
    let path = format!("/client/v1/transactions/{reference}/refunds");
    let refund = shop.post(&path, &body).data(201)["refund"].clone();
    assert_eq!(refund["status"], "succeeded", "{refund:#}");
    refund["feeMinor"].as_str().unwrap().parse().unwrap()
}

/// The rows by card and place, from their fields as text.
fn by_card<'a>(rows: impl Iterator<Item = [&'a str; 8]>) -> BTreeMap<String, Sums> {
    let row = |[brand, funding, place, payments, principal, fee, refunded, cost]: [&str; 8]| {
        let sums = [payments, principal, fee, refunded, cost].map(|sum| sum.parse().unwrap());
        (format!("{brand},{funding},{place}"), sums)
    };
    rows.map(row).collect()
}

const FIELDS: [&str; 8] =
    ["brand", "funding", "place", "payments", "principalMinor", "feeMinor", "refundedFeeMinor", "costMinor"];

fn of_report(report: &Value) -> BTreeMap<String, Sums> {
    let rows = report["rows"].as_array().unwrap();
    by_card(rows.iter().map(|row| FIELDS.map(|field| row[field].as_str().unwrap())))
}

fn of_csv(csv: &str) -> BTreeMap<String, Sums> {
    let mut lines = csv.lines();
    let names: Vec<_> = lines.next().unwrap().split(',').collect();
    by_card(lines.map(|line| {
        let cells: Vec<_> = line.split(',').collect();
        FIELDS.map(|field| cells[names.iter().position(|name| *name == field).unwrap()])
    }))
}

/// The cells of the console's table, without their markup.
fn of_page(page: &str) -> BTreeMap<String, Sums> {
    let rows = page.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    let rows: Vec<Vec<String>> = rows
        .split("</tr>")
        .filter(|row| row.contains("<td"))
        .map(|row| row.split("</td>").map(|cell| text_of(cell).replace([',', '.'], "")).collect())
        .collect();
    by_card(rows.iter().map(|cells| {
        let (brand, funding) = cells[1].split_once(' ').unwrap();
        [brand, funding, &cells[2], &cells[4], &cells[5], &cells[6], &cells[7], &cells[8]]
    }))
}

fn text_of(markup: &str) -> String {
    let texts = markup.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text.trim());
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

#[test]
fn card_fees_add_up_to_the_cent_everywhere() {
    let server = Start::sandbox().run();
    surcharging(&server);
    let (mut shop, mut random) = (server.sandbox_client("secretKey"), randomness(seed(), 0));
    let mut expected = BTreeMap::<String, Sums>::new();
    for _ in 0..PAYMENTS {
        let (row, amounts) = pay(&server, &mut shop, &mut random);
        let sums = expected.entry(row).or_default();
        for (sum, amount) in sums.iter_mut().zip(amounts) {
            *sum += amount;
        }
    }

    let (mut admin, path) = (server.sandbox_client("adminToken"), server.sandbox_path("/fee-report"));
    let report = admin.get(&path).data(200);
    assert_eq!(of_report(&report), expected);
    for row in report["rows"].as_array().unwrap() {
        let number = |field: &str| row[field].as_str().unwrap().parse::<u64>().unwrap();
        assert_eq!(row["kind"], "surcharge");
        assert!(number("feeMinor") <= number("capMinor"), "{row:#}");
    }
    let csv = String::from_utf8(admin.get(&format!("{path}.csv")).body).unwrap();
    assert_eq!(of_csv(&csv), expected);

    let terminal = Terminal::beside(&server);
    assert_eq!(terminal.json(&["fees", "report"]), report);
    assert_eq!(terminal.shows(&["fees", "report", "--csv"]).trim_end(), csv.trim_end());
    let text = terminal.shows(&["fees", "report", "--month", report["month"].as_str().unwrap()]);
    assert_eq!(text.lines().count(), expected.len() + 2, "{text}");
    assert!(terminal.shows(&["fees", "report", "--month", "2001-01"]).contains("No card fee with a kind"));
    assert!(terminal.fails(&["fees", "report", "--month", "2026-13"]).contains("2026-11"));

    let mut console = Console::enter(&server);
    assert_eq!(of_page(&console.page("/fee-report")), expected);
    assert_eq!(console.page("/fee-report.csv"), csv);
    assert!(console.page("/fee-report?month=2001-01").contains("No card fee with a kind"));
    let menu = console.page("/fees");
    assert!(menu.contains("/fee-report\"") && menu.contains("Card fees by place"), "{menu}");
}

/// An operator's browser.
struct Console {
    browser: Client,
    cookie: String,
    base: String,
}

impl Console {
    fn enter(server: &Server) -> Self {
        let form = ("content-type", "application/x-www-form-urlencoded");
        let (notes, mut browser) = (server.sandbox_json(), server.client(""));
        let credentials = format!("token={}&name=bob", notes["adminToken"].as_str().unwrap());
        let signed_in = browser.send("POST", "/console/sign-in", &[form], credentials.as_bytes());
        let cookie = signed_in.headers["set-cookie"].split(';').next().unwrap().to_owned();
        let base = format!("/console/{}", notes["environmentId"].as_str().unwrap());
        Self { browser, cookie, base }
    }

    #[track_caller]
    fn page(&mut self, path: &str) -> String {
        let path = format!("{}{path}", self.base);
        let answer = self.browser.send("GET", &path, &[("cookie", &self.cookie)], b"");
        assert_eq!(answer.status, 200, "{path}");
        String::from_utf8(answer.body).unwrap()
    }
}
