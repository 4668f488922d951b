//! What nearly every handler needs.

pub(crate) use std::sync::Arc;

pub(crate) use axum::body::Body;

pub(crate) use crate::{
    admin_api::operator::Operator,
    client_api::caller::{Backend, Caller, Payer, Preparer, run_to_completion},
    request::{
        body, call_notes,
        fields::{self, FieldErrors, Raw},
        form::{self, Field, Form, Request, bodies, requests},
        idempotency_key,
        metadata_field::{self, metadata_text},
    },
    response::{
        error::{ApiError, Detail, not_found_here},
        error_code::ErrorCode,
        list::ListResponse,
        respond::{self, Answer, ApiResult, Created, CreatedOnce, Done, DoneOnce, OneOf, Versioned, kind},
    },
    types::{
        prelude::*,
        signature::{JsonBody, OptionalBody},
    },
};
