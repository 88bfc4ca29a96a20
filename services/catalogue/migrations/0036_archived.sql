-- An archived product is `pending` for everything that sells and lists products, also in processes of the version
-- before. The status that staff sees, and that it has again when it is restored, is kept here. NULL for a product that
-- is not archived.
ALTER TABLE products
  ADD COLUMN archived_status text COLLATE "C" CHECK (archived_status IN ('available', 'active', 'backorder', 'pending')),
  ADD CONSTRAINT archived_is_pending CHECK (archived_status IS NULL OR status = 'pending');

-- The list of archived products. It is small: other products have no entry.
CREATE INDEX products_archived ON products (created_at, id) WHERE archived_status IS NOT NULL;

-- The status of a pending product stays the same when it is archived. The function gives a version once, whichever
-- triggers call it.
CREATE TRIGGER products_archived BEFORE UPDATE ON products FOR EACH ROW
WHEN (NEW.archived_status IS DISTINCT FROM OLD.archived_status) EXECUTE FUNCTION products_version();
