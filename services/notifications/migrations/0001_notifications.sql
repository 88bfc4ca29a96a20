-- Who gets e-mails, learnt from the accounts' events.
CREATE TABLE recipients (
  account_id uuid PRIMARY KEY,
  email text NOT NULL,
  name text NOT NULL,
  sequence bigint NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

-- One row for each e-mail; that an order has at most one of each kind is the guard against telling people twice.
CREATE TABLE notifications (
  id uuid PRIMARY KEY,
  order_id uuid NOT NULL,
  account_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('order-received', 'order-shipped', 'order-cancelled')),
  details json NOT NULL,
  request_id text NOT NULL,
  traceparent text,
  status text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'sent', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz(3) NOT NULL DEFAULT now(),
  problem text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  settled_at timestamptz(3),
  UNIQUE (order_id, kind),
  CHECK ((status = 'waiting') = (settled_at IS NULL))
);

CREATE INDEX notifications_due ON notifications (next_attempt_at) WHERE status = 'waiting';
