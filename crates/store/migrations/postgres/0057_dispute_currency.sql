-- The currency of a dispute's amount, where it is not the payment's.
ALTER TABLE disputes ADD COLUMN currency TEXT;
ALTER TABLE transactions ADD COLUMN dispute_currency TEXT;
