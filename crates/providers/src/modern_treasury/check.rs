//! The live check: whether credentials and account are good, and on which side they are. The provider lists no webhook
//! endpoints and lets none be made by API.

use tollgate_domain::tenant::Mode;

use super::{
    call::{ApiClient, read_json},
    request::Rail,
    types::{InternalAccount, Ping},
};
use crate::{check::Checkup, failure::missing_is_none, text::is_id};

pub(super) async fn check(checkup: &mut Checkup<'_>) {
    let api = ApiClient { provider: checkup.provider() };
    let pinged = checkup.ask(api.get("ping", "ping"), read_json::<Ping>).await;
    if !checkup.connected(&pinged) {
        return;
    }
    account(checkup, api).await;
    let url = checkup.subject().webhook_url;
    let message = format!("The provider does not say where it sends webhooks; it has to be {url}.");
    checkup.pass("webhook_url", message);
    checkup.webhook_secret(None);
}

async fn account(checkup: &mut Checkup<'_>, api: ApiClient<'_>) {
    let id = checkup.provider().funding("originatingAccountId").unwrap_or_default();
    // An id that cannot stand in a path is nobody's.
    let path = format!("internal_accounts/{}", if is_id(id) { id } else { "unusable" });
    let call = api.get("internal_accounts.retrieve", &path);
    let found = checkup.ask(call, read_json::<InternalAccount>).await;
    match missing_is_none(found) {
        Ok(None) => {
            let hint = "Copy the id of the internal account that pays from the provider's dashboard to \
                        funding.originatingAccountId; test and live accounts have different ids.";
            checkup.fail("account", format!("There is no internal account {id}."), hint);
        }
        Ok(Some(account)) => {
            mode(checkup, account.live_mode);
            usable(checkup, id, &account);
        }
        Err(error) => checkup.unanswered("account", &error, "Give the key permission to read accounts."),
    }
}

/// The key decides the side, and only what it shows tells which one that is.
fn mode(checkup: &mut Checkup<'_>, is_live: bool) {
    let found = if is_live { Mode::Live } else { Mode::Test };
    match checkup.provider().mode() {
        Some(configured) if configured != found => {
            let message = format!("The key is for {found} payments, but environment says {configured}.");
            let hint =
                "Use a key of the other side, or correct environment: both sides have the same address.";
            checkup.fail("mode", message, hint);
        }
        _ => checkup.mode(Some(found)),
    }
}

fn usable(checkup: &mut Checkup<'_>, id: &str, account: &InternalAccount) {
    let hint = "Set funding.originatingAccountId to an active account in US dollars.";
    let name = account.party_name.as_deref().unwrap_or_default();
    match (account.status.as_deref(), account.currency.as_deref()) {
        // Accounts at a bank of one's own have no status.
        (None | Some("active"), Some("USD")) if account.can_send(Rail::Ach.word()) == Some(false) => {
            let message = format!("The internal account {id} cannot originate ACH credits.");
            let hint = "Ask the provider to enable them for the account, or set funding.originatingAccountId to another one.";
            checkup.fail("account", message, hint);
        }
        (None | Some("active"), Some("USD")) => {
            checkup.pass("account", format!("The internal account {id} (“{name}”) can pay."));
        }
        (None | Some("active"), currency) => {
            let message = format!("The internal account {id} is in {}.", currency.unwrap_or("no currency"));
            checkup.fail("account", message, hint);
        }
        (Some(status), _) => {
            checkup.fail("account", format!("The internal account {id} is {status}."), hint);
        }
    }
}
