//! JSON in one form, by which requests are compared: two texts that mean the same are written alike.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// Deeper JSON is compared as it was written.
const DEEPEST: usize = 128;
/// Numbers with more zeros than this between their digits and the point are written with an exponent.
const MAX_ZEROS: i64 = 40;

/// The same JSON in the same letters, whatever the order of its fields and however its numbers are written. No digit is lost.
pub(crate) fn canonical(json: &str) -> String {
    written_with(json, number)
}

/// The same, with numbers as they were written.
pub(crate) fn canonical_as_written(json: &str) -> String {
    written_with(json, str::to_owned)
}

fn written_with(json: &str, number: fn(&str) -> String) -> String {
    fn write(json: &str, depth: usize, number: fn(&str) -> String, to: &mut String) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match json.as_bytes().first()? {
            b'{' => {
                let fields: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
                to.push('{');
                for (place, (name, value)) in fields.into_iter().enumerate() {
                    to.push_str(if place > 0 { "," } else { "" });
                    to.push_str(&serde_json::to_string(&name).ok()?);
                    to.push(':');
                    write(value.get(), depth + 1, number, to)?;
                }
                to.push('}');
            }
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
                to.push('[');
                for (place, value) in items.into_iter().enumerate() {
                    to.push_str(if place > 0 { "," } else { "" });
                    write(value.get(), depth + 1, number, to)?;
                }
                to.push(']');
            }
            b'"' => to.push_str(&serde_json::to_string(&serde_json::from_str::<String>(json).ok()?).ok()?),
            b'-' | b'0'..=b'9' => to.push_str(&number(json)),
            _ => to.push_str(json),
        }
        Some(())
    }
    let mut written = String::with_capacity(json.len());
    match write(json.trim(), 0, number, &mut written) {
        Some(()) => written,
        None => json.to_owned(),
    }
}

/// A JSON number by its exact value: `1.50`, `1.5` and `15e-1` are the same, 2^53 and 2^53 + 1 are not.
fn number(written: &str) -> String {
    let (sign, unsigned) = written.strip_prefix('-').map_or(("", written), |rest| ("-", rest));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let Ok(exponent) = exponent.parse::<i32>() else { return written.to_owned() };
    let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
    let trailing = count(digits.len().saturating_sub(significant.len()));
    let exponent = i64::from(exponent).saturating_add(trailing).saturating_sub(count(fraction.len()));
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return "0".to_owned();
    }
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or_default());
    let length = count(significant.len());
    match exponent {
        0..=MAX_ZEROS => format!("{sign}{significant}{}", zeros(exponent)),
        _ if exponent < 0 && exponent.saturating_add(length) >= -MAX_ZEROS => {
            let padded =
                format!("{}{significant}", zeros(1_i64.saturating_sub(exponent).saturating_sub(length)));
            let point = usize::try_from(exponent.saturating_neg()).unwrap_or_default();
            let (whole, fraction) = padded.split_at(padded.len().saturating_sub(point));
            format!("{sign}{whole}.{fraction}")
        }
        _ => format!("{sign}{significant}e{exponent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_fields_is_not_a_difference() {
        assert_eq!(canonical(r#"{"b":[{"d":1,"c":2}],"a":null}"#), r#"{"a":null,"b":[{"c":2,"d":1}]}"#);
        assert_ne!(canonical("[1,2]"), canonical("[2,1]"));
    }

    #[test]
    fn a_number_is_its_exact_value_however_it_is_written() {
        for same in [
            &["1.5", "1.50", "15e-1", "0.15E+1", "150e-2"][..],
            &["1", "1.0", "1.00", "1e0", "0.1e1"],
            &["100", "1e2", "100.0", "10E1"],
            &["0", "-0", "0.0", "0e9", "-0.00e-9"],
            &["-0.025", "-25e-3", "-2.50e-2"],
            &["1e400", "10e399", "0.1e401"],
            &["1e-400", "0.1e-399"],
        ] {
            let written: Vec<String> = same.iter().map(|it| canonical(it)).collect();
            assert!(written.iter().all(|it| *it == written[0]), "{written:?}");
        }
        assert_eq!(canonical("[-0.025,1.50,1e2,0.1,10]"), "[-0.025,1.5,100,0.1,10]");
        let different = [
            "1",
            "10",
            "0.1",
            "-1",
            "1e41",
            "1e42",
            "1e-41",
            "1e-42",
            "9007199254740992",
            "9007199254740993",
            "18446744073709551616",
            "18446744073709551617",
            "0.10000000000000000001",
            "1e99999999999999999999",
        ];
        for (place, one) in different.iter().enumerate() {
            assert!(
                different.iter().skip(place + 1).all(|other| canonical(other) != canonical(one)),
                "{one}"
            );
        }
    }

    #[test]
    fn deep_json_stays_as_it_is() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(3_000), "]".repeat(3_000));
        assert_eq!(canonical(&deep), deep);
    }
}
