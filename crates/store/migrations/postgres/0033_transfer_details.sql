-- Whom a transfer pays, what it is for, and what the receiver's statement is to say.
ALTER TABLE transfers ADD COLUMN recipient_kind TEXT NOT NULL DEFAULT 'individual';
ALTER TABLE transfers ADD COLUMN purpose TEXT;
ALTER TABLE transfers ADD COLUMN statement_descriptor TEXT;
-- When somebody asked for its cancellation; none once that is decided.
ALTER TABLE transfers ADD COLUMN cancel_requested_at BIGINT;
-- The network an instant transfer takes.
ALTER TABLE transfers ADD COLUMN rail TEXT;
