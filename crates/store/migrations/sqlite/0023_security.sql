-- Keys that seal bank details for a few minutes each, themselves sealed under the master key. A key is deleted once no
-- transfer needs it, and what it sealed can be read by nobody then, wherever a copy of it may be left.
CREATE TABLE sealing_keys (
    id BLOB NOT NULL CHECK (length(id) = 16) PRIMARY KEY,
    sealed TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Transfers that still have bank details: few, and gone from here within seconds.
CREATE INDEX transfers_with_bank_details ON transfers (environment_id, transaction_id) WHERE sealed_account IS NOT NULL;

-- Operators' sessions that were ended before their time.
CREATE TABLE ended_sessions (
    id BLOB NOT NULL CHECK (length(id) = 16) PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT;

-- Who changed what, written with the change and never altered.
CREATE TABLE admin_changes (
    environment_id BLOB NOT NULL,
    -- The id of what was changed.
    subject TEXT NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    -- What was done, as `key.revoked`.
    action TEXT NOT NULL,
    actor TEXT NOT NULL,
    request TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- Rotating a key changes two of them at once.
    PRIMARY KEY (environment_id, subject, id)
) STRICT;
