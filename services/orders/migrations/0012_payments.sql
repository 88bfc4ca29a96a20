-- What customers pay for orders, and what the shop owes them back. Both tables are new, so that neither an existing row nor an existing
-- index changes, and the previous release runs beside them. Every key names the account, as in the other tables of orders.

-- One row for each order that has to be paid, or for which money was received. It changes only while the order's row is locked.
CREATE TABLE order_payments (
  order_id         uuid NOT NULL,
  account_id       uuid NOT NULL,
  status           text NOT NULL CHECK (status IN ('not_required', 'due', 'paid', 'refund_due', 'refunded', 'cancelled')),
  -- NULL for an order that was placed without the obligation to pay.
  due_at           timestamptz(3) CHECK (status <> 'due' OR due_at IS NOT NULL),
  paid_at          timestamptz(3) CHECK (status <> 'paid' OR paid_at IS NOT NULL),
  -- The sums of the ledger: what the shop owes at present, and what it has paid back.
  refund_due_minor bigint NOT NULL DEFAULT 0 CHECK (refund_due_minor >= 0),
  refund_due_since timestamptz(3) CHECK ((refund_due_since IS NOT NULL) = (refund_due_minor > 0)),
  refunded_minor   bigint NOT NULL DEFAULT 0 CHECK (refunded_minor >= 0),
  PRIMARY KEY (order_id, account_id),
  FOREIGN KEY (order_id, account_id) REFERENCES orders (id, account_id)
);

-- Expiry looks for orders that are due, and operators for refunds that are due.
CREATE INDEX order_payments_due ON order_payments (due_at, order_id) WHERE status = 'due';
CREATE INDEX order_payments_refund_due ON order_payments (refund_due_since, order_id) WHERE refund_due_minor > 0;

-- Every movement of money. Rows are never changed and never deleted.
CREATE TABLE payment_ledger (
  id           uuid NOT NULL,
  order_id     uuid NOT NULL,
  account_id   uuid NOT NULL,
  kind         text NOT NULL CHECK (kind IN ('received', 'refund-due', 'refunded')),
  -- The provider's name of the payment or refund. What the shop begins to owe has none.
  reference    text COLLATE "C" CHECK ((reference IS NULL) = (kind = 'refund-due')),
  amount_minor bigint NOT NULL CHECK (amount_minor > 0),
  -- Of a payment: whether it paid the order, or why it is owed back. Of money that is owed: why.
  cause        text NOT NULL CHECK (cause IN ('order-paid', 'amount-differs', 'paid-before', 'cancelled', 'lines-cancelled', 'refund')),
  -- Of a payment that differs: the amount that was due.
  due_minor    bigint CHECK ((due_minor IS NOT NULL) = (kind = 'received' AND cause = 'amount-differs')),
  actor_id     uuid,
  request_id   text NOT NULL,
  at           timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (id, account_id),
  -- The first two columns find a reference among the orders of all accounts.
  UNIQUE (reference, kind, account_id),
  FOREIGN KEY (order_id, account_id) REFERENCES orders (id, account_id)
);

CREATE INDEX payment_ledger_order ON payment_ledger (order_id, account_id);
