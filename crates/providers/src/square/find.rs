//! Finding a payment by our reference, for when its answer was lost and its key may have been forgotten.

use std::time::Duration;

use tollgate_domain::{
    Timestamp,
    card::{CardOrder, ProviderReport, ProviderStatus},
};
use tollgate_engine::ports::CallError;

use super::{
    call::{ApiClient, interpret},
    request, status,
    types::{Payment, PaymentList},
};
use crate::{failure::unknown, retry::CallSession};

/// Pages of a hundred payments over the same amount. A busier time than this has to be looked through in parts.
const PAGES_MAX: usize = 20;

/// Their clock need not be ours. Looking further does no harm, as the reference decides.
const CLOCKS_APART_MAX: Duration = Duration::from_mins(2);

/// The payment under an order's reference that came furthest, among those made between two moments. One that failed
/// counts only if it is surely not from before, when an earlier attempt may have left it.
pub(super) async fn by_reference(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    from: Timestamp,
    until: Timestamp,
) -> Result<Option<ProviderReport>, CallError> {
    let reference = order.id.to_string();
    let (location, failed_from) = (api.location()?, request::time(from));
    let (begin, end) = (earlier(from), until.saturating_add(CLOCKS_APART_MAX));
    let mut best: Option<ProviderReport> = None;
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let query = request::list(order, location, begin, end, cursor.as_deref());
        let call = api.get("payments.list", &format!("payments?{query}"))?;
        let page = calls.run(&call, interpret::<PaymentList>).await?;
        for payment in page.payments.iter().flatten() {
            if payment.reference_id.as_ref() != Some(&reference) {
                continue;
            }
            let seen = status::report(payment);
            if matches!(seen.provider_status, ProviderStatus::Failed(_)) && is_before(payment, failed_from) {
                continue;
            }
            if best
                .as_ref()
                .is_none_or(|best| status::rank(&seen.provider_status) > status::rank(&best.provider_status))
            {
                best = Some(seen);
            }
        }
        cursor = page.cursor.filter(|cursor| !cursor.is_empty());
        if cursor.is_none() {
            return Ok(best);
        }
    }
    // Not having found it is no proof while there are pages left; having found it is.
    best.map(Some).ok_or_else(|| unknown("too many payments in that time range to search"))
}

fn is_before(payment: &Payment, moment: jiff::Timestamp) -> bool {
    let created = payment.created_at.as_deref().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    created.is_none_or(|created| created < moment)
}

fn earlier(moment: Timestamp) -> Timestamp {
    let apart = i64::try_from(CLOCKS_APART_MAX.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_unix_millis(moment.unix_millis().saturating_sub(apart))
}
