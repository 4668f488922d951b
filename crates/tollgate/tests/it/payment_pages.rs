//! What a page with card fields runs and may do: the inventory of its scripts, its policy, and what browsers report of it.

use std::fs;

use data_encoding::BASE64;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha384};

use crate::support::Start;

/// Scripts of earlier versions, at whose addresses pages demand the bytes they know.
const RELEASED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sdk/typescript/released");

#[test]
fn scripts_are_listed_with_their_digest_and_violations_are_counted() {
    let server = Start::sandbox().run();
    let (mut admin, mut browser) = (server.sandbox_client("adminToken"), server.client(""));
    let listed = server.sandbox_path("/payment-pages");
    let pages = |admin: &mut crate::support::Client| {
        admin.get(&listed).data(200)["items"].as_array().unwrap().clone()
    };
    let names: Vec<_> = pages(&mut admin).iter().map(|page| page["provider"].clone()).collect();
    assert_eq!(names, ["card_provider_a", "card_provider_b", "card_provider_c"], "banks draw no card fields");

    let page = pages(&mut admin).remove(0);
    let [own, providers] = page["scripts"].as_array().unwrap().as_slice() else { panic!("{page:#}") };
    let base = format!("http://{}", server.address());
    let path = own["url"].as_str().unwrap().strip_prefix(&base).unwrap();
    let script = browser.get(path);
    assert_eq!(script.status, 200);
    assert_eq!(script.headers["cache-control"], "public, max-age=31536000, immutable");
    assert_eq!(script.headers["access-control-allow-origin"], "*");
    let integrity = format!("sha384-{}", BASE64.encode(&Sha384::digest(&script.body)));
    assert_eq!(own["integrity"], integrity);
    assert_eq!(script.body, browser.get("/tollgate.js").body, "the newest version is the same script");
    assert_eq!(browser.get("/scripts/tollgate-0000000000000000.js").failure(404), "not_found");
    assert_eq!(
        (&providers["url"], &providers["integrity"]),
        (&json!(format!("{base}/simulator/stripe/v3.js")), &Value::Null)
    );

    let environment = server.sandbox_json()["environmentId"].as_str().unwrap().to_owned();
    let reports = format!("/csp-reports/{environment}/card_provider_a");
    let policy = page["contentSecurityPolicy"].as_str().unwrap();
    for part in [
        format!("script-src 'self' {base}"),
        "object-src 'none'; base-uri 'none'".to_owned(),
        format!("report-uri {base}{reports}; report-to tollgate"),
    ] {
        assert!(policy.contains(&part), "{part} is not in {policy}");
    }
    assert_eq!(page["reportingEndpoints"], format!("tollgate=\"{base}{reports}\""));
    assert_eq!(page["reports"], json!([]));

    // The two forms that browsers send, the second after they asked whether they may.
    let old = json!({"csp-report": {"document-uri": "https://shop.example/pay/42", "violated-directive": "script-src-elem",
                                    "blocked-uri": "https://evil.example/skimmer.js?card=4242"}});
    let new = json!([{"type": "csp-violation", "body": {"effectiveDirective": "script-src", "blockedURL": "https://evil.example/"}}]);
    let asks = [("origin", "https://shop.example"), ("access-control-request-method", "POST")];
    let allowed = browser.send("OPTIONS", &reports, &asks, b"");
    assert_eq!((allowed.status, &*allowed.headers["access-control-allow-origin"]), (204, "*"));
    for (kind, report) in [("application/csp-report", &old), ("application/reports+json", &new)] {
        let headers = [("content-type", kind), ("origin", "https://shop.example")];
        let answer = browser.send("POST", &reports, &headers, report.to_string().as_bytes());
        assert_eq!((answer.status, &*answer.headers["access-control-allow-origin"]), (200, "*"));
    }
    let page = pages(&mut admin).remove(0);
    let [report] = page["reports"].as_array().unwrap().as_slice() else { panic!("{page:#}") };
    assert_eq!(
        (&report["directive"], &report["blocked"], &report["count"]),
        (&json!("script-src"), &json!("https://evil.example"), &json!(2))
    );
    assert_eq!(pages(&mut admin)[1]["reports"], json!([]), "they are the other page's");
    let metrics = String::from_utf8(browser.get("/metrics").body).unwrap();
    assert!(metrics.contains("tollgate_payment_page_reports_total{directive=\"script-src\"} 2"), "{metrics}");

    let nobody = format!("/csp-reports/{environment}/nobody");
    assert_eq!(browser.post(&nobody, &old).failure(404), "not_found");
    let headers = [("content-type", "application/csp-report")];
    assert_eq!(browser.send("POST", &reports, &headers, b"{").failure(400), "invalid_body");
}

#[test]
fn a_page_that_demands_the_script_of_an_earlier_version_gets_it() {
    let server = Start::sandbox().run();
    let mut browser = server.client("");
    let files: Vec<_> = fs::read_dir(RELEASED).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!files.is_empty());
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let script = browser.get(&format!("/scripts/{name}"));
        assert_eq!(script.status, 200, "{name}");
        assert_eq!(script.headers["cache-control"], "public, max-age=31536000, immutable");
        assert!(script.body == fs::read(&file).unwrap(), "{name} is not what was released");
    }
}
