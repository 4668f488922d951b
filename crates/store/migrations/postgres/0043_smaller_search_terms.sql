-- A term leads to its payment by the payment's place alone: a card payment's ID, or that of a transfer's transaction. Nodes of an
-- earlier version still write the two columns.

ALTER TABLE search_terms ALTER COLUMN method DROP NOT NULL, ALTER COLUMN reference DROP NOT NULL;

-- Only sending again by kind needed it, and that reads the events of its span.
DROP INDEX out_events_by_kind;
