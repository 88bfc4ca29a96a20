-- Finds the stored response to the registration of an erased account. A registration has no authenticated caller, so
-- `account_id` is not the account. A response without an account, such as a refusal, has NULL. The condition in
-- src/erase-accounts.ts has the same expression and the same operation.
DROP INDEX CONCURRENTLY IF EXISTS idempotency_keys_registered_account;
CREATE INDEX CONCURRENTLY idempotency_keys_registered_account
  ON idempotency_keys (substring(body FROM '^\{"id":"([0-9a-f-]{36})"'))
  WHERE operation_id = 'registerAccount';
