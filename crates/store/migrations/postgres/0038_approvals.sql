-- What people decide before a transfer is sent: count, reasons, maker and votes as JSON, and by what it is found.
ALTER TABLE transfers ADD COLUMN approval_id TEXT COLLATE "C";
ALTER TABLE transfers ADD COLUMN approval_state TEXT;
ALTER TABLE transfers ADD COLUMN approval TEXT;
-- A digest of the bank account, where a rule asks whether a transfer to it was approved before.
ALTER TABLE transfers ADD COLUMN approval_account TEXT COLLATE "C";

CREATE INDEX transfers_approvals ON transfers (environment_id, approval_id) WHERE approval_id IS NOT NULL;
CREATE INDEX transfers_to_approve ON transfers (environment_id, approval_id) WHERE approval_state = 'required';
CREATE INDEX transfers_approved_accounts ON transfers (environment_id, approval_account)
    WHERE approval_state = 'approved';

-- Who else may hold a token: the ids of whoever issued it, apart by spaces.
ALTER TABLE user_tokens ADD COLUMN issuers TEXT;

-- Changes of the configuration that wait for somebody else: what is to be put in force, and who decided. The document is
-- there until then.
CREATE TABLE config_proposals (
    environment_id UUID NOT NULL REFERENCES environments (id),
    id UUID NOT NULL,
    state TEXT NOT NULL,
    approval TEXT NOT NULL,
    change_id UUID NOT NULL,
    from_version BIGINT NOT NULL,
    document TEXT,
    actor TEXT NOT NULL,
    request TEXT NOT NULL,
    at BIGINT NOT NULL,
    version BIGINT,
    PRIMARY KEY (environment_id, id)
);

CREATE INDEX config_proposals_open ON config_proposals (environment_id, id) WHERE state = 'required';
