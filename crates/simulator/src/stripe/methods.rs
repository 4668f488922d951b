//! `/v1/payment_methods`, and the methods other calls bring: the named test ones, and cards a customer typed.

use super::charges::billing_details;
use super::method_types::{CARD, MethodType, US_BANK_ACCOUNT, played};
use super::prelude::*;
use crate::card::Brand;

/// A card, a bank account or a voucher that can be paid with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Method {
    pub(crate) id: String,
    pub(crate) kind: MethodType,
    /// What it is paid with; for anything but a card only its last digits mean something.
    pub(crate) card: Card,
    pub(crate) created: i64,
    /// The billing address, as far as it was given.
    pub(crate) address: Map<String, Value>,
}

/// The network in the words that the provider shows to customers.
fn display_brand(brand: Brand) -> &'static str {
    match brand {
        Brand::Amex => "american_express",
        Brand::Diners => "diners_club",
        Brand::Unionpay => "union_pay",
        Brand::Visa | Brand::Mastercard | Brand::Discover | Brand::Jcb => brand.name(),
    }
}

fn funding(card: &Card) -> &'static str {
    match card.funding {
        Funding::Credit => "credit",
        Funding::Debit => "debit",
        Funding::Prepaid => "prepaid",
        Funding::Unknown => "unknown",
    }
}

impl Kept for Method {}

impl Method {
    pub(crate) fn kind(&self) -> &'static str {
        self.kind.name
    }

    pub(crate) fn details(&self) -> Value {
        let is_wrong = self.card.behavior == Behavior::Decline(Reason::WrongCvc);
        let cvc_check = if is_wrong { "fail" } else { "pass" };
        let (fingerprint, last4) = (format!("simulated{}", self.card.last4), &self.card.last4);
        match self.kind() {
            "card" => json!({
                "brand": self.card.brand.name(),
                "checks": { "address_line1_check": null, "address_postal_code_check": null, "cvc_check": cvc_check },
                "country": self.card.country, "exp_month": self.card.exp_month, "exp_year": self.card.exp_year,
                "fingerprint": fingerprint, "funding": funding(&self.card), "last4": last4,
                "regulated_status": "unregulated", "wallet": null,
            }),
            "us_bank_account" => json!({
                "account_holder_type": "individual", "account_type": "checking",
                "bank_name": "STRIPE TEST BANK", "fingerprint": fingerprint, "last4": last4,
                "routing_number": "110000000",
            }),
            "sepa_debit" => json!({
                "bank_code": "37040044", "branch_code": null, "country": "DE",
                "fingerprint": fingerprint, "last4": last4,
            }),
            "bacs_debit" => json!({ "fingerprint": fingerprint, "last4": last4, "sort_code": "108800" }),
            "au_becs_debit" => json!({ "bsb_number": "000000", "fingerprint": fingerprint, "last4": last4 }),
            "boleto" => json!({ "tax_id": "000.000.000-00" }),
            _ => json!({}),
        }
    }

    pub(crate) fn json(&self) -> Value {
        let method = json!({
            "id": self.id, "object": "payment_method", "allow_redisplay": "unspecified",
            "billing_details": billing_details(&self.address), "created": self.created, "customer": null,
            "customer_account": null, "livemode": false, "metadata": {}, "type": self.kind(),
        });
        let unset = match self.kind() {
            "card" => "generated_from three_d_secure_usage",
            "us_bank_account" => "financial_connections_account networks status_details",
            "sepa_debit" => "generated_from",
            _ => "",
        };
        let details = with_unset(self.details(), unset);
        let details = if self.kind() == "card" {
            let networks = json!({ "available": [self.card.brand.name()], "preferred": null });
            with(details, [("display_brand", display_brand(self.card.brand).into()), ("networks", networks)])
        } else {
            details
        };
        with(method, [(self.kind(), details)])
    }
}

pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&[
        "type card[number] card[exp_month] card[exp_year] card[cvc] billing_details[**] metadata[*]",
        "us_bank_account[**] sepa_debit[**] boleto[**] expand[#]",
    ])?;
    Ok(read(state, &call.context, &call.params, "")?.json())
}

/// The card a named test method stands for.
fn named(name: &str) -> Option<Card> {
    let declined = |last4, reason| Card::named(last4, Behavior::Decline(reason));
    Some(match name {
        "pm_card_visa" | "pm_card_us" => Card::numbered("4242424242424242"),
        "pm_card_visa_debit" => Card::numbered("4000056655665556"),
        "pm_card_mastercard" => Card::numbered("5555555555554444"),
        "pm_card_mastercard_debit" => Card::numbered("5200828282828210"),
        "pm_card_mastercard_prepaid" => Card::numbered("5105105105105100"),
        "pm_card_amex" => Card::numbered("371449635398431"),
        "pm_card_discover" => Card::numbered("6011111111111117"),
        "pm_card_diners" => Card::numbered("36227206271667"),
        "pm_card_jcb" => Card::numbered("3566002020360505"),
        "pm_card_unionpay" => Card::numbered("6200000000000005"),
        "pm_card_ca" => Card::numbered("4000001240000000"),
        "pm_card_gb" => Card::numbered("4000008260000000"),
        "pm_card_gb_debit" => Card::numbered("4000058260000005"),
        "pm_card_gb_mastercard" => Card::numbered("5555558265554449"),
        "pm_card_de" => Card::numbered("4000002760000016"),
        "pm_card_fr" => Card::numbered("4000002500000003"),
        "pm_card_au" => Card::numbered("4000000360000006"),
        "pm_card_nz" => Card::numbered("4000005540000008"),
        "pm_card_br" => Card::numbered("4000000760000002"),
        "pm_card_jp" => Card::numbered("4000003920000003"),
        "pm_card_mx" => Card::numbered("4000004840008001"),
        "pm_card_chargeDeclined" | "pm_card_visa_chargeDeclined" => declined("0002", Reason::Generic),
        "pm_card_chargeDeclinedInsufficientFunds" | "pm_card_visa_chargeDeclinedInsufficientFunds" => {
            declined("9995", Reason::InsufficientFunds)
        }
        "pm_card_chargeDeclinedExpiredCard" => declined("0069", Reason::Expired),
        "pm_card_chargeDeclinedIncorrectCvc" => declined("0127", Reason::WrongCvc),
        "pm_card_chargeDeclinedProcessingError" => declined("0119", Reason::Processing),
        "pm_card_visa_chargeDeclinedLostCard" => declined("9987", Reason::Lost),
        "pm_card_visa_chargeDeclinedStolenCard" => declined("9979", Reason::Stolen),
        "pm_card_authenticationRequired" | "pm_card_threeDSecure2Required" => {
            Card::numbered("4000002500003155")
        }
        "pm_card_pendingRefund" => Card::named("7726", Behavior::RefundLater),
        "pm_card_createDispute" => Card::named("0259", Behavior::Dispute),
        "pm_usBankAccount_success" => Card::named("6789", Behavior::Approve),
        _ => return None,
    })
}

/// The method a call names or describes; `None` if it does neither.
///
/// A named test method becomes a new one of its own each time, as in the real test mode.
pub(super) fn of_call(state: &mut State, context: &Context, params: &Params) -> Answer<Option<Method>> {
    if let Some(name) = params.text("payment_method") {
        let card = match (state.methods.get_owned(name), named(name)) {
            (Some(method), _) => return Ok(Some(method)),
            (None, Some(card)) => card,
            (None, None) => return Err(Error::not_found("PaymentMethod", name, "payment_method")),
        };
        let kind = if name.starts_with("pm_usBankAccount") { US_BANK_ACCOUNT } else { CARD };
        return Ok(Some(add(state, context, kind, card)));
    }
    if params.has("payment_method_data") {
        return read(state, context, params, "payment_method_data").map(Some);
    }
    Ok(None)
}

/// Reads `<prefix>[type]` and `<prefix>[card][number]` and so on; with an empty prefix, `type` and `card[number]`.
fn read(state: &mut State, context: &Context, params: &Params, prefix: &str) -> Answer<Method> {
    let name = |first: &str, rest: &str| match prefix {
        "" => format!("{first}{rest}"),
        _ => format!("{prefix}[{first}]{rest}"),
    };
    let kind = name("type", "");
    let asked = params.required(&kind)?;
    let unknown = || Error::invalid(format!("The simulator does not support {asked} here.")).param(&kind);
    let method = played(asked).ok_or_else(unknown)?;
    let address = address(&params.inside(&name("billing_details", "[address]")));
    if method.timing != Timing::Now {
        let card = Card::named("0000", Behavior::Approve);
        let method = add(state, context, method, card);
        return Ok(with_address(state, method, address));
    }
    if method != CARD {
        return Err(unknown());
    }
    let field = |field: &str| params.owned(&name("card", &format!("[{field}]"))).unwrap_or_default();
    let typed = Typed {
        number: field("number"),
        exp_month: field("exp_month"),
        exp_year: field("exp_year"),
        cvc: params.owned(&name("card", "[cvc]")).unwrap_or_else(|| "000".to_owned()),
    };
    let card = Card::read(&typed).map_err(Error::mistake)?;
    let method = add(state, context, CARD, card);
    Ok(with_address(state, method, address))
}

/// The parts of an address that were given.
fn address(params: &Params) -> Map<String, Value> {
    let given = |name: &&str| Some(((*name).to_owned(), params.owned(name)?.into()));
    ["city", "country", "line1", "line2", "postal_code", "state"].iter().filter_map(given).collect()
}

fn with_address(state: &mut State, method: Method, address: Map<String, Value>) -> Method {
    if address.is_empty() {
        return method;
    }
    let method = Method { address, ..method };
    state.methods.put(&method.id, method.clone());
    method
}

pub(super) fn add(state: &mut State, context: &Context, kind: MethodType, card: Card) -> Method {
    let method = Method { id: context.id("pm_"), kind, card, created: context.now, address: Map::new() };
    state.methods.put(&method.id, method.clone());
    method
}
