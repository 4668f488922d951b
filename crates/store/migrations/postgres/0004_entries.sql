-- A posting and its entries are written by one statement, and never deleted. The check that each entry has its posting
-- looked every one of them up again and locked it, which cost more than a third of a posting; the audit still asks.

ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_environment_id_currency_posting_id_fkey;
