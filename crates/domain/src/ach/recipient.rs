//! Whom a transfer pays and what for, as far as the network wants to know.

/// Whom a transfer pays. It decides the class of an ACH entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RecipientKind {
    /// A person: PPD.
    #[default]
    Individual,
    /// A company: CCD.
    Business,
}

impl RecipientKind {
    pub const ALL: [Self; 2] = [Self::Individual, Self::Business];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Individual => "individual",
            Self::Business => "business",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What a transfer is for, where the network's rules ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferPurpose {
    /// Wages and salaries.
    Payroll,
}

impl TransferPurpose {
    pub const ALL: [Self; 1] = [Self::Payroll];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Payroll => "payroll",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.as_str() == text)
    }

    /// What the network's rules want an entry's description to be.
    pub const fn entry_description(self) -> &'static str {
        match self {
            Self::Payroll => "PAYROLL",
        }
    }
}
