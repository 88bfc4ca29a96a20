-- Finds the oldest stored refusals of an account, of which only the newest are kept.
DROP INDEX CONCURRENTLY IF EXISTS idempotency_keys_refusals;
CREATE INDEX CONCURRENTLY idempotency_keys_refusals ON idempotency_keys (account_id, created_at) WHERE status >= 400;
