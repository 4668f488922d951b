-- Lists of the few transactions with something particular about them.
CREATE INDEX transactions_partly_refunded ON transactions (environment_id, id)
    WHERE status = 'succeeded' AND refunded_minor > 0;
CREATE INDEX transactions_disputed ON transactions (environment_id, id) WHERE dispute_id IS NOT NULL;
