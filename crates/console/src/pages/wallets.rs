//! Wallets: what they hold, how it came to be, and moving funds in and out.

use askama::Template;
use axum::response::Response;
use tollgate_domain::{
    Currency, Minor,
    id::{EnvironmentId, PostingId},
    ledger::{Balances, Cause},
};
use tollgate_engine::{MoveOrder, MoveOutcome};

use crate::{
    layout::{
        format::{minor, money, read_amount},
        frame::Frame,
        page::{self, Page, PageError},
        review::{Choice, Review},
    },
    pages::payment::{Posting, postings},
    request::{signed_in::SignedIn, submitted::Submitted},
};

const SLICE: u32 = 50;
const MAX_REFERENCE_LENGTH: usize = 160;

struct Wallet {
    currency: String,
    available: String,
    reserved: String,
    settled_out: String,
    platform_fees: String,
    organization_fees: String,
}

impl Wallet {
    fn of(currency: Currency, balances: &Balances) -> Self {
        let text = |amount| minor(amount, currency);
        Self {
            currency: currency.to_string(),
            available: text(balances.available),
            reserved: text(balances.reserved),
            settled_out: text(balances.settled_out),
            platform_fees: text(balances.platform_fees),
            organization_fees: text(balances.organization_fees),
        }
    }
}

#[derive(Template)]
#[template(path = "wallets.html")]
struct WalletsPage {
    frame: Frame,
    wallets: Vec<Wallet>,
}

#[derive(Template)]
#[template(path = "wallet.html")]
struct WalletPage {
    frame: Frame,
    wallet: Wallet,
    postings: Vec<Posting>,
    next: Option<String>,
    fault: Option<String>,
    amount: String,
    reference: String,
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Wallets", "wallets").await?;
    let wallets = signed_in.console.engine.wallets(environment).await?;
    let wallets = wallets.iter().map(|(currency, balances)| Wallet::of(*currency, balances)).collect();
    page::render(&WalletsPage { frame, wallets })
}

fn currency(signed_in: &SignedIn) -> Result<Currency, PageError> {
    let text: String = signed_in.path("currency")?;
    Currency::parse(&text).ok_or(PageError::Missing)
}

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    wallet(&signed_in, Entered::default()).await
}

/// What was entered and not carried out, and why.
#[derive(Default)]
struct Entered<'a> {
    fault: Option<String>,
    amount: &'a str,
    reference: &'a str,
}

async fn wallet(signed_in: &SignedIn, entered: Entered<'_>) -> Page {
    let (environment, currency) = (signed_in.environment()?, currency(signed_in)?);
    let frame = signed_in.frame(&format!("{currency} wallet"), "wallets").await?;
    let engine = &signed_in.console.engine;
    let balances = engine.balances(environment, currency).await?;
    let before = signed_in.query("before").and_then(|text| text.parse::<PostingId>().ok());
    let lines = engine.ledger(environment, currency, before, SLICE).await?;
    let postings = postings(&lines, currency);
    let is_full = u32::try_from(postings.len()).is_ok_and(|count| count == SLICE);
    page::render(&WalletPage {
        wallet: Wallet::of(currency, &balances),
        postings,
        next: lines.last().filter(|_| is_full).map(|last| format!("?before={}", last.posting)),
        fault: entered.fault,
        amount: entered.amount.to_owned(),
        reference: entered.reference.to_owned(),
        frame,
    })
}

pub(crate) async fn post(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let (environment, currency) = (signed_in.environment()?, currency(signed_in)?);
    let cause = match form.field("cause") {
        "fund" => Cause::Fund,
        "withdraw" => Cause::Withdraw,
        _ => return Err(PageError::Refused("Choose fund or withdraw.".to_owned())),
    };
    let (amount, reference) = (form.field("amount"), form.field("reference"));
    let read = read_amount(amount, currency).and_then(Minor::new).filter(|amount| amount.get() > 0);
    let fault = match read {
        None => {
            Some("The amount must be a number above zero and must not have more decimals than the currency.")
        }
        Some(_) if reference.is_empty() || reference.chars().count() > MAX_REFERENCE_LENGTH => {
            Some("Enter a reference of 1 to 160 characters; each reference moves funds only once.")
        }
        Some(_) => None,
    };
    let (Some(minor), None) = (read, fault) else {
        let fault = fault.map(str::to_owned);
        return wallet(signed_in, Entered { fault, amount, reference }).await;
    };
    if !form.is_confirmed() {
        let balances = signed_in.console.engine.balances(environment, currency).await?;
        let review = review(&form, environment, &balances, (cause, minor, currency));
        return review.page(signed_in.frame(&format!("{currency} wallet"), "wallets").await?);
    }
    match move_funds(signed_in, environment, currency, cause, minor, reference).await {
        Ok(said) => Ok(signed_in.done(&format!("/console/{environment}/wallets/{currency}"), &said).await),
        Err(PageError::Refused(fault)) => {
            wallet(signed_in, Entered { fault: Some(fault), amount, reference }).await
        }
        Err(error) => Err(error),
    }
}

/// What the wallet holds afterwards.
fn review(
    form: &Submitted,
    environment: EnvironmentId,
    balances: &Balances,
    (cause, amount, currency): (Cause, Minor, Currency),
) -> Review {
    let text = minor(amount, currency);
    let (effect, verb, after) = match cause {
        Cause::Fund => {
            (format!("{text} will be added to the wallet"), "Fund", balances.available.checked_add(amount))
        }
        Cause::Withdraw => {
            (format!("{text} will leave the wallet"), "Withdraw", balances.available.checked_sub(amount))
        }
    };
    let mut review = Review::of(form, effect);
    review.facts = vec![("Amount", text.clone()), ("Available now", minor(balances.available, currency))];
    review.facts.extend(after.map(|after| ("Available afterwards", minor(after, currency))));
    review.facts.push(("Reference", form.field("reference").to_owned()));
    review.affected = match cause {
        Cause::Withdraw if after == Some(Minor::ZERO) => {
            "Every bank transfer in this currency: this withdraws everything, and transfers are refused until the wallet \
             is funded again."
        }
        Cause::Withdraw => "Bank transfers in this currency: less is left for them.",
        Cause::Fund => "Bank transfers in this currency: more can be paid out.",
    }
    .into();
    review.permanent =
        "The posting stays in the ledger; the opposite movement under another reference balances it.".into();
    let title = format!("{verb} {text}");
    if after.is_some() {
        review.choices =
            vec![if cause == Cause::Fund { Choice::plain(title) } else { Choice::danger(title) }];
    } else {
        review.obstacle = Some(match cause {
            Cause::Withdraw => format!(
                "Only {} is available in this wallet; nothing was withdrawn.",
                minor(balances.available, currency)
            ),
            Cause::Fund => "The balance would exceed the maximum; nothing was added.".to_owned(),
        });
    }
    review.back = ("Back".to_owned(), format!("/console/{environment}/wallets/{currency}"));
    review
}

async fn move_funds(
    signed_in: &SignedIn,
    environment: EnvironmentId,
    currency: Currency,
    cause: Cause,
    amount: Minor,
    reference: &str,
) -> Result<String, PageError> {
    let order = MoveOrder { currency, cause, amount, reference: reference.to_owned() };
    let moved = signed_in.console.engine.move_or_request(environment, order, &signed_in.origin()).await?;
    let applied = match moved {
        MoveOutcome::Moved(applied) => applied,
        MoveOutcome::Waits { request, .. } if request.approval.is_open() => {
            return Ok("It waits for approval; see the page Approvals. No funds moved.".to_owned());
        }
        MoveOutcome::Waits { .. } => {
            return Ok("It was denied under this reference; no funds moved.".to_owned());
        }
    };
    if applied.replayed {
        return Ok("This reference was already posted; no funds moved.".to_owned());
    }
    let done = match cause {
        Cause::Fund => "added",
        Cause::Withdraw => "withdrawn",
    };
    Ok(format!("{} {done}.", money(amount.signed(), currency)))
}
