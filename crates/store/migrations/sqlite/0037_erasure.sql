-- When the personal data of a payment was erased; what it cost and what became of it stays.
ALTER TABLE card_payments ADD COLUMN erased_at INTEGER;
ALTER TABLE transfers ADD COLUMN erased_at INTEGER;
