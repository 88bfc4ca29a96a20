-- The history of products: each change by a client, an import or a command, in the transaction of the change. Movements of stock by orders
-- are in stock_ledger. A process of the version before writes no entries.
CREATE TABLE product_changes (
  id              uuid PRIMARY KEY,
  product_id      uuid NOT NULL,
  -- Written while the product is locked, so the times of one product are in the order of its changes.
  created_at      timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  actor           text COLLATE "C" NOT NULL,
  -- An account or a machine; NULL for commands.
  actor_id        uuid,
  request_id      text,
  reason          text,
  -- JSON array of the changed members, each with its value before and after.
  changes         json NOT NULL,
  -- The price before the change, when it is another one.
  old_price_minor bigint
);

-- The history of one product.
CREATE INDEX product_changes_product ON product_changes (product_id, created_at, id);

-- Finds the price that a product had a week ago; src/usual-price.ts.
CREATE INDEX product_changes_price ON product_changes (product_id, created_at) WHERE old_price_minor IS NOT NULL;
