-- A posting and its entries are one row, with an account in each column: none where the posting does not touch the account.
-- The entries of postings from before these columns, and of those that nodes of an earlier version still write, stay in
-- ledger_entries.

ALTER TABLE ledger_postings ADD COLUMN funding_minor BIGINT;
ALTER TABLE ledger_postings ADD COLUMN available_minor BIGINT;
ALTER TABLE ledger_postings ADD COLUMN reserved_minor BIGINT;
ALTER TABLE ledger_postings ADD COLUMN settled_out_minor BIGINT;
ALTER TABLE ledger_postings ADD COLUMN platform_fees_minor BIGINT;
ALTER TABLE ledger_postings ADD COLUMN organization_fees_minor BIGINT;

CREATE VIEW posting_entries AS
SELECT p.environment_id, p.currency, p.id AS posting_id, a.account COLLATE "C" AS account, a.amount_minor
FROM ledger_postings p CROSS JOIN LATERAL (
    VALUES ('funding', p.funding_minor), ('available', p.available_minor), ('reserved', p.reserved_minor),
        ('settled_out', p.settled_out_minor), ('platform_fees', p.platform_fees_minor),
        ('organization_fees', p.organization_fees_minor)) a (account, amount_minor)
WHERE a.amount_minor IS NOT NULL
UNION ALL
-- An entry whose posting is gone is none, so that an account's balance no longer is their sum, which an audit finds.
SELECT e.environment_id, e.currency, e.posting_id, e.account, e.amount_minor
FROM ledger_entries e JOIN ledger_postings p
    ON p.environment_id = e.environment_id AND p.currency = e.currency AND p.id = e.posting_id;
