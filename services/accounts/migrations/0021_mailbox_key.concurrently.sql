-- Satisfied by the last release: unique index accounts_mailbox_key
DROP INDEX CONCURRENTLY IF EXISTS accounts_mailbox_key;
CREATE UNIQUE INDEX CONCURRENTLY accounts_mailbox_key ON accounts (mailbox_key);
