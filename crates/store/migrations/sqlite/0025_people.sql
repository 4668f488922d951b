-- The people who operate the service. A person who is removed keeps their row: what they did stays attributed.
CREATE TABLE users (
    id BLOB NOT NULL CHECK (length(id) = 16) PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    role TEXT NOT NULL,
    -- The ids of the only organizations the role holds in, separated by spaces; NULL for all of them.
    organizations TEXT,
    created_at INTEGER NOT NULL,
    removed_at INTEGER,
    -- The directory's version at the last change of this person or their tokens.
    directory_version INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX users_by_email ON users (email) WHERE removed_at IS NULL;
CREATE INDEX users_by_directory_version ON users (directory_version);

-- Personal tokens, of which only digests are kept.
CREATE TABLE user_tokens (
    user_id BLOB NOT NULL REFERENCES users (id),
    id BLOB NOT NULL CHECK (length(id) = 16),
    name TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    last_four TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    PRIMARY KEY (user_id, id)
) STRICT;
