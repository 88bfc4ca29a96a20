-- When the available units fall to this number or below, an event is written. Staff sets it; NULL means never.
ALTER TABLE products ADD COLUMN low_stock_threshold integer
  CONSTRAINT low_stock_threshold_in_range CHECK (low_stock_threshold BETWEEN 0 AND 1000000000);

-- The version is also the sequence of the events about a product, so the change by which its stock becomes low has its own version.
-- src/stock-events.ts has the same condition.
CREATE OR REPLACE TRIGGER products_version BEFORE UPDATE ON products FOR EACH ROW
WHEN (
  (NEW.name, NEW.description, NEW.brand, NEW.category, NEW.price_minor, NEW.rating_tenths, NEW.status, NEW.stock > NEW.reserved,
    NEW.low_stock_threshold)
  IS DISTINCT FROM
  (OLD.name, OLD.description, OLD.brand, OLD.category, OLD.price_minor, OLD.rating_tenths, OLD.status, OLD.stock > OLD.reserved,
    OLD.low_stock_threshold)
  OR (NEW.stock - NEW.reserved <= NEW.low_stock_threshold
    AND (OLD.stock - OLD.reserved <= OLD.low_stock_threshold) IS NOT TRUE)
)
EXECUTE FUNCTION products_version();
