-- Orders, their lines and history, and the fence between an order and the stock that was reserved for it.
-- Every key names the account, so that the tables can be split by it.

CREATE TABLE orders (
  id                   uuid NOT NULL,
  account_id           uuid NOT NULL,
  reservation_id       uuid NOT NULL,
  status               text NOT NULL CHECK (status IN ('pending', 'processing', 'shipped', 'delivered', 'cancelled')),
  version              bigint NOT NULL DEFAULT 1 CHECK (version > 0),
  currency             text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  total_minor          bigint NOT NULL CHECK (total_minor BETWEEN 0 AND 999999999999999),
  shipping_address     json,
  cancellation_reason  text CHECK (char_length(cancellation_reason) BETWEEN 1 AND 500),
  cancelled_at         timestamptz(3),
  stock_released       text CHECK (stock_released IN ('pending', 'done', 'failed')),
  stock_released_at    timestamptz(3),
  customer_notified    text CHECK (customer_notified IN ('pending', 'done', 'failed')),
  customer_notified_at timestamptz(3),
  created_at           timestamptz(3) NOT NULL DEFAULT now(),
  updated_at           timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (id, account_id),
  CONSTRAINT cancelled_has_effects CHECK (
    (status = 'cancelled') = (cancelled_at IS NOT NULL)
    AND (status = 'cancelled') = (stock_released IS NOT NULL)
    AND (status = 'cancelled') = (customer_notified IS NOT NULL)
  )
)
-- A status is changed a few times soon after the order was placed: room for that on the same page.
WITH (fillfactor = 85);

CREATE INDEX orders_account_created ON orders (account_id, created_at, id);
CREATE INDEX orders_account_total ON orders (account_id, total_minor, id);

-- Frozen at ordering: a later price or name of the product is none of the order's business.
CREATE TABLE order_lines (
  order_id         uuid NOT NULL,
  account_id       uuid NOT NULL,
  position         smallint NOT NULL,
  product_id       uuid NOT NULL,
  name             text NOT NULL,
  quantity         integer NOT NULL CHECK (quantity > 0),
  unit_price_minor bigint NOT NULL CHECK (unit_price_minor >= 0),
  line_total_minor bigint NOT NULL CHECK (line_total_minor = unit_price_minor * quantity),
  PRIMARY KEY (order_id, account_id, position),
  FOREIGN KEY (order_id, account_id) REFERENCES orders (id, account_id)
);

CREATE TABLE order_history (
  order_id   uuid NOT NULL,
  account_id uuid NOT NULL,
  version    bigint NOT NULL,
  status     text NOT NULL,
  actor      text NOT NULL CHECK (actor IN ('customer', 'staff')),
  actor_id   uuid NOT NULL,
  request_id text NOT NULL,
  at         timestamptz(3) NOT NULL,
  PRIMARY KEY (order_id, account_id, version),
  FOREIGN KEY (order_id, account_id) REFERENCES orders (id, account_id)
);

-- One row decides the fate of a reservation, and whoever inserts first decides: an order takes it, or, without an order, it is
-- settled as never to be taken. Rows are never changed and never deleted, so an answer that was given stays true.
CREATE TABLE reservations (
  id         uuid NOT NULL,
  account_id uuid NOT NULL,
  order_id   uuid,
  decided_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (id, account_id)
);
