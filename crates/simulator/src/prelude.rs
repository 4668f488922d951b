//! Names that most of the files use.

pub(crate) use crate::api::{Api, Driven, Provider};
pub(crate) use crate::archive::{self, Word};
pub(crate) use crate::calendar;
pub(crate) use crate::card::Typed;
pub(crate) use crate::collection::{Class, Collection, Kept, lock};
pub(crate) use crate::config::{Config, WebhookTarget, Wire};
pub(crate) use crate::faults::Fault;
pub(crate) use crate::json::{object, with, with_given, with_unset};
pub(crate) use crate::providers::Providers;
pub(crate) use crate::query::{is_listed, rows};
pub(crate) use crate::services::Services;
pub(crate) use axum::Router;
pub(crate) use axum::extract::Request;
pub(crate) use axum::middleware::Next;
pub(crate) use axum::response::Response;
pub(crate) use bytes::Bytes;
pub(crate) use http::{Method, StatusCode, header};
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::{Map, Value, json};
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use std::time::Duration;
