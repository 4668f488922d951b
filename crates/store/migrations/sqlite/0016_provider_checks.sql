-- The last live check of each provider, for the doctor.

CREATE TABLE provider_checks (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    provider TEXT NOT NULL,
    config_version INTEGER NOT NULL,
    checked_at INTEGER NOT NULL,
    checks TEXT NOT NULL,
    PRIMARY KEY (environment_id, provider)
) STRICT, WITHOUT ROWID;
