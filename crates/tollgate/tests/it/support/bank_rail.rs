//! The providers of bank transfers, each as the simulator speaks it.

use std::{env, net::SocketAddr};

use serde_json::{Value, json};

use super::bank_world::On;

/// What the simulator accepts by default.
pub const BANK_API_KEY: &str = "increase_simulator_key";

/// The provider that a test of transfers runs against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BankRail {
    Increase,
    ModernTreasury,
}

impl BankRail {
    /// The name in paths and in the control interface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Increase => "increase",
            Self::ModernTreasury => "modern_treasury",
        }
    }

    /// What transfers are called there, those of the standard channel first.
    pub const fn kinds(self) -> &'static [&'static str] {
        match self {
            Self::Increase => &["ach_transfers", "real_time_payments_transfers", "fednow_transfers"],
            Self::ModernTreasury => &["payment_orders"],
        }
    }

    /// The operation by which standard transfers are made (`create`), looked for (`list`) or read (`retrieve`).
    pub fn operation(self, verb: &str) -> String {
        format!("{}.{verb}", self.kinds()[0])
    }

    /// The operation by which a transfer is canceled.
    pub fn cancellation(self) -> String {
        self.operation(match self {
            Self::Increase => "cancel",
            Self::ModernTreasury => "update",
        })
    }

    /// How the request that makes a standard transfer begins.
    pub const fn creation(self) -> &'static str {
        match self {
            Self::Increase => "POST /increase/ach_transfers",
            Self::ModernTreasury => "POST /modern_treasury/api/payment_orders",
        }
    }

    /// The body with which a transfer is returned, for the reason that the network has this code for.
    pub fn returned(self, reason: &str, code: &str) -> Value {
        match self {
            Self::Increase => json!({ "reason": reason }),
            Self::ModernTreasury => json!({ "code": code }),
        }
    }

    /// The provider's entry in a configuration.
    pub fn entry(self, provider: SocketAddr, webhook_secret: &str) -> Value {
        let base_url = format!("http://{provider}/{}", self.name());
        match self {
            Self::Increase => json!({
                "adapter": "increase",
                "credentials": {"apiKey": BANK_API_KEY, "webhookSecret": webhook_secret},
                "funding": {"accountId": "account_simulator", "accountNumberId": "account_number_simulator"},
                "baseUrl": base_url,
            }),
            Self::ModernTreasury => json!({
                "adapter": "modern_treasury",
                "credentials": {
                    "organizationId": "organization_simulator", "apiKey": "modern_treasury_simulator_key",
                    "webhookKey": webhook_secret,
                },
                "funding": {"originatingAccountId": "0f7a61a2-5d30-4c3c-9f5e-6a1f0a6f5a01"},
                "baseUrl": base_url,
            }),
        }
    }

    /// The path on which the simulator is told what became of a transfer.
    pub fn step(self, id: &str, action: &str) -> String {
        match self {
            Self::Increase if id.starts_with("real_time") => {
                format!("/increase/simulations/real_time_payments_transfers/{id}/{action}")
            }
            Self::Increase => format!("/increase/simulations/ach_transfers/{id}/{action}"),
            Self::ModernTreasury => {
                let action = match action {
                    "submit" => "send",
                    "settle" => "complete",
                    other => other,
                };
                format!("/control/modern_treasury/payment_orders/{id}/{action}")
            }
        }
    }
}

/// Whether tests take as long as they are let.
pub fn is_long_run() -> bool {
    env::var_os("TOLLGATE_CRASH_KILLS").is_some()
}

/// The stores for a provider that is not the first: one of them, unless there is time for both.
pub fn stores_of_second_rail() -> &'static [On] {
    if is_long_run() { &[On::Sqlite, On::Postgres] } else { &[On::Sqlite] }
}

/// The providers that tests with one of each store run against: one of them, unless there is time for both.
pub fn rails_on(on: On) -> &'static [BankRail] {
    match on {
        _ if is_long_run() => &[BankRail::Increase, BankRail::ModernTreasury],
        On::Sqlite => &[BankRail::Increase],
        On::Postgres => &[BankRail::ModernTreasury],
    }
}

/// The same tests with the first provider on SQLite and the second on PostgreSQL; if there is time, with each on each. For what
/// depends on the provider and on the store, and not on both together.
macro_rules! on_alternate_rails {
    ($($name:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                for rail in $crate::support::rails_on($crate::support::On::Sqlite) {
                    super::$name($crate::support::On::Sqlite, *rail);
                }
            })*
        }
        mod postgres {
            $(#[test]
            fn $name() {
                for rail in $crate::support::rails_on($crate::support::On::Postgres) {
                    super::$name($crate::support::On::Postgres, *rail);
                }
            })*
        }
    };
}
pub(crate) use on_alternate_rails;

/// The same tests with the first provider on each store, and with the second. Each is a function that takes the store and
/// the provider.
macro_rules! on_each_rail {
    ($($name:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                super::$name($crate::support::On::Sqlite, $crate::support::BankRail::Increase);
            })*
        }
        mod postgres {
            $(#[test]
            fn $name() {
                super::$name($crate::support::On::Postgres, $crate::support::BankRail::Increase);
            })*
        }
        mod modern_treasury {
            $(#[test]
            fn $name() {
                for on in $crate::support::stores_of_second_rail() {
                    super::$name(*on, $crate::support::BankRail::ModernTreasury);
                }
            })*
        }
    };
}
pub(crate) use on_each_rail;
