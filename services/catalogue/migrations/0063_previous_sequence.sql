-- The events about orders and returns report effects to their service, and have no order among themselves.
CREATE TRIGGER outbox_follow_subject BEFORE INSERT ON outbox FOR EACH ROW
WHEN (NEW.type LIKE 'product.%' OR NEW.type IN ('stock.changed.v1', 'stock.low.v1'))
EXECUTE FUNCTION outbox_follow_subject();

-- As in 0061_variants.sql, but each event of a change has a version of its own: `product.updated.v1`,
-- `stock.changed.v1` and `stock.low.v1`.
CREATE OR REPLACE FUNCTION products_next_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  same record := NEW;
BEGIN
  same.stock := OLD.stock;
  same.reserved := OLD.reserved;
  same.oversold := OLD.oversold;
  same.allocated := OLD.allocated;
  same.is_lead := OLD.is_lead;
  same.variant_key := OLD.variant_key;
  same.version := OLD.version;
  same.created_at := OLD.created_at;
  same.updated_at := OLD.updated_at;
  -- Compares the stored bytes of each column, whatever its type.
  NEW.version := OLD.version + (same *<> OLD)::int
    + ((NEW.stock > NEW.reserved) <> (OLD.stock > OLD.reserved))::int
    + coalesce(NEW.stock - NEW.reserved <= NEW.low_stock_threshold
      AND (OLD.stock - OLD.reserved <= OLD.low_stock_threshold) IS NOT TRUE, false)::int;
  IF NEW.version <> OLD.version THEN NEW.updated_at := greatest(now(), OLD.updated_at); END IF;
  RETURN NEW;
END
$$;
