-- Payments whose personal data is to be erased and was still needed when that was asked for: erased once they have ended.
CREATE TABLE erasure_wishes (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    method TEXT NOT NULL,
    reference BLOB NOT NULL CHECK (length(reference) = 16),
    asked_at INTEGER NOT NULL,
    -- Who asked, as the timeline will have it.
    detail TEXT NOT NULL,
    PRIMARY KEY (environment_id, method, reference)
) STRICT;
