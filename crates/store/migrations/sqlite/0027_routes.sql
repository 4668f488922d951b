-- Where a payment is on its route: the targets that were tried before its provider, and those that are left, as JSON. NULL where
-- there was only one target.
ALTER TABLE card_payments ADD COLUMN route TEXT;
ALTER TABLE transfers ADD COLUMN route TEXT;
