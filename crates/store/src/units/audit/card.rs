//! What must always hold in the books of card payments.

use tollgate_domain::id::PaymentId;

use crate::prelude::*;

/// What all sums over a payment's postings, refunds and disputes must be. How a refund or a lost dispute divides between the
/// layers of the fee is decided when it is posted; here their sum counts, and that no layer gave back more than it earned.
/// What was captured by hand can be less than what was prepared, and a fee that was decided for the card more, which only their
/// own records tell.
/// Payments from before there were books are left out until they are posted.
pub(super) const PAYMENTS: &str = "WITH posted AS MATERIALIZED (
     SELECT environment_id, payment_id, sum(due_from_provider_minor) AS due, sum(disputes_held_minor) AS held,
         sum(refunds_given_minor) AS given, sum(disputes_lost_minor) AS lost, sum(principal_minor) AS principal,
         sum(platform_fees_minor) AS platform, sum(organization_fees_minor) AS organization,
         sum(CASE WHEN kind = 'payment' THEN 1 ELSE 0 END) AS payments,
         sum(CASE WHEN kind = 'payment' THEN principal_minor ELSE 0 END) AS paid_principal,
         sum(CASE WHEN kind = 'payment' THEN platform_fees_minor ELSE 0 END) AS paid_platform,
         sum(CASE WHEN kind = 'payment' THEN organization_fees_minor ELSE 0 END) AS paid_organization
     FROM {card_postings} p GROUP BY environment_id, payment_id),
 returned AS MATERIALIZED (
     SELECT environment_id, payment_id, sum(principal_minor) AS principal, sum(fee_minor) AS fee
     FROM {refunds} r WHERE status = 'succeeded' GROUP BY environment_id, payment_id),
 contested AS MATERIALIZED (
     SELECT environment_id, payment_id,
         sum(CASE WHEN withdrawn_minor IS NOT NULL AND lower(status) IN ('lost', 'accepted', 'prevented') THEN 0
             WHEN withdrawn_minor IS NOT NULL THEN withdrawn_minor
             WHEN closed_at IS NULL AND lower(status) NOT LIKE 'warning!_%' ESCAPE '!'
             AND lower(status) NOT LIKE 'inquiry!_%' ESCAPE '!' THEN COALESCE(amount_minor, 0) ELSE 0 END) AS held,
         sum(CASE WHEN lower(status) IN ('lost', 'accepted') THEN COALESCE(withdrawn_minor, amount_minor, 0)
             WHEN lower(status) = 'prevented' THEN COALESCE(withdrawn_minor, 0) ELSE 0 END) AS lost
     FROM {disputes} d GROUP BY environment_id, payment_id)
 SELECT environment_id, reference, problem FROM (
     SELECT t.environment_id, t.reference, CASE
         WHEN p.payment_id IS NULL THEN 'has no postings'
         WHEN p.payments <> 1 THEN 'is posted more than once'
         WHEN p.principal <> p.paid_principal OR t.hold IS NULL AND t.charged IS NULL AND (p.paid_principal <> t.principal_minor
             OR p.paid_platform <> t.platform_fee_minor OR p.paid_organization <> t.organization_fee_minor)
             THEN 'is posted with other amounts than its own'
         WHEN p.held <> COALESCE(d.held, 0) THEN 'has another disputed amount than its postings'
         WHEN p.given + p.lost + p.paid_platform + p.paid_organization - p.platform - p.organization
             <> COALESCE(r.principal, 0) + COALESCE(r.fee, 0) + COALESCE(d.lost, 0) OR p.given < COALESCE(r.principal, 0)
             THEN 'has other refunds or lost disputes than its postings'
         WHEN p.platform < 0 OR p.platform > p.paid_platform OR p.organization < 0
             OR p.organization > p.paid_organization THEN 'has other fees than its postings'
         WHEN p.due + p.held + p.given + p.lost <> p.principal + p.platform + p.organization
             THEN 'has postings that do not balance'
         END AS problem
     FROM {card_transactions} t
     LEFT JOIN posted p ON p.environment_id = t.environment_id AND p.payment_id = t.reference
     LEFT JOIN returned r ON r.environment_id = t.environment_id AND r.payment_id = t.reference
     LEFT JOIN contested d ON d.environment_id = t.environment_id AND d.payment_id = t.reference
     LEFT JOIN unposted_payments u ON u.environment_id = t.environment_id AND u.payment_id = t.reference
     WHERE t.method = 'web_card' AND t.status IN ('succeeded', 'refunded') AND u.payment_id IS NULL) x
 WHERE problem IS NOT NULL LIMIT 1000";

pub(super) fn payment(cells: &mut Cells<'_>) -> Result<(String, String), Fault> {
    let id: PaymentId = cells.id()?;
    Ok((id.to_string(), format!("The card payment {}.", cells.text()?)))
}

pub(super) const STRAYS: &str = "SELECT p.environment_id, p.payment_id
 FROM {card_postings} p LEFT JOIN transactions t
     ON t.environment_id = p.environment_id AND t.method = 'web_card' AND t.reference = p.payment_id
     AND t.status IN ('succeeded', 'refunded')
 WHERE t.id IS NULL GROUP BY p.environment_id, p.payment_id
 HAVING sum(p.due_from_provider_minor) <> 0 OR sum(p.disputes_held_minor) <> 0
     OR sum(p.refunds_given_minor) <> 0 OR sum(p.disputes_lost_minor) <> 0 OR sum(p.principal_minor) <> 0
     OR sum(p.platform_fees_minor) <> 0 OR sum(p.organization_fees_minor) <> 0 LIMIT 1000";

pub(super) fn stray(cells: &mut Cells<'_>) -> Result<(String, String), Fault> {
    let id: PaymentId = cells.id()?;
    Ok((id.to_string(), "There are postings, but the card payment was not paid.".to_owned()))
}

/// A transaction from before refunds had records may know of more.
pub(super) const REFUNDS: &str = "SELECT t.environment_id, t.reference
 FROM {card_transactions} t JOIN (
     SELECT environment_id, payment_id, sum(principal_minor + fee_minor) AS total
     FROM {refunds} r WHERE status = 'succeeded' GROUP BY environment_id, payment_id) r
     ON r.environment_id = t.environment_id AND r.payment_id = t.reference
 WHERE t.method = 'web_card' AND t.refunded_minor < r.total LIMIT 1000";

pub(super) fn refund(cells: &mut Cells<'_>) -> Result<(String, String), Fault> {
    let id: PaymentId = cells.id()?;
    Ok((id.to_string(), "The card payment's refunds are more than its refunded amount.".to_owned()))
}
