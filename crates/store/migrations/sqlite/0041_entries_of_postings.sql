-- A posting and its entries are one row, with an account in each column: none where the posting does not touch the account.

ALTER TABLE ledger_postings ADD COLUMN funding_minor INTEGER;
ALTER TABLE ledger_postings ADD COLUMN available_minor INTEGER;
ALTER TABLE ledger_postings ADD COLUMN reserved_minor INTEGER;
ALTER TABLE ledger_postings ADD COLUMN settled_out_minor INTEGER;
ALTER TABLE ledger_postings ADD COLUMN platform_fees_minor INTEGER;
ALTER TABLE ledger_postings ADD COLUMN organization_fees_minor INTEGER;

UPDATE ledger_postings
SET (funding_minor, available_minor, reserved_minor, settled_out_minor, platform_fees_minor, organization_fees_minor) = (
    SELECT max(CASE e.account WHEN 'funding' THEN e.amount_minor END),
        max(CASE e.account WHEN 'available' THEN e.amount_minor END),
        max(CASE e.account WHEN 'reserved' THEN e.amount_minor END),
        max(CASE e.account WHEN 'settled_out' THEN e.amount_minor END),
        max(CASE e.account WHEN 'platform_fees' THEN e.amount_minor END),
        max(CASE e.account WHEN 'organization_fees' THEN e.amount_minor END)
    FROM ledger_entries e
    WHERE e.environment_id = ledger_postings.environment_id AND e.currency = ledger_postings.currency
        AND e.posting_id = ledger_postings.id);

DROP TABLE ledger_entries;

CREATE VIEW posting_entries AS
SELECT environment_id, currency, posting_id, account, amount_minor FROM (
    SELECT p.environment_id, p.currency, p.id AS posting_id, a.account,
        CASE a.account
            WHEN 'funding' THEN p.funding_minor
            WHEN 'available' THEN p.available_minor
            WHEN 'reserved' THEN p.reserved_minor
            WHEN 'settled_out' THEN p.settled_out_minor
            WHEN 'platform_fees' THEN p.platform_fees_minor
            ELSE p.organization_fees_minor
        END AS amount_minor
    FROM ledger_postings p CROSS JOIN (
        SELECT 'funding' AS account UNION ALL SELECT 'available' UNION ALL SELECT 'reserved'
        UNION ALL SELECT 'settled_out' UNION ALL SELECT 'platform_fees' UNION ALL SELECT 'organization_fees') a)
WHERE amount_minor IS NOT NULL;
