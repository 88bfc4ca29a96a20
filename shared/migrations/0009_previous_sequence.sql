-- The sequence of the event before this one of the same subject. The trigger below sets it, so that it is also right
-- for events that a process of the version before adds. NULL in the first event of a subject after this migration.
ALTER TABLE outbox ADD COLUMN previous_sequence bigint;

-- The sequence of the last event of each subject. The outbox itself keeps published events for a few days only.
CREATE TABLE event_subjects (
  subject           text PRIMARY KEY,
  sequence          bigint NOT NULL,
  previous_sequence bigint
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- Each service adds the trigger with the events that clients may follow. The transaction of an event holds the row of
-- its subject until COMMIT, as it holds the row of what changed. An event of a version that has one already, such as a
-- repeated state of an account, follows itself.
CREATE FUNCTION outbox_follow_subject() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO event_subjects AS present (subject, sequence) VALUES (NEW.subject, NEW.sequence)
  ON CONFLICT (subject) DO UPDATE
  SET previous_sequence = present.sequence, sequence = greatest(present.sequence, excluded.sequence)
  RETURNING previous_sequence INTO NEW.previous_sequence;
  IF NEW.previous_sequence > NEW.sequence THEN NEW.previous_sequence := NEW.sequence; END IF;
  RETURN NEW;
END
$$;
