-- Paid payments are checked for refunds and disputes of which no webhook came, apart from all that is urgent.

ALTER TABLE card_payments ADD COLUMN follow_up_at INTEGER;
CREATE INDEX card_payments_follow_ups ON card_payments (follow_up_at) WHERE follow_up_at IS NOT NULL;

-- Those paid in the last 180 days begin now, spread over a month.
UPDATE card_payments
SET follow_up_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + (random() & 9223372036854775807) % 2592000000
WHERE EXISTS (
    SELECT 1 FROM transactions t
    WHERE t.environment_id = card_payments.environment_id AND t.method = 'web_card'
        AND t.reference = card_payments.id AND t.status IN ('succeeded', 'refunded')
        AND t.updated_at > CAST(unixepoch('subsec') * 1000 AS INTEGER) - 15552000000);
