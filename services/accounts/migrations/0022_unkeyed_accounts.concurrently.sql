-- The accounts whose key the service has to compute.
DROP INDEX CONCURRENTLY IF EXISTS accounts_unkeyed;
CREATE INDEX CONCURRENTLY accounts_unkeyed ON accounts (id) WHERE mailbox_key IS NULL;
