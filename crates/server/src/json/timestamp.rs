//! Times as the API writes them: RFC 3339, UTC, milliseconds.

use tollgate_domain::Timestamp;

/// `2026-11-15T02:27:16.000Z`.
pub fn rfc3339(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.unix_millis()) {
        Ok(instant) => format!("{instant:.3}"),
        // Outside the years -9999 to 9999, which no clock of ours shows.
        Err(_) => at.unix_millis().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_always_written() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_794_709_636_050, "2026-11-15T02:27:16.050Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(Timestamp::from_unix_millis(millis)), text);
        }
    }
}
