-- What was decided about the card fee of a payment, and what the payer agreed to, as JSON; what was charged by it, likewise.
ALTER TABLE card_payments ADD COLUMN card_fee TEXT;
ALTER TABLE transactions ADD COLUMN charged TEXT;
CREATE INDEX transactions_charged ON transactions (environment_id, id) WHERE charged IS NOT NULL;
