DROP INDEX CONCURRENTLY IF EXISTS products_weight;
CREATE INDEX CONCURRENTLY products_weight ON products (weight_grams, id);
