//! The check digit of a bank's routing number.

const WEIGHTS: [u32; 9] = [3, 7, 1, 3, 7, 1, 3, 7, 1];

/// Nine digits whose weighted sum is a multiple of ten, and not nine zeros, which pass the sum and name no bank.
pub fn is_routing_number(text: &str) -> bool {
    let digits: Option<Vec<u32>> = text.chars().map(|letter| letter.to_digit(10)).collect();
    let Some(digits) = digits.filter(|digits| digits.len() == WEIGHTS.len()) else { return false };
    let sum: u32 = digits.iter().zip(WEIGHTS).map(|(digit, weight)| digit * weight).sum();
    sum > 0 && sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_checked() {
        for good in [
            "021000021",
            "011000015",
            "121000358",
            "122105155",
            "110000000",
            "101050001",
            "790000006",
            "790000051",
        ] {
            assert!(is_routing_number(good), "{good}");
        }
        for bad in
            ["123456789", "000000000", "02100002", "0210000210", "02100002a", "", "-21000021", "०21000021"]
        {
            assert!(!is_routing_number(bad), "{bad}");
        }
    }

    #[test]
    fn one_wrong_digit_is_always_noticed() {
        for place in 0..9 {
            for digit in '0'..='9' {
                let mut text: Vec<char> = "021000021".chars().collect();
                if std::mem::replace(&mut text[place], digit) != digit {
                    assert!(!is_routing_number(&text.iter().collect::<String>()), "{text:?}");
                }
            }
        }
    }
}
