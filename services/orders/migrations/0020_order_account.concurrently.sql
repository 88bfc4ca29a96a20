-- Finds the stored responses that contain an order of an erased account. Staff received them, so `account_id` is not
-- the account of the order. `accountId` is the first member of that name. A response without it, such as a refusal or a
-- 204, has NULL. The condition in src/erase-orders.ts has the same expression and the same operations.
DROP INDEX CONCURRENTLY IF EXISTS idempotency_keys_order_account;
CREATE INDEX CONCURRENTLY idempotency_keys_order_account
  ON idempotency_keys (substring(body FROM '"accountId":"([0-9a-f-]{36})"'))
  WHERE operation_id IN ('processOrder', 'shipOrder', 'deliverOrder', 'cancelOrder');
