-- The people who operate the service. A person who is removed keeps their row: what they did stays attributed.
CREATE TABLE users (
    id UUID NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL,
    -- The ids of the only organizations the role holds in, separated by spaces; NULL for all of them.
    organizations TEXT,
    created_at BIGINT NOT NULL,
    removed_at BIGINT,
    -- The directory's version at the last change of this person or their tokens.
    directory_version BIGINT NOT NULL
);

CREATE UNIQUE INDEX users_by_email ON users (email) WHERE removed_at IS NULL;
CREATE INDEX users_by_directory_version ON users (directory_version);

-- Personal tokens, of which only digests are kept.
CREATE TABLE user_tokens (
    user_id UUID NOT NULL REFERENCES users (id),
    id UUID NOT NULL,
    name TEXT NOT NULL,
    digest BYTEA NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    last_four TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    PRIMARY KEY (user_id, id)
);
