-- What every service sends (outbox) and takes (inbox) by events; each schema has its own pair.

CREATE TABLE outbox (
  id uuid PRIMARY KEY,
  type text NOT NULL,
  subject text NOT NULL,
  sequence bigint NOT NULL CHECK (sequence > 0),
  request_id text NOT NULL,
  traceparent text,
  data json NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  published_at timestamptz(3),
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz(3) NOT NULL DEFAULT now(),
  problem text
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- The relay's claim. There is no "last position": a row with an earlier id may become visible after a later one.
CREATE INDEX outbox_unpublished ON outbox (id) WHERE published_at IS NULL;
-- Pruning, and publishing again to a queue that was lost.
CREATE INDEX outbox_published ON outbox (published_at) WHERE published_at IS NOT NULL;
-- The timeline of one order or account.
CREATE INDEX outbox_subject ON outbox (subject);

-- NOTIFY is part of the transaction: the relay wakes when, and only when, the row is there to be seen.
CREATE FUNCTION outbox_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('outbox:' || TG_TABLE_SCHEMA, '');
  RETURN NULL;
END
$$;

CREATE TRIGGER outbox_notify AFTER INSERT ON outbox FOR EACH STATEMENT EXECUTE FUNCTION outbox_notify();

CREATE TABLE inbox (
  consumer text NOT NULL,
  event_id uuid NOT NULL,
  type text NOT NULL,
  subject text NOT NULL,
  request_id text NOT NULL,
  attempt integer NOT NULL,
  taken_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, event_id)
);

CREATE INDEX inbox_taken_at ON inbox (taken_at);
CREATE INDEX inbox_subject ON inbox (subject);
