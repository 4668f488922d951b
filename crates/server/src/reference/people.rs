//! The operations on people.

use http::StatusCode;
use serde_json::json;
use tollgate_domain::id::UserId;

use crate::{
    admin_api::users::{NewTokenResponse, RevokedResponse, TokenBody, UserBody, UserResponse},
    reference::{
        operation::{Credential::AdminToken, Described, operation},
        parameters,
        schemas::Schemas,
    },
    response::error_code::ErrorCode,
};

const PEOPLE: &str = "People";

pub(crate) fn operations(schemas: &mut Schemas) -> [Described; 5] {
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
    ]
}
