-- Notifies all processes of the catalogue of each committed change that clients can see, so that they drop the pages on which the
-- product was shown or now belongs. src/pages/changed-product.ts reads the payload: the id, and the values that lists filter and
-- sort by, before and after. A change of stock that leaves the version as it is notifies nobody.
CREATE FUNCTION product_values(p products) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT json_build_array(p.name, p.brand, p.category, p.price_minor, p.rating_tenths, p.status, (p.stock > p.reserved)::text,
    p.created_at AT TIME ZONE 'UTC', p.updated_at AT TIME ZONE 'UTC')
$$;

CREATE FUNCTION products_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('products:' || TG_TABLE_SCHEMA, json_build_array(
    CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END,
    CASE TG_OP WHEN 'INSERT' THEN NULL ELSE product_values(OLD) END,
    CASE TG_OP WHEN 'DELETE' THEN NULL ELSE product_values(NEW) END)::text);
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
