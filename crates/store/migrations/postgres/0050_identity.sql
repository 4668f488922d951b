-- Operators as people: the issuer and its `sub`, apart by a space, of whoever first signed in as this user.
ALTER TABLE users ADD COLUMN subject TEXT COLLATE "C";
ALTER TABLE users ADD COLUMN last_used_at BIGINT;
ALTER TABLE user_tokens ADD COLUMN last_used_at BIGINT;
-- A person who was removed and added again has the same address or the same subject.
CREATE INDEX users_of_address ON users (email);
CREATE INDEX users_of_subject ON users (subject) WHERE subject IS NOT NULL;

-- The personal token that something was done with.
ALTER TABLE audit_log ADD COLUMN token_id UUID;
-- What only the service can write, so that the head cannot be moved back; NULL until the log is chained under a key. The
-- column's new name keeps nodes of an earlier version from adding entries that are not.
ALTER TABLE audit_head RENAME COLUMN hash TO head_hash;
ALTER TABLE audit_head ADD COLUMN proof BYTEA;
