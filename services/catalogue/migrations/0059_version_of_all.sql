-- A change of any column gives a product a new version, except of the columns below. So a new column needs no change of
-- this trigger. The version is the entity tag and the sequence of the events, so it counts what clients see: figures of
-- stock only as "in stock or not", and as "low", which has an event (src/stock/stock-events.ts has the same condition).
CREATE FUNCTION products_next_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  same record := NEW;
BEGIN
  same.stock := OLD.stock;
  same.reserved := OLD.reserved;
  same.oversold := OLD.oversold;
  same.allocated := OLD.allocated;
  same.version := OLD.version;
  same.created_at := OLD.created_at;
  same.updated_at := OLD.updated_at;
  -- Compares the stored bytes of each column, whatever its type.
  IF same *<> OLD OR (NEW.stock > NEW.reserved) <> (OLD.stock > OLD.reserved)
    OR (NEW.stock - NEW.reserved <= NEW.low_stock_threshold
      AND (OLD.stock - OLD.reserved <= OLD.low_stock_threshold) IS NOT TRUE)
  THEN
    NEW.version := OLD.version + 1;
    NEW.updated_at := greatest(now(), OLD.updated_at);
  END IF;
  RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER products_version BEFORE UPDATE ON products FOR EACH ROW
EXECUTE FUNCTION products_next_version();
