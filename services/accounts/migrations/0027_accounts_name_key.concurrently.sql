DROP INDEX CONCURRENTLY IF EXISTS accounts_name_key;
CREATE INDEX CONCURRENTLY accounts_name_key ON accounts ((name_key(name) COLLATE "C"));
