-- Notifies all processes of the catalogue of each committed change that clients can see, so that they drop the pages on which the
-- product is shown or now belongs. src/pages/changed-product.ts reads the payload. A change of stock that leaves the version as it
-- is notifies nobody.
CREATE FUNCTION products_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('products:' || TG_TABLE_SCHEMA, CASE TG_OP
    WHEN 'DELETE' THEN json_build_array(OLD.id)
    ELSE json_build_array(NEW.id, NEW.name, NEW.brand, NEW.category, NEW.price_minor, NEW.rating_tenths, NEW.status,
      NEW.created_at AT TIME ZONE 'UTC', NEW.updated_at AT TIME ZONE 'UTC')
  END::text);
  RETURN NULL;
END
$$;

CREATE TRIGGER products_added AFTER INSERT OR DELETE ON products FOR EACH ROW EXECUTE FUNCTION products_changed();
CREATE TRIGGER products_changed AFTER UPDATE ON products FOR EACH ROW
WHEN (NEW.version IS DISTINCT FROM OLD.version) EXECUTE FUNCTION products_changed();

-- An empty payload: any product can have changed.
CREATE FUNCTION products_replaced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('products:' || TG_TABLE_SCHEMA, '');
  RETURN NULL;
END
$$;

CREATE TRIGGER products_replaced AFTER TRUNCATE ON products FOR EACH STATEMENT EXECUTE FUNCTION products_replaced();
