-- Refunds of card payments, each a record of its own.

CREATE TABLE refunds (
    environment_id UUID NOT NULL,
    payment_id UUID NOT NULL,
    id UUID NOT NULL,
    principal_minor BIGINT NOT NULL CHECK (principal_minor >= 0),
    fee_minor BIGINT NOT NULL CHECK (fee_minor >= 0),
    -- As it was asked for.
    asked_minor BIGINT,
    fee_refund TEXT,
    reason TEXT,
    description TEXT,
    metadata TEXT NOT NULL,
    origin TEXT NOT NULL,
    status TEXT NOT NULL,
    provider_reference TEXT,
    failure_code TEXT,
    failure_message TEXT,
    request TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, payment_id, id),
    UNIQUE (environment_id, id),
    FOREIGN KEY (environment_id, payment_id) REFERENCES card_payments (environment_id, id)
);

-- What was refunded at the provider so far becomes records as soon as it is read there.
UPDATE card_payments SET follow_up_at = 0
WHERE (environment_id, id) IN (
    SELECT environment_id, reference FROM transactions WHERE method = 'web_card' AND refunded_minor > 0);
