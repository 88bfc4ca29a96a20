-- Events are published in the order in which they are due: what is published again comes a little at a time, among what is new.
DROP INDEX outbox_unpublished;
-- The relay's claim. There is no "last position": a row that is due earlier may become visible after a later one.
CREATE INDEX outbox_unpublished ON outbox (next_attempt_at, id) WHERE published_at IS NULL;
