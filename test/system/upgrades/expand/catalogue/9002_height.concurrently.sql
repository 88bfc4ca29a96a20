DROP INDEX CONCURRENTLY IF EXISTS products_height;
CREATE INDEX CONCURRENTLY products_height ON products (height_millimetres, id);
