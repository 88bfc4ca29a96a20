-- Images and attributes of products as JSON text, NULL when a product has none. The number that clients see as `sku` is
-- `external_key` (migrations/0020_external_key.sql), which is now also written over the API.
ALTER TABLE products
  ADD COLUMN images text,
  ADD COLUMN attributes text;

CREATE OR REPLACE TRIGGER products_version BEFORE UPDATE ON products FOR EACH ROW
WHEN (
  (NEW.name, NEW.description, NEW.brand, NEW.category, NEW.price_minor, NEW.rating_tenths, NEW.status, NEW.stock > NEW.reserved,
    NEW.low_stock_threshold, NEW.external_key, NEW.images, NEW.attributes)
  IS DISTINCT FROM
  (OLD.name, OLD.description, OLD.brand, OLD.category, OLD.price_minor, OLD.rating_tenths, OLD.status, OLD.stock > OLD.reserved,
    OLD.low_stock_threshold, OLD.external_key, OLD.images, OLD.attributes)
  OR (NEW.stock - NEW.reserved <= NEW.low_stock_threshold
    AND (OLD.stock - OLD.reserved <= OLD.low_stock_threshold) IS NOT TRUE)
)
EXECUTE FUNCTION products_version();
