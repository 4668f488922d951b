-- The order in which an environment's events are listed: the order in which they were written, which is the order of
-- commits, because there is one writer. The numbers of an environment begin at 1 and have no gaps.

ALTER TABLE out_events ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;

UPDATE out_events SET sequence = numbered.sequence
FROM (SELECT environment_id, id, row_number() OVER (PARTITION BY environment_id ORDER BY id) AS sequence
      FROM out_events) AS numbered
WHERE out_events.environment_id = numbered.environment_id AND out_events.id = numbered.id;

CREATE UNIQUE INDEX out_events_by_sequence ON out_events (environment_id, sequence);
CREATE INDEX out_events_by_kind_sequence ON out_events (environment_id, kind, sequence);
DROP INDEX out_events_by_reference;
CREATE INDEX out_events_by_reference ON out_events (environment_id, method, reference, sequence);
