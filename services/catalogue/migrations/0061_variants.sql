-- Variants: products of one group that differ in their options. `variant` is the member of the product as JSON text. The
-- other columns follow from it in every process, also in one of the version before.
ALTER TABLE products
  ADD COLUMN variant text,
  ADD COLUMN variant_group text COLLATE "C",
  -- A digest of the group and the options. No two products have the same one.
  ADD COLUMN variant_key text COLLATE "C",
  -- Whether `lead=true` lists the product: one product of each group, and every product without a group.
  ADD COLUMN is_lead boolean NOT NULL DEFAULT true;

CREATE FUNCTION products_variant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.variant_group := NEW.variant::jsonb ->> 'group';
  NEW.variant_key := md5((NEW.variant::jsonb - 'lead')::text);
  IF NEW.variant IS NULL THEN
    NEW.is_lead := true;
  END IF;
  RETURN NEW;
END
$$;

CREATE TRIGGER products_variant_added BEFORE INSERT ON products FOR EACH ROW
WHEN (NEW.variant IS NOT NULL) EXECUTE FUNCTION products_variant();
CREATE TRIGGER products_variant_changed BEFORE UPDATE ON products FOR EACH ROW
WHEN (NEW.variant IS DISTINCT FROM OLD.variant) EXECUTE FUNCTION products_variant();

-- Locks groups until the end of the transaction, so that their changes follow each other. Many groups share a lock, so
-- that an import needs few of them.
CREATE FUNCTION lock_variant_groups(groups text[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('variants ' || current_schema()), part)
  FROM (SELECT DISTINCT hashtext(name) & 255 AS part FROM unnest(groups) AS name ORDER BY part) AS parts;
END
$$;

-- Each group has one lead: a visible product before a hidden one, one that staff marked before others, and of these the
-- oldest one.
CREATE FUNCTION products_choose_lead() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  changed text[] := ARRAY[NEW.variant_group];
  of_group text;
  lead uuid;
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.variant_group IS DISTINCT FROM NEW.variant_group THEN
    changed := changed || OLD.variant_group;
  END IF;
  PERFORM lock_variant_groups(array_remove(changed, NULL));
  FOREACH of_group IN ARRAY array_remove(changed, NULL) LOOP
    SELECT id INTO lead FROM products WHERE variant_group = of_group
    ORDER BY status = 'pending', archived_status IS NOT NULL, variant::jsonb ? 'lead' DESC, created_at, id LIMIT 1;
    UPDATE products SET is_lead = (id = lead) WHERE variant_group = of_group AND is_lead <> (id = lead);
  END LOOP;
  RETURN NULL;
END
$$;

CREATE TRIGGER products_lead_added AFTER INSERT ON products FOR EACH ROW
WHEN (NEW.variant IS NOT NULL) EXECUTE FUNCTION products_choose_lead();
CREATE TRIGGER products_lead_changed AFTER UPDATE ON products FOR EACH ROW
WHEN (
  NEW.variant IS DISTINCT FROM OLD.variant
  OR NEW.variant IS NOT NULL AND (NEW.status, NEW.archived_status) IS DISTINCT FROM (OLD.status, OLD.archived_status)
)
EXECUTE FUNCTION products_choose_lead();

-- As in 0059_version_of_all.sql. Clients do not see which product leads a group, so it is no part of the version. An
-- import removes the digest while it exchanges options.
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

-- As in 0045_product_changes.sql, with `lead`. A process of the version before does not know this value, and then drops
-- all pages.
CREATE OR REPLACE FUNCTION products_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('products:' || TG_TABLE_SCHEMA, json_build_array(
    CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END,
    CASE TG_OP WHEN 'INSERT' THEN NULL ELSE
      json_build_array(OLD.name, OLD.brand, OLD.category, OLD.price_minor, OLD.rating_tenths, OLD.status,
        (OLD.stock > OLD.reserved)::text, OLD.created_at AT TIME ZONE 'UTC', OLD.updated_at AT TIME ZONE 'UTC',
        OLD.is_lead::text)
    END,
    CASE TG_OP WHEN 'DELETE' THEN NULL ELSE
      json_build_array(NEW.name, NEW.brand, NEW.category, NEW.price_minor, NEW.rating_tenths, NEW.status,
        (NEW.stock > NEW.reserved)::text, NEW.created_at AT TIME ZONE 'UTC', NEW.updated_at AT TIME ZONE 'UTC',
        NEW.is_lead::text)
    END)::text);
  RETURN NULL;
END
$$;

CREATE TRIGGER products_lead_notified AFTER UPDATE ON products FOR EACH ROW
WHEN (NEW.is_lead <> OLD.is_lead) EXECUTE FUNCTION products_changed();
