-- What the audit has verified, so that the next one begins there.

-- Postings in the order in which they were written, which is the order of commits, because there is one writer. Postings from
-- before this table are not in it; the first audit verifies everything.
CREATE TABLE posting_order (
    sequence INTEGER PRIMARY KEY,
    environment_id BLOB NOT NULL,
    -- None: the posting is one of a card payment.
    currency TEXT,
    posting_id BLOB NOT NULL
) STRICT;

CREATE TRIGGER ledger_postings_are_ordered AFTER INSERT ON ledger_postings BEGIN
    INSERT INTO posting_order (environment_id, currency, posting_id) VALUES (NEW.environment_id, NEW.currency, NEW.id);
END;

CREATE TRIGGER card_postings_are_ordered AFTER INSERT ON card_postings BEGIN
    INSERT INTO posting_order (environment_id, posting_id) VALUES (NEW.environment_id, NEW.id);
END;

-- At most one row: the last audit that found nothing.
CREATE TABLE audit_checkpoint (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    -- The last posting's place in the order.
    position TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- When everything was verified, not only what had come since the audit before.
    full_at INTEGER NOT NULL,
    postings INTEGER NOT NULL CHECK (postings >= 0),
    card_postings INTEGER NOT NULL CHECK (card_postings >= 0)
) STRICT;

-- What the accounts held then, and of how many entries.
CREATE TABLE audit_balances (
    environment_id BLOB NOT NULL,
    currency TEXT NOT NULL,
    account TEXT NOT NULL,
    balance_minor INTEGER NOT NULL,
    entries INTEGER NOT NULL CHECK (entries >= 0),
    PRIMARY KEY (environment_id, currency, account)
) STRICT, WITHOUT ROWID;
