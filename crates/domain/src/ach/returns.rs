//! Why a receiving bank sends a transfer back, in plain words.

/// A return's reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReturnReason {
    /// The network's code, such as `R03`.
    pub code: &'static str,
    /// A sentence that may be shown.
    pub sentence: &'static str,
}

/// The codes that can meet a transfer, and those that belong to debits but are seen all the same.
const REASONS: &[ReturnReason] = &[
    ReturnReason { code: "R01", sentence: "The account has insufficient funds." },
    ReturnReason { code: "R02", sentence: "The account is closed." },
    ReturnReason { code: "R03", sentence: "The account does not exist, or belongs to someone else." },
    ReturnReason { code: "R04", sentence: "The account number is not valid for this bank." },
    ReturnReason { code: "R05", sentence: "The account owner did not authorize it." },
    ReturnReason { code: "R06", sentence: "The sending bank asked for it back." },
    ReturnReason { code: "R07", sentence: "The account owner revoked the authorization." },
    ReturnReason { code: "R08", sentence: "The account owner stopped the payment." },
    ReturnReason { code: "R09", sentence: "The funds in the account are not available yet." },
    ReturnReason { code: "R10", sentence: "The account owner says it was not authorized." },
    ReturnReason { code: "R11", sentence: "The account owner says it was not as agreed." },
    ReturnReason {
        code: "R12",
        sentence: "The branch was sold to another bank; the routing number has changed.",
    },
    ReturnReason { code: "R13", sentence: "The routing number does not participate in ACH." },
    ReturnReason { code: "R14", sentence: "The representative payee has died or can no longer act." },
    ReturnReason { code: "R15", sentence: "The account owner has died." },
    ReturnReason { code: "R16", sentence: "The account is frozen." },
    ReturnReason {
        code: "R17",
        sentence: "The receiving bank could not process a field, or suspects fraud.",
    },
    ReturnReason { code: "R20", sentence: "The account does not accept this kind of transfer." },
    ReturnReason { code: "R21", sentence: "The sender's identification is not valid." },
    ReturnReason { code: "R22", sentence: "The receiver's identification is not valid." },
    ReturnReason { code: "R23", sentence: "The receiver refused the payment." },
    ReturnReason { code: "R24", sentence: "The receiving bank considers it a duplicate." },
    ReturnReason { code: "R28", sentence: "The routing number's check digit is wrong." },
    ReturnReason { code: "R29", sentence: "The company says it was not authorized." },
    ReturnReason { code: "R31", sentence: "It was returned late by agreement of the banks." },
    ReturnReason { code: "R34", sentence: "The receiving bank's participation in ACH is restricted." },
    ReturnReason { code: "R51", sentence: "The item it relates to is not eligible." },
    ReturnReason { code: "reversed", sentence: "It was reversed at the provider, and the money came back." },
];

/// Whether a failure's code is that of a return: the network's own, or one for a return that came without it.
pub fn is_return_code(code: &str) -> bool {
    let number = code.strip_prefix('R').unwrap_or_default();
    let is_network = number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit());
    is_network || matches!(code, "returned" | "reversed")
}

/// What a code means; `None` for one that is not in the table, which is passed on as it is.
pub fn return_reason(code: &str) -> Option<&'static ReturnReason> {
    REASONS.iter().find(|reason| reason.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_stand_once() {
        assert!(REASONS.is_sorted_by(|one, other| one.code < other.code));
        assert_eq!(return_reason("R03").unwrap().code, "R03");
        assert_eq!(return_reason("R99"), None);
        assert!(REASONS.iter().all(|reason| is_return_code(reason.code)));
    }

    #[test]
    fn returns_are_told_from_other_failures() {
        for (code, expected) in [
            ("R03", true),
            ("R99", true),
            ("returned", true),
            ("R3", false),
            ("R033", false),
            ("Rxy", false),
            ("provider_rejected", false),
            ("", false),
        ] {
            assert_eq!(is_return_code(code), expected, "{code}");
        }
    }
}
