//! Relatives of valid bodies.

use std::sync::LazyLock;

use rand::{RngExt, rngs::StdRng};

const BASES: [&str; 4] = [
    super::VALID,
    r#"{"amountMinor":9007199254740993,"currency":"eur","paymentMethod":"web_card","flow":"hosted_checkout"}"#,
    r#"{"amountMinor":"1","currency":"USD","paymentMethod":"ach","metadata":{"speed":"same_day","n":1.50,"l":[1,{"a":null}]}}"#,
    r#" { "metadata" : { "k\u00e9y" : "v\ud83d\ude00\n" , "t" : true } , "currency" : "USD" , "amountMinor" : 100000 , "x" : [ ] } "#,
];

/// Values, halves of values and punctuation, wrong in one way or another.
const TOKENS: &str = r#"1e999 -0 0 -1 1.0 1E+2 18446744073709551616 1000000000000000001 1000000000000000000 00 0x10 NaN
    Infinity null true false {} [] [[[[]]]] {"a":{"a":{}}} "" "\u0000" "\ud800" "\udc00\ud800" "\uD83D\uDE00" "\x" "\u12"
    " \ "amountMinor":1, "currency":"USD", ,"metadata":{"a":1} "paymentMethod":[] : , { } ]"#;

/// One of the tokens, or a byte or two that no list in a source file shows well.
pub(super) fn token(random: &mut StdRng) -> &'static [u8] {
    static ALL: LazyLock<Vec<&str>> =
        LazyLock::new(|| TOKENS.split_whitespace().chain(["\"\0\"", "\u{feff}", "\n"]).collect());
    ALL[random.random_range(0..ALL.len())].as_bytes()
}

/// One faulty or still valid relative of a valid body.
pub(super) fn mutation(random: &mut StdRng) -> Vec<u8> {
    let mut body = BASES[random.random_range(0..BASES.len())].as_bytes().to_vec();
    // One change often leaves valid JSON, which gets further in than what breaks at once.
    for _ in 0..[1, 1, 1, 2, 4][random.random_range(0..5)] {
        let at = random.random_range(0..=body.len());
        let end = random.random_range(at..=body.len().min(at + 24));
        let token = token(random);
        match random.random_range(0..10) {
            0 => body.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.random_range(0..8)),
            1 => body.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.random()),
            2 => body.insert(at, random.random()),
            3 => drop(body.drain(at..end)),
            4 => {
                let slice = body[at..end].to_vec();
                let to = random.random_range(0..=body.len());
                drop(body.splice(to..to, slice));
            }
            5 => drop(body.splice(at..at, token.iter().copied())),
            6 | 7 => {
                let (start, end) = json_token(&body, at);
                drop(body.splice(start..end, token.iter().copied()));
            }
            8 => body.truncate(at),
            _ => {
                let unit: &[u8] =
                    [b"[".as_slice(), b"{\"a\":", b"x", b"\xff", b"\\u0041", b"9"][random.random_range(0..6)];
                let many = if random.random_ratio(1, 50) {
                    random.random_range(0..9_000)
                } else {
                    random.random_range(0..200)
                };
                drop(body.splice(at..at, unit.repeat(many)));
            }
        }
    }
    body.truncate(super::LIMIT);
    body
}

/// The bounds of the token around a place: what stands between two separators.
pub(super) fn json_token(body: &[u8], at: usize) -> (usize, usize) {
    let separates = |byte: &u8| b"{}[]:,".contains(byte);
    let start = body[..at].iter().rposition(separates).map_or(0, |place| place + 1);
    let end = body[at..].iter().position(separates).map_or(body.len(), |place| at + place);
    (start, end)
}
