-- Who did what. Each entry's hash covers the hash before it, so that none can be changed or taken out unnoticed.
CREATE TABLE audit_log (
    -- Counts up from 1 without gaps.
    sequence BIGINT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    actor_kind TEXT NOT NULL,
    user_id UUID,
    actor TEXT NOT NULL,
    address TEXT,
    request TEXT NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    organization_id UUID,
    environment_id UUID,
    subject TEXT COLLATE "C" NOT NULL,
    before_json TEXT,
    after_json TEXT,
    hash BYTEA NOT NULL CHECK (octet_length(hash) = 32)
);

CREATE INDEX audit_log_by_user ON audit_log (user_id, sequence);
CREATE INDEX audit_log_by_action ON audit_log (action, sequence);
CREATE INDEX audit_log_by_environment ON audit_log (environment_id, sequence);
CREATE INDEX audit_log_by_subject ON audit_log (subject, sequence);
-- What was done to the keys of an environment, key by key.
CREATE INDEX audit_log_by_place ON audit_log (environment_id, subject, sequence);

-- How many entries there are and the hash of the last: what tells when the last entries are taken out.
CREATE TABLE audit_head (
    id SMALLINT NOT NULL PRIMARY KEY CHECK (id = 1),
    entries BIGINT NOT NULL,
    hash BYTEA NOT NULL CHECK (octet_length(hash) = 32)
);

INSERT INTO audit_head (id, entries, hash) VALUES (1, 0, decode(repeat('00', 32), 'hex'));

-- Entries are only ever added.
CREATE OR REPLACE FUNCTION keep_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END $$;

CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_log();

-- Who changed which key is in the audit log; no release has had this table.
DROP TABLE admin_changes;
