-- Stock that orders have been promised, and figures in the book by which it can be checked line by line.

CREATE TABLE reservations (
  id         uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  -- held: until an order is known, or known to be absent. confirmed: an order has it. The other two are ends.
  state      text NOT NULL DEFAULT 'held' CHECK (state IN ('held', 'confirmed', 'released', 'shipped')),
  order_id   uuid,
  -- When the orders service is asked next. A clock decides when to ask, never what becomes of the stock.
  settle_at  timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  changed_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT taken_by_an_order CHECK (state NOT IN ('confirmed', 'shipped') OR order_id IS NOT NULL)
)
WITH (fillfactor = 85);

CREATE INDEX reservations_held ON reservations (settle_at) WHERE state = 'held';
CREATE INDEX reservations_order ON reservations (order_id) WHERE order_id IS NOT NULL;

-- Names and prices are kept so that a repeated request gets the answer that the first one got.
CREATE TABLE reservation_lines (
  reservation_id   uuid NOT NULL REFERENCES reservations,
  product_id       uuid NOT NULL REFERENCES products,
  quantity         integer NOT NULL CHECK (quantity > 0),
  name             text NOT NULL,
  unit_price_minor bigint NOT NULL,
  PRIMARY KEY (reservation_id, product_id)
);

-- What is promised beyond the stock gets the next units that come in: nothing is free while anything is owed.
ALTER TABLE products
  ADD CONSTRAINT owed_before_free CHECK (oversold = 0 OR reserved = stock),
  ADD CONSTRAINT promised_within_reason CHECK (reserved::bigint + oversold <= 1000000000);

-- The product's figures after the movement: on hand, and promised in all. A line that is missing or was changed shows in the next.
ALTER TABLE stock_ledger
  ADD COLUMN stock_after integer NOT NULL CHECK (stock_after >= 0),
  ADD COLUMN promised_after integer NOT NULL CHECK (promised_after >= 0),
  ADD CONSTRAINT movement_has_direction CHECK (kind = 'received' OR (quantity > 0 AND reservation_id IS NOT NULL));

-- The last guard of "exactly once": a reservation moves a product's stock once in each way.
CREATE UNIQUE INDEX stock_ledger_once ON stock_ledger (reservation_id, product_id, kind) WHERE reservation_id IS NOT NULL;
CREATE UNIQUE INDEX stock_ledger_one_end ON stock_ledger (reservation_id, product_id) WHERE kind IN ('released', 'shipped');
