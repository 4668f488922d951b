//! Routing numbers: which are well-formed, and what the bank behind each takes part in.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rails {
    All,
    /// All but real-time payments.
    FedNow,
    /// ACH and wire transfers, but nothing instant.
    Slow,
    None,
}

impl Rails {
    pub(super) fn ach(self) -> bool {
        self != Self::None
    }

    pub(super) fn real_time(self) -> bool {
        self == Self::All
    }

    pub(super) fn fednow(self) -> bool {
        matches!(self, Self::All | Self::FedNow)
    }
}

/// The bank behind a routing number; `None` if there can be no such bank.
///
/// The sandbox knows a handful of numbers, none of them of a bank on FedNow alone, which 790000077 is. Here any other well-formed one is a bank on all rails, so that tests can
/// use numbers of real banks.
pub(super) fn rails(routing_number: &str) -> Option<Rails> {
    if !is_well_formed(routing_number) {
        return None;
    }
    Some(match routing_number {
        "790000051" => Rails::None,
        "790000064" => Rails::Slow,
        "790000077" => Rails::FedNow,
        _ => Rails::All,
    })
}

fn is_well_formed(routing_number: &str) -> bool {
    let digits: Vec<u32> = routing_number.chars().filter_map(|letter| letter.to_digit(10)).collect();
    let weighted = digits.iter().zip([3, 7, 1].into_iter().cycle()).map(|(digit, weight)| digit * weight);
    let sum: u32 = weighted.sum();
    // Zeros alone pass the sum, but stand for no bank.
    routing_number.len() == 9 && digits.len() == 9 && sum > 0 && sum.is_multiple_of(10)
}

/// The last four characters, which is all of an account number that is ever shown outside the provider.
pub(super) fn last_four(account_number: &str) -> String {
    let kept = account_number.chars().count().saturating_sub(4);
    account_number.chars().skip(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_tells_routing_numbers_apart() {
        for number in
            ["021000021", "011000015", "121000358", "122105155", "110000000", "101050001", "790000006"]
        {
            assert_eq!(rails(number), Some(Rails::All), "{number}");
        }
        for number in ["123456789", "000000000", "02100002", "0210000210", "02100002a", "", "０２１０００"]
        {
            assert_eq!(rails(number), None, "{number}");
        }
        assert_eq!(rails("790000051"), Some(Rails::None));
        assert_eq!(rails("790000064"), Some(Rails::Slow));
        assert_eq!(rails("790000077"), Some(Rails::FedNow));
    }

    #[test]
    fn only_the_last_four_are_shown() {
        assert_eq!(last_four("000123456789"), "6789");
        assert_eq!(last_four("12"), "12");
    }
}
