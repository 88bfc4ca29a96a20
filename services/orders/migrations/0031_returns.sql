-- Units that customers send back. Every key names the account, as in the other tables of orders. A return changes only while the row of
-- its order is locked, except for the effect on the stock and for erasure.
-- Satisfied by the last release: foreign key returns_order_id_account_id_fkey of returns
-- (it no longer archives orders, so it deletes none).
CREATE TABLE returns (
  id                uuid NOT NULL,
  order_id          uuid NOT NULL,
  account_id        uuid NOT NULL,
  status            text NOT NULL CHECK (status IN ('requested', 'approved', 'received', 'refused', 'withdrawn')),
  version           bigint NOT NULL DEFAULT 1,
  -- Product, name, quantity and reason of each line; and the received units, and whether they are sold again, once they arrived.
  lines             json NOT NULL,
  comment           text CHECK (char_length(comment) BETWEEN 1 AND 500),
  refusal_reason    text CHECK (char_length(refusal_reason) BETWEEN 1 AND 500),
  -- What became due as a refund; NULL when nothing was paid for the units.
  refund_minor      bigint CHECK (refund_minor > 0),
  -- NULL when no unit is sold again.
  stock_returned    text CHECK (stock_returned IN ('pending', 'done', 'failed')),
  stock_returned_at timestamptz(3),
  created_at        timestamptz(3) NOT NULL DEFAULT now(),
  updated_at        timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (id, account_id),
  FOREIGN KEY (order_id, account_id) REFERENCES orders (id, account_id)
);

CREATE INDEX returns_account_created ON returns (account_id, created_at, id);
CREATE INDEX returns_created ON returns (created_at, id);
CREATE INDEX returns_status_created ON returns (status, created_at, id);
CREATE INDEX returns_order_created ON returns (order_id, created_at, id);

-- Units of the line that came back. Quantities and amounts of the order stay.
-- Satisfied by the last release: check returned_within_line of order_lines
-- (it cancels no units of an order that has shipped).
ALTER TABLE order_lines
  ADD COLUMN returned_quantity integer NOT NULL DEFAULT 0,
  ADD CONSTRAINT returned_within_line CHECK (returned_quantity BETWEEN 0 AND quantity - cancelled_quantity) NOT VALID;

-- The ledger has a further cause.
-- Satisfied by the last release: check payment_ledger_cause_check of payment_ledger
ALTER TABLE payment_ledger
  DROP CONSTRAINT payment_ledger_cause_check,
  ADD CONSTRAINT payment_ledger_cause_check CHECK (cause IN ('order-paid', 'amount-differs', 'paid-before', 'cancelled', 'lines-cancelled',
    'returned', 'refund')) NOT VALID;
