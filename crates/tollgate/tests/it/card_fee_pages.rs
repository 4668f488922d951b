//! Card fees in the console: the program and the kinds as forms, a request tried with a card, and what may be charged where beside
//! what a quote charges.

use serde_json::{Value, json};

use crate::{
    people::{Browser, page},
    support::{Client, Server, Start},
};

const GEORGIA: &[(&str, &str)] = &[
    ("country", "us"),
    ("state", "ga"),
    ("mcc", "5999"),
    ("brands", "visa, mastercard"),
    ("onlineOnly", "false"),
    ("cost.card_provider_a.percent", "2.90"),
    ("cost.card_provider_a.fixed", "30"),
    ("notice", "2026-06-01"),
    ("entryNotice", "1"),
    ("parity", "1"),
];
const SURCHARGE: &[(&str, &str)] = &[
    ("platform.kind", "surcharge"),
    ("platform.enabled", "1"),
    ("platform.fixed", "0"),
    ("platform.percent", "4.00"),
    ("organization.kind", "surcharge"),
    ("organization.fixed", "0"),
    ("organization.percent", "0"),
];

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// What a page's field or text area has, without the markup's escapes.
fn unescaped(text: &str) -> String {
    let pairs =
        [("&#34;", "\""), ("&quot;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&lt;", "<"), ("&#62;", ">")];
    let plain = pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    plain.replace("&gt;", ">").replace("&#38;", "&").replace("&amp;", "&")
}

#[track_caller]
fn between(page: &str, begin: &str, end: &str) -> String {
    let (_, rest) = page.split_once(begin).unwrap_or_else(|| panic!("{begin} is not in {page}"));
    unescaped(rest.split(end).next().unwrap())
}

struct Operator {
    browser: Browser,
    base: String,
    admin: Client,
    client: Client,
    config: String,
}

impl Operator {
    fn at(server: &Server) -> Self {
        let notes = server.sandbox_json();
        Self {
            browser: Browser::sign_in(server, notes["adminToken"].as_str().unwrap()),
            base: format!("/console/{}", notes["environmentId"].as_str().unwrap()),
            admin: server.sandbox_client("adminToken"),
            client: server.sandbox_client("secretKey"),
            config: server.sandbox_path("/config"),
        }
    }

    #[track_caller]
    fn page(&mut self, path: &str) -> String {
        let answer = self.browser.get(&format!("{}{path}", self.base));
        assert_eq!(answer.status, 200, "{path}");
        page(&answer)
    }

    /// Fills in a form; the page that comes of it.
    #[track_caller]
    fn fill_in(&mut self, path: &str, fields: &[(&str, &str)]) -> String {
        let form = self.page(path);
        let csrf = between(&form, "name=\"csrf\" value=\"", "\"");
        let version = between(&form, "name=\"version\" value=\"", "\"");
        let fee = path.split_once("fee=").map_or("", |(_, fee)| fee);
        let own = [("version", version.as_str()), ("fee", fee)];
        let body =
            own.iter().chain(fields).map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
        let path = format!("{}{}", self.base, path.split('?').next().unwrap());
        let answer = self.browser.post(&path, &csrf, &body.collect::<Vec<_>>().join("&"));
        assert_eq!(answer.status, 200, "{path}: {}", page(&answer));
        page(&answer)
    }

    /// Fills in a form, reviews the change and saves it; what was reviewed.
    #[track_caller]
    fn save(&mut self, path: &str, fields: &[(&str, &str)]) -> String {
        let review = self.fill_in(path, fields);
        let (csrf, version) = (
            between(&review, "name=\"csrf\" value=\"", "\""),
            between(&review, "name=\"version\" value=\"", "\""),
        );
        let document = between(&review, "<textarea name=\"document\" hidden>", "</textarea>");
        let fields = format!("version={version}&returns=routing&document={}", encoded(&document));
        let saved = self.browser.post(&format!("{}/config/save", self.base), &csrf, &fields);
        assert_eq!(saved.status, 303, "{}", page(&saved));
        review
    }

    fn document(&mut self) -> Value {
        self.admin.get(&self.config).data(200)
    }

    /// The form of the card fee of this provider in US dollars.
    fn fee_form(&mut self, provider: &str) -> String {
        let document = self.document();
        let is_it = |fee: &Value| {
            fee["provider"] == provider && fee["paymentMethod"] == "web_card" && fee["currency"] == "USD"
        };
        let place = document["fees"].as_array().unwrap().iter().position(is_it).unwrap();
        format!("/fees/edit?fee={place}")
    }

    /// What a payer in a state is quoted for 100.00 with a credit card: the fee and why.
    fn quote(&mut self, brand: &str, state: &str) -> (String, String) {
        let request = json!({
            "amountMinor": "10000", "currency": "USD", "card": {"brand": brand, "funding": "credit"},
            "payer": {"country": "US", "state": state},
        });
        let quote = self.client.post("/client/v1/fees/quote", &request).data(200);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&quote["feeMinor"]), text(&quote["feeDecision"]["reasons"][0]["code"]))
    }

    /// What *Card fees by place* says of surcharges there.
    fn shown(&mut self, state: &str) -> (String, String) {
        let page = self.page("/fees");
        let row = between(&page, &format!("<tr id=\"US-{state}\">"), "</tr>");
        let cell = row.split("<td>").nth(2).unwrap();
        let allowed = between(cell, "\">", "</span>");
        let code = cell.split("title=").nth(1).unwrap();
        let code = code
            .split('>')
            .find_map(|part| part.split_once('<').map(|(code, _)| code).filter(|code| !code.is_empty()));
        (allowed, code.unwrap().to_owned())
    }
}

#[test]
fn the_forms_make_a_program_and_a_kind_and_refuse_what_is_unlawful() {
    let server = Start::sandbox().run();
    let mut ada = Operator::at(&server);

    // What the form cannot read is named; nothing is lost.
    let wrong = [
        ("country", "US"),
        ("state", "GA"),
        ("cost.card_provider_a.percent", "lots"),
        ("overrides", "US-TX until May"),
    ];
    let again = ada.fill_in("/fees/program", &wrong);
    for said in [
        "card_provider_a: the cost must be a percentage",
        "is not ID | last day | document | reason",
        "value=\"lots\"",
    ] {
        assert!(unescaped(&again).contains(said), "{said}: {again}");
    }
    let refused = ada.fill_in("/fees/program", &[("country", "US"), ("state", "ZZ")]);
    assert!(
        refused.contains("settings.feeProgram.merchant.state") && refused.contains("AK, AL, AR"),
        "{refused}"
    );

    let review = ada.save("/fees/program", GEORGIA);
    assert!(review.contains("2026-06-01") && review.contains("visa"), "{review}");
    let program = ada.document()["settings"]["feeProgram"].clone();
    assert_eq!(program["merchant"], json!({"country": "US", "state": "GA", "mcc": "5999"}));
    assert_eq!(program["cost"], json!({"card_provider_a": {"percentBps": 290, "fixedMinor": "30"}}));
    let said = ["entryNoticeAttested", "amexParityConfirmed", "postedTotalPrice", "onlineOnly"]
        .map(|field| &program[field]);
    assert_eq!(said, [&json!(true), &json!(true), &json!(false), &json!(false)]);

    let form = ada.fee_form("card_provider_a");
    let mut service = SURCHARGE.to_vec();
    service[0].1 = "service";
    service[4].1 = "service";
    let refused = ada.fill_in(&form, &service);
    assert!(
        refused.contains("can never be lawful, service_mcc") && refused.contains("clearent.com"),
        "{refused}"
    );
    let review = ada.save(&form, SURCHARGE);
    assert!(review.contains("surcharge 4.00 % + 0.00 USD"), "{review}");
    // The form shows what is in force.
    let shown = ada.page(&form);
    assert!(shown.contains("<option value=\"surcharge\" selected>"), "{shown}");
    let shown = ada.page("/fees/program");
    for value in ["value=\"GA\"", "value=\"2.90\"", "value=\"2026-06-01\"", "value=\"visa, mastercard\""] {
        assert!(shown.contains(value), "{value}: {shown}");
    }
    assert_eq!(ada.quote("visa", "GA"), ("300".to_owned(), "network_cap".to_owned()));

    // An empty country takes the program away again, and the surcharge with it.
    ada.save("/fees/program", &[("country", "")]);
    assert_eq!(ada.document()["settings"]["feeProgram"], Value::Null);
    assert_eq!(ada.quote("visa", "GA").0, "0");
}

#[test]
fn what_is_shown_by_place_is_what_is_quoted() {
    let server = Start::sandbox().run();
    let mut ada = Operator::at(&server);
    let form = ada.fee_form("card_provider_a");
    ada.save("/fees/program", GEORGIA);
    ada.save(&form, SURCHARGE);
    for (state, allowed) in
        [("GA", "up to 3 %"), ("CO", "up to 2 %"), ("CT", "none"), ("TX", "none"), ("IL", "up to 3 %")]
    {
        let (fee, code) = ada.quote("visa", state);
        assert_eq!(ada.shown(state), (allowed.to_owned(), code), "{state}, where the quote says {fee}");
        assert_eq!(fee == "0", allowed == "none", "{state}");
    }
    // Without a recorded cost, or where cards go to a provider that cannot report it, nothing is promised.
    let mut costless = GEORGIA.to_vec();
    costless.retain(|(name, _)| !name.starts_with("cost."));
    ada.save("/fees/program", &costless);
    let nothing = |code: &str| ("none".to_owned(), code.to_owned());
    assert_eq!(
        (ada.quote("visa", "GA").1, ada.shown("GA")),
        ("cost_unknown".to_owned(), nothing("cost_unknown"))
    );

    let mut document = ada.document();
    document["providers"]["card_provider_a"]["options"] = json!({"apiVersion": "2025-09-30.clover"});
    document["settings"]["feeProgram"]["cost"] = json!({"card_provider_a": {"percentBps": 290}});
    ada.admin.put(&ada.config, &document).data(200);
    let cannot = "provider_cannot_report";
    assert_eq!((ada.quote("visa", "GA").1, ada.shown("GA")), (cannot.to_owned(), nothing(cannot)));
}

#[test]
fn a_request_is_tried_with_a_card() {
    let server = Start::sandbox().run();
    let mut ada = Operator::at(&server);
    let form = ada.fee_form("card_provider_a");
    ada.save("/fees/program", GEORGIA);
    ada.save(&form, SURCHARGE);
    let unknown = ada.page("/try?amount=125.00&currency=USD");
    let decision = between(&unknown, "id=\"fee-decision\">", "</td>");
    assert!(decision.starts_with("Credit card surcharge (card_unknown, up to"), "{decision}");
    let credit = ada.page("/try?amount=125.00&currency=USD&brand=visa&funding=credit&payer=US-GA");
    let decision = between(&credit, "id=\"fee-decision\">", "</td>");
    assert!(
        decision.starts_with(
            "Credit card surcharge (network_cap). Credit card surcharge 3.75 USD, total 128.75 USD."
        ),
        "{decision}"
    );
    let rules = between(&credit, "Card fee, rule by rule", "</section>");
    for said in ["network_cap", "cost_cap", "prohibited", "merchant US-GA", "payer US-GA"] {
        assert!(rules.contains(said), "{said}: {rules}");
    }
    for (card, code) in [
        ("brand=visa&funding=debit&payer=US-GA", "funding_not_credit"),
        ("brand=visa&funding=credit&payer=US-CT", "prohibited"),
        ("brand=visa&funding=credit", "payer_place_unknown"),
    ] {
        let tried = ada.page(&format!("/try?amount=125.00&currency=USD&{card}"));
        let decision = between(&tried, "id=\"fee-decision\">", "</td>");
        assert!(decision.starts_with(&format!("Credit card surcharge ({code}")), "{card}: {decision}");
    }
    let nowhere = ada.page("/try?amount=125.00&currency=USD&brand=visa&funding=credit&payer=Georgia");
    assert!(nowhere.contains("Georgia is not a place; write it like US-GA or JP."), "{nowhere}");
}
