-- The caller's idempotency key of a preparation, as a digest. One that was withdrawn was answered "try again", so that its key is
-- free again.

ALTER TABLE card_payments ADD COLUMN key_digest BYTEA CHECK (octet_length(key_digest) = 32);
CREATE UNIQUE INDEX card_payments_by_key ON card_payments (environment_id, key_digest)
WHERE key_digest IS NOT NULL AND preparation <> 'withdrawn';
