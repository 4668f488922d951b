-- Card payments, transactions, timelines, providers' events and disagreements with providers.
--
-- Rows are written only together with, or after, the payment or environment they belong to, which is never deleted; a
-- reference that the database checks once more stands only where rows are few. Rows with long texts stay out of their
-- key's tree.

CREATE TABLE card_payments (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    -- What was asked for and decided, which never changes.
    flow TEXT NOT NULL,
    provider TEXT NOT NULL,
    adapter TEXT NOT NULL,
    channel TEXT NOT NULL,
    -- The rule that decided, with its conditions, as JSON; none for the default target.
    matched TEXT,
    config_version INTEGER NOT NULL CHECK (config_version >= 0),
    currency TEXT NOT NULL,
    principal_minor INTEGER NOT NULL CHECK (principal_minor > 0),
    platform_fee_minor INTEGER NOT NULL CHECK (platform_fee_minor >= 0),
    organization_fee_minor INTEGER NOT NULL CHECK (organization_fee_minor >= 0),
    fee_minor INTEGER NOT NULL CHECK (fee_minor >= 0),
    total_debit_minor INTEGER NOT NULL CHECK (total_debit_minor > 0),
    -- How both layers came to their fees, as JSON.
    fee_layers TEXT NOT NULL,
    description TEXT,
    customer_name TEXT,
    customer_email TEXT,
    metadata TEXT NOT NULL,
    success_url TEXT,
    cancel_url TEXT,
    request TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- Where it stands.
    preparation TEXT NOT NULL,
    object TEXT,
    checkout_url TEXT,
    prepared_at INTEGER,
    confirmed INTEGER NOT NULL CHECK (confirmed IN (0, 1)),
    due_at INTEGER,
    tries INTEGER NOT NULL CHECK (tries >= 0),
    waiting TEXT,
    -- Counts the changes, and names the last one.
    revision INTEGER NOT NULL CHECK (revision >= 0),
    last_change BLOB CHECK (length(last_change) = 16),
    PRIMARY KEY (environment_id, id)
) STRICT;

CREATE INDEX card_payments_due ON card_payments (due_at) WHERE due_at IS NOT NULL;
-- Most payments stay prepared, and few say why they wait: only the others are worth an index.
CREATE INDEX card_payments_by_preparation ON card_payments (environment_id, preparation, id)
    WHERE preparation <> 'prepared';
CREATE INDEX card_payments_waiting ON card_payments (environment_id, id) WHERE waiting IS NOT NULL;

CREATE TABLE card_attempts (
    environment_id BLOB NOT NULL,
    payment_id BLOB NOT NULL,
    number INTEGER NOT NULL CHECK (number > 0),
    source_digest BLOB NOT NULL CHECK (length(source_digest) = 32),
    sealed_source TEXT,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (environment_id, payment_id, number),
    UNIQUE (environment_id, payment_id, source_digest),
    FOREIGN KEY (environment_id, payment_id) REFERENCES card_payments (environment_id, id)
) STRICT, WITHOUT ROWID;

-- By which of a provider's names a payment is found.
CREATE TABLE provider_objects (
    environment_id BLOB NOT NULL,
    provider TEXT NOT NULL,
    object TEXT NOT NULL,
    payment_id BLOB NOT NULL,
    PRIMARY KEY (environment_id, provider, object)
) STRICT, WITHOUT ROWID;

-- Of any method, and complete in itself: a transaction is shown and listed without its payment.
CREATE TABLE transactions (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    method TEXT NOT NULL,
    reference BLOB NOT NULL CHECK (length(reference) = 16),
    provider TEXT NOT NULL,
    channel TEXT NOT NULL,
    currency TEXT NOT NULL,
    principal_minor INTEGER NOT NULL CHECK (principal_minor > 0),
    platform_fee_minor INTEGER NOT NULL CHECK (platform_fee_minor >= 0),
    organization_fee_minor INTEGER NOT NULL CHECK (organization_fee_minor >= 0),
    fee_minor INTEGER NOT NULL CHECK (fee_minor >= 0),
    total_debit_minor INTEGER NOT NULL CHECK (total_debit_minor > 0),
    fee_layers TEXT NOT NULL,
    description TEXT,
    metadata TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- What changes.
    updated_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    provider_reference TEXT,
    failure_code TEXT,
    failure_message TEXT,
    refunded_minor INTEGER NOT NULL CHECK (refunded_minor >= 0),
    dispute_id TEXT,
    dispute_status TEXT,
    dispute_reason TEXT,
    dispute_amount_minor INTEGER CHECK (dispute_amount_minor >= 0),
    PRIMARY KEY (environment_id, id),
    UNIQUE (environment_id, method, reference),
    CHECK ((failure_code IS NULL) = (failure_message IS NULL)),
    CHECK ((dispute_id IS NULL) = (dispute_status IS NULL))
) STRICT;

CREATE INDEX transactions_by_status ON transactions (environment_id, status, id);

-- Lines are short, and those of one payment are read together.
CREATE TABLE timeline (
    environment_id BLOB NOT NULL,
    method TEXT NOT NULL,
    reference BLOB NOT NULL CHECK (length(reference) = 16),
    id BLOB NOT NULL CHECK (length(id) = 16),
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    request TEXT,
    detail TEXT NOT NULL,
    PRIMARY KEY (environment_id, method, reference, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE provider_events (
    environment_id BLOB NOT NULL,
    provider TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    notice TEXT NOT NULL,
    request TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    due_at INTEGER,
    tries INTEGER NOT NULL CHECK (tries >= 0),
    note TEXT NOT NULL,
    PRIMARY KEY (environment_id, provider, id),
    CHECK (state = 'waiting' OR due_at IS NULL)
) STRICT;

CREATE INDEX provider_events_due ON provider_events (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX provider_events_by_state ON provider_events (environment_id, state, received_at);

CREATE TABLE reconciliation_exceptions (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    method TEXT NOT NULL,
    reference BLOB NOT NULL CHECK (length(reference) = 16),
    kind TEXT NOT NULL,
    expected TEXT NOT NULL,
    found TEXT NOT NULL,
    -- SHA-256 of what was found: the same words are recorded once, however long they are.
    found_digest BLOB NOT NULL CHECK (length(found_digest) = 32),
    source TEXT NOT NULL,
    at INTEGER NOT NULL,
    resolved_at INTEGER,
    resolved_by TEXT,
    resolution TEXT,
    PRIMARY KEY (environment_id, id),
    UNIQUE (environment_id, method, reference, kind, found_digest),
    CHECK ((resolved_at IS NULL) = (resolved_by IS NULL) AND (resolved_at IS NULL) = (resolution IS NULL))
) STRICT;

CREATE INDEX reconciliation_exceptions_open ON reconciliation_exceptions (environment_id, id)
    WHERE resolved_at IS NULL;
