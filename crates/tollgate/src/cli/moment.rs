//! Times to read: UTC, without the letters that are for programs.

/// `2026-11-15 02:27:16 UTC` of `2026-11-15T02:27:16.050Z`.
pub(crate) fn moment(rfc3339: &str) -> String {
    let seconds = rfc3339.split('.').next().unwrap_or(rfc3339).trim_end_matches('Z');
    if seconds.is_empty() { "-".to_owned() } else { format!("{} UTC", seconds.replace('T', " ")) }
}

/// `02:27:16.050` of the same: within one story the day stands above.
pub(crate) fn time_of_day(rfc3339: &str) -> &str {
    rfc3339.split_once('T').map_or(rfc3339, |(_, time)| time).trim_end_matches('Z')
}

/// `2026-11-15` of the same.
pub(crate) fn day(rfc3339: &str) -> &str {
    rfc3339.split_once('T').map_or(rfc3339, |(day, _)| day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_well() {
        let at = "2026-11-15T02:27:16.050Z";
        assert_eq!(moment(at), "2026-11-15 02:27:16 UTC");
        assert_eq!((day(at), time_of_day(at)), ("2026-11-15", "02:27:16.050"));
        assert_eq!(moment(""), "-");
    }
}
