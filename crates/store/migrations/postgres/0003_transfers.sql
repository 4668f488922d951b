-- Bank transfers.
--
-- A transfer's amounts, status and provider are those of its transaction, which is written with it; here is what a
-- transaction does not have. The two share the transaction's id, so that both append.

CREATE TABLE transfers (
    environment_id UUID NOT NULL,
    transaction_id UUID NOT NULL,
    -- The transfer's id as text, which the ledger's postings refer to.
    reference TEXT COLLATE "C" NOT NULL,
    -- What was asked for and decided, which never changes.
    adapter TEXT NOT NULL,
    -- The rule that decided, with its conditions, as JSON; none for the default target.
    matched TEXT,
    config_version BIGINT NOT NULL CHECK (config_version >= 0),
    external_customer_id TEXT NOT NULL,
    customer_name TEXT NOT NULL,
    customer_email TEXT NOT NULL,
    bank_name TEXT NOT NULL,
    account_name TEXT NOT NULL,
    account_type TEXT NOT NULL,
    last_four TEXT NOT NULL,
    remittance TEXT,
    request TEXT NOT NULL,
    fingerprints TEXT NOT NULL,
    -- Where it stands.
    sealed_account TEXT,
    expected_on TEXT,
    corrections TEXT NOT NULL,
    due_at BIGINT,
    tries BIGINT NOT NULL CHECK (tries >= 0),
    waiting TEXT,
    -- Counts the changes, and names the last one.
    revision BIGINT NOT NULL CHECK (revision >= 0),
    last_change UUID,
    PRIMARY KEY (environment_id, transaction_id)
);

CREATE INDEX transfers_due ON transfers (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX transfers_waiting ON transfers (environment_id, transaction_id) WHERE waiting IS NOT NULL;

-- By a provider's name for a transfer. Not unique: should a provider ever use a name twice, the first keeps it, and the
-- second is still recorded.
CREATE INDEX transactions_by_object ON transactions (environment_id, provider_reference COLLATE "C")
    WHERE method = 'ach' AND provider_reference IS NOT NULL;
