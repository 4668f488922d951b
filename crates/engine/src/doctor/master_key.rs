//! Whether the previous master key is still needed.

use super::{Check, unreachable};
use crate::{engine::Engine, ports::SealedKind};

impl Engine {
    /// Nothing is checked unless a previous key is set: it looks through everything that is sealed.
    pub(super) async fn master_key_check(&self) -> Option<Check> {
        let left = match self.sealed_under_previous().await {
            Ok(left) => left?,
            Err(error) => return Some(unreachable(&error)),
        };
        if !left.is_empty() {
            let left: Vec<_> = left.into_iter().map(SealedKind::describe).collect();
            let finding = format!("the previous master key is still needed by: {}", left.join(", "));
            let advice =
                "run `tollgate rekey`; remove TOLLGATE_MASTER_KEY_PREVIOUS only once nothing needs it";
            return Some(Check::warning("master_key", finding, advice));
        }
        match self.is_pinned_to_current().await {
            Ok(true) => {
                let finding = "nothing is sealed under the previous master key";
                let advice = "remove TOLLGATE_MASTER_KEY_PREVIOUS from every node and restart it";
                Some(Check::warning("master_key", finding, advice))
            }
            Ok(false) => {
                let finding = "a previous master key is set, and the rotation is not finished";
                Some(Check::warning("master_key", finding, "run `tollgate rekey`"))
            }
            Err(error) => Some(unreachable(&error)),
        }
    }
}
