-- A role for the server that cannot rewrite the books: it reads everything, adds to everything, and changes or deletes
-- rows of every table but those of the ledger and of the record of who changed what. Of a posting it can change the
-- reference alone: no amount, account, date or cause.
--
-- Run it as the owner of the tables, in the database, after `tollgate migrate` and again after every upgrade:
--
--   CREATE ROLE tollgate_server LOGIN PASSWORD '…';      -- once, as a superuser
--   psql "$OWNER_URL" -f restricted-role.sql

GRANT USAGE ON SCHEMA public TO tollgate_server;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO tollgate_server;

-- Which migrations were applied is the owner's to write.
REVOKE INSERT, UPDATE, DELETE ON schema_migrations, schema_changes FROM tollgate_server;

-- Append-only.
REVOKE UPDATE, DELETE ON ledger_postings, ledger_entries, card_postings, audit_log FROM tollgate_server;
-- The reservation of a transfer that was never sent is marked as such, so that its reference can be used again.
GRANT UPDATE (reference) ON ledger_postings TO tollgate_server;

-- Destroyed keys of bank details leave the table's file, too.
GRANT TRUNCATE ON sealing_keys TO tollgate_server;
