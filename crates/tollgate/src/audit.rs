//! `tollgate audit`: asks a server to recompute its books, and fails where anything is off.

use serde_json::Value;

use crate::{admin_client::AdminClient, failure::Failure};

pub(crate) async fn run(json: bool) -> Result<(), Failure> {
    let audit = AdminClient::find()?.get("/admin/v1/audit").await?;
    let findings = audit.get("findings").and_then(Value::as_array).cloned().unwrap_or_default();
    if json {
        println!("{audit:#}");
    } else {
        let count = |name: &str| audit.get(name).and_then(Value::as_u64).unwrap_or_default();
        println!(
            "{} wallets, {} postings and {} transfers checked",
            count("wallets"),
            count("postings"),
            count("transfers")
        );
        for finding in &findings {
            let text = |name: &str| finding.get(name).and_then(Value::as_str).unwrap_or_default();
            println!("  {}  {}: {}", text("environmentId"), text("subject"), text("problem"));
        }
    }
    if findings.is_empty() {
        if !json {
            println!("the books balance");
        }
        return Ok(());
    }
    Err(Failure::new(format!("{} things in the books cannot be", findings.len())))
}
