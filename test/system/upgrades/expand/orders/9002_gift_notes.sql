-- A table of its own, with an index that nothing waits for.
CREATE TABLE gift_notes (
  order_id   uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  note       text NOT NULL
);
CREATE INDEX gift_notes_account ON gift_notes (account_id);
