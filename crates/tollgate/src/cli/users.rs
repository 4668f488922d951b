//! `tollgate users`: the people who operate the service. A token is shown at issue and never again.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{
    confirm::Confirm,
    fields::Fields,
    http::segment,
    moment::moment,
    output::Paint,
    session::Session,
    table::{Cell, Table},
};
use crate::failure::Failure;

const USERS: &str = "/admin/v1/users";
const ACCOUNT: &str = "/admin/v1/account";

#[derive(Debug, Args)]
pub(crate) struct Users {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List users with their tokens, including removed users.
    List,
    /// Add a user; give them a token with `tollgate users issue-token`.
    Add {
        /// The person's name.
        name: String,
        #[arg(long)]
        email: String,
        /// viewer, support, operator, approver or admin.
        #[arg(long)]
        role: String,
        /// Limit the role to this organization; can be given several times.
        #[arg(long = "organization", value_name = "ID")]
        organizations: Vec<String>,
    },
    /// Change a user's name, role or organizations.
    Change {
        /// The user ID.
        user_id: String,
        #[arg(long)]
        name: Option<String>,
        /// viewer, support, operator, approver or admin.
        #[arg(long)]
        role: Option<String>,
        /// Limit the role to this organization; can be given several times.
        #[arg(long = "organization", value_name = "ID", conflicts_with = "all_organizations")]
        organizations: Vec<String>,
        /// Let the role hold in all organizations.
        #[arg(long)]
        all_organizations: bool,
    },
    /// Show your own user, whose token this is, with its tokens.
    Me,
    /// Issue a personal token for yourself; it is shown only once, and does not outlive the token that is used.
    IssueOwnToken {
        /// What the token is for, such as the machine it is on.
        #[arg(long)]
        name: String,
        /// How long it is valid.
        #[arg(long, value_name = "DAYS", default_value_t = 90)]
        days: u64,
    },
    /// Revoke one of your own tokens immediately.
    RevokeOwnToken {
        /// The token ID (not the token itself).
        token_id: String,
        #[command(flatten)]
        confirm: Confirm,
    },
    /// Remove a user; all their tokens and sessions end.
    Remove {
        /// The user ID.
        user_id: String,
        #[command(flatten)]
        confirm: Confirm,
    },
    /// Issue a personal token; it is shown only once.
    IssueToken {
        /// The user ID.
        user_id: String,
        /// What the token is for, such as the machine it is on.
        #[arg(long)]
        name: String,
        /// How long it is valid.
        #[arg(long, value_name = "DAYS", default_value_t = 90)]
        days: u64,
    },
    /// Revoke a personal token immediately.
    RevokeToken {
        /// The user ID.
        user_id: String,
        /// The token ID (not the token itself).
        token_id: String,
        #[command(flatten)]
        confirm: Confirm,
    },
}

pub(crate) async fn run(session: Session, users: Users) -> Result<(), Failure> {
    let one = |user: &str| format!("{USERS}/{}", segment(user));
    let no_such = |failure: Failure| {
        failure.if_missing(|| "user or token not found; `tollgate users list` shows their IDs".to_owned())
    };
    match users.action {
        Action::List => {
            let items = session.all(USERS).await?;
            let list = json!({ "items": items, "nextCursor": null });
            session.output.show(&list, |style| {
                table(&list).draw(style, "No users yet; add one with `tollgate users add`.")
            })
        }
        Action::Add { name, email, role, organizations } => {
            // Null counts as omitted: the role holds everywhere.
            let organizations = (!organizations.is_empty()).then_some(organizations);
            let body = json!({ "name": name, "email": email, "role": role, "organizations": organizations });
            let made = session.client.post(USERS, &body).await?;
            session.output.show(&made, |style| {
                let id = style.strong(made.text("id"));
                format!("Added {id}  {}\nIssue a token with `tollgate users issue-token`.", made.text("name"))
            })
        }
        Action::Change { user_id, name, role, organizations, all_organizations } => {
            let mut body = serde_json::Map::new();
            body.extend(name.map(|name| ("name".to_owned(), name.into())));
            body.extend(role.map(|role| ("role".to_owned(), role.into())));
            if all_organizations {
                body.insert("organizations".to_owned(), Value::Null);
            } else if !organizations.is_empty() {
                body.insert("organizations".to_owned(), organizations.into());
            }
            if body.is_empty() {
                return Err(Failure::new(
                    "nothing to change; give --name, --role, --organization or --all-organizations",
                ));
            }
            let changed = session.client.patch(&one(&user_id), &body.into()).await.map_err(no_such)?;
            session.output.show(&changed, |_| {
                format!("Changed {user_id}: {}, {}.", changed.text("name"), changed.text("role"))
            })
        }
        Action::Me => {
            let account = session.client.get(ACCOUNT).await?;
            let list = json!({ "items": account.get("user").filter(|user| !user.is_null()).into_iter().collect::<Vec<_>>() });
            session.output.show(&account, |style| {
                table(&list).draw(style, "This is the admin token, which belongs to no user.")
            })
        }
        Action::IssueOwnToken { name, days } => {
            let body = json!({ "name": name, "lifetimeSeconds": days.saturating_mul(86_400) });
            let made = session.client.post(&format!("{ACCOUNT}/tokens"), &body).await.map_err(|failure| {
                failure.if_missing(|| "the admin token belongs to no user; use a personal token".to_owned())
            })?;
            show_token(&session, &made, "Keep it now")
        }
        Action::RevokeOwnToken { token_id, confirm } => {
            confirm.ask(&format!("Revoke {token_id}? Requests that use it are rejected immediately."))?;
            let path = format!("{ACCOUNT}/tokens/{}", segment(&token_id));
            let revoked = session.client.delete(&path).await.map_err(no_such)?;
            session.output.show(&revoked, |_| format!("Revoked {token_id}."))
        }
        Action::Remove { user_id, confirm } => {
            confirm.ask(&format!("Remove {user_id}? Their tokens and sessions are rejected immediately."))?;
            let removed = session.client.delete(&one(&user_id)).await.map_err(no_such)?;
            session.output.show(&removed, |_| format!("Removed {user_id}."))
        }
        Action::IssueToken { user_id, name, days } => {
            let body = json!({ "name": name, "lifetimeSeconds": days.saturating_mul(86_400) });
            let made = session.client.post(&format!("{}/tokens", one(&user_id)), &body).await;
            let made = made.map_err(no_such)?;
            show_token(&session, &made, "Hand it over now")
        }
        Action::RevokeToken { user_id, token_id, confirm } => {
            confirm.ask(&format!("Revoke {token_id}? Requests that use it are rejected immediately."))?;
            let path = format!("{}/tokens/{}", one(&user_id), segment(&token_id));
            let revoked = session.client.delete(&path).await.map_err(no_such)?;
            session.output.show(&revoked, |_| format!("Revoked {token_id}."))
        }
    }
}

fn show_token(session: &Session, made: &Value, then: &str) -> Result<(), Failure> {
    session.output.show(made, |style| {
        format!(
            "{}\n\n{}, valid until {}. {then}: it is not shown again.",
            style.strong(made.text("token")),
            made.text("id"),
            moment(made.text("expiresAt"))
        )
    })
}

fn table(list: &Value) -> Table {
    let heads = ["ID", "NAME", "EMAIL", "=ROLE", "ORGANIZATIONS", "TOKENS", "=LAST USED", "=REMOVED"];
    let mut table = Table::new(&heads).leaving_out(&["TOKENS", "ORGANIZATIONS", "REMOVED", "LAST USED"]);
    for user in list.list("items") {
        let own = Some(user.joined("organizations")).filter(|own| !own.is_empty());
        let tokens = user.list("tokens").iter().map(|token| {
            let used = token.optional_text("lastUsedAt").map_or_else(|| "never".to_owned(), moment);
            let (id, last_four, name) = (token.text("id"), token.text("lastFour"), token.text("name"));
            format!("{id} …{last_four} {name} (last used {used})")
        });
        let tokens: Vec<_> = tokens.collect();
        let last_used = user.optional_text("lastUsedAt").map_or_else(|| "-".to_owned(), moment);
        let removed = user.optional_text("removedAt").map_or_else(|| "-".to_owned(), moment);
        table.row([
            user.word("id").into(),
            user.word("name").into(),
            user.word("email").into(),
            user.word("role").into(),
            own.unwrap_or_else(|| "all".to_owned()).into(),
            tokens.join(", ").into(),
            last_used.into(),
            Cell::painted(removed, Paint::Dim),
        ]);
    }
    table
}
