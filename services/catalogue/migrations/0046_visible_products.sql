-- The products that customers see, in the orders in which very many hidden ones can stand together: an import of
-- pending products makes them the newest ones, or all of a brand or a category. Without these indexes, a list for
-- customers reads all of them.
--
-- What each index serves, for customers; the indexes of migrations/0001 and 0034 serve the same for staff:
--
--   products_visible_created            default sort
--   products_visible_updated            sort by change
--   products_visible_brand_created      brands by age; the list of brands
--   products_visible_category_created   categories by age; the list of categories
CREATE INDEX products_visible_created ON products (created_at, id) WHERE status <> 'pending';
CREATE INDEX products_visible_updated ON products (updated_at, id) WHERE status <> 'pending';
CREATE INDEX products_visible_brand_created ON products (brand, created_at, id) WHERE status <> 'pending';
CREATE INDEX products_visible_category_created ON products (category, created_at, id) WHERE status <> 'pending';
