//! Customer tokens judged by another implementation, and by ten thousand alterations.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use data_encoding::BASE64URL_NOPAD;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use tollgate_vault::{InvalidToken, MasterKey, Secret, TokenKey};

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jose");

fn key() -> TokenKey {
    let master = MasterKey::from_setting(&Secret::new("a master key of thirty-two letters or more")).unwrap();
    master.token_key("env_01jz0000000000000000000000", 7)
}

/// A Python with the library: made once, and kept.
fn python() -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jose-python");
    let python = place.join("bin/python");
    let file = format!("{SCRIPTS}/requirements.txt");
    let requirements = std::fs::read_to_string(&file).unwrap();
    let stamp = place.join("requirements-installed.txt");
    // One maker at a time; whoever waits finds it made.
    let lock = std::fs::File::create(place.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == requirements) {
        return python;
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place), "");
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", &file];
    run(Command::new(&python).args(pip), "");
    std::fs::write(stamp, requirements).unwrap();
    python
}

fn run(command: &mut Command, input: &str) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}\n{}", text(&output.stdout), text(&output.stderr));
    output
}

#[test]
fn another_implementation_opens_our_tokens_and_we_open_theirs() {
    let content = r#"{"customer":"Ünïcode ✓","n":9007199254740993}"#;
    let question = serde_json::json!({
        "key": BASE64URL_NOPAD.encode(key().expose()),
        "token": key().seal(content.as_bytes()).unwrap(),
        "kid": "7",
        "answer": "made by another",
    });
    let output = run(Command::new(python()).arg(format!("{SCRIPTS}/judge.py")), &question.to_string());
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["content"], content);
    assert_eq!(answer["header"], serde_json::json!({"alg": "dir", "enc": "A256GCM", "kid": "7"}));
    let theirs = answer["token"].as_str().unwrap();
    assert_eq!(key().open(theirs).unwrap().as_slice(), b"made by another");
}

#[test]
fn ten_thousand_altered_tokens_are_refused() {
    let given = std::env::var("TOLLGATE_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = given.unwrap_or_else(rand::random);
    println!("TOLLGATE_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let key = key();
    let (one, other) = (key.seal(b"the first customer").unwrap(), key.seal(b"the second customer").unwrap());
    let letters: Vec<char> =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ".chars().collect();
    let mut tried = 0;
    while tried < 10_000 {
        let mut altered: Vec<char> = one.chars().collect();
        let place = random.random_range(0..altered.len());
        let letter = letters[random.random_range(0..letters.len())];
        match random.random_range(0..7_u8) {
            0 => altered[place] = letter,
            1 => altered.insert(place, letter),
            2 => drop(altered.remove(place)),
            3 => altered.truncate(place),
            4 => altered.swap(place, 0),
            5 => altered.extend(other.chars().skip(place)),
            _ => {
                // A part of one token in the place of another's.
                let mut parts: Vec<&str> = one.split('.').collect();
                let at = random.random_range(0..parts.len());
                let from = random.random_range(0..parts.len());
                parts[at] = other.split('.').nth(from).unwrap();
                altered = parts.join(".").chars().collect();
            }
        }
        let altered: String = altered.into_iter().collect();
        if altered == one || altered == other {
            continue;
        }
        assert_eq!(key.open(&altered), Err(InvalidToken), "seed {seed}: {altered}");
        tried += 1;
    }
}
