-- What people decide before a refund is sent, as of transfers.
ALTER TABLE refunds ADD COLUMN approval_id TEXT COLLATE "C";
ALTER TABLE refunds ADD COLUMN approval_state TEXT;
ALTER TABLE refunds ADD COLUMN approval TEXT;

CREATE INDEX refunds_approvals ON refunds (environment_id, approval_id) WHERE approval_id IS NOT NULL;
CREATE INDEX refunds_to_approve ON refunds (environment_id, approval_id) WHERE approval_state = 'required';

-- Movements of money into and out of wallets that wait for somebody else, and the postings that they became.
CREATE TABLE fund_requests (
    environment_id UUID NOT NULL REFERENCES environments (id),
    id UUID NOT NULL,
    state TEXT NOT NULL,
    approval TEXT NOT NULL,
    currency TEXT NOT NULL,
    cause TEXT NOT NULL,
    amount_minor BIGINT NOT NULL,
    reference TEXT NOT NULL,
    actor TEXT NOT NULL,
    at BIGINT NOT NULL,
    posting_id UUID,
    PRIMARY KEY (environment_id, id),
    UNIQUE (environment_id, currency, cause, reference)
);

CREATE INDEX fund_requests_open ON fund_requests (environment_id, id) WHERE state = 'required';
