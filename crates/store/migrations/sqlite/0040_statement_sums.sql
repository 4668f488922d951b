-- Months of the books, added up: a statement reads these sums, and the postings that came after them.

-- At most one row: up to where postings are added up, in the order of `posting_order`.
CREATE TABLE statement_position (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    position TEXT NOT NULL
) STRICT;

-- Sums may be larger than any number, and so they are texts.
CREATE TABLE statement_sums (
    environment_id BLOB NOT NULL,
    -- A calendar month in UTC, such as 2026-11.
    month TEXT NOT NULL,
    provider TEXT NOT NULL,
    currency TEXT NOT NULL,
    -- The kind of a card payment's posting, or the cause of a wallet's: settle or reverse.
    kind TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count >= 0),
    due_from_provider_minor TEXT NOT NULL,
    disputes_held_minor TEXT NOT NULL,
    refunds_given_minor TEXT NOT NULL,
    disputes_lost_minor TEXT NOT NULL,
    principal_minor TEXT NOT NULL,
    platform_fees_minor TEXT NOT NULL,
    organization_fees_minor TEXT NOT NULL,
    PRIMARY KEY (environment_id, month, provider, currency, kind)
) STRICT, WITHOUT ROWID;
