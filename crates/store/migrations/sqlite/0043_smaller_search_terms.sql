-- A term leads to its payment by the payment's place alone: a card payment's ID, or that of a transfer's transaction.

CREATE TABLE search_terms_by_place (
    environment_id BLOB NOT NULL,
    term TEXT NOT NULL,
    place BLOB NOT NULL CHECK (length(place) = 16),
    PRIMARY KEY (environment_id, term, place)
) STRICT, WITHOUT ROWID;

INSERT INTO search_terms_by_place (environment_id, term, place) SELECT environment_id, term, place FROM search_terms;
DROP TABLE search_terms;
ALTER TABLE search_terms_by_place RENAME TO search_terms;

-- Only sending again by kind needed it, and that reads the events of its span.
DROP INDEX out_events_by_kind;
