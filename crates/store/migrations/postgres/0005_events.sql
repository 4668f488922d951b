-- What callers are told, and what payments are found and added up by.
--
-- An event is written with the change it tells of, together with a delivery to each endpoint that wants it. Nothing here
-- refers to the payment's own rows, which are written in the same transaction and never deleted.

-- Never changed.
CREATE TABLE out_events (
    environment_id UUID NOT NULL,
    id UUID NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    method TEXT COLLATE "C" NOT NULL,
    reference UUID NOT NULL,
    at BIGINT NOT NULL,
    -- The transaction as it was then, as JSON; none where the event is not about one, or is older than this table.
    state TEXT,
    PRIMARY KEY (environment_id, id)
);

CREATE INDEX out_events_by_reference ON out_events (environment_id, method, reference, id);
CREATE INDEX out_events_by_kind ON out_events (environment_id, kind, id);

-- Events whose payments are not yet found or counted by them.
CREATE TABLE undigested_events (
    event_id UUID NOT NULL,
    environment_id UUID NOT NULL,
    PRIMARY KEY (event_id, environment_id)
);

CREATE TABLE event_endpoints (
    environment_id UUID NOT NULL REFERENCES environments (id),
    id UUID NOT NULL,
    -- Counts an operator's changes.
    revision BIGINT NOT NULL CHECK (revision >= 0),
    url TEXT NOT NULL,
    description TEXT,
    -- An asterisk for all kinds, or their names with a space before and behind each.
    filter TEXT COLLATE "C" NOT NULL,
    -- Why it is told nothing; none while it is enabled.
    disabled TEXT,
    -- Sealed, as JSON.
    secrets TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    failures BIGINT NOT NULL CHECK (failures >= 0),
    rests_until BIGINT,
    PRIMARY KEY (environment_id, id)
);

-- An environment has few endpoints: lists of all deliveries are made of the endpoints' own.
CREATE TABLE event_deliveries (
    environment_id UUID NOT NULL,
    endpoint_id UUID NOT NULL,
    event_id UUID NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    since BIGINT NOT NULL,
    due_at BIGINT,
    tries BIGINT NOT NULL CHECK (tries >= 0),
    last_at BIGINT,
    last_status BIGINT,
    last_took BIGINT,
    last_note TEXT,
    PRIMARY KEY (environment_id, endpoint_id, event_id),
    CHECK ((state = 'waiting') = (due_at IS NOT NULL)),
    CHECK ((last_at IS NULL) = (last_took IS NULL) AND (last_at IS NULL) = (last_note IS NULL))
);

CREATE INDEX event_deliveries_due ON event_deliveries (environment_id, endpoint_id, due_at, event_id)
    WHERE due_at IS NOT NULL;
-- Nearly all are delivered: only the others are worth an index.
CREATE INDEX event_deliveries_by_state ON event_deliveries (environment_id, endpoint_id, state, event_id)
    WHERE state <> 'delivered';

-- A payment's place begins with its moment: its id, or that of its transaction.
CREATE TABLE search_terms (
    environment_id UUID NOT NULL,
    term TEXT COLLATE "C" NOT NULL,
    place UUID NOT NULL,
    method TEXT COLLATE "C" NOT NULL,
    reference UUID NOT NULL,
    PRIMARY KEY (environment_id, term, place)
);

-- What happened in an hour. Sums end at the largest number rather than fail.
CREATE TABLE activity (
    environment_id UUID NOT NULL,
    hour BIGINT NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    method TEXT COLLATE "C" NOT NULL,
    provider TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL CHECK (count > 0),
    principal_minor BIGINT NOT NULL CHECK (principal_minor >= 0),
    platform_fee_minor BIGINT NOT NULL CHECK (platform_fee_minor >= 0),
    organization_fee_minor BIGINT NOT NULL CHECK (organization_fee_minor >= 0),
    PRIMARY KEY (environment_id, hour, currency, method, provider, kind)
);

-- What is already there is found and counted like the rest: one event for each transaction, of the moment of its last
-- change, which its id begins with like every other.
INSERT INTO out_events (environment_id, id, kind, method, reference, at)
SELECT environment_id, (lpad(to_hex(updated_at & 281474976710655), 12, '0') || right(replace(id::text, '-', ''), 20))::uuid,
    'transaction.' || status, method, reference, updated_at
FROM transactions ORDER BY environment_id, updated_at;

INSERT INTO undigested_events (event_id, environment_id) SELECT id, environment_id FROM out_events ORDER BY id;
