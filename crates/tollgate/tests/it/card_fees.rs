//! Card fees by kind, card and place, through the API: what is quoted, why, and what is refused.

use serde_json::{Map, Value, json};

use crate::support::{Client, Server, Start};

const QUOTE: &str = "/client/v1/fees/quote";

/// Worked cases: name | merchant, payer | card | principal | layers (platform or organization: kind: fixed + basis points) |
/// what differs from the usual program | platform's and organization's part and reason, or the refusal | up to, without the card:
/// with the accepted network that allows most | total debit | where the reason is written.
const CASES: &str = "\
no rule for Japan | JP JP | visa credit | 10000 JPY | p:surcharge:0+300 |  | 0+0 country_not_known | 0 | 10000 | none
a cap is rounded down | US-GA US-GA | visa credit | 3333 USD | p:surcharge:0+300 | cost=500+0 | 99+0 network_cap | 99 | 3432 | paya.helpjuice.com
a town in Maine, at cost | US-ME US-ME | visa credit | 10000 USD | p:service:0+300 | mcc=9399 cost=220+0 | 220+0 cost_cap | | 10220 | www.maine.gov
a debit card | US-GA US-GA | visa debit | 10000 USD | p:surcharge:0+250 |  | 0+0 funding_not_credit | 250 | 10000 | paya.helpjuice.com
a prepaid card | US-GA US-GA | mastercard prepaid | 10000 USD | p:surcharge:0+250 |  | 0+0 funding_not_credit | 250 | 10000 | paya.helpjuice.com
credit in Louisiana | US-LA US-LA | visa credit | 10000 USD | p:surcharge:0+250 |  | 250+0 as_configured | 250 | 10250 | act751.com
Connecticut | US-CT US-CT | visa credit | 10000 USD | p:surcharge:0+250 |  | 0+0 prohibited | 0 | 10000 | portal.ct.gov
Maine | US-ME US-ME | visa credit | 10000 USD | p:surcharge:0+100 |  | 0+0 prohibited | 0 | 10000 | www.maine.gov
Colorado | US-CO US-CO | visa credit | 10000 USD | p:surcharge:0+290 |  | 200+0 place_cap | 200 | 10200 | law.counselstack.com
Colorado at cost | US-CO US-CO | visa credit | 10000 USD | p:surcharge:0+290 | override=US-CO:cost | 290+0 as_configured | 290 | 10290 | law.counselstack.com
Oklahoma, where cost is lower | US-OK US-OK | visa credit | 10000 USD | p:surcharge:0+290 | cost=180+0 | 180+0 cost_cap | 180 | 10180 | www.mondaq.com
no entry notice in Kansas | US-KS US-KS | visa credit | 10000 USD | p:surcharge:0+250 | no-entry-notice | 0+0 no_entry_notice | 0 | 10000 | merchantnotices.com
California | US-CA US-CA | visa credit | 10000 USD | p:surcharge:0+250 |  | 0+0 unclear | 0 | 10000 | oag.ca.gov
California overridden | US-CA US-CA | visa credit | 10000 USD | p:surcharge:0+250 | override=US-CA | 250+0 as_configured | 250 | 10250 | oag.ca.gov
Texas | US-TX US-TX | visa credit | 10000 USD | p:surcharge:0+250 |  | 0+0 unclear | 0 | 10000 | sll.texas.gov
Illinois | US-IL US-IL | visa credit | 10000 USD | p:surcharge:0+250 |  | 250+0 as_configured | 250 | 10250 | www.getnickel.com
Florida | US-FL US-FL | visa credit | 10000 USD | p:surcharge:0+250 |  | 250+0 as_configured | 250 | 10250 | law.justia.com
from Georgia to Colorado | US-GA US-CO | visa credit | 10000 USD | p:surcharge:0+250 |  | 200+0 place_cap | 200 | 10200 | law.counselstack.com
notice ten days ago | US-GA US-GA | visa credit | 10000 USD | p:surcharge:0+250 | notice=10 | 0+0 no_notice | 0 | 10000 | paya.helpjuice.com
no parity with American Express | US-GA US-GA | visa credit | 10000 USD | p:surcharge:0+250 | no-parity | 0+0 amex_parity | 0 | 10000 | scratch.software
a hosted page | US-GA US-GA | visa credit | 10000 USD | p:surcharge:0+250 | hosted | 0+0 card_unknown | | 10000 | docs.stripe.com
a bank debit | US-GA US-GA | visa unknown | 10000 USD | p:surcharge:0+250 | type=us_bank_account | 0+0 not_a_card | 250 | 10000 | paya.helpjuice.com
a flat convenience fee | US-GA US-GA | visa debit | 10000 USD | o:convenience:250+0 |  | 0+250 as_configured | | 10250 | usa.visa.com
convenience of an online shop | US-GA US-GA | visa credit | 10000 USD | o:convenience:250+0 | online-only | refused convenience_online_only | |  | payscout.com
two kinds | US-GA US-GA | visa credit | 10000 USD | p:surcharge:0+200 o:convenience:100+0 |  | refused kinds_combined | |  | payscout.com
a restaurant's service fee | US-GA US-GA | visa credit | 5000 USD | p:service:0+235 | mcc=5812 | refused service_mcc | |  | support.clearent.com
neutral in Connecticut | US-CT US-CT | visa credit | 10000 USD | p:neutral:99+0 |  | 99+0 as_configured | | 10099 | none
a consumer in the United Kingdom | GB GB | visa credit consumer | 10000 GBP | p:surcharge:0+150 |  | 0+0 prohibited | 0 | 10000 | legislation.gov.uk";

/// A day so many days before today, or after it.
fn day(offset: i64) -> String {
    (jiff::Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC).date() + jiff::Span::new().days(offset))
        .to_string()
}

fn place(text: &str) -> Value {
    match text.split_once('-') {
        Some((country, state)) => json!({"country": country, "state": state}),
        None => json!({"country": text}),
    }
}

/// The usual program of a merchant, who has done everything.
fn program(merchant: &str) -> Value {
    let mut at = place(merchant);
    at["mcc"] = json!("5999");
    json!({
        "merchant": at,
        "acceptedBrands": ["visa", "mastercard", "amex", "discover"],
        "cost": {"cards": {"percentBps": 290, "fixedMinor": "30"}},
        "noticeGivenOn": day(-170),
        "entryNoticeAttested": true,
        "amexParityConfirmed": true,
        "onlineOnly": false,
        "overrides": [],
    })
}

/// A configuration with one provider, one card fee and this program.
fn document(adapter: &str, currency: &str, layers: &Map<String, Value>, program: &Value) -> Value {
    let mut fee =
        json!({"provider": "cards", "paymentMethod": "web_card", "channel": "none", "currency": currency});
    fee.as_object_mut().unwrap().extend(layers.clone());
    json!({
        "providers": {"cards": {"adapter": adapter, "credentials": {}}},
        "routing": {"web_card": {"default": {"provider": "cards", "channel": "web_card"}}},
        "fees": [fee],
        "settings": {"feeProgram": program},
    })
}

fn surcharge(bps: u16) -> Map<String, Value> {
    let layer = json!({"feeKind": "surcharge", "percentFeeBps": bps});
    Map::from_iter([("platform".to_owned(), layer)])
}

struct Case<'a> {
    name: &'a str,
    document: Value,
    /// Without anything about the card.
    request: Value,
    /// What is known of the card.
    card: Map<String, Value>,
    expected: &'a str,
    up_to: &'a str,
    total: &'a str,
    /// The host of the reason's source, or `none`.
    source: &'a str,
}

impl<'a> Case<'a> {
    fn read(line: &'a str) -> Self {
        let fields: Vec<_> = line.split('|').map(str::trim).collect();
        let [name, places, card, principal, layers, changes, expected, up_to, total, source] = fields[..]
        else {
            panic!("{line}")
        };
        let (merchant, payer) = places.split_once(' ').unwrap();
        let (amount, currency) = principal.split_once(' ').unwrap();
        let mut program = program(merchant);
        let mut request = json!({"amountMinor": amount, "currency": currency, "payer": place(payer)});
        let words: Vec<_> = card.split(' ').collect();
        let mut facts = json!({"brand": words[0], "funding": words[1]});
        if let Some(word) = words.get(2) {
            facts["commercial"] = json!(*word == "commercial");
        }
        let mut card = Map::from_iter([("card".to_owned(), facts)]);
        for change in changes.split_whitespace() {
            match change.split_once('=').unwrap_or((change, "")) {
                ("mcc", mcc) => program["merchant"]["mcc"] = json!(mcc),
                ("cost", cost) => {
                    let (percent, fixed) = cost.split_once('+').unwrap();
                    let percent: u16 = percent.parse().unwrap();
                    program["cost"]["cards"] = json!({"percentBps": percent, "fixedMinor": fixed});
                }
                ("notice", days) => program["noticeGivenOn"] = json!(day(-days.parse::<i64>().unwrap())),
                ("no-entry-notice", _) => program["entryNoticeAttested"] = json!(false),
                ("no-parity", _) => program["amexParityConfirmed"] = json!(false),
                ("online-only", _) => program["onlineOnly"] = json!(true),
                ("override", id) => {
                    let given = json!({"id": id, "reason": "opinion of counsel", "expiresOn": day(200)});
                    program["overrides"].as_array_mut().unwrap().push(given);
                }
                ("hosted", _) => request["flow"] = json!("hosted_checkout"),
                ("type", method) => card = Map::from_iter([("paymentMethodType".to_owned(), json!(method))]),
                _ => panic!("{change}"),
            }
        }
        let layers = layers.split_whitespace().map(|layer| {
            let parts: Vec<_> = layer.split(':').collect();
            let (fixed, bps) = parts[2].split_once('+').unwrap();
            let name = if parts[0] == "p" { "platform" } else { "organization" };
            let bps: u16 = bps.parse().unwrap();
            (name.to_owned(), json!({"feeKind": parts[1], "fixedFeeMinor": fixed, "percentFeeBps": bps}))
        });
        let document = document("stripe", currency, &layers.collect(), &program);
        Self { name, document, request, card, expected, up_to, total, source }
    }

    fn check(&self, admin: &mut Client, client: &mut Client, config: &str) {
        let name = self.name;
        if let Some(code) = self.expected.strip_prefix("refused ") {
            let refused = admin.put(config, &self.document);
            assert_eq!(refused.status, 400, "{name}");
            let text = refused.json()["error"]["details"].to_string();
            assert!(
                text.contains(code) && text.contains(&format!("https://{}/", self.source)),
                "{name}: {text}"
            );
            return;
        }
        admin.put(config, &self.document).data(200);
        let mut request = self.request.clone();
        // Of the card, the network alone is known.
        let mut open = request.clone();
        if let Some(card) = self.card.get("card") {
            open["card"] = json!({"brand": card["brand"]});
        }
        let without = client.post(QUOTE, &open).data(200);
        request.as_object_mut().unwrap().extend(self.card.clone());
        let quote = client.post(QUOTE, &request).data(200);
        let decision = &quote["feeDecision"];
        let (parts, code) = self.expected.split_once(' ').unwrap();
        let (platform, organization) = parts.split_once('+').unwrap();
        let number = |field: &str| quote[field].as_str().unwrap().parse::<u64>().unwrap();
        assert_eq!(
            (&quote["platformFeeMinor"], &quote["organizationFeeMinor"]),
            (&json!(platform), &json!(organization)),
            "{name}: {quote:#}"
        );
        assert_eq!(number("totalDebitMinor"), number("amountMinor") + number("feeMinor"), "{name}");
        assert_eq!(quote["totalDebitMinor"], self.total, "{name}");
        let reasons = decision["reasons"].as_array().unwrap();
        assert_eq!((reasons.len(), &reasons[0]["code"]), (1, &json!(code)), "{name}: {quote:#}");
        let host = reasons[0]["source"].as_str().map_or("none", |source| source.split('/').nth(2).unwrap());
        assert_eq!(host, self.source, "{name}");
        assert_eq!(decision["feeMinor"], quote["feeMinor"], "{name}");
        assert_eq!(
            decision["range"],
            json!({"minMinor": quote["feeMinor"], "maxMinor": quote["feeMinor"]}),
            "{name}"
        );
        assert!(
            decision["rulesVersion"].is_string() && decision["disclosure"].is_string(),
            "{name}: {decision:#}"
        );
        if !self.up_to.is_empty() {
            let range = json!({"minMinor": "0", "maxMinor": self.up_to});
            assert_eq!(
                (&without["feeDecision"]["range"], &without["feeMinor"]),
                (&range, &json!("0")),
                "{name}"
            );
        }
    }
}

struct Scene {
    server: Server,
    admin: Client,
    client: Client,
    config: String,
}

impl Scene {
    fn start() -> Self {
        let server = Start::sandbox().run();
        let (admin, client) = (server.sandbox_client("adminToken"), server.sandbox_client("secretKey"));
        let config = server.sandbox_path("/config");
        Self { server, admin, client, config }
    }

    fn configure(&mut self, adapter: &str, layers: &Map<String, Value>, program: &Value) -> Value {
        self.admin.put(&self.config, &document(adapter, "USD", layers, program)).data(200)
    }

    fn quote(&mut self, more: impl Into<Value>) -> Value {
        let more = more.into();
        let mut request = json!({"amountMinor": "12500", "currency": "USD"});
        let Value::Object(more) = more else { panic!("fields are an object") };
        request.as_object_mut().unwrap().extend(more);
        self.client.post(QUOTE, &request).data(200)
    }
}

#[test]
fn worked_cases_are_quoted_to_the_cent() {
    let mut scene = Scene::start();
    let cases: Vec<_> = CASES.lines().map(Case::read).collect();
    assert_eq!(cases.len(), 28);
    for case in &cases {
        case.check(&mut scene.admin, &mut scene.client, &scene.config);
    }
}

#[test]
fn quotes_preparations_and_explanations_say_why() {
    let mut scene = Scene::start();
    scene.configure("stripe", &surcharge(300), &program("US-GA"));
    let credit = json!({"brand": "visa", "funding": "credit"});
    let georgia = json!({"country": "US", "state": "GA"});

    // Nothing is known: the least that is lawful, and how far it may go.
    let open = scene.quote(json!({}));
    assert_eq!((&open["feeMinor"], &open["totalDebitMinor"]), (&json!("0"), &json!("12500")));
    let decision = &open["feeDecision"];
    assert_eq!(decision["kind"], "surcharge");
    assert_eq!(decision["configuredFeeMinor"], "375");
    assert_eq!(decision["range"], json!({"minMinor": "0", "maxMinor": "375"}));
    assert_eq!(decision["reasons"][0]["code"], "card_unknown");
    let said = decision["disclosure"].as_str().unwrap();
    assert!(said.starts_with("A surcharge of up to 3.75 USD applies to credit cards"), "{said}");
    let of_a_network = scene.quote(json!({"card": {"brand": "visa"}}));
    assert_eq!(of_a_network["feeDecision"]["reasons"][0]["code"], "card_unknown");

    let exact = scene.quote(json!({"card": credit, "payer": georgia}));
    assert_eq!((&exact["feeMinor"], &exact["totalDebitMinor"]), (&json!("375"), &json!("12875")));
    let said = exact["feeDecision"]["disclosure"].as_str().unwrap();
    assert!(said.starts_with("Credit card surcharge 3.75 USD, total 128.75 USD."), "{said}");
    // The layers stay as they are configured; what was cut shows in their fees.
    assert_eq!(exact["breakdown"]["layers"][0]["percentFeeBps"], 300);

    let no_place = scene.quote(json!({"card": credit}));
    assert_eq!(no_place["feeDecision"]["reasons"][0]["code"], "payer_place_unknown");
    assert_eq!(no_place["feeDecision"]["range"], json!({"minMinor": "0", "maxMinor": "375"}));
    let no_state = scene.quote(json!({"card": credit, "payer": {"country": "US"}}));
    assert_eq!(no_state["feeDecision"]["reasons"][0]["code"], "payer_place_unknown");
    assert_eq!(no_state["feeDecision"]["range"], json!({"minMinor": "0", "maxMinor": "375"}));
    let colorado = scene.quote(json!({"card": credit, "payer": {"country": "us", "state": "co"}}));
    assert_eq!(colorado["feeMinor"], "250");
    assert!(
        colorado["feeDecision"]["disclosure"]
            .as_str()
            .unwrap()
            .contains("section 5-2-212, Colorado Revised Statutes")
    );

    // Rule by rule.
    let path = scene.server.sandbox_path("/explain");
    let request = json!({"amountMinor": "12500", "currency": "USD", "card": credit, "payer": {"country": "US", "state": "CT"}});
    let explained = scene.admin.post(&path, &request).data(200);
    assert_eq!(explained["quote"]["feeMinor"], "0");
    let rules = explained["feeRules"].as_array().unwrap();
    let rule = |code: &str, side: &str| {
        rules.iter().find(|rule| rule["code"] == code && rule["side"] == json!(side)).unwrap()
    };
    assert_eq!(rule("prohibited", "payer")["applies"], true);
    assert_eq!(rule("prohibited", "payer")["place"], "US-CT");
    assert_eq!(rule("prohibited", "merchant")["applies"], false);
    let cap = rules.iter().find(|rule| rule["code"] == "network_cap").unwrap();
    assert_eq!((&cap["limitMinor"], &cap["applies"]), (&json!("375"), &json!(false)));
    assert!(rules.iter().all(|rule| !rule["rule"].as_str().unwrap().is_empty()));
}

#[test]
fn what_cannot_be_surcharged_is_not() {
    let mut scene = Scene::start();
    let asked =
        json!({"card": {"brand": "visa", "funding": "credit"}, "payer": {"country": "US", "state": "GA"}});
    // Square has no field for it.
    scene.configure("square", &surcharge(300), &program("US-GA"));
    let quote = scene.quote(asked.clone());
    assert_eq!(quote["feeDecision"]["reasons"][0]["code"], "provider_cannot_report");
    assert_eq!(quote["feeMinor"], "0");
    // An override may stand for the payer's place.
    let mut anywhere = program("US-GA");
    let given =
        json!([{"id": "payer_place:merchant", "reason": "opinion of counsel", "expiresOn": day(200)}]);
    anywhere["overrides"] = given;
    scene.configure("stripe", &surcharge(300), &anywhere);
    let quote = scene.quote(json!({"card": {"brand": "visa", "funding": "credit"}}));
    assert_eq!(quote["feeMinor"], "375", "{quote:#}");
    // Without a kind nothing changes, whatever is said of the card.
    let layer = json!({"percentFeeBps": 300});
    scene.configure("stripe", &Map::from_iter([("platform".to_owned(), layer)]), &Value::Null);
    let quote = scene.quote(asked);
    assert_eq!(quote["feeMinor"], "375");
    assert!(quote.get("feeDecision").is_none(), "{quote:#}");
    // An override ends on its day.
    for (days, code) in [(1, "as_configured"), (0, "unclear")] {
        let mut texas = program("US-TX");
        texas["overrides"] = json!([{"id": "US-TX", "reason": "opinion of counsel", "expiresOn": day(days)}]);
        let put = scene.configure("stripe", &surcharge(200), &texas);
        let warnings = put["warnings"].to_string();
        assert!(warnings.contains("the override US-TX"), "{put:#}");
        let quote = scene.quote(json!({
            "card": {"brand": "visa", "funding": "credit"}, "payer": {"country": "US", "state": "TX"},
        }));
        assert_eq!(quote["feeDecision"]["reasons"][0]["code"], code, "{days}");
    }
}

#[test]
fn unknown_words_about_card_and_payer_are_named_with_the_known_ones() {
    let mut scene = Scene::start();
    scene.configure("stripe", &surcharge(300), &program("US-GA"));
    let mut ask = |more: &Value| {
        let mut request = json!({"amountMinor": "12500", "currency": "USD"});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        scene.client.post(QUOTE, &request)
    };
    for (more, fields) in [
        (
            json!({"card": {"brand": "visa", "funding": "credit"}, "payer": {"country": "US", "state": "ZZ"}}),
            vec!["payer.state"],
        ),
        (json!({"card": {"brand": "solo", "funding": "charge"}}), vec!["card.brand", "card.funding"]),
        (
            json!({"card": {"brand": "visa", "funding": "credit", "country": "USA", "commercial": "no"}}),
            vec!["card.country", "card.commercial"],
        ),
        (json!({"card": [], "payer": "US-GA", "recurring": 1}), vec!["card", "payer", "recurring"]),
        (json!({"payer": {"state": "GA"}}), vec!["payer.country"]),
        (
            json!({"paymentMethodType": "US bank", "card": {"brand": "visa", "funding": "credit"}}),
            vec!["paymentMethodType"],
        ),
        (
            json!({"paymentMethodType": "us_bank_account", "card": {"brand": "visa", "funding": "credit"}}),
            vec!["card"],
        ),
        (
            json!({"paymentMethod": "ach", "card": {}, "payer": {}, "recurring": true}),
            vec!["card", "payer", "recurring"],
        ),
    ] {
        let answer = ask(&more);
        assert_eq!(answer.faulty_fields(), fields, "{more}");
    }
    let states = ask(&json!({"payer": {"country": "US", "state": "ZZ"}})).json();
    let said = states["error"]["details"][0]["message"].as_str().unwrap();
    assert!(said.starts_with("must be one of: AK, AL, AR") && said.ends_with("WV, WY"), "{said}");
    let funding = ask(&json!({"card": {"brand": "visa", "funding": "charge"}})).json();
    assert_eq!(funding["error"]["details"][0]["message"], "must be one of: credit, debit, prepaid, unknown");
}

#[test]
fn rules_that_do_not_hold_together_stop_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rules.txt");
    let rules = tollgate_configuration::FEE_RULES;
    let georgia = "place US-GA Georgia\n";
    let prohibited = format!(
        "place US-GA Georgia\n  from: 2026-01-01\n  surcharge: prohibited\n  convenience: allowed\n  service: allowed\n  \
         confidence: high\n  source: https://law.example/georgia\n  read on: 2026-11-01\n\n{georgia}"
    );
    let replaced = rules.replacen(georgia, &prohibited, 1).replacen("rules 2026-11-18", "rules own-7", 1);
    std::fs::write(&file, replaced).unwrap();
    let path = file.to_str().unwrap();

    let server = Start::sandbox().with("TOLLGATE_FEE_RULES", path).run();
    let (mut admin, mut client) = (server.sandbox_client("adminToken"), server.sandbox_client("secretKey"));
    let config = server.sandbox_path("/config");
    admin.put(&config, &document("stripe", "USD", &surcharge(300), &program("US-GA"))).data(200);
    let request = json!({
        "amountMinor": "12500", "currency": "USD", "card": {"brand": "visa", "funding": "credit"},
        "payer": {"country": "US", "state": "GA"},
    });
    let decision = client.post(QUOTE, &request).data(200)["feeDecision"].clone();
    assert_eq!(decision["rulesVersion"], "own-7");
    assert_eq!(decision["reasons"][0]["code"], "prohibited");
    assert_eq!(decision["reasons"][0]["source"], "https://law.example/georgia");
    drop(server);

    let line = rules.lines().position(|line| line.starts_with("place US-GA")).unwrap() + 2;
    std::fs::write(
        &file,
        rules.replacen("place US-GA Georgia\n", "place US-GA Georgia\n  surcharge: maybe\n", 1),
    )
    .unwrap();
    let mut refused = Start::sandbox().with("TOLLGATE_FEE_RULES", path).spawn();
    let ended = refused.wait_end(std::time::Duration::from_secs(150));
    assert!(!ended.success());
    let said = format!("{}{}", refused.output(), refused.log());
    assert!(said.contains(&format!("line {line}: `surcharge` must be one of: allowed")), "{said}");
}
