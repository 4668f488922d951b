-- A payment's timeline, in its own row: the lines of each change, compressed, one change behind the other. The table `timeline`
-- keeps the lines from before these columns, and those without a payment.

ALTER TABLE transfers ADD COLUMN timeline BLOB;
ALTER TABLE card_payments ADD COLUMN timeline BLOB;
