//! The command line: the real binary against a real sandbox or server, every command as text and as JSON.

mod configuration;
mod doctor;
mod events;
mod listening;
mod payments;
mod secrets;
mod tenants;
mod trigger;
mod usage;
