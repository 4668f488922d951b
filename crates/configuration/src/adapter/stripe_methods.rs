//! The payment methods that can be named for Stripe.
//!
//! Each method's currencies and timing are those of its page in Stripe's documentation, `docs.stripe.com/payments/<method>`.
//! Where a method's answer comes late, Stripe keeps the payment open for it: a bank debit is `processing` for up to 14 days,
//! a voucher can be paid for some days (Konbini 3, OXXO 5, Multibanco 7), and what was not paid comes back as failed.

use crate::payment_method_type::{CARD, MethodTiming, PaymentMethodType, method};

/// Methods that need nothing but their name in a one-time payment. Those that need a customer's record, a shipping address or
/// parameters of their own are not offered.
pub(crate) const METHODS: &[PaymentMethodType] = {
    use MethodTiming::{Debit, Immediate, Voucher};
    &[
        CARD,
        method("link", Immediate, &[]),
        method("affirm", Immediate, &["CAD", "USD"]),
        method(
            "alipay",
            Immediate,
            &["AUD", "CAD", "CNY", "EUR", "GBP", "HKD", "JPY", "MYR", "NZD", "SGD", "USD"],
        ),
        method("au_becs_debit", Debit, &["AUD"]),
        method("bacs_debit", Debit, &["GBP"]),
        method("bancontact", Immediate, &["EUR"]),
        method("blik", Immediate, &["PLN"]),
        method("boleto", Voucher, &["BRL"]),
        method("cashapp", Immediate, &["USD"]),
        method("eps", Immediate, &["EUR"]),
        method("fpx", Immediate, &["MYR"]),
        method("grabpay", Immediate, &["MYR", "SGD"]),
        method("ideal", Immediate, &["EUR"]),
        method(
            "klarna",
            Immediate,
            &["AUD", "CAD", "CHF", "CZK", "DKK", "EUR", "GBP", "NOK", "NZD", "PLN", "SEK", "USD"],
        ),
        method("konbini", Voucher, &["JPY"]),
        method("mobilepay", Immediate, &["DKK", "EUR", "NOK", "SEK"]),
        method("multibanco", Voucher, &["EUR"]),
        method("oxxo", Voucher, &["MXN"]),
        method("p24", Immediate, &["EUR", "PLN"]),
        method("paynow", Immediate, &["SGD"]),
        method("pix", Voucher, &["BRL"]),
        method("promptpay", Immediate, &["THB"]),
        method("sepa_debit", Debit, &["EUR"]),
        method("swish", Immediate, &["SEK"]),
        method("twint", Immediate, &["CHF"]),
        method("us_bank_account", Debit, &["USD"]),
        method("zip", Immediate, &["AUD"]),
    ]
};
