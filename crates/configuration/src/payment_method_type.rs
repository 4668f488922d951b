//! Payment methods by the provider's names for them, and what each means for a payment's timing.

/// How long the provider takes to say whether a payment made with a method went through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodTiming {
    /// At once, or as soon as the customer comes back from another page.
    Immediate,
    /// The customer agrees at once; the bank answers after days.
    Debit,
    /// The customer takes a voucher and pays it within days, somewhere else.
    Voucher,
}

/// A payment method that can be named in `options.paymentMethods`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaymentMethodType {
    /// The provider's name for it.
    pub name: &'static str,
    pub timing: MethodTiming,
    /// The only currencies it takes; empty if it takes what cards take.
    currencies: &'static [&'static str],
}

impl PaymentMethodType {
    /// Whether it can pay in this currency.
    pub fn takes(&self, currency: &str) -> bool {
        self.currencies.is_empty() || self.currencies.contains(&currency)
    }
}

/// A card, which also stands for the wallets that hold one.
pub(crate) const CARD: PaymentMethodType = method("card", MethodTiming::Immediate, &[]);

pub(crate) const fn method(
    name: &'static str,
    timing: MethodTiming,
    currencies: &'static [&'static str],
) -> PaymentMethodType {
    PaymentMethodType { name, timing, currencies }
}
