-- The books of card payments, disputes as records of their own, and until when the provider takes evidence.

-- One row is one balanced posting, with an account in each column: a payment is posted with one row, and no row is shared by
-- several payments, so that none waits for another.
CREATE TABLE card_postings (
    environment_id UUID NOT NULL,
    -- Begins with the moment of the posting, so that a month is a range.
    id UUID NOT NULL,
    payment_id UUID NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    -- The refund or the dispute.
    subject TEXT,
    provider TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    -- Debits.
    due_from_provider_minor BIGINT NOT NULL,
    disputes_held_minor BIGINT NOT NULL,
    refunds_given_minor BIGINT NOT NULL,
    disputes_lost_minor BIGINT NOT NULL,
    -- Credits.
    principal_minor BIGINT NOT NULL,
    platform_fees_minor BIGINT NOT NULL,
    organization_fees_minor BIGINT NOT NULL,
    PRIMARY KEY (environment_id, id),
    CHECK (due_from_provider_minor + disputes_held_minor + refunds_given_minor + disputes_lost_minor
        = principal_minor + platform_fees_minor + organization_fees_minor)
);

CREATE INDEX card_postings_by_payment ON card_postings (environment_id, payment_id);

-- Payments from before there were books. They are posted in the background, a few at a time, and then leave this list.
CREATE TABLE unposted_payments (
    environment_id UUID NOT NULL,
    payment_id UUID NOT NULL,
    PRIMARY KEY (environment_id, payment_id)
);

INSERT INTO unposted_payments (environment_id, payment_id)
SELECT environment_id, reference FROM transactions
WHERE method = 'web_card' AND status IN ('succeeded', 'refunded');

CREATE TABLE disputes (
    environment_id UUID NOT NULL,
    payment_id UUID NOT NULL,
    -- The provider's name for it.
    id TEXT COLLATE "C" NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    amount_minor BIGINT CHECK (amount_minor >= 0),
    respond_by BIGINT,
    opened_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- None while it is open.
    closed_at BIGINT,
    PRIMARY KEY (environment_id, payment_id, id),
    FOREIGN KEY (environment_id, payment_id) REFERENCES card_payments (environment_id, id)
);

CREATE INDEX disputes_open ON disputes (environment_id, respond_by) WHERE closed_at IS NULL;

INSERT INTO disputes (environment_id, payment_id, id, status, reason, amount_minor, opened_at, updated_at, closed_at)
SELECT environment_id, reference, dispute_id, dispute_status, dispute_reason, dispute_amount_minor, updated_at, updated_at,
    CASE WHEN lower(dispute_status) IN ('won', 'lost', 'accepted', 'prevented', 'warning_closed', 'charge_refunded',
        'inquiry_closed') THEN updated_at END
FROM transactions WHERE method = 'web_card' AND dispute_id IS NOT NULL;

-- Open disputes are read at the provider once more, because it was not kept until when evidence is taken.
UPDATE card_payments SET follow_up_at = 0
WHERE (environment_id, id) IN (SELECT environment_id, payment_id FROM disputes WHERE closed_at IS NULL);

ALTER TABLE transactions ADD COLUMN dispute_respond_by BIGINT;

-- Through which provider a transfer's fees were earned.
ALTER TABLE ledger_postings ADD COLUMN provider TEXT;
UPDATE ledger_postings SET provider = x.provider
FROM (
    SELECT f.environment_id, f.reference, t.provider FROM transfers f
    JOIN transactions t ON t.environment_id = f.environment_id AND t.id = f.transaction_id) x
WHERE ledger_postings.cause IN ('settle', 'reverse') AND x.environment_id = ledger_postings.environment_id
    AND x.reference = ledger_postings.reference;
