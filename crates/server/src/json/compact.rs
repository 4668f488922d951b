//! JSON that callers have us keep: made compact, and looked through for what cannot be given back as it came.

use std::{collections::HashSet, fmt};

use tollgate_domain::card_number::holds_card_number;
use tollgate_vault::contains_secret_key;

/// Nested deeper, it would be refused by other readers.
const DEEPEST: usize = 100;

/// A value without white space between its tokens and with every text in its shortest spelling. Numbers stay digit by
/// digit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CompactJson {
    pub(crate) text: String,
    /// True if one of this service's secret keys is in any of its texts.
    pub(crate) holds_secret: bool,
    /// True if a card number is in any of its texts and numbers.
    pub(crate) holds_card_number: bool,
}

/// Why a value is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonError {
    RepeatedKey,
    Number,
    Unicode,
    TooDeep,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RepeatedKey => "has the same key twice in one object",
            Self::Number => "contains a number that is out of range",
            Self::Unicode => "contains invalid Unicode (an unpaired surrogate)",
            Self::TooDeep => "is nested more than 100 levels deep",
        })
    }
}

/// An object or list that is being read.
enum Open {
    Object { keys: HashSet<String>, at_key: bool },
    List,
}

/// Makes `json`, whose syntax a parser has checked, compact.
pub(crate) fn compact(json: &str) -> Result<CompactJson, JsonError> {
    let mut made = CompactJson {
        text: String::with_capacity(json.len()),
        holds_secret: false,
        holds_card_number: false,
    };
    let mut open: Vec<Open> = Vec::new();
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => text_length(rest),
            ' ' | '\t' | '\n' | '\r' | '{' | '}' | '[' | ']' | ',' | ':' => 1,
            _ => rest.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(rest.len()),
        };
        let (token, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        rest = behind;
        match first {
            ' ' | '\t' | '\n' | '\r' => continue,
            '"' => {
                let text: String = serde_json::from_str(token).map_err(|_| JsonError::Unicode)?;
                made.holds_secret |= contains_secret_key(&text);
                made.holds_card_number |= holds_card_number(&text);
                match serde_json::to_string(&text) {
                    Ok(shortest) if token.contains('\\') => made.text.push_str(&shortest),
                    _ => made.text.push_str(token),
                }
                if let Some(Open::Object { keys, at_key: true }) = open.last_mut()
                    && !keys.insert(text)
                {
                    return Err(JsonError::RepeatedKey);
                }
                continue;
            }
            '{' => open.push(Open::Object { keys: HashSet::new(), at_key: true }),
            '[' => open.push(Open::List),
            '}' | ']' => drop(open.pop()),
            ':' | ',' => {
                if let Some(Open::Object { at_key, .. }) = open.last_mut() {
                    *at_key = first == ',';
                }
            }
            _ if !is_in_range(token) => return Err(JsonError::Number),
            _ => made.holds_card_number |= holds_card_number(token),
        }
        if open.len() > DEEPEST {
            return Err(JsonError::TooDeep);
        }
        made.text.push_str(token);
    }
    Ok(made)
}

/// The length of the quoted text that `rest` begins with.
fn text_length(rest: &str) -> usize {
    let mut escaped = false;
    let end = rest.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |end| end + 2)
}

/// True if a number has a value at all for those who read it as a floating-point number. Words are no numbers.
pub(crate) fn is_in_range(token: &str) -> bool {
    // Without an exponent and below 300 digits there is nothing to look for.
    let may_be_huge = token.len() >= 300 || token.contains(['e', 'E']);
    !may_be_huge || token.parse::<f64>().map_or(true, f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_made_compact_and_keep_their_meaning() {
        for (json, expected) in [
            (
                "{ \"a b\" : [ 1.50 , \"x \\\" y\" ] ,\n\"c\\\\\" : 9007199254740993 }",
                r#"{"a b":[1.50,"x \" y"],"c\\":9007199254740993}"#,
            ),
            (r#"{"\u0061":"\u00e4\/\ud83d\ude00"}"#, r#"{"a":"ä/😀"}"#),
            (r#" [ true , null,-1e5 , {} , [] ,"" ] "#, r#"[true,null,-1e5,{},[],""]"#),
            (r#"{"a":{"a":1},"b":{"a":2}}"#, r#"{"a":{"a":1},"b":{"a":2}}"#),
            (r#""\u0000\n""#, r#""\u0000\n""#),
        ] {
            let made = compact(json).unwrap();
            let expected =
                CompactJson { text: expected.to_owned(), holds_secret: false, holds_card_number: false };
            assert_eq!(made, expected, "{json}");
            let read = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
            assert_eq!(read(json), read(&made.text));
        }
    }

    #[test]
    fn what_cannot_be_given_back_is_refused() {
        for (json, fault) in [
            (r#"{"a":1,"a":2}"#.to_owned(), JsonError::RepeatedKey),
            (r#"{"b":[{"a":1,"c":{},"\u0061":2}]}"#.to_owned(), JsonError::RepeatedKey),
            (r#"{"a":1e400}"#.to_owned(), JsonError::Number),
            ("[-1E400]".to_owned(), JsonError::Number),
            ("9".repeat(400), JsonError::Number),
            (r#"{"a":["\ud800"]}"#.to_owned(), JsonError::Unicode),
            (r#"{"\udc00":1}"#.to_owned(), JsonError::Unicode),
            (format!("{}{}", "[".repeat(101), "]".repeat(101)), JsonError::TooDeep),
        ] {
            assert_eq!(compact(&json), Err(fault), "{json}");
        }
        assert!(compact(&format!("{}{}", "[".repeat(100), "]".repeat(100))).is_ok());
    }
}
