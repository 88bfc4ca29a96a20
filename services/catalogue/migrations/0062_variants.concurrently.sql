-- What each index serves:
--
--   products_variant_group   the products of a group
--   products_variant_key     one product of each group and options
--   products_lead_created    default sort of one product of each group
--
-- Satisfied by the last release: unique index products_variant_key
DROP INDEX CONCURRENTLY IF EXISTS products_variant_group;
CREATE INDEX CONCURRENTLY products_variant_group ON products (variant_group, created_at, id) WHERE variant_group IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS products_lead_created;
CREATE INDEX CONCURRENTLY products_lead_created ON products (created_at, id) WHERE is_lead AND status <> 'pending';
DROP INDEX CONCURRENTLY IF EXISTS products_variant_key;
CREATE UNIQUE INDEX CONCURRENTLY products_variant_key ON products (variant_key) WHERE variant_key IS NOT NULL;
