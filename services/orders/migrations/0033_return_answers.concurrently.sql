-- Finds the stored responses that contain a return of an erased account, as the index of migration 0020 does for orders. The condition in
-- src/order/erase-orders.ts has the same expression and the same operations.
DROP INDEX CONCURRENTLY IF EXISTS idempotency_keys_return_account;
CREATE INDEX CONCURRENTLY idempotency_keys_return_account
  ON idempotency_keys (substring(body FROM '"accountId":"([0-9a-f-]{36})"'))
  WHERE operation_id IN ('createReturn', 'approveReturn', 'refuseReturn', 'receiveReturn', 'withdrawReturn');
