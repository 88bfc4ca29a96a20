-- The invoices of orders that have shipped, and the credit notes of returns. A body is never changed, until the buyer is removed from it.

-- The last number of each series. Its row is locked from a number to the end of the transaction, so a series has no gap.
CREATE TABLE invoice_numbers (
  kind text NOT NULL CHECK (kind IN ('invoice', 'credit-note')),
  year integer NOT NULL,
  last integer NOT NULL CHECK (last > 0),
  PRIMARY KEY (kind, year)
);

-- Every key names the account, as in the other tables of orders.
-- Satisfied by the last release: foreign key invoices_order_id_account_id_fkey of invoices
-- (it deletes no orders).
CREATE TABLE invoices (
  number     text NOT NULL,
  kind       text NOT NULL CHECK (kind IN ('invoice', 'credit-note')),
  year       integer NOT NULL,
  sequence   integer NOT NULL,
  order_id   uuid NOT NULL,
  account_id uuid NOT NULL,
  return_id  uuid,
  body       json NOT NULL,
  issued_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (year, kind, sequence, account_id),
  CONSTRAINT credit_note_has_return CHECK ((kind = 'credit-note') = (return_id IS NOT NULL)),
  FOREIGN KEY (order_id, account_id) REFERENCES orders (id, account_id)
);

-- One invoice for each order, and one credit note for each return.
CREATE UNIQUE INDEX invoices_order ON invoices (order_id, account_id, return_id) NULLS NOT DISTINCT;
-- Finds the buyers that are to be removed.
CREATE INDEX invoices_issued ON invoices (issued_at);
