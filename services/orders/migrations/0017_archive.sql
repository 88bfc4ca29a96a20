-- Orders with which the shop has finished long ago, each in one row with all that belongs to it. The functions below
-- define what the document contains. Its members have short names, because every row repeats them, and members that are
-- NULL are omitted.
CREATE TABLE archived_orders (
  LIKE orders INCLUDING CONSTRAINTS,
  -- Kind and reference of each payment and refund; NULL when there was none.
  payment_references text[] COLLATE "C",
  document           json NOT NULL,
  PRIMARY KEY (id, account_id),
  CONSTRAINT finished CHECK (status IN ('delivered', 'cancelled'))
);

-- The indexes of `orders`, so that every list reads both tables in its order. One account has few orders: its own are
-- sorted by amount.
CREATE INDEX archived_orders_account_created ON archived_orders (account_id, created_at, id);
CREATE INDEX archived_orders_created_id ON archived_orders (created_at, id);
CREATE INDEX archived_orders_updated ON archived_orders (updated_at, id);
CREATE INDEX archived_orders_total ON archived_orders (total_minor, id);
CREATE INDEX archived_orders_status_created ON archived_orders (status, created_at, id);
CREATE INDEX archived_orders_status_updated ON archived_orders (status, updated_at, id);
CREATE INDEX archived_orders_references ON archived_orders USING gin (payment_references)
  WHERE payment_references IS NOT NULL;

-- Otherwise a plan for any state expects half of the archived orders to be in it, and reads the whole archive for
-- pending orders.
ALTER TABLE archived_orders ALTER COLUMN status SET (n_distinct = 100);

-- Every order. `archived` is the document of an archived order, and NULL for the others.
CREATE VIEW all_orders AS
SELECT id, account_id, reservation_id, status, version, currency, total_minor, shipping_address, cancellation_reason, cancelled_at,
  stock_released, stock_released_at, customer_notified, customer_notified_at, created_at, updated_at, tracking, NULL::json AS archived
FROM orders
UNION ALL
SELECT id, account_id, reservation_id, status, version, currency, total_minor, shipping_address, cancellation_reason, cancelled_at,
  stock_released, stock_released_at, customer_notified, customer_notified_at, created_at, updated_at, tracking, document
FROM archived_orders;

-- Each function returns the rows that an archived order had in one table, without the order and the account. Times are
-- milliseconds.
CREATE FUNCTION archived_lines(document json)
RETURNS TABLE ("position" smallint, product_id uuid, name text, quantity integer, unit_price_minor bigint, line_total_minor bigint,
  cancelled_quantity integer)
LANGUAGE sql STABLE AS $$
  SELECT p, i, n, q, u, u * q, coalesce(c, 0)
  FROM json_to_recordset(document -> 'lines') AS line (p smallint, i uuid, n text, q integer, u bigint, c integer)
$$;

CREATE FUNCTION archived_history(document json)
RETURNS TABLE (version bigint, status text, actor text, actor_id uuid, request_id text, at timestamptz, cancelled_lines json, reason text,
  stock_released text, stock_released_at timestamptz, customer_notified text, customer_notified_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT v, s, a, i, r, to_timestamp(t / 1000.0), l, w, sr, to_timestamp(sa / 1000.0), cn, to_timestamp(ca / 1000.0)
  FROM json_to_recordset(document -> 'history') AS entry
    (v bigint, s text, a text, i uuid, r text, t bigint, l json, w text, sr text, sa bigint, cn text, ca bigint)
$$;

CREATE FUNCTION archived_payment(document json)
RETURNS TABLE (status text, due_at timestamptz, paid_at timestamptz, refund_due_minor bigint, refund_due_since timestamptz,
  refunded_minor bigint)
LANGUAGE sql STABLE AS $$
  SELECT s, to_timestamp(d / 1000.0), to_timestamp(p / 1000.0), 0::bigint, NULL::timestamptz, r
  FROM json_to_recordset(document -> 'payment') AS payment (s text, d bigint, p bigint, r bigint)
$$;

CREATE FUNCTION archived_movements(document json)
RETURNS TABLE (id uuid, kind text, reference text, amount_minor bigint, cause text, due_minor bigint, actor_id uuid, request_id text,
  at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT e, k, f, m, c, d, i, r, to_timestamp(t / 1000.0)
  FROM json_to_recordset(document -> 'movements') AS movement
    (e uuid, k text, f text, m bigint, c text, d bigint, i uuid, r text, t bigint)
$$;
