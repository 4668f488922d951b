//! `tollgate wallet`: the funds transfers are paid from.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tollgate_vault::random_bytes;

use super::{
    confirm::Confirm,
    fields::Fields,
    http::{query, segment},
    moment::moment,
    money::{Amount, currency, digits, major},
    output::{Paint, Style},
    session::Session,
    table::{Cell, Table, more},
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Wallet {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show wallet balances.
    Show {
        /// Only this currency.
        currency: Option<String>,
    },
    /// Add funds.
    Fund(Movement),
    /// Withdraw funds.
    Withdraw(Movement),
    /// List ledger postings, newest first.
    Ledger {
        /// The wallet's currency.
        #[arg(default_value = "USD")]
        currency: String,
        /// Maximum number of postings.
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Only postings before this one.
        #[arg(long, value_name = "POSTING ID")]
        before: Option<String>,
    },
}

#[derive(Debug, Args)]
struct Movement {
    #[command(flatten)]
    amount: Amount,
    /// A unique reference; repeating it moves nothing. Default: generated.
    #[arg(long)]
    reference: Option<String>,
    #[command(flatten)]
    confirm: Confirm,
}

pub(crate) async fn run(session: Session, wallet: Wallet) -> Result<(), Failure> {
    let path = session.path("/wallets").await?;
    match wallet.action {
        Action::Show { currency: None } => {
            let list = session.client.get(&path).await?;
            session.output.show(&list, |style| balances(list.list("items"), style))
        }
        Action::Show { currency: Some(code) } => {
            let wallet = session.client.get(&format!("{path}/{}", currency(&code)?)).await?;
            session.output.show(&wallet, |style| balances(std::slice::from_ref(&wallet), style))
        }
        Action::Fund(movement) => post(&session, &path, movement, "fund", "Put", "into").await,
        Action::Withdraw(movement) => post(&session, &path, movement, "withdraw", "Take", "out of").await,
        Action::Ledger { currency: code, limit, before } => {
            let code = currency(&code)?;
            let query = query(&[("limit", Some(limit.to_string())), ("before", before)]);
            let list = session.client.get(&format!("{path}/{}/ledger{query}", segment(code.code()))).await?;
            session.output.show(&list, |style| ledger(&list, code.code(), style))
        }
    }
}

async fn post(
    session: &Session,
    path: &str,
    movement: Movement,
    action: &str,
    verb: &str,
    direction: &str,
) -> Result<(), Failure> {
    let (minor, currency) = (movement.amount.minor()?, movement.amount.currency()?);
    let reference = if let Some(reference) = movement.reference {
        reference
    } else {
        let random: [u8; 8] = random_bytes()?;
        format!("cli-{:016x}", u64::from_be_bytes(random))
    };
    let amount = major(&minor, currency.code());
    movement.confirm.ask(&format!("{verb} {amount} {direction} the wallet (reference {reference})?"))?;
    let body = json!({ "amountMinor": minor, "reference": reference });
    let moved = session.client.post(&format!("{path}/{currency}/{action}"), &body).await;
    let moved = moved.map_err(|failure| match failure.code() {
        Some("insufficient_wallet_balance") => failure.saying(format!(
            "less than {amount} is available and nothing was withdrawn; see `tollgate wallet show {currency}`"
        )),
        _ => failure,
    })?;
    session.output.show(&moved, |style| {
        if let Some(id) = moved.field("approvalId").and_then(Value::as_str) {
            let is_open = moved.field("approval").is_some_and(|it| it.text("state") == "required");
            return if is_open {
                format!(
                    "{amount}, reference {reference}, waits for approval; no funds moved yet.\n\
                     Another person approves it with `tollgate approvals approve {id}`.\n"
                )
            } else {
                format!("Reference {reference} was denied as {id}; no funds moved.\n")
            };
        }
        let done = if moved.flag("replayed") {
            format!("Reference {reference} was already used; no funds moved.\n")
        } else {
            format!("Done: {amount}, reference {reference}, posting {}.\n", moved.text("postingId"))
        };
        format!("{done}\n{}", balances(std::slice::from_ref(&moved), style))
    })
}

fn balances(wallets: &[Value], style: Style) -> String {
    let heads =
        ["CURRENCY", ">AVAILABLE", ">RESERVED", ">SETTLED OUT", ">PLATFORM FEES", ">ORGANIZATION FEES"];
    let mut table = Table::new(&heads).leaving_out(&["SETTLED OUT", "ORGANIZATION FEES", "PLATFORM FEES"]);
    for wallet in wallets {
        let currency = wallet.text("currency");
        let fields = [
            "availableMinor",
            "reservedMinor",
            "settledOutMinor",
            "platformFeesMinor",
            "organizationFeesMinor",
        ];
        let amounts = fields.map(|field| Cell::from(digits(wallet.text(field), currency)));
        table.row(std::iter::once(Cell::from(currency)).chain(amounts));
    }
    table.draw(style, "No wallets yet; create one with `tollgate wallet fund`.")
}

fn ledger(list: &Value, currency: &str, style: Style) -> String {
    let mut table = Table::new(&["WHEN", "WHY", "REFERENCE", "BY", "ACCOUNT", ">AMOUNT", "POSTING"])
        .leaving_out(&["POSTING", "BY"]);
    for posting in list.list("items") {
        for (place, entry) in posting.list("entries").iter().enumerate() {
            let once = |text: String| if place == 0 { text } else { String::new() };
            let amount = entry.text("amountMinor");
            let paint = if amount.starts_with('-') { Paint::Bad } else { Paint::Good };
            table.row([
                once(moment(posting.text("at"))).into(),
                once(posting.word("cause")).into(),
                once(posting.word("reference")).into(),
                once(posting.word("actor")).into(),
                entry.word("account").into(),
                Cell::painted(major(amount, currency), paint),
                Cell::painted(once(posting.word("postingId")), Paint::Dim),
            ]);
        }
    }
    table.draw(style, &format!("No postings in {currency}.")) + &more(list, "--before")
}
