//! Bank transfers as their callers and operators see them, on each store.

mod access;
mod audit;
mod cancel;
mod outcomes;
mod replay;
mod second_rail;
mod tokens;
mod validation;
