-- Keys that seal bank details for a few minutes each, themselves sealed under the master key. A key is deleted once no
-- transfer needs it, and what it sealed can be read by nobody then, wherever a copy of it may be left.
-- Unlogged: the write-ahead log, and whatever is made of it, never holds a key. A crash of the server empties the table;
-- the nodes put the keys back that they still use.
CREATE UNLOGGED TABLE sealing_keys (
    id UUID NOT NULL PRIMARY KEY,
    sealed TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- Transfers that still have bank details: few, and gone from here within seconds.
CREATE INDEX transfers_with_bank_details ON transfers (environment_id, transaction_id) WHERE sealed_account IS NOT NULL;

-- Operators' sessions that were ended before their time.
CREATE TABLE ended_sessions (
    id UUID NOT NULL PRIMARY KEY,
    until BIGINT NOT NULL
);

-- Who changed what, written with the change and never altered.
CREATE TABLE admin_changes (
    environment_id UUID NOT NULL,
    -- The id of what was changed.
    subject TEXT NOT NULL,
    id UUID NOT NULL,
    -- What was done, as `key.revoked`.
    action TEXT NOT NULL,
    actor TEXT NOT NULL,
    request TEXT NOT NULL,
    at BIGINT NOT NULL,
    -- Rotating a key changes two of them at once.
    PRIMARY KEY (environment_id, subject, id)
);
