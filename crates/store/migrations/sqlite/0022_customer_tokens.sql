-- Customer tokens that were issued under an idempotency key, so that the key is answered with the same token. The customer is
-- readable in none of it: the token is encrypted, and of the request there are only digests.

CREATE TABLE customer_tokens (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    key_digest BLOB NOT NULL CHECK (length(key_digest) = 32),
    fingerprints TEXT NOT NULL,
    token TEXT NOT NULL,
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (environment_id, key_digest)
) STRICT, WITHOUT ROWID;
