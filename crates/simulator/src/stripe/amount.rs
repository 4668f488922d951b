//! Currencies and amounts that the provider takes: <https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts>.

use super::prelude::*;

/// What is taken, and the least that can be charged of each currency in the units the API counts in, as the provider
/// publishes it.
const LISTED: &str = "\
    usd=50 aed=200 aud=50 brl=50 cad=50 chf=50 czk=1500 dkk=250 eur=50 gbp=30 hkd=400 huf=17500 inr=50 jpy=50 \
    mxn=1000 myr=200 nok=300 nzd=50 pln=200 ron=200 sek=300 sgd=50 thb=1000";

/// The other currencies of an account in the United States, and those with three decimals, which the provider takes in some
/// countries only. Of these a charge has to be worth 0.50 USD: by the rates of late 2025, rounded, which do not change here.
const CONVERTED: &str = "\
    afn=3500 all=4200 amd=19000 ang=90 aoa=46000 ars=70000 awg=90 azn=85 bam=85 bbd=100 bdt=6000 bhd=190 bif=1500 \
    bmd=50 bnd=65 bob=350 bsd=50 bwp=670 byn=160 bzd=100 cdf=120000 clp=480 cny=350 cop=200000 crc=25000 cve=4700 \
    djf=90 dop=3100 dzd=6500 egp=2400 etb=7500 fjd=110 fkp=40 gel=135 gip=40 gmd=3600 gnf=4300 gtq=380 gyd=10000 \
    hnl=1300 htg=6500 idr=830000 ils=160 isk=6300 jmd=8000 jod=350 kes=6500 kgs=4400 khr=200000 kmf=210 krw=700 \
    kwd=150 kyd=40 kzt=26000 lak=1100000 lbp=4500000 lkr=15000 lrd=9000 lsl=860 mad=460 mdl=850 mga=2200 mkd=2600 \
    mmk=100000 mnt=180000 mop=400 mur=2300 mvr=770 mwk=87000 mzn=3200 nad=860 ngn=72000 nio=1800 npr=7000 omr=190 \
    pab=50 pen=170 pgk=210 php=2900 pkr=14000 pyg=3500 qar=180 rsd=5000 rub=4000 rwf=720 sar=190 sbd=410 scr=720 \
    shp=40 sle=1100 sos=28000 srd=1900 std=1100000 szl=860 tjs=460 tnd=1450 top=120 try=2100 ttd=340 twd=1500 \
    tzs=120000 uah=2100 ugx=180000 uyu=2000 uzs=600000 vnd=13000 vuv=60 wst=140 xaf=280 xcd=135 xcg=90 xof=280 \
    xpf=50 yer=12000 zar=860 zmw=1100";

/// Every currency with its least amount, the account's own first.
fn currencies() -> impl Iterator<Item = (&'static str, i64)> {
    let entries = LISTED.split_whitespace().chain(CONVERTED.split_whitespace());
    entries.filter_map(|entry| entry.split_once('=')).map(|(code, least)| (code, least.parse().unwrap_or(1)))
}

fn least(currency: &str) -> Option<i64> {
    currencies().find(|(code, _)| *code == currency).map(|(_, least)| least)
}

pub(super) fn money(params: &Params, amount: &str, currency: &str) -> Answer<(i64, String)> {
    let value = params.integer(amount)?.ok_or_else(|| Error::missing(amount))?;
    let code = params.required(currency)?.to_ascii_lowercase();
    if least(&code).is_none() {
        let known: Vec<_> = currencies().map(|(code, _)| code).collect();
        let known = known.join(", ");
        let message =
            format!("Invalid currency: {code}. Stripe currently supports these currencies: {known}");
        return Err(Error::invalid(message).param(currency));
    }
    check_amount(value, &code, amount)?;
    Ok((value, code))
}

pub(super) fn check_amount(value: i64, currency: &str, param: &str) -> Answer<()> {
    if value < 1 {
        let message = "This value must be greater than or equal to 1.";
        return Err(Error::invalid(message).code("parameter_invalid_integer").param(param));
    }
    if let Some(least) = least(currency).filter(|least| value < *least) {
        return Err(too_small(least, currency, param));
    }
    check_step(value, currency, param)?;
    if value > 99_999_999 {
        let message = "Amount must be no more than 99999999";
        return Err(Error::invalid(message).code("amount_too_large").param(param));
    }
    Ok(())
}

pub(super) fn too_small(least: i64, currency: &str, param: &str) -> Error {
    let message = format!("Amount must be at least {}", shown(least, currency));
    Error::invalid(message).code("amount_too_small").param(param)
}

pub(super) fn too_large(most: i64, currency: &str, param: &str) -> Error {
    let message = format!("Amount must be no more than {}", shown(most, currency));
    Error::invalid(message).code("amount_too_large").param(param)
}

fn shown(amount: i64, currency: &str) -> String {
    let symbol = match currency {
        "jpy" => "¥",
        "usd" => "$",
        _ => "",
    };
    format!("{symbol}{}", amount_text(amount, currency).to_ascii_lowercase())
}

/// Of three decimals the provider takes two, and no fractions of currencies that once had some.
pub(super) fn check_step(value: i64, currency: &str, param: &str) -> Answer<()> {
    let (step, reason) = match currency {
        "bhd" | "jod" | "kwd" | "omr" | "tnd" => {
            (10, "In three-decimal currencies the last digit has to be 0")
        }
        "isk" | "ugx" => (100, "In this currency the last two digits have to be 0"),
        _ => return Ok(()),
    };
    if value % step != 0 {
        let page = "https://stripe.com/docs/currencies#special-cases";
        let message = format!("Invalid amount: {value}. {reason}. See {page}");
        return Err(Error::invalid(message).param(param));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_currency_stands_once_with_an_amount_that_is_taken() {
        let codes: Vec<_> = currencies().map(|(code, _)| code).collect();
        let distinct: std::collections::BTreeSet<_> = codes.iter().collect();
        assert_eq!((codes.len(), codes.first()), (distinct.len(), Some(&"usd")));
        for (code, least) in currencies() {
            assert!(code.len() == 3 && code.bytes().all(|letter| letter.is_ascii_lowercase()), "{code}");
            assert!(least >= 30, "{code}");
            assert!(check_amount(least, code, "amount").is_ok(), "{code}");
            assert!(check_amount(least - 1, code, "amount").is_err(), "{code}");
        }
    }
}
