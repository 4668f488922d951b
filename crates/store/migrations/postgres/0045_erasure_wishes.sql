-- Payments whose personal data is to be erased and was still needed when that was asked for: erased once they have ended.
CREATE TABLE erasure_wishes (
    environment_id UUID NOT NULL REFERENCES environments (id),
    method TEXT NOT NULL,
    reference UUID NOT NULL,
    asked_at BIGINT NOT NULL,
    -- Who asked, as the timeline will have it.
    detail TEXT NOT NULL,
    PRIMARY KEY (environment_id, method, reference)
);
