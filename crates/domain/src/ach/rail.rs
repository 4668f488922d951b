//! The networks that carry transfers.

/// The network that carries a transfer. The channel is what was ordered; of the instant ones, the receiving bank's decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransferRail {
    Ach,
    /// RTP, of The Clearing House.
    RealTimePayments,
    /// The Federal Reserve's.
    FedNow,
}

impl TransferRail {
    pub const ALL: [Self; 3] = [Self::Ach, Self::RealTimePayments, Self::FedNow];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ach => "ach",
            Self::RealTimePayments => "rtp",
            Self::FedNow => "fednow",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rail| rail.as_str() == text)
    }
}
