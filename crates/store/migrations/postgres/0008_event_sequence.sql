-- The order in which an environment's events are listed.
--
-- An event's id is drawn before its transaction commits, so events do not become visible in the order of their ids.
-- Numbers are given to committed events only, one batch at a time: whoever has seen an event has seen, or can still
-- read, everything that is numbered below it, and nothing ever appears there.

-- Never changed. The numbers of an environment begin at 1 and have no gaps.
CREATE TABLE event_sequence (
    environment_id UUID NOT NULL,
    sequence BIGINT NOT NULL CHECK (sequence > 0),
    event_id UUID NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (environment_id, sequence)
);

-- Events that have no number yet. Of two events of one payment, the later one has the higher entry: its change waited for
-- the first to commit.
CREATE TABLE unsequenced_events (
    environment_id UUID NOT NULL,
    entry BIGINT GENERATED ALWAYS AS IDENTITY,
    event_id UUID NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (environment_id, entry)
);

-- A trigger, so that events written by a node of an earlier release, while nodes are replaced one by one, are numbered too.
CREATE OR REPLACE FUNCTION queue_for_event_sequence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO unsequenced_events (environment_id, event_id, kind)
    SELECT environment_id, id, kind FROM written ORDER BY id;
    RETURN NULL;
END
$$;

-- Waits for transactions that are writing events, and holds off others until this migration is committed.
CREATE TRIGGER out_events_are_sequenced AFTER INSERT ON out_events
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION queue_for_event_sequence();

INSERT INTO event_sequence (environment_id, sequence, event_id, kind)
SELECT environment_id, row_number() OVER (PARTITION BY environment_id ORDER BY id), id, kind FROM out_events;

CREATE UNIQUE INDEX event_sequence_by_event ON event_sequence (environment_id, event_id);
CREATE INDEX event_sequence_by_kind ON event_sequence (environment_id, kind, sequence);
