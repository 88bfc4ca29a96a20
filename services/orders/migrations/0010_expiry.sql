-- Orders that are pending for too long are cancelled by the shop itself, which is no account.
ALTER TABLE order_history
  ALTER COLUMN actor_id DROP NOT NULL,
  DROP CONSTRAINT order_history_actor_check,
  ADD CONSTRAINT order_history_actor_check CHECK (actor IN ('customer', 'staff', 'system')) NOT VALID;

-- Finds the orders of the last hours. Orders are appended by time, so that this index is small, and a change of the status leaves it
-- as it is: an index on pending orders would make each change of a status touch every index of the table.
CREATE INDEX orders_created ON orders USING brin (created_at) WITH (autosummarize = on);
