-- Notifies all processes of the catalogue of each committed change that clients can see, so that they drop the pages on
-- which the product was shown or now belongs. src/pages/changed-product.ts reads the payload: the id, and the values
-- that lists filter and sort by, before and after. A change of stock that leaves the version as it is notifies nobody.
CREATE FUNCTION products_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('products:' || TG_TABLE_SCHEMA, json_build_array(
    CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END,
    CASE TG_OP WHEN 'INSERT' THEN NULL ELSE
      json_build_array(OLD.name, OLD.brand, OLD.category, OLD.price_minor, OLD.rating_tenths, OLD.status,
        (OLD.stock > OLD.reserved)::text, OLD.created_at AT TIME ZONE 'UTC', OLD.updated_at AT TIME ZONE 'UTC')
    END,
    CASE TG_OP WHEN 'DELETE' THEN NULL ELSE
      json_build_array(NEW.name, NEW.brand, NEW.category, NEW.price_minor, NEW.rating_tenths, NEW.status,
        (NEW.stock > NEW.reserved)::text, NEW.created_at AT TIME ZONE 'UTC', NEW.updated_at AT TIME ZONE 'UTC')
    END)::text);
  RETURN NULL;
END
$$;

CREATE TRIGGER products_added AFTER INSERT OR DELETE ON products FOR EACH ROW EXECUTE FUNCTION products_changed();
CREATE TRIGGER products_changed AFTER UPDATE ON products FOR EACH ROW
WHEN ((NEW.version, NEW.created_at, NEW.updated_at) IS DISTINCT FROM (OLD.version, OLD.created_at, OLD.updated_at))
EXECUTE FUNCTION products_changed();

-- An empty payload: any product can have changed.
CREATE FUNCTION products_replaced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('products:' || TG_TABLE_SCHEMA, '');
  RETURN NULL;
END
$$;

CREATE TRIGGER products_replaced AFTER TRUNCATE ON products FOR EACH STATEMENT EXECUTE FUNCTION products_replaced();
