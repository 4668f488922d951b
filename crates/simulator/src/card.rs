//! Test cards, and how each behaves. Both card providers know the same numbers.

use crate::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Behavior {
    Approve,
    Decline(Reason),
    /// The customer must prove who they are first; then it is approved.
    Authenticate,
    /// Approved, and its refunds stay pending until a control call.
    RefundLater,
    Dispute,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Card {
    pub(crate) brand: Brand,
    pub(crate) funding: Funding,
    /// Where the bank is that issued it.
    #[serde(deserialize_with = "archive::word")]
    pub(crate) country: Word,
    pub(crate) last4: String,
    pub(crate) exp_month: i64,
    pub(crate) exp_year: i64,
    pub(crate) behavior: Behavior,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Brand {
    Visa,
    Mastercard,
    Amex,
    Discover,
    Diners,
    Jcb,
    Unionpay,
}

impl Brand {
    /// As most call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Visa => "visa",
            Self::Mastercard => "mastercard",
            Self::Amex => "amex",
            Self::Discover => "discover",
            Self::Diners => "diners",
            Self::Jcb => "jcb",
            Self::Unionpay => "unionpay",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Funding {
    Credit,
    Debit,
    Prepaid,
    /// The provider does not know.
    Unknown,
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

impl Typed {
    /// A card whose number, month, year and code are in fields of these names.
    pub(crate) fn read(names: [&str; 4], text: impl Fn(&str) -> String) -> Self {
        let [number, exp_month, exp_year, cvc] = names.map(text);
        Self { number, exp_month, exp_year, cvc }
    }
}

impl Card {
    /// A card that needs no number: what the named test methods stand for.
    pub(crate) fn named(last4: &str, behavior: Behavior) -> Self {
        Self {
            brand: Brand::Visa,
            funding: Funding::Credit,
            country: "US",
            last4: last4.to_owned(),
            exp_month: 8,
            exp_year: 2030,
            behavior,
        }
    }

    /// A card of this number, with nothing else typed.
    pub(crate) fn numbered(number: &str) -> Self {
        let (brand, funding, country, behavior) = look_up(number);
        Self { brand, funding, country, ..Self::named(last4(number), behavior) }
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
        Ok(Self { exp_month, exp_year, ..Self::numbered(&number) })
    }
}

fn last4(number: &str) -> &str {
    number.get(number.len().saturating_sub(4)..).unwrap_or_default()
}

fn look_up(number: &str) -> (Brand, Funding, &'static str, Behavior) {
    let brand = match number.as_bytes() {
        [b'5' | b'2', ..] => Brand::Mastercard,
        [b'3', b'5', ..] => Brand::Jcb,
        [b'3', b'0' | b'6', ..] => Brand::Diners,
        [b'3', ..] => Brand::Amex,
        [b'6', b'2', ..] => Brand::Unionpay,
        [b'6', ..] => Brand::Discover,
        _ => Brand::Visa,
    };
    let approved = |funding, country| (brand, funding, country, Behavior::Approve);
    let behavior = match number {
        "4242424242424242" | "4111111111111111" | "4532759734545858" | "5555555555554444"
        | "2223003122003222" | "378282246310005" | "371449635398431" | "6011111111111117"
        | "6011000990139424" | "3056930009020004" | "36227206271667" | "3566002020360505"
        | "6200000000000005" => Behavior::Approve,
        "4000056655665556" | "5200828282828210" | "6011981111111113" | "6200000000000047" => {
            return approved(Funding::Debit, "US");
        }
        // The last two, and the one of unknown funding, are our own: the provider publishes none.
        "5105105105105100" | "4000007700000000" | "370000770000000" => {
            return approved(Funding::Prepaid, "US");
        }
        "4000008800000007" => return approved(Funding::Unknown, "US"),
        "4000001240000000" => return approved(Funding::Credit, "CA"),
        "4000008260000000" | "5555558265554449" => return approved(Funding::Credit, "GB"),
        "4000058260000005" => return approved(Funding::Debit, "GB"),
        "4000002760000016" => return approved(Funding::Credit, "DE"),
        "4000002500000003" => return approved(Funding::Credit, "FR"),
        "4000000360000006" => return approved(Funding::Credit, "AU"),
        "4000005540000008" => return approved(Funding::Credit, "NZ"),
        "4000000760000002" => return approved(Funding::Credit, "BR"),
        "4000003920000003" => return approved(Funding::Credit, "JP"),
        "4000004840008001" => return approved(Funding::Credit, "MX"),
        "4000000000000002" => Behavior::Decline(Reason::Generic),
        "4000000000009995" => Behavior::Decline(Reason::InsufficientFunds),
        "4000000000000069" => Behavior::Decline(Reason::Expired),
        "4000000000000127" => Behavior::Decline(Reason::WrongCvc),
        "4000000000000119" => Behavior::Decline(Reason::Processing),
        "4000000000009987" => Behavior::Decline(Reason::Lost),
        "4000000000009979" => Behavior::Decline(Reason::Stolen),
        "4000002500003155" | "4000002760003184" | "4000000000003220" | "5454545454545454"
        | "4917610000000000" => Behavior::Authenticate,
        "4000000000007726" => Behavior::RefundLater,
        "4000000000000259" => Behavior::Dispute,
        _ => return (brand, Funding::Unknown, "US", Behavior::Decline(Reason::NotATestCard)),
    };
    let country = match number {
        "4000002500003155" => "FR",
        "4000002760003184" => "DE",
        _ => "US",
    };
    (brand, Funding::Credit, country, behavior)
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

    #[test]
    fn cards_of_each_brand_funding_and_country() {
        for (number, brand, funding, country) in [
            ("4242424242424242", Brand::Visa, Funding::Credit, "US"),
            ("4000056655665556", Brand::Visa, Funding::Debit, "US"),
            ("2223003122003222", Brand::Mastercard, Funding::Credit, "US"),
            ("5200828282828210", Brand::Mastercard, Funding::Debit, "US"),
            ("5105105105105100", Brand::Mastercard, Funding::Prepaid, "US"),
            ("4000007700000000", Brand::Visa, Funding::Prepaid, "US"),
            ("4000008800000007", Brand::Visa, Funding::Unknown, "US"),
            ("370000770000000", Brand::Amex, Funding::Prepaid, "US"),
            ("378282246310005", Brand::Amex, Funding::Credit, "US"),
            ("6011981111111113", Brand::Discover, Funding::Debit, "US"),
            ("36227206271667", Brand::Diners, Funding::Credit, "US"),
            ("3566002020360505", Brand::Jcb, Funding::Credit, "US"),
            ("6200000000000047", Brand::Unionpay, Funding::Debit, "US"),
            ("4000001240000000", Brand::Visa, Funding::Credit, "CA"),
            ("4000058260000005", Brand::Visa, Funding::Debit, "GB"),
        ] {
            assert!(passes_luhn(number), "{number}");
            let card = Card::numbered(number);
            assert_eq!((card.brand, card.funding, card.country), (brand, funding, country), "{number}");
            assert_eq!(card.behavior, Behavior::Approve, "{number}");
        }
    }
}
