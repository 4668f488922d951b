-- Organizations, environments, keys, configurations and the wallets' books.
--
-- Ids are sixteen bytes whose order is the order of their making, times are Unix milliseconds, amounts are minor
-- units. What belongs to an environment has it first in its key, so one environment's rows lie together.

CREATE TABLE organizations (
    id UUID NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE applications (
    id UUID NOT NULL PRIMARY KEY,
    organization_id UUID NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE INDEX applications_by_organization ON applications (organization_id, id);

CREATE TABLE environments (
    id UUID NOT NULL PRIMARY KEY,
    application_id UUID NOT NULL REFERENCES applications (id),
    organization_id UUID NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- The configuration in force; 0 is the empty one.
    config_version BIGINT NOT NULL CHECK (config_version >= 0),
    -- The directory's version at the last change of this environment, its keys or its configuration.
    directory_version BIGINT NOT NULL,
    UNIQUE (application_id, name)
);

CREATE INDEX environments_by_application ON environments (application_id, id);
CREATE INDEX environments_by_directory_version ON environments (directory_version);

CREATE TABLE api_keys (
    environment_id UUID NOT NULL REFERENCES environments (id),
    id UUID NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('secret', 'publishable')),
    digest BYTEA NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    last_four TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    replaced_by UUID,
    PRIMARY KEY (environment_id, id)
);

CREATE TABLE config_versions (
    environment_id UUID NOT NULL REFERENCES environments (id),
    version BIGINT NOT NULL CHECK (version > 0),
    change_id UUID NOT NULL,
    actor TEXT NOT NULL,
    request TEXT NOT NULL,
    at BIGINT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (environment_id, version),
    UNIQUE (environment_id, change_id)
);

-- One row: counts the changes of environments, keys and configurations in the order of their commits.
CREATE TABLE directory (
    id SMALLINT NOT NULL PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL
);

INSERT INTO directory (id, version) VALUES (1, 0);

CREATE TABLE pins (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

-- A few rows that change with every movement: the free half of each page lets them change in place.
CREATE TABLE ledger_accounts (
    environment_id UUID NOT NULL REFERENCES environments (id),
    currency TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    balance_minor BIGINT NOT NULL,
    PRIMARY KEY (environment_id, currency, account),
    CHECK (account = 'funding' OR balance_minor >= 0)
) WITH (fillfactor = 50);

-- Each posting touches accounts, and those belong to an environment that exists. A reference to the environment here
-- would lock its one row, shared, in every posting: a queue at the busiest place for nothing.
CREATE TABLE ledger_postings (
    environment_id UUID NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL,
    cause TEXT COLLATE "C" NOT NULL,
    reference TEXT COLLATE "C" NOT NULL,
    amount_minor BIGINT NOT NULL CHECK (amount_minor > 0),
    actor TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, currency, id),
    UNIQUE (environment_id, currency, cause, reference)
);

CREATE TABLE ledger_entries (
    environment_id UUID NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    posting_id UUID NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    amount_minor BIGINT NOT NULL,
    PRIMARY KEY (environment_id, currency, posting_id, account),
    FOREIGN KEY (environment_id, currency, posting_id) REFERENCES ledger_postings (environment_id, currency, id)
);
