-- The last live check of each provider, for the doctor.

CREATE TABLE provider_checks (
    environment_id UUID NOT NULL REFERENCES environments (id),
    provider TEXT NOT NULL,
    config_version BIGINT NOT NULL,
    checked_at BIGINT NOT NULL,
    checks TEXT NOT NULL,
    PRIMARY KEY (environment_id, provider)
);
