-- The provider's account that a credential belongs to, so that a replaced credential is known for the same account's.

CREATE TABLE credential_accounts (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    credential TEXT NOT NULL,
    account TEXT NOT NULL,
    PRIMARY KEY (environment_id, credential)
) STRICT, WITHOUT ROWID;
