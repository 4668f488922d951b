//! Disputes that wait for evidence.

use std::time::Duration;

use tollgate_domain::Timestamp;

use super::{Area, Check};
use crate::ports::Attention;

/// A dispute without evidence by its date is lost.
const SOON: Duration = Duration::from_hours(72);

/// Open disputes: a warning, and a problem once evidence is wanted within days.
pub(super) fn check(attention: &Attention, now: Timestamp) -> Option<Check> {
    let count = attention.open_disputes;
    if count == 0 {
        return None;
    }
    let advice = "see the disputes in the console, and submit evidence at the provider before its date";
    let open = if count == 1 { "1 dispute is open".to_owned() } else { format!("{count} disputes are open") };
    let Some(respond_by) = attention.respond_by else {
        return Some(Check::warning("disputes", open, advice).about(Area::Disputes, count));
    };
    let finding = format!("{open}; the next response is due by {}", respond_by.utc_minute());
    let check = if respond_by <= now.saturating_add(SOON) {
        Check::problem("disputes", finding, advice)
    } else {
        Check::warning("disputes", finding, advice)
    };
    Some(check.about(Area::Disputes, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::CheckStatus;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis)
    }

    #[test]
    fn a_dispute_is_a_problem_once_its_date_is_near() {
        let day = 86_400_000;
        for (open, respond_by, status) in [
            (0, None, None),
            (2, None, Some(CheckStatus::Warning)),
            (1, Some(at(10 * day)), Some(CheckStatus::Warning)),
            (1, Some(at(3 * day)), Some(CheckStatus::Problem)),
            (1, Some(at(-day)), Some(CheckStatus::Problem)),
        ] {
            let attention = Attention { open_disputes: open, respond_by, ..Attention::default() };
            let found = check(&attention, at(0));
            assert_eq!(found.map(|check| check.status), status, "{respond_by:?}");
        }
        let attention =
            Attention { open_disputes: 1, respond_by: Some(at(10 * day)), ..Attention::default() };
        let finding = check(&attention, at(0)).unwrap().finding;
        assert_eq!(finding, "1 dispute is open; the next response is due by 1970-01-11 00:00 UTC");
    }
}
