-- Who did what. Each entry's hash covers the hash before it, so that none can be changed or taken out unnoticed.
CREATE TABLE audit_log (
    -- Counts up from 1 without gaps.
    sequence INTEGER NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    user_id BLOB,
    actor TEXT NOT NULL,
    address TEXT,
    request TEXT NOT NULL,
    action TEXT NOT NULL,
    organization_id BLOB,
    environment_id BLOB,
    subject TEXT NOT NULL,
    before_json TEXT,
    after_json TEXT,
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE INDEX audit_log_by_user ON audit_log (user_id, sequence);
CREATE INDEX audit_log_by_action ON audit_log (action, sequence);
CREATE INDEX audit_log_by_environment ON audit_log (environment_id, sequence);
CREATE INDEX audit_log_by_subject ON audit_log (subject, sequence);
-- What was done to the keys of an environment, key by key.
CREATE INDEX audit_log_by_place ON audit_log (environment_id, subject, sequence);

-- How many entries there are and the hash of the last: what tells when the last entries are taken out.
CREATE TABLE audit_head (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    entries INTEGER NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

INSERT INTO audit_head (id, entries, hash) VALUES (1, 0, zeroblob(32));

-- Entries are only ever added.
CREATE TRIGGER audit_log_keeps_entries BEFORE DELETE ON audit_log BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER audit_log_changes_no_entry BEFORE UPDATE ON audit_log BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

-- Who changed which key is in the audit log; no release has had this table.
DROP TABLE admin_changes;
