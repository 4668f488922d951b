//! Test cards, and how each behaves. Both card providers know the same numbers.

use crate::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    Generic,
    InsufficientFunds,
    Expired,
    WrongCvc,
    InvalidExpiry,
    Processing,
    Lost,
    Stolen,
    /// A well-formed number that is not a test card.
    NotATestCard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behavior {
    Approve,
    Decline(Reason),
    /// The customer must prove who they are first; then it is approved.
    Authenticate,
    /// Approved, and its refunds stay pending until a control call.
    RefundLater,
    Dispute,
}

#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub(crate) brand: Brand,
    pub(crate) last4: String,
    pub(crate) exp_month: i64,
    pub(crate) exp_year: i64,
    pub(crate) behavior: Behavior,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brand {
    Visa,
    Mastercard,
    Amex,
    Discover,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Typed {
    pub(crate) number: String,
    pub(crate) exp_month: String,
    pub(crate) exp_year: String,
    pub(crate) cvc: String,
}

/// The field that cannot be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    Number,
    Month,
    Year,
    Cvc,
}

impl Card {
    /// A card that needs no number: what the named test methods stand for.
    pub(crate) fn named(last4: &str, behavior: Behavior) -> Self {
        Self { brand: Brand::Visa, last4: last4.to_owned(), exp_month: 8, exp_year: 2030, behavior }
    }

    /// Reads what a customer typed, as the provider's form would check it.
    pub(crate) fn read(typed: &Typed) -> Result<Self, Mistake> {
        let number: String = typed.number.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
        if !(12..=19).contains(&number.len()) || !passes_luhn(&number) {
            return Err(Mistake::Number);
        }
        let exp_month = typed.exp_month.trim().parse::<i64>().ok().filter(|month| (1..=12).contains(month));
        let exp_month = exp_month.ok_or(Mistake::Month)?;
        let exp_year = typed.exp_year.trim().parse::<i64>().map_err(|_| Mistake::Year)?;
        let exp_year = if (0..100).contains(&exp_year) { exp_year + 2000 } else { exp_year };
        if calendar::month_is_past(exp_year, exp_month) || exp_year > 2100 {
            return Err(Mistake::Year);
        }
        let cvc = typed.cvc.trim();
        if !(3..=4).contains(&cvc.len()) || !cvc.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Mistake::Cvc);
        }
        let (brand, behavior) = look_up(&number);
        let last4 = number.get(number.len().saturating_sub(4)..).unwrap_or_default().to_owned();
        Ok(Self { brand, last4, exp_month, exp_year, behavior })
    }
}

fn look_up(number: &str) -> (Brand, Behavior) {
    let brand = match number.as_bytes() {
        [b'5', ..] => Brand::Mastercard,
        [b'3', ..] => Brand::Amex,
        [b'6', ..] => Brand::Discover,
        _ => Brand::Visa,
    };
    let behavior = match number {
        "4242424242424242" | "4111111111111111" | "4532759734545858" | "5555555555554444"
        | "5105105105105100" | "378282246310005" | "6011111111111117" | "6011000990139424" => {
            Behavior::Approve
        }
        "4000000000000002" => Behavior::Decline(Reason::Generic),
        "4000000000009995" => Behavior::Decline(Reason::InsufficientFunds),
        "4000000000000069" => Behavior::Decline(Reason::Expired),
        "4000000000000127" => Behavior::Decline(Reason::WrongCvc),
        "4000000000000119" => Behavior::Decline(Reason::Processing),
        "4000000000009987" => Behavior::Decline(Reason::Lost),
        "4000000000009979" => Behavior::Decline(Reason::Stolen),
        "4000002500003155" | "4000002760003184" | "4000000000003220" => Behavior::Authenticate,
        "4000000000007726" => Behavior::RefundLater,
        "4000000000000259" => Behavior::Dispute,
        _ => Behavior::Decline(Reason::NotATestCard),
    };
    (brand, behavior)
}

fn passes_luhn(number: &str) -> bool {
    let mut sum = 0;
    for (place, digit) in number.chars().rev().enumerate() {
        let Some(digit) = digit.to_digit(10) else { return false };
        let doubled = if place % 2 == 1 { digit * 2 } else { digit };
        sum += if doubled > 9 { doubled - 9 } else { doubled };
    }
    sum % 10 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(number: &str, expiry: (&str, &str), cvc: &str, expected: Result<Behavior, Mistake>) {
        let typed = Typed {
            number: number.to_owned(),
            exp_month: expiry.0.to_owned(),
            exp_year: expiry.1.to_owned(),
            cvc: cvc.to_owned(),
        };
        assert_eq!(Card::read(&typed).map(|card| card.behavior), expected, "{number}");
    }

    #[test]
    fn typed_cards() {
        check("4242 4242 4242 4242", ("12", "34"), "123", Ok(Behavior::Approve));
        check("4000 0000 0000 0002", ("1", "2040"), "123", Ok(Behavior::Decline(Reason::Generic)));
        check("4000 0000 0000 9995", ("12", "34"), "123", Ok(Behavior::Decline(Reason::InsufficientFunds)));
        check("4000002500003155", ("12", "34"), "1234", Ok(Behavior::Authenticate));
        check("4012888888881881", ("12", "34"), "123", Ok(Behavior::Decline(Reason::NotATestCard)));
        check("4242424242424241", ("12", "34"), "123", Err(Mistake::Number));
        check("4242424242424242", ("13", "34"), "123", Err(Mistake::Month));
        check("4242424242424242", ("12", "20"), "123", Err(Mistake::Year));
        check("4242424242424242", ("12", "34"), "12", Err(Mistake::Cvc));
    }
}
