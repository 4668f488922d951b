//! The client against an issuer on this machine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, unreachable_pub)]

mod issuer;
// Other tests use the rest of it.
#[allow(dead_code)]
mod signer;

use issuer::{CLIENT_ID, CLIENT_SECRET, Grant, TestIssuer, challenge};
use serde_json::{Value, json};
use signer::Signer;
use tollgate_domain::Timestamp;
use tollgate_oidc::{Assurance, Issuer, OidcError, OidcSettings, Person, SignInAttempt, TokenFault};
use tollgate_vault::Secret;

const START: i64 = 1_800_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_millis((START + seconds) * 1_000)
}

fn client_of(url: &str) -> Issuer {
    let client_secret = Secret::new(CLIENT_SECRET);
    Issuer::new(OidcSettings {
        issuer: url.to_owned(),
        client_id: CLIENT_ID.to_owned(),
        client_secret,
        assurance: Assurance::default(),
    })
    .unwrap()
}

fn attempt() -> SignInAttempt {
    SignInAttempt {
        redirect_uri: "https://pay.example.com/console/oidc/callback".to_owned(),
        state: "a state".to_owned(),
        nonce: "a nonce".to_owned(),
        verifier: Secret::new("a verifier"),
    }
}

struct World {
    issuer: TestIssuer,
    client: Issuer,
    signer: Signer,
}

impl World {
    fn new() -> Self {
        let (issuer, signer) = (TestIssuer::start(), Signer::ec("first"));
        issuer.publish(vec![signer.jwk()]);
        let client = client_of(&issuer.url);
        Self { issuer, client, signer }
    }

    fn grant(&self, email: &Value) -> Grant {
        let mut claims = json!({
            "iss": self.issuer.url, "sub": "ada", "aud": CLIENT_ID, "exp": START + 86_400, "iat": START,
            "nonce": "a nonce",
        });
        for (name, value) in email.as_object().unwrap() {
            claims[name] = value.clone();
        }
        Grant { id_token: self.signer.token(&claims), challenge: challenge("a verifier"), user_info: None }
    }

    async fn redeem(&self, grant: Grant, now: Timestamp) -> Result<Person, OidcError> {
        let code = Secret::new(self.issuer.code(grant));
        self.client.person(&code, &attempt(), now).await
    }
}

fn verified() -> Value {
    json!({"email": "ada@example.com", "email_verified": true})
}

#[tokio::test]
async fn a_code_stands_for_a_person_once() {
    let world = World::new();
    let url = world.client.authorization_url(&attempt(), at(0)).await.unwrap();
    let expected = format!("{}/authorize?tenant=1&response_type=code&client_id=console&", world.issuer.url);
    assert!(url.starts_with(&expected), "{url}");
    assert!(url.contains(&format!("code_challenge={}&code_challenge_method=S256", challenge("a verifier"))));
    assert!(!url.contains("a+verifier") && url.contains("scope=openid+email"), "{url}");
    let code = Secret::new(world.issuer.code(world.grant(&verified())));
    let person = world.client.person(&code, &attempt(), at(0)).await.unwrap();
    assert_eq!(person, Person { subject: "ada".to_owned(), email: "ada@example.com".to_owned() });
    let again = world.client.person(&code, &attempt(), at(0)).await;
    assert_eq!(again, Err(OidcError::CodeRefused("invalid_grant".to_owned())));
    // Whoever steals a code has no verifier.
    let stolen = Grant { challenge: challenge("another verifier"), ..world.grant(&verified()) };
    assert!(matches!(world.redeem(stolen, at(0)).await, Err(OidcError::CodeRefused(_))));
}

#[tokio::test]
async fn an_address_counts_only_if_it_is_verified() {
    let world = World::new();
    let unverified = OidcError::UnverifiedEmail("ada@example.com".to_owned());
    for (token, info, expected) in [
        (json!({"email": "ada@example.com", "email_verified": false}), None, unverified.clone()),
        (json!({"email": "ada@example.com", "email_verified": "true"}), None, unverified.clone()),
        (json!({}), Some(json!({"sub": "ada"})), OidcError::NoEmail),
        (json!({}), Some(json!({"sub": "ada", "email": "ada@example.com"})), unverified),
        (
            json!({}),
            Some(json!({"sub": "eve", "email": "eve@example.com", "email_verified": true})),
            OidcError::InvalidToken(TokenFault::Subject),
        ),
    ] {
        let refused = world.redeem(Grant { user_info: info, ..world.grant(&token) }, at(0)).await;
        assert_eq!(refused, Err(expected), "{token}");
    }
    // Many issuers give the address in the user info alone.
    let info = json!({"sub": "ada", "email": "ada@example.com", "email_verified": true});
    let grant = Grant { user_info: Some(info), ..world.grant(&json!({})) };
    assert_eq!(world.redeem(grant, at(0)).await.unwrap().email, "ada@example.com");
}

#[tokio::test]
async fn new_keys_are_found_and_invented_ones_are_not_asked_for_all_the_time() {
    let mut world = World::new();
    world.redeem(world.grant(&verified()), at(0)).await.unwrap();
    assert_eq!(world.issuer.asked("/keys"), 1);
    world.signer = Signer::ec("second");
    for second in [1, 31, 32, 33] {
        let refused = world.redeem(world.grant(&verified()), at(second)).await;
        assert_eq!(refused, Err(OidcError::InvalidToken(TokenFault::UnknownKey)), "{second}");
    }
    assert_eq!(world.issuer.asked("/keys"), 2, "once in half a minute");
    world.issuer.publish(vec![world.signer.jwk()]);
    world.redeem(world.grant(&verified()), at(62)).await.unwrap();
    assert_eq!(world.issuer.asked("/keys"), 3);
    let configuration = "/.well-known/openid-configuration";
    assert_eq!(world.issuer.asked(configuration), 1);
    world.redeem(world.grant(&verified()), at(3_601)).await.unwrap();
    assert_eq!(world.issuer.asked(configuration), 2, "once an hour");
}

#[tokio::test]
async fn an_issuer_that_fails_is_told_from_one_that_does_not_fit() {
    let nobody = client_of("http://127.0.0.1:1");
    assert!(matches!(nobody.check(at(0)).await, Err(OidcError::Unreachable(_))));

    let world = World::new();
    let configuration = "/.well-known/openid-configuration";
    world.issuer.script(configuration, 503, "");
    assert!(matches!(world.client.check(at(0)).await, Err(OidcError::Unreachable(_))));
    assert!(world.client.check(at(4)).await.is_err());
    assert_eq!(world.issuer.asked(configuration), 1, "not asked again at once");
    for (status, body) in [
        (404, "{}".to_owned()),
        // Redirects are not followed.
        (302, "{}".to_owned()),
        (200, "<html>".to_owned()),
        (200, json!({"issuer": "https://other.example.com"}).to_string()),
    ] {
        world.issuer.script(configuration, status, &body);
        let client = client_of(&world.issuer.url);
        assert!(matches!(client.check(at(0)).await, Err(OidcError::Misconfigured(_))), "{status} {body}");
    }
    world.issuer.script(configuration, 200, &" ".repeat(300 * 1024));
    assert!(matches!(client_of(&world.issuer.url).check(at(0)).await, Err(OidcError::Unreachable(_))));
    assert_eq!(world.issuer.asked("/elsewhere"), 0);
}

#[tokio::test]
async fn a_check_asks_again_and_a_short_outage_stops_no_sign_in() {
    let world = World::new();
    world.client.check(at(0)).await.unwrap();
    world.issuer.script("/.well-known/openid-configuration", 503, "");
    assert!(matches!(world.client.check(at(10)).await, Err(OidcError::Unreachable(_))));
    world.redeem(world.grant(&verified()), at(10)).await.unwrap();
}

#[tokio::test]
async fn a_client_that_the_issuer_does_not_know_is_a_matter_of_settings() {
    let world = World::new();
    let code = Secret::new(world.issuer.code(world.grant(&verified())));
    let client_secret = Secret::new("another secret");
    let settings = OidcSettings {
        issuer: world.issuer.url.clone(),
        client_id: CLIENT_ID.to_owned(),
        client_secret,
        assurance: Assurance::default(),
    };
    let refused = Issuer::new(settings).unwrap().person(&code, &attempt(), at(0)).await.unwrap_err();
    let said = refused.to_string();
    assert!(said.contains("invalid_client") && said.contains("TOLLGATE_OIDC_CLIENT_SECRET"), "{said}");
    assert!(!said.contains("another secret") && !said.contains(code.expose()), "{said}");

    world.issuer.script("/token", 400, r#"{"error":"<b>call 555-0100</b>"}"#);
    let refused = world.redeem(world.grant(&verified()), at(0)).await.unwrap_err().to_string();
    assert!(refused.contains("unknown_error") && !refused.contains("555"), "{refused}");
    world.issuer.script("/token", 502, "");
    assert!(matches!(world.redeem(world.grant(&verified()), at(0)).await, Err(OidcError::Unreachable(_))));
}
