-- Payments that are captured by hand: how they are captured, what is held or was captured of them, and each capture and void
-- that was asked for.

ALTER TABLE card_payments ADD COLUMN capture TEXT NOT NULL DEFAULT 'automatic';
-- What is held or was captured, as JSON; none of payments that are captured at once.
ALTER TABLE transactions ADD COLUMN hold TEXT;

CREATE TABLE hold_actions (
    environment_id UUID NOT NULL,
    payment_id UUID NOT NULL,
    id UUID NOT NULL,
    kind TEXT NOT NULL,
    -- As it was asked for.
    asked_minor BIGINT CHECK (asked_minor > 0),
    status TEXT NOT NULL,
    failure_code TEXT,
    failure_message TEXT,
    request TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, payment_id, id),
    UNIQUE (environment_id, id),
    FOREIGN KEY (environment_id, payment_id) REFERENCES card_payments (environment_id, id),
    CHECK ((failure_code IS NULL) = (failure_message IS NULL))
);
