//! How money moves: the method a caller names, the flow a card payment takes, the channel a route picks.

use std::fmt;

/// What the caller pays with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaymentMethod {
    /// A card, on a hosted page or in an embedded component.
    WebCard,
    /// A bank transfer out of the service-held wallet.
    Ach,
}

impl PaymentMethod {
    /// Every method, in the order configurations list them.
    pub const ALL: [Self; 2] = [Self::WebCard, Self::Ach];

    /// The name used in the API and in configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WebCard => "web_card",
            Self::Ach => "ach",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == text)
    }

    /// The channels a target of this method may name.
    pub const fn channels(self) -> &'static [Channel] {
        match self {
            Self::WebCard => &[Channel::WebCard],
            Self::Ach => &[Channel::StandardAch, Channel::SameDayAch, Channel::Instant],
        }
    }
}

/// How a card payment reaches the customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flow {
    /// The provider's component, embedded in the caller's page.
    PaymentComponent,
    /// The provider's own page.
    HostedCheckout,
}

impl Flow {
    pub const ALL: [Self; 2] = [Self::PaymentComponent, Self::HostedCheckout];

    /// The name used in the API and in routing conditions.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PaymentComponent => "payment_component",
            Self::HostedCheckout => "hosted_checkout",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flow| flow.as_str() == text)
    }
}

/// The rail a route picks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// The one channel of card payments.
    WebCard,
    /// Settles on the next banking day.
    StandardAch,
    /// Settles on the same banking day, within its cut-offs.
    SameDayAch,
    /// Settles in seconds, around the clock.
    Instant,
}

impl Channel {
    pub const ALL: [Self; 4] = [Self::WebCard, Self::StandardAch, Self::SameDayAch, Self::Instant];

    /// The name used in the API and in configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WebCard => "web_card",
            Self::StandardAch => "standard_ach",
            Self::SameDayAch => "same_day_ach",
            Self::Instant => "instant",
        }
    }

    /// The name a person reads.
    pub const fn label(self) -> &'static str {
        match self {
            Self::WebCard => "Web card",
            Self::StandardAch => "Standard ACH",
            Self::SameDayAch => "Same-day ACH",
            Self::Instant => "Instant",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.as_str() == text)
    }

    /// The name under which fees of this channel are configured: card fees are shared by both card flows, so theirs
    /// is `none`.
    pub const fn fee_channel(self) -> &'static str {
        match self {
            Self::WebCard => "none",
            Self::StandardAch | Self::SameDayAch | Self::Instant => self.as_str(),
        }
    }
}

macro_rules! display_as_str {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}
display_as_str!(PaymentMethod, Flow, Channel);
