//! The reference callers store: stable across provider callbacks, transactions and support.

use std::{fmt, str::FromStr};

use crate::{
    id::{InvalidId, PaymentId, TransferId},
    payment::PaymentMethod,
};

/// `pay_…` for cards, `ach_…` for bank transfers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServiceReference {
    /// A card payment.
    Card(PaymentId),
    /// A bank transfer.
    Ach(TransferId),
}

impl ServiceReference {
    /// What it pays with.
    pub const fn method(self) -> PaymentMethod {
        match self {
            Self::Card(_) => PaymentMethod::WebCard,
            Self::Ach(_) => PaymentMethod::Ach,
        }
    }

    /// The bytes to store; the method is stored beside them.
    pub const fn to_bytes(self) -> [u8; 16] {
        match self {
            Self::Card(id) => id.to_bytes(),
            Self::Ach(id) => id.to_bytes(),
        }
    }

    /// The reference of this method held in these bytes.
    pub const fn from_bytes(method: PaymentMethod, bytes: [u8; 16]) -> Self {
        match method {
            PaymentMethod::WebCard => Self::Card(PaymentId::from_bytes(bytes)),
            PaymentMethod::Ach => Self::Ach(TransferId::from_bytes(bytes)),
        }
    }
}

impl fmt::Display for ServiceReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Card(id) => id.fmt(f),
            Self::Ach(id) => id.fmt(f),
        }
    }
}

impl fmt::Debug for ServiceReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ServiceReference {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        text.parse().map(Self::Card).or_else(|_| text.parse().map(Self::Ach))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_go_round() {
        for method in PaymentMethod::ALL {
            let reference = ServiceReference::from_bytes(method, [7; 16]);
            assert_eq!(reference.to_string().parse(), Ok(reference));
            assert_eq!((reference.method(), reference.to_bytes()), (method, [7; 16]));
        }
        assert!("env_01jz0000000000000000000000".parse::<ServiceReference>().is_err());
    }
}
