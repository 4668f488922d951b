-- What counts toward limits. Payments are counted by subject: a digest of the limit's name, the currency and, where the
-- limit is one per customer or account, of that.

-- The sum of what counts. Whoever adds to it, or takes from it, locks its row first.
CREATE TABLE limit_totals (
    environment_id BLOB NOT NULL,
    subject BLOB NOT NULL CHECK (length(subject) = 32),
    payments INTEGER NOT NULL CHECK (payments >= 0),
    amount_minor INTEGER NOT NULL CHECK (amount_minor >= 0),
    PRIMARY KEY (environment_id, subject)
) STRICT;

-- Each payment, until the window has passed over it.
CREATE TABLE limit_uses (
    environment_id BLOB NOT NULL,
    subject BLOB NOT NULL CHECK (length(subject) = 32),
    at INTEGER NOT NULL,
    -- The payment's or transfer's id.
    reference BLOB NOT NULL,
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    -- Whether it is in the sum: not once it has failed or was canceled.
    counted INTEGER NOT NULL,
    -- When the window will have passed over it.
    ends_at INTEGER NOT NULL,
    PRIMARY KEY (environment_id, subject, at, reference)
) STRICT;

CREATE INDEX limit_uses_by_reference ON limit_uses (environment_id, reference);
CREATE INDEX limit_uses_ended ON limit_uses (ends_at);
