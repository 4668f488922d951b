//! What a client says in `Accept-Encoding`.

use http::{HeaderMap, header};

/// Whether gzip may be sent, and is not wanted less than the plain bytes.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    let (mut gzip, mut identity, mut any) = (None, None, None);
    for entry in values.flat_map(|value| value.split(',')) {
        let mut parts = entry.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let weight = weight.map_or(1_000, thousandths);
        match name.as_str() {
            "gzip" | "x-gzip" => gzip = Some(weight),
            "identity" => identity = Some(weight),
            "*" => any = Some(weight),
            _ => {}
        }
    }
    let weight = gzip.or(any).unwrap_or(0);
    weight > 0 && weight >= identity.unwrap_or(0)
}

/// A weight from 0 to 1 with at most three decimals; anything else counts as 0.
fn thousandths(text: &str) -> u16 {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_valid = decimals.len() <= 3 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    match (whole, format!("{decimals:0<3}").parse()) {
        ("0", Ok(weight)) if is_valid => weight,
        ("1", Ok(0)) if is_valid => 1_000,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_accept_it() {
        let accepts = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_str(value).unwrap());
            accepts_gzip(&headers)
        };
        for value in [
            "gzip",
            "gzip, deflate, br, zstd",
            "br;q=1.0, GZIP;q=0.5",
            "*",
            "x-gzip",
            "identity;q=0.5, gzip;q=0.5",
            "gzip ; q=0.001",
        ] {
            assert!(accepts(value), "{value}");
        }
        for value in [
            "",
            "identity",
            "br",
            "gzip;q=0",
            "gzip;q=0.000, *",
            "*;q=0",
            "gzip;q=0.4, identity;q=0.5",
            "gzip;q=2",
            "gzip;q=0.1234",
            "gzip;q=-1",
            "gzip;q=",
        ] {
            assert!(!accepts(value), "{value}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
        let mut two = HeaderMap::new();
        two.append(header::ACCEPT_ENCODING, HeaderValue::from_static("br"));
        two.append(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        assert!(accepts_gzip(&two));
    }
}
