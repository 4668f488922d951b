//! The provider's kinds of transfer, which differ in address, names and words.

use tollgate_domain::{
    Channel,
    ach::{AchProviderReport, TransferOrder, TransferRail},
};

use super::{
    status,
    types::{AchTransfer, InstantTransfer, List},
};
use crate::text::is_id;

/// A kind of transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rail {
    Ach,
    RealTime,
    FedNow,
}

impl Rail {
    /// The kind that carries an order. Before there was a choice, every instant one was a real-time payment.
    pub(super) const fn of(order: &TransferOrder) -> Option<Self> {
        match (order.channel, order.rail) {
            (Channel::StandardAch | Channel::SameDayAch, _) => Some(Self::Ach),
            (Channel::Instant, Some(TransferRail::FedNow)) => Some(Self::FedNow),
            (Channel::Instant, _) => Some(Self::RealTime),
            (Channel::WebCard, _) => None,
        }
    }

    /// The kind a transfer is of, by its id. The sandbox puts a word of its own in front.
    pub(super) fn of_transfer(id: &str) -> Option<Self> {
        let plain = id.strip_prefix("sandbox_").unwrap_or(id);
        match plain {
            _ if !is_id(id) => None,
            _ if plain.starts_with("ach_transfer_") => Some(Self::Ach),
            _ if plain.starts_with("real_time_payments_transfer_") => Some(Self::RealTime),
            _ if plain.starts_with("fednow_transfer_") => Some(Self::FedNow),
            _ => None,
        }
    }

    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Ach => "ach_transfers",
            Self::RealTime => "real_time_payments_transfers",
            Self::FedNow => "fednow_transfers",
        }
    }

    pub(super) const fn create(self) -> &'static str {
        match self {
            Self::Ach => "ach_transfers.create",
            Self::RealTime => "real_time_payments_transfers.create",
            Self::FedNow => "fednow_transfers.create",
        }
    }

    pub(super) const fn retrieve(self) -> &'static str {
        match self {
            Self::Ach => "ach_transfers.retrieve",
            Self::RealTime => "real_time_payments_transfers.retrieve",
            Self::FedNow => "fednow_transfers.retrieve",
        }
    }

    pub(super) const fn cancel(self) -> &'static str {
        match self {
            Self::Ach => "ach_transfers.cancel",
            Self::RealTime => "real_time_payments_transfers.cancel",
            Self::FedNow => "fednow_transfers.cancel",
        }
    }

    pub(super) const fn list(self) -> &'static str {
        match self {
            Self::Ach => "ach_transfers.list",
            Self::RealTime => "real_time_payments_transfers.list",
            Self::FedNow => "fednow_transfers.list",
        }
    }

    /// Reads one transfer.
    pub(super) fn report(self, body: &[u8]) -> serde_json::Result<AchProviderReport> {
        match self {
            Self::Ach => serde_json::from_slice::<AchTransfer>(body).map(status::ach),
            Self::RealTime => serde_json::from_slice::<InstantTransfer>(body).map(status::real_time),
            Self::FedNow => serde_json::from_slice::<InstantTransfer>(body).map(status::fednow),
        }
    }

    /// Reads a list of transfers.
    pub(super) fn reports(self, body: &[u8]) -> serde_json::Result<Vec<AchProviderReport>> {
        match self {
            Self::Ach => {
                let list: List<AchTransfer> = serde_json::from_slice(body)?;
                Ok(list.data.into_iter().map(status::ach).collect())
            }
            Self::RealTime => {
                let list: List<InstantTransfer> = serde_json::from_slice(body)?;
                Ok(list.data.into_iter().map(status::real_time).collect())
            }
            Self::FedNow => {
                let list: List<InstantTransfer> = serde_json::from_slice(body)?;
                Ok(list.data.into_iter().map(status::fednow).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_tell_the_kind_in_both_worlds() {
        for (id, expected) in [
            ("ach_transfer_uoxatyh3lt5evrsdvo7q", Some(Rail::Ach)),
            ("sandbox_ach_transfer_uoxatyh3lt5evrsdvo7q", Some(Rail::Ach)),
            ("real_time_payments_transfer_iyuhl5kdn7ssmup83mvq", Some(Rail::RealTime)),
            ("sandbox_real_time_payments_transfer_iyuhl5kdn7ssmup83mvq", Some(Rail::RealTime)),
            ("fednow_transfer_4i0mptrdu1mueg1196bg", Some(Rail::FedNow)),
            ("wire_transfer_4i0mptrdu1mueg1196bg", None),
            ("inbound_ach_transfer_tdrwqr3fq9gnnq49odev", None),
            ("ach_transfer", None),
            ("ach_transfer_1/../../accounts", None),
            ("ach_transfer_1?x", None),
            ("sandbox_", None),
            ("", None),
        ] {
            assert_eq!(Rail::of_transfer(id), expected, "{id}");
        }
    }
}
