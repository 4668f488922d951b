-- Calls of the client API: never a body, a query or a credential. Kept for some days.
CREATE TABLE request_log (
    environment_id BLOB NOT NULL,
    -- Begins with the call's moment.
    id BLOB NOT NULL CHECK (length(id) = 16),
    at INTEGER NOT NULL,
    key_id BLOB NOT NULL CHECK (length(key_id) = 16),
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    -- The operation's path, which errors are grouped by.
    endpoint TEXT NOT NULL,
    status INTEGER NOT NULL,
    -- The error's code; absent where it succeeded.
    code TEXT,
    -- The names of faulty and unknown fields, a comma between them.
    fields TEXT NOT NULL,
    took_millis INTEGER NOT NULL,
    -- The payment it was about.
    reference TEXT,
    PRIMARY KEY (environment_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX request_log_failed ON request_log (environment_id, id, code, endpoint, at) WHERE code IS NOT NULL;
CREATE INDEX request_log_by_code ON request_log (environment_id, code, id) WHERE code IS NOT NULL;
CREATE INDEX request_log_by_reference ON request_log (environment_id, reference, id) WHERE reference IS NOT NULL;

-- Quotes that succeeded are too many to keep each.
CREATE TABLE quote_counts (
    environment_id BLOB NOT NULL,
    key_id BLOB NOT NULL CHECK (length(key_id) = 16),
    hour INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (environment_id, hour, key_id)
) STRICT, WITHOUT ROWID;
