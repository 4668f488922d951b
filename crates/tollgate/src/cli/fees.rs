//! `tollgate fees`: the rules about card fees, as a table or checked, which asks no server: they are the server's own. And what
//! the fees came to.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{Args, Subcommand};
use tollgate_configuration::{Allowance, TableCell, built_in_fee_rules, fee_table, parse_fee_rules};
use tollgate_domain::{Timestamp, card_fee::Rules};

use super::fee_report::Report;
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Fees {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print what may be charged where as CSV: every place, kind of fee, brand and funding, with reason and source.
    Table {
        /// The rules of a file instead of this release's.
        #[arg(long, value_name = "FILE")]
        rules: Option<PathBuf>,
        /// The places of one country only, such as US.
        #[arg(long, value_name = "COUNTRY")]
        country: Option<String>,
    },
    /// Show what card fees with a kind came to in a month, beside what the cards cost and what was allowed.
    Report(Report),
    /// Check a file of rules as the server does when it starts with TOLLGATE_FEE_RULES.
    Check {
        /// The file.
        file: PathBuf,
    },
}

impl Fees {
    /// Everything but the report is about the rules of this program.
    pub(crate) fn asks_a_server(&self) -> bool {
        matches!(self.what, What::Report(_))
    }

    pub(crate) fn run(self, ask: impl FnOnce(Report) -> Result<(), Failure>) -> Result<(), Failure> {
        match self.what {
            What::Report(report) => ask(report),
            What::Table { rules, country } => {
                let rules = rules.map_or_else(|| Ok(built_in_fee_rules()), |path| read_rules(&path))?;
                let today = Timestamp::from_unix_millis(jiff::Timestamp::now().as_millisecond()).utc_date();
                let mut cells = fee_table(&rules, today);
                if let Some(country) = country {
                    let country = country.to_uppercase();
                    cells.retain(|cell| cell.place.country.as_str() == country);
                }
                print_table(&rules, &cells)
            }
            What::Check { file } => {
                let rules = read_rules(&file)?;
                println!(
                    "{}: rules {} as of {}, {} places, {} networks",
                    file.display(),
                    rules.version,
                    rules.as_of,
                    rules.all_places().len(),
                    rules.networks.len()
                );
                Ok(())
            }
        }
    }
}

/// The rules in a file.
pub(crate) fn read_rules(path: &Path) -> Result<Arc<Rules>, Failure> {
    let text =
        fs::read_to_string(path).map_err(|error| Failure::file("read the fee rules in", path, &error))?;
    let rules = parse_fee_rules(&text).map_err(|error| {
        Failure::new(format!("the fee rules in {} do not hold together: {error}", path.display()))
    })?;
    Ok(Arc::new(rules))
}

fn print_table(rules: &Rules, cells: &[TableCell]) -> Result<(), Failure> {
    let mut text =
        String::from("place,name,kind,brand,funding,allowed,reason,rule,source,since,read_on,rules\n");
    let places = rules.all_places();
    for cell in cells {
        let place = places.iter().find(|rule| rule.place == cell.place);
        let fields = [
            cell.place.to_string(),
            place.map(|rule| rule.name.to_string()).unwrap_or_default(),
            cell.kind.as_str().to_owned(),
            cell.brand.as_str().to_owned(),
            cell.funding.as_str().to_owned(),
            allowed(cell.allowance),
            cell.reason.as_str().to_owned(),
            cell.reason.rule().to_owned(),
            cell.source.as_deref().unwrap_or_default().to_owned(),
            place.and_then(|rule| rule.from).map(|from| from.to_string()).unwrap_or_default(),
            place.map(|rule| rule.read_on.to_string()).unwrap_or_default(),
            rules.version.to_string(),
        ];
        text.push_str(&fields.map(quoted).join(","));
        text.push('\n');
    }
    match io::stdout().lock().write_all(text.as_bytes()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| Failure::new(format!("cannot print: {error}"))),
    }
}

fn allowed(allowance: Allowance) -> String {
    match allowance {
        Allowance::Nothing => "0".to_owned(),
        Allowance::Share(bps) => format!("{}.{:02} %", bps.get() / 100, bps.get() % 100),
        Allowance::Cost => "cost".to_owned(),
        Allowance::Any => "as configured".to_owned(),
    }
}

/// A field of CSV.
fn quoted(text: String) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
