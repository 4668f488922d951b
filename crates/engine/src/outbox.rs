//! Telling callers: the endpoints that want events, and getting the events there.
//!
//! Events are written by the units of work they tell of. Here they are delivered: claimed, put together, signed,
//! carried, and its result recorded. Whatever is lost on the way is claimed again, so that every event arrives at
//! least once, under the same id and with the same body.

mod deliver;
mod endpoint_url;
mod endpoints;
mod indexer;
mod reads;
mod schedule;
mod tally;

pub use endpoint_url::{EndpointUrl, InvalidUrl};
pub(crate) use endpoints::secret_context;
pub use endpoints::{CreatedEndpoint, DescriptionChange, EndpointChange, EndpointError, NewEndpoint};
pub use reads::{EventRead, ResendError, ResentEvents};
pub use tally::{DeliveryOutcome, DeliveryTally};
