//! Card fees at the command line: quotes with a card, rule by rule, the rules as a table, and a file of rules checked.

use serde_json::{Value, json};

use crate::support::{Server, Start, Terminal};

fn surcharging(server: &Server) {
    let (mut admin, config) = (server.sandbox_client("adminToken"), server.sandbox_path("/config"));
    let mut document = admin.get(&config).data(200);
    for fee in document["fees"].as_array_mut().unwrap() {
        if fee["paymentMethod"] == "web_card" {
            fee["platform"] = json!({"feeKind": "surcharge", "percentFeeBps": 300});
            fee["organization"] = Value::Null;
        }
    }
    document["settings"]["feeProgram"] = json!({
        "merchant": {"country": "US", "state": "GA", "mcc": "5999"},
        "cost": {"card_provider_a": {"percentBps": 310}},
        "noticeGivenOn": "2026-06-01", "entryNoticeAttested": true, "amexParityConfirmed": true,
    });
    admin.put(&config, &document).data(200);
}

#[test]
fn a_quote_and_its_explanation_know_the_card() {
    let server = Start::sandbox().run();
    surcharging(&server);
    let terminal = Terminal::beside(&server);
    let ask = |command: &str, more: &[&str]| {
        let mut arguments = vec![command, "125.00", "USD"];
        arguments.extend(more);
        terminal.shows(&arguments)
    };
    let credit = ["--brand", "visa", "--funding", "credit", "--payer"];
    let with = |payer: &'static str| [&credit[..], &[payer]].concat();

    let open = ask("quote", &[]);
    assert!(open.contains("surcharge 0.00 USD of 3.75 USD configured, up to 3.75 USD"), "{open}");
    let exact = ask("quote", &with("US-GA"));
    assert!(
        exact.contains("surcharge 3.75 USD of 3.75 USD configured\n") && exact.contains("as_configured"),
        "{exact}"
    );
    let prohibited = ask("quote", &with("US-CT"));
    assert!(
        prohibited.contains("prohibited: ") && prohibited.contains("(https://portal.ct.gov/"),
        "{prohibited}"
    );

    let explained = ask("explain", &with("US-CO"));
    for said in ["Card fee rules", "place_cap", "US-CO", "2.50", "network_cap", "3.75"] {
        assert!(explained.contains(said), "{said}: {explained}");
    }
    let mut arguments = vec!["explain", "125.00", "USD"];
    arguments.extend(with("US-CO"));
    let data = terminal.json(&arguments);
    assert_eq!(data["quote"]["feeDecision"]["reasons"][0]["code"], "place_cap");
    let caps = data["feeRules"].as_array().unwrap().iter().filter(|rule| rule["limitMinor"] == "250").count();
    assert_eq!(caps, 1, "{data:#}");
    // What nobody knows is named with what there is.
    let unknown = terminal.fails(&["quote", "125.00", "USD", "--brand", "visa", "--funding", "charge"]);
    assert!(unknown.contains("credit, debit, prepaid, unknown"), "{unknown}");
}

#[test]
fn the_rules_are_a_table_and_a_file_of_them_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::nowhere(folder.path().to_owned());
    let table = terminal.shows(&["fees", "table", "--country", "us"]);
    let mut lines = table.lines();
    assert_eq!(
        lines.next(),
        Some("place,name,kind,brand,funding,allowed,reason,rule,source,since,read_on,rules")
    );
    let lines: Vec<_> = lines.collect();
    // 52 places, 3 kinds, 4 networks, 4 fundings: each with its reason and, where there is one, its source.
    assert_eq!(lines.len(), 52 * 3 * 4 * 4);
    for begin in [
        "US-GA,Georgia,surcharge,visa,credit,3.00 %,network_cap,",
        "US-GA,Georgia,surcharge,visa,debit,0,funding_not_credit,",
        "US-CO,Colorado,surcharge,mastercard,credit,2.00 %,place_cap,",
        "US-CT,Connecticut,surcharge,discover,credit,0,prohibited,",
        "US-ME,Maine,service,visa,debit,cost,cost_cap,",
    ] {
        assert_eq!(lines.iter().filter(|line| line.starts_with(begin)).count(), 1, "{begin}");
    }
    let has_source = |line: &&str| ["http://", "https://"].iter().any(|scheme| line.contains(scheme));
    assert!(lines.iter().all(has_source), "every cell has a source");

    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let rules = tollgate_configuration::FEE_RULES;
    std::fs::write(path("own.txt"), rules.replacen("rules 2026-11-18", "rules own-7", 1)).unwrap();
    let said = terminal.shows(&["fees", "check", &path("own.txt")]);
    assert!(said.contains("rules own-7 as of 2026-11-18") && said.contains("networks"), "{said}");
    let own = terminal.shows(&["fees", "table", "--rules", &path("own.txt"), "--country", "US"]);
    assert_eq!(own.replace(",own-7\n", ",2026-11-18\n"), table);
    let line = rules.lines().position(|line| line.starts_with("place US-GA")).unwrap() + 2;
    let faulty = rules.replacen("place US-GA Georgia\n", "place US-GA Georgia\n  surcharge: maybe\n", 1);
    std::fs::write(path("faulty.txt"), faulty).unwrap();
    for arguments in
        [&["fees", "check", &path("faulty.txt")][..], &["fees", "table", "--rules", &path("faulty.txt")]]
    {
        let said = terminal.fails(arguments);
        assert!(said.contains(&format!("line {line}: `surcharge` must be one of: allowed")), "{said}");
    }
    assert!(terminal.fails(&["fees", "check", &path("none.txt")]).contains("none.txt"));
}
