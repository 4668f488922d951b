//! `apply`, `export` and `config`: what is shown before it is done, and nobody's change overwritten.

use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Server, Start, Tenant, Terminal, marked_document};

struct Desk {
    server: Server,
    terminal: Terminal,
    tenant: Tenant,
    folder: tempfile::TempDir,
}

impl Desk {
    fn open() -> Self {
        let server = Start::serve().run();
        let tenant = Tenant::create(&mut server.admin());
        Self { terminal: Terminal::of(&server), server, tenant, folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn document(&self, name: &str, document: &Value) -> String {
        self.file(name, &document.to_string())
    }

    fn config(&self) -> Value {
        self.server.admin().get(&self.tenant.path("/config")).data(200)
    }

    fn version(&self) -> u64 {
        let answer = self.server.admin().get(&self.tenant.path("/config"));
        answer.headers["etag"].trim_matches('"').parse().unwrap()
    }
}

const FIRST: u64 = 9_000_001;

#[test]
fn a_document_is_shown_asked_for_and_put_in_force() {
    let desk = Desk::open();
    let file = desk.document("first.json", &marked_document(FIRST));

    let refused = desk.terminal.answering("n\n", &["apply", &file]);
    assert_eq!((refused.code, desk.version()), (1, 0), "{refused:?}");
    assert!(refused.err.contains("nothing was changed"), "{refused:?}");
    let nobody = desk.terminal.run(&["apply", &file]);
    assert!(nobody.code == 1 && nobody.err.contains("--yes") && desk.version() == 0, "{nobody:?}");

    let said = desk.terminal.answering("y\n", &["apply", &file]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("+ providers.cards_9000001.adapter = \"stripe\""), "{}", said.out);
    assert!(
        said.out.contains("+ fees[cards_9000001 web_card none USD].platform.fixedFeeMinor = \"9000001\""),
        "{}",
        said.out
    );
    assert!(said.out.contains("Version 1 applied."), "{}", said.out);
    assert!(!said.out.contains("a secret key of"), "the secret is shown: {}", said.out);
    let history = desk.terminal.json(&["config", "history"]);
    assert_eq!(history["items"][0]["changedBy"], "ann");

    let again = desk.terminal.shows(&["apply", &file]);
    assert!(again.contains("No changes") && desk.version() == 1, "{again}");
    let mut told = desk.terminal.json(&["apply", &file]);
    let warnings = told.as_object_mut().unwrap().remove("warnings").unwrap();
    assert!(warnings.to_string().contains("settings.returnOrigins"), "{warnings}");
    assert_eq!(told, json!({"applied": false, "dryRun": false, "version": 1, "changes": []}));
}

#[test]
fn changes_are_told_by_their_paths() {
    let desk = Desk::open();
    desk.terminal.shows(&["apply", "--yes", &desk.document("first.json", &marked_document(FIRST))]);
    let mut document = desk.config();
    document["fees"][0]["platform"]["percentFeeBps"] = json!(25);
    document["routing"]["web_card"]["rules"].as_array_mut().unwrap().swap(0, 1);
    document["routing"]["web_card"]["rules"].as_array_mut().unwrap().pop();
    document["settings"]["rateLimitPerSecond"] = json!(50);
    document["providers"]["cards_9000001"]["credentials"]["webhookSecret"] =
        json!("another webhook secret, a new one");
    let file = desk.document("second.json", &document);

    let looked = desk.terminal.shows(&["apply", "--dry-run", &file]);
    let currency = document["fees"][0]["currency"].as_str().unwrap();
    for line in [
        &format!("~ fees[cards_9000001 web_card none {currency}].platform.percentFeeBps: 0 -> 25"),
        "~ routing.web_card.rules: new order large_9000001, huge_9000001",
        "- routing.web_card.rules[any_9000001].id = \"any_9000001\"",
        "+ settings.rateLimitPerSecond = 50",
        "~ providers.cards_9000001.credentials.webhookSecret: \"********0001\" -> \"******** one\"",
        "Nothing was changed.",
    ] {
        assert!(looked.contains(line), "{line} is not in\n{looked}");
    }
    assert_eq!(desk.version(), 1);
    let told = desk.terminal.json(&["apply", "--dry-run", &file]);
    assert_eq!(
        (&told["applied"], &told["dryRun"], &told["version"]),
        (&json!(false), &json!(true), &json!(1))
    );
    let paths: Vec<_> =
        told["changes"].as_array().unwrap().iter().map(|change| change["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"settings.rateLimitPerSecond"), "{paths:?}");

    let cannot_ask = desk.terminal.run(&["apply", "--json", &file]);
    assert!(
        cannot_ask.code == 1 && cannot_ask.err.contains("--yes") && desk.version() == 1,
        "{cannot_ask:?}"
    );
    let done = desk.terminal.json(&["apply", "--yes", &file]);
    assert_eq!((&done["applied"], &done["version"]), (&json!(true), &json!(2)));
}

#[test]
fn a_secret_that_ends_like_the_old_one_is_a_change_all_the_same() {
    let desk = Desk::open();
    let with = |secret: &str| json!({"providers": {"cards": {"adapter": "stripe", "credentials": {"secretKey": secret}}}});
    desk.terminal.shows(&[
        "apply",
        "--yes",
        &desk.document("a.json", &with("the first secret of them 1234")),
    ]);
    let file = desk.document("b.json", &with("the second secret of all 1234"));
    let said = desk.terminal.shows(&["apply", "--yes", &file]);
    assert!(
        said.contains("~ providers.cards.credentials.secretKey: different secret with the same ending"),
        "{said}"
    );
    assert_eq!(desk.version(), 2);
    assert!(desk.terminal.shows(&["apply", "--yes", &file]).contains("No changes"));
}

#[test]
fn every_fault_is_listed_with_its_path_and_nothing_changes() {
    let desk = Desk::open();
    let text = "[providers.cards]\nadapter = \"strype\"\n[routing.web_card.default]\nprovider = \"nobody\"\nchannel = \"web_card\"\n\
                [settings]\nunheardOf = 1\n";
    let file = desk.file("faulty.toml", text);
    for arguments in [&["apply", "--yes", &file][..], &["apply", "--dry-run", &file]] {
        let said = desk.terminal.fails(arguments);
        assert!(said.contains("errors; nothing was changed"), "{said}");
        for path in [
            "\n  providers.cards.adapter: ",
            "\n  routing.web_card.default.provider: ",
            "\n  settings.unheardOf: ",
        ] {
            assert!(said.contains(path), "{path} is not in {said}");
        }
    }
    let said = desk.terminal.run(&["apply", "--yes", "--json", &file]);
    let error: Value = serde_json::from_str(&said.err).unwrap();
    assert_eq!(error["error"]["details"].as_array().unwrap().len(), 3, "{error:#}");
    assert_eq!(desk.version(), 0);
    // The very words of a PUT.
    let mut admin = desk.server.admin();
    let document = json!({"providers": {"cards": {"adapter": "strype"}}, "fees": [{"provider": 1}]});
    let put = admin.put(&desk.tenant.path("/config"), &document).json();
    let checked = admin.post(&desk.tenant.path("/config/validate"), &document).json();
    assert_eq!(put["error"]["details"], checked["error"]["details"]);
}

#[test]
fn files_that_cannot_be_read_are_told_without_quoting_them() {
    let desk = Desk::open();
    let missing = desk.folder.path().join("missing.toml");
    assert!(desk.terminal.fails(&["apply", missing.to_str().unwrap()]).contains("missing.toml"));
    for (name, text) in [
        ("torn.toml", "a = 1\nsecretKey = \"sk_live_canary\n"),
        ("twice.toml", "secretKey = \"sk_live_canary\"\nsecretKey = \"x\"\n"),
        ("torn.json", "{\"secretKey\": \"sk_live_canary"),
        ("twice.json", "{\"a\": \"sk_live_canary\", \"a\": 1}"),
    ] {
        let said = desk.terminal.fails(&["apply", "--yes", &desk.file(name, text)]);
        assert!(said.contains(name) && said.contains("line") && !said.contains("sk_live"), "{said}");
    }
    assert_eq!(desk.version(), 0);
}

#[test]
fn checking_a_document_changes_nothing_and_shows_no_secret() {
    let desk = Desk::open();
    let mut admin = desk.server.admin();
    admin.put(&desk.tenant.path("/config"), &marked_document(FIRST)).data(200);
    let answer = admin.post(&desk.tenant.path("/config/validate"), &marked_document(9_000_002));
    let checked = answer.data(200);
    assert_eq!((&checked["version"], &checked["replacedSecrets"]), (&json!(1), &json!([])));
    assert_eq!(answer.headers["etag"], "\"1\"");
    assert!(!checked.to_string().contains("a secret key of"), "{checked:#}");
    assert_eq!(desk.version(), 1);
    assert_eq!(desk.tenant.history(&mut admin).len(), 1);
    let read_back = admin.post(&desk.tenant.path("/config/validate"), &desk.config()).data(200);
    assert_eq!(read_back["document"], desk.config());
    assert_eq!(
        admin
            .post("/admin/v1/environments/env_0000000000edgpws32dxw2tc1h/config/validate", &json!({}))
            .failure(404),
        "not_found"
    );
    assert_eq!(
        desk.server
            .client("wrong token, certainly")
            .post(&desk.tenant.path("/config/validate"), &json!({}))
            .status,
        401
    );
}

#[test]
fn a_rollback_shows_its_difference_and_keeps_todays_secrets() {
    let desk = Desk::open();
    let with = |secret: &str, limit: Value| {
        json!({"providers": {"cards": {"adapter": "stripe", "credentials": {"secretKey": secret}}},
               "settings": {"rateLimitPerSecond": limit}})
    };
    let (old, new) = ("the old secret of them all 1111", "the new secret of them all 2222");
    desk.terminal.shows(&["apply", "--yes", &desk.document("a.json", &with(old, json!(10)))]);
    desk.terminal.shows(&["apply", "--yes", &desk.document("b.json", &with(new, json!(20)))]);
    let history = desk.terminal.shows(&["config", "history"]);
    assert!(history.contains("VERSION") && history.contains("ann"), "{history}");
    let looked = desk.terminal.shows(&["config", "rollback", "1", "--dry-run"]);
    assert!(
        looked.contains("~ settings.rateLimitPerSecond: 20 -> 10") && !looked.contains("secretKey"),
        "{looked}"
    );
    let refused = desk.terminal.answering("\n", &["config", "rollback", "1"]);
    assert!(refused.code == 1 && desk.version() == 2, "{refused:?}");
    let done = desk.terminal.json(&["config", "rollback", "1", "--yes"]);
    assert_eq!(done["version"], 3);
    assert_eq!(desk.config()["settings"]["rateLimitPerSecond"], 10);
    assert_eq!(desk.config()["providers"]["cards"]["credentials"]["secretKey"], "********2222");
    assert!(desk.terminal.fails(&["config", "rollback", "77"]).contains("config history"));
    assert!(desk.terminal.shows(&["config", "rollback", "3"]).contains("No changes"));
}

#[test]
fn nobodys_change_is_overwritten() {
    let desk = Desk::open();
    let file = desk.document("mine.json", &marked_document(FIRST));
    let mut child = desk.terminal.command(&["apply", &file]);
    let mut child = child.stdin(std::process::Stdio::piped()).spawn().unwrap();
    // It asks after it has read; somebody else is quicker than the answer.
    let mut asked = [0; 1];
    std::io::Read::read_exact(child.stderr.as_mut().unwrap(), &mut asked).unwrap();
    desk.server.admin().put(&desk.tenant.path("/config"), &marked_document(9_000_002)).data(200);
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"y\n").unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success() && said.contains("nothing was overwritten"), "{said}");
    assert!(desk.config()["providers"]["cards_9000002"].is_object());
}

#[test]
fn an_export_has_no_secret_and_is_taken_back() {
    let desk = Desk::open();
    desk.terminal.shows(&["apply", "--yes", &desk.document("first.json", &marked_document(FIRST))]);
    let toml = desk.terminal.shows(&["export"]);
    assert!(toml.contains("[providers.cards_9000001.credentials]") && toml.contains("********"), "{toml}");
    let json = desk.terminal.json(&["export"]);
    assert_eq!(json, desk.config());
    let as_json: Value = serde_json::from_str(&desk.terminal.shows(&["export", "--format", "json"])).unwrap();
    assert_eq!(as_json, json);
    for (name, text) in [("e.toml", toml), ("e.json", json.to_string())] {
        assert!(!text.contains("a secret key of") && !text.contains("a webhook secret of"), "{text}");
        assert!(desk.terminal.shows(&["apply", &desk.file(name, &text)]).contains("No changes"), "{name}");
    }
}

/// Documents with names, values and orders nobody would think of.
fn documents() -> impl Strategy<Value = Value> {
    let name = "[a-zA-Z0-9_.-]{1,12}";
    let text = "[ -~é\\n\\t\"\\\\]{1,20}";
    let condition = (name, text, prop::collection::vec(text, 1..4)).prop_map(|(id, value, list)| {
        json!([{"id": format!("{id}_1"), "field": "metadata.key one", "op": "eq", "value": value},
               {"id": format!("{id}_2"), "field": "metadata.other", "op": "notIn", "value": list},
               {"id": format!("{id}_3"), "field": "flow", "op": "exists", "value": true}])
    });
    let rules = prop::collection::btree_map(name, (condition, any::<bool>()), 0..4);
    let settings = (prop::option::of(1_u64..1_000_000), any::<bool>(), prop::option::of(60_u64..2_592_000));
    (name, "[ -~]{16,40}", rules, settings, 0_u32..10_000, prop::option::of(0_u64..1_000_000_000_000)).prop_map(
        |(provider, secret, rules, (limit, flag, lifetime), bps, minimum)| {
            let rules: Vec<_> = rules.into_iter().map(|(id, (conditions, enabled))| {
                json!({"id": id, "enabled": enabled, "conditions": conditions, "target": {"provider": provider, "channel": "web_card"}})
            }).collect();
            let layer = json!({"enabled": flag, "fixedFeeMinor": "7", "percentFeeBps": bps, "minimumFeeMinor": minimum.map(|it| it.to_string())});
            json!({
                "providers": {provider.clone(): {"adapter": "stripe", "credentials": {"secretKey": secret}}},
                "routing": {"web_card": {"enabled": flag, "rules": rules}},
                "fees": [{"provider": provider, "paymentMethod": "web_card", "channel": "none", "currency": "USD", "platform": layer}],
                "settings": {"rateLimitPerSecond": limit, "secretKeyForPreparation": flag, "preparationLifetimeSeconds": lifetime},
            })
        },
    )
}

#[test]
fn any_export_applied_changes_nothing_in_either_format() {
    let desk = Desk::open();
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { cases: 24, ..ProptestConfig::default() });
    let taken = std::cell::Cell::new(0);
    runner
        .run(&documents(), |document| {
            let put = desk.server.admin().put(&desk.tenant.path("/config"), &document);
            // A mask cannot be a secret; everything else must be taken.
            prop_assume!(!document.to_string().contains("********"));
            prop_assert_eq!(put.status, 200, "{:#}", put.json());
            taken.set(taken.get() + 1);
            for format in ["toml", "json"] {
                let exported = desk.terminal.shows(&["export", "--format", format]);
                let said = desk.terminal.run(&["apply", &desk.file(&format!("export.{format}"), &exported)]);
                prop_assert!(said.code == 0 && said.out.contains("No changes"), "{said:?}\n{exported}");
            }
            Ok(())
        })
        .unwrap();
    assert!(taken.get() >= 20);
}
