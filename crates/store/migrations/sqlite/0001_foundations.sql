-- Organizations, environments, keys, configurations and the wallets' books.
--
-- Ids are sixteen bytes whose order is the order of their making, times are Unix milliseconds, amounts are minor
-- units. What belongs to an environment has it first in its key, so one environment's rows lie together.

CREATE TABLE organizations (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE applications (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    organization_id BLOB NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX applications_by_organization ON applications (organization_id, id);

CREATE TABLE environments (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    application_id BLOB NOT NULL REFERENCES applications (id),
    organization_id BLOB NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- The configuration in force; 0 is the empty one.
    config_version INTEGER NOT NULL CHECK (config_version >= 0),
    -- The directory's version at the last change of this environment, its keys or its configuration.
    directory_version INTEGER NOT NULL,
    UNIQUE (application_id, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX environments_by_application ON environments (application_id, id);
CREATE INDEX environments_by_directory_version ON environments (directory_version);

CREATE TABLE api_keys (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    id BLOB NOT NULL CHECK (length(id) = 16),
    kind TEXT NOT NULL CHECK (kind IN ('secret', 'publishable')),
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    last_four TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    replaced_by BLOB,
    PRIMARY KEY (environment_id, id)
) STRICT, WITHOUT ROWID;

-- Documents are large, so these rows stay out of the key's tree.
CREATE TABLE config_versions (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    version INTEGER NOT NULL CHECK (version > 0),
    change_id BLOB NOT NULL CHECK (length(change_id) = 16),
    actor TEXT NOT NULL,
    request TEXT NOT NULL,
    at INTEGER NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (environment_id, version),
    UNIQUE (environment_id, change_id)
) STRICT;

-- One row: counts the changes of environments, keys and configurations in the order of their commits.
CREATE TABLE directory (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
) STRICT;

INSERT INTO directory (id, version) VALUES (1, 0);

CREATE TABLE pins (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger_accounts (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    currency TEXT NOT NULL,
    account TEXT NOT NULL,
    balance_minor INTEGER NOT NULL,
    PRIMARY KEY (environment_id, currency, account),
    CHECK (account = 'funding' OR balance_minor >= 0)
) STRICT, WITHOUT ROWID;

-- Each posting touches accounts, and those belong to an environment that exists: no second check per posting.
CREATE TABLE ledger_postings (
    environment_id BLOB NOT NULL,
    currency TEXT NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    cause TEXT NOT NULL,
    reference TEXT NOT NULL,
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    actor TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (environment_id, currency, id),
    UNIQUE (environment_id, currency, cause, reference)
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger_entries (
    environment_id BLOB NOT NULL,
    currency TEXT NOT NULL,
    posting_id BLOB NOT NULL,
    account TEXT NOT NULL,
    amount_minor INTEGER NOT NULL,
    PRIMARY KEY (environment_id, currency, posting_id, account),
    FOREIGN KEY (environment_id, currency, posting_id) REFERENCES ledger_postings (environment_id, currency, id)
) STRICT, WITHOUT ROWID;
