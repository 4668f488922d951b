//! How many transfers come back, against what the bank network tolerates.

/// Why transfers come back, as the network's rules count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReturnKind {
    /// The account is closed, does not exist or has another number.
    Administrative,
    /// The account's owner did not authorize it.
    Unauthorized,
}

/// From which rate on somebody has to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReturnThresholds {
    pub administrative_bps: u64,
    pub unauthorized_bps: u64,
    /// It takes so many transfers to judge by.
    pub minimum_transfers: u64,
}

impl Default for ReturnThresholds {
    /// The network's own: 3 % and 0.5 %.
    fn default() -> Self {
        Self { administrative_bps: 300, unauthorized_bps: 50, minimum_transfers: 100 }
    }
}

/// How many transfers were sent, and how many of them came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReturnRates {
    pub sent: u64,
    pub administrative: u64,
    pub unauthorized: u64,
}

impl ReturnKind {
    pub const ALL: [Self; 2] = [Self::Administrative, Self::Unauthorized];

    /// The name in metrics and sentences.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Administrative => "administrative",
            Self::Unauthorized => "unauthorized",
        }
    }

    /// The kind of a return code; `None` for those that have no threshold of their own.
    pub fn of(code: &str) -> Option<Self> {
        match code {
            "R02" | "R03" | "R04" => Some(Self::Administrative),
            "R05" | "R07" | "R10" | "R11" | "R29" | "R51" => Some(Self::Unauthorized),
            _ => None,
        }
    }
}

impl ReturnThresholds {
    pub const fn bps(&self, kind: ReturnKind) -> u64 {
        match kind {
            ReturnKind::Administrative => self.administrative_bps,
            ReturnKind::Unauthorized => self.unauthorized_bps,
        }
    }
}

impl ReturnRates {
    /// The rates of so many transfers, by how often each code was the reason for a return.
    pub fn of<'a>(sent: u64, by_code: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        let mut rates = Self { sent, ..Self::default() };
        for (code, count) in by_code {
            match ReturnKind::of(code) {
                Some(ReturnKind::Administrative) => {
                    rates.administrative = rates.administrative.saturating_add(count);
                }
                Some(ReturnKind::Unauthorized) => {
                    rates.unauthorized = rates.unauthorized.saturating_add(count);
                }
                None => {}
            }
        }
        rates
    }

    pub const fn returned(&self, kind: ReturnKind) -> u64 {
        match kind {
            ReturnKind::Administrative => self.administrative,
            ReturnKind::Unauthorized => self.unauthorized,
        }
    }

    /// The share of transfers that came back, in hundredths of a percent, rounded up: a rate is never shown as lower than it is.
    pub fn bps(&self, kind: ReturnKind) -> u64 {
        let returned = u128::from(self.returned(kind)).saturating_mul(10_000);
        let sent = u128::from(self.sent.max(self.returned(kind)).max(1));
        u64::try_from(returned.div_ceil(sent)).unwrap_or(u64::MAX)
    }

    /// Whether more came back than the threshold allows.
    pub fn exceeds(&self, kind: ReturnKind, thresholds: &ReturnThresholds) -> bool {
        let returned = u128::from(self.returned(kind)).saturating_mul(10_000);
        let allowed = u128::from(thresholds.bps(kind)).saturating_mul(self.sent.into());
        self.sent >= thresholds.minimum_transfers && returned > allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_count_toward_their_kind() {
        let by_code =
            [("R02", 1), ("R03", 2), ("R04", 4), ("R10", 8), ("R51", 16), ("R01", 32), ("returned", 64)];
        let rates = ReturnRates::of(1_000, by_code);
        assert_eq!((rates.administrative, rates.unauthorized), (7, 24));
        assert_eq!((rates.bps(ReturnKind::Administrative), rates.bps(ReturnKind::Unauthorized)), (70, 240));
    }

    #[test]
    fn a_threshold_is_exceeded_only_above_it_and_with_enough_transfers() {
        let thresholds = ReturnThresholds::default();
        for (sent, administrative, unauthorized, expected) in [
            (1_000, 30, 5, (false, false)),
            (1_000, 31, 5, (true, false)),
            (1_000, 30, 6, (false, true)),
            (99, 99, 99, (false, false)),
            (0, 0, 0, (false, false)),
        ] {
            let rates = ReturnRates { sent, administrative, unauthorized };
            let exceeds = |kind| rates.exceeds(kind, &thresholds);
            let found = (exceeds(ReturnKind::Administrative), exceeds(ReturnKind::Unauthorized));
            assert_eq!(found, expected, "{rates:?}");
        }
        // Returns of transfers that were sent before are no more than all of them.
        let rates = ReturnRates { sent: 0, administrative: 3, unauthorized: 0 };
        assert_eq!(rates.bps(ReturnKind::Administrative), 10_000);
    }
}
