-- Paid payments are checked for refunds and disputes of which no webhook came, apart from all that is urgent.

ALTER TABLE card_payments ADD COLUMN follow_up_at BIGINT;
CREATE INDEX card_payments_follow_ups ON card_payments (follow_up_at) WHERE follow_up_at IS NOT NULL;

-- Those paid in the last 180 days begin now, spread over a month.
UPDATE card_payments p
SET follow_up_at = (extract(epoch FROM now()) * 1000)::bigint + (random() * 2592000000)::bigint
FROM transactions t
WHERE t.environment_id = p.environment_id AND t.method = 'web_card' AND t.reference = p.id
    AND t.status IN ('succeeded', 'refunded')
    AND t.updated_at > (extract(epoch FROM now()) * 1000)::bigint - 15552000000;
