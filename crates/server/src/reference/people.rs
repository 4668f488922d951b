//! The operations on people.

use http::StatusCode;
use serde_json::json;
use tollgate_domain::id::UserId;

use crate::{
    admin_api::{
        approvals::ApprovalResponse,
        audit_log::{AcceptedResponse, EntryResponse},
        users::{
            AccountResponse, NewTokenResponse, RevokedResponse, TokenBody, UserBody, UserChangeBody,
            UserResponse,
        },
    },
    reference::{
        operation::{Credential::AdminToken, Described, operation},
        parameters,
        schemas::Schemas,
    },
    response::error_code::ErrorCode,
};

const PEOPLE: &str = "People";

pub(crate) fn operations(schemas: &mut Schemas) -> [Described; 16] {
    [
        operation("user_create", PEOPLE, AdminToken, "Add a user")
            .says("The user can do nothing before they have a personal token.")
            .takes::<UserBody<'_>>(
                schemas,
                json!({"name": "Ada Lovelace", "email": "ada@example.com", "role": "support"}),
            )
            .answers::<UserResponse>(schemas, StatusCode::CREATED)
            .fails(&[ErrorCode::EmailTaken]),
        operation("user_list", PEOPLE, AdminToken, "List users")
            .says("Removed ones included.")
            .with(parameters::after(UserId::PREFIX))
            .lists::<UserResponse>(schemas),
        operation("user_change", PEOPLE, AdminToken, "Change a user")
            .says(
                "Name, role and organizations change in place, on every node within a second: approvals still know who the \
                 person is. The address stays; whoever has another one is another user.",
            )
            .takes::<UserChangeBody<'_>>(schemas, json!({"role": "approver"}))
            .answers::<UserResponse>(schemas, StatusCode::OK),
        operation("user_remove", PEOPLE, AdminToken, "Remove a user")
            .says(
                "None of their tokens and sessions is valid from then on, on every node within a second. What they did \
                 stays attributed to them.",
            )
            .answers::<UserResponse>(schemas, StatusCode::OK),
        operation("user_token_issue", PEOPLE, AdminToken, "Issue a personal token")
            .says("The token is shown only in this response; only a hash is stored.")
            .takes::<TokenBody<'_>>(schemas, json!({"name": "laptop", "lifetimeSeconds": 7_776_000}))
            .answers::<NewTokenResponse<'_>>(schemas, StatusCode::CREATED)
            .fails(&[ErrorCode::TooManyTokens]),
        operation("user_token_revoke", PEOPLE, AdminToken, "Revoke a personal token")
            .says("On every node within a second. Console sessions that it opened end with it.")
            .answers::<RevokedResponse>(schemas, StatusCode::OK),
        operation("account_read", PEOPLE, AdminToken, "Read your own account")
            .says("The user whose personal token is used, with their tokens and when each was last used.")
            .answers::<AccountResponse>(schemas, StatusCode::OK),
        operation("account_token_issue", PEOPLE, AdminToken, "Issue a personal token for yourself")
            .says(
                "It takes a personal token, and the new one does not outlive that. In the console, single sign-on is enough. \
                 The token is shown only in this response.",
            )
            .takes::<TokenBody<'_>>(schemas, json!({"name": "laptop", "lifetimeSeconds": 7_776_000}))
            .answers::<NewTokenResponse<'_>>(schemas, StatusCode::CREATED)
            .fails(&[ErrorCode::TooManyTokens]),
        operation("account_token_revoke", PEOPLE, AdminToken, "Revoke one of your own tokens")
            .answers::<RevokedResponse>(schemas, StatusCode::OK),
        operation("approval_list", PEOPLE, AdminToken, "List approvals")
            .says("Transfers, refunds, wallet movements and changes of the configuration that wait until people have approved them, or did, newest first.")
            .with(parameters::approvals())
            .lists::<ApprovalResponse>(schemas),
        operation("approval_read", PEOPLE, AdminToken, "Read an approval")
            .says("A change of the configuration that waits shows what it would change, and its effect on the latest payments.")
            .answers::<ApprovalResponse>(schemas, StatusCode::OK),
        operation("approval_approve", PEOPLE, AdminToken, "Approve what waits")
            .says(
                "The approval of as many different people as the rules ask for sends the transfer or refund, moves the funds or \
                 puts the configuration in force. It takes a personal token, and not that of whoever made it: the person who \
                 asked for it or issued the key that did, under whatever user, and whoever else may be behind them because \
                 they issued the token or added the user.",
            )
            .answers::<ApprovalResponse>(schemas, StatusCode::OK)
            .fails(&[
                ErrorCode::NotApprovable,
                ErrorCode::InsufficientWalletBalance,
                ErrorCode::WalletFull,
            ]),
        operation("approval_deny", PEOPLE, AdminToken, "Deny what waits")
            .says("One denial is final: the transfer is `canceled` and its funds are available again, or the refund is and can be made again; funds are not moved, the change is never put in force.")
            .answers::<ApprovalResponse>(schemas, StatusCode::OK)
            .fails(&[ErrorCode::NotApprovable]),
        operation("audit_log", PEOPLE, AdminToken, "Read the audit log")
            .says("Every change, sign-in, refusal, export, search and list of payments and view of a payment's details, newest first.")
            .with(parameters::audit_log())
            .with([parameters::limit()])
            .lists::<EntryResponse>(schemas),
        operation("audit_log_export", PEOPLE, AdminToken, "Export the audit log")
            .says("The same as JSON lines, at most 20,000; continue with the last one's `sequence` as `before`.")
            .with(parameters::audit_log())
            .answers_bare("application/jsonl", json!({"type": "string"})),
        operation("audit_log_accept", PEOPLE, AdminToken, "Accept an unproved part of the audit log")
            .says(
                "An entry `audit_log.unproved` says that those before it ended without proof that this service wrote them, as \
                 after an upgrade from a version without the key for it. `GET /admin/v1/audit` reports it until it is accepted.",
            )
            .with_actor()
            .answers::<AcceptedResponse>(schemas, StatusCode::OK),
    ]
}
