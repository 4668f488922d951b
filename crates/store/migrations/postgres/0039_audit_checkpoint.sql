-- What the audit has verified, so that the next one begins there.

-- The transaction that wrote a posting. Together with the snapshot that an audit has seen it tells exactly which postings came
-- later, whatever their ids: transactions commit in any order. Postings from before this column have none; the first audit
-- verifies everything.
ALTER TABLE ledger_postings ADD COLUMN written_by XID8;
ALTER TABLE ledger_postings ALTER COLUMN written_by SET DEFAULT pg_current_xact_id();
CREATE INDEX ledger_postings_by_writer ON ledger_postings (written_by) WHERE written_by IS NOT NULL;

ALTER TABLE card_postings ADD COLUMN written_by XID8;
ALTER TABLE card_postings ALTER COLUMN written_by SET DEFAULT pg_current_xact_id();
CREATE INDEX card_postings_by_writer ON card_postings (written_by) WHERE written_by IS NOT NULL;

-- At most one row: the last audit that found nothing.
CREATE TABLE audit_checkpoint (
    id SMALLINT NOT NULL PRIMARY KEY CHECK (id = 1),
    -- The server's identifier, a slash, and the snapshot.
    position TEXT NOT NULL,
    at BIGINT NOT NULL,
    -- When everything was verified, not only what had come since the audit before.
    full_at BIGINT NOT NULL,
    postings BIGINT NOT NULL CHECK (postings >= 0),
    card_postings BIGINT NOT NULL CHECK (card_postings >= 0)
);

-- What the accounts held then, and of how many entries.
CREATE TABLE audit_balances (
    environment_id UUID NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    balance_minor BIGINT NOT NULL,
    entries BIGINT NOT NULL CHECK (entries >= 0),
    PRIMARY KEY (environment_id, currency, account)
);
