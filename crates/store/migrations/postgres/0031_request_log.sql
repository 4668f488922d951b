-- Calls of the client API: never a body, a query or a credential. Kept for some days.
CREATE TABLE request_log (
    environment_id UUID NOT NULL,
    -- Begins with the call's moment.
    id UUID NOT NULL,
    at BIGINT NOT NULL,
    key_id UUID NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    -- The operation's path, which errors are grouped by.
    endpoint TEXT NOT NULL,
    status BIGINT NOT NULL,
    -- The error's code; absent where it succeeded.
    code TEXT,
    -- The names of faulty and unknown fields, a comma between them.
    fields TEXT NOT NULL,
    took_millis BIGINT NOT NULL,
    -- The payment it was about.
    reference TEXT,
    PRIMARY KEY (environment_id, id)
);

CREATE INDEX request_log_failed ON request_log (environment_id, id) WHERE code IS NOT NULL;
CREATE INDEX request_log_by_code ON request_log (environment_id, code, id) WHERE code IS NOT NULL;
CREATE INDEX request_log_by_reference ON request_log (environment_id, reference, id) WHERE reference IS NOT NULL;

-- Quotes that succeeded are too many to keep each.
CREATE TABLE quote_counts (
    environment_id UUID NOT NULL,
    key_id UUID NOT NULL,
    hour BIGINT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (environment_id, hour, key_id)
);
