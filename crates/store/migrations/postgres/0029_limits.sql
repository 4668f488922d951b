-- What counts toward limits. Payments are counted by subject: a digest of the limit's name, the currency and, where the
-- limit is one per customer or account, of that.

-- The sum of what counts. Whoever adds to it, or takes from it, locks its row first.
CREATE TABLE limit_totals (
    environment_id UUID NOT NULL,
    subject BYTEA NOT NULL CHECK (octet_length(subject) = 32),
    payments BIGINT NOT NULL CHECK (payments >= 0),
    amount_minor BIGINT NOT NULL CHECK (amount_minor >= 0),
    PRIMARY KEY (environment_id, subject)
);

-- Each payment, until the window has passed over it.
CREATE TABLE limit_uses (
    environment_id UUID NOT NULL,
    subject BYTEA NOT NULL CHECK (octet_length(subject) = 32),
    at BIGINT NOT NULL,
    -- The payment's or transfer's id.
    reference UUID NOT NULL,
    amount_minor BIGINT NOT NULL CHECK (amount_minor > 0),
    -- Whether it is in the sum: not once it has failed or was canceled.
    counted BOOLEAN NOT NULL,
    -- When the window will have passed over it.
    ends_at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, subject, at, reference)
);

CREATE INDEX limit_uses_by_reference ON limit_uses (environment_id, reference);
CREATE INDEX limit_uses_ended ON limit_uses (ends_at);
