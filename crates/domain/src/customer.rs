//! The customer a bank transfer is for, as a customer token carries them.

/// Who receives the money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    /// The caller's own name for them.
    pub external_id: String,
    /// Their address.
    pub email: String,
    /// Their first name.
    pub first_name: String,
    /// Their last name.
    pub last_name: String,
    /// Their telephone number.
    pub phone: Option<String>,
    /// The caller's metadata about them, as JSON text.
    pub metadata: String,
}
