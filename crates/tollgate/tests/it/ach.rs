//! Bank transfers as their callers and operators see them, on each store.

mod access;
mod approvals;
mod audit;
mod cancel;
mod outcomes;
mod replay;
mod tokens;
mod validation;
