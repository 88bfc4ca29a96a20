-- Products, and the book of their stock. Text is compared by code point (COLLATE "C"): the same order on every
-- machine and in every version of the operating system's libraries, so that neither indexes nor cursors go stale.

CREATE TABLE products (
  id            uuid PRIMARY KEY,
  name          text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  description   text CHECK (char_length(description) BETWEEN 1 AND 5000),
  brand         text COLLATE "C" NOT NULL CHECK (char_length(brand) BETWEEN 1 AND 100),
  category      text COLLATE "C" NOT NULL CHECK (char_length(category) BETWEEN 1 AND 100),
  price_minor   bigint NOT NULL CHECK (price_minor BETWEEN 0 AND 100000000000),
  rating_tenths smallint CHECK (rating_tenths BETWEEN 0 AND 50),
  status        text COLLATE "C" NOT NULL CHECK (status IN ('available', 'active', 'backorder', 'pending')),
  -- On hand; of those, promised to orders; and promised beyond what is on hand.
  stock         integer NOT NULL DEFAULT 0 CHECK (stock <= 1000000000),
  reserved      integer NOT NULL DEFAULT 0,
  oversold      integer NOT NULL DEFAULT 0 CHECK (oversold >= 0),
  version       bigint NOT NULL DEFAULT 1,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  updated_at    timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT reserved_within_stock CHECK (reserved >= 0 AND reserved <= stock)
)
-- Room on each page, so that a change of stock, which no index holds, stays on its page and touches no index.
WITH (fillfactor = 90);

-- The version is the entity tag: it changes exactly when what clients see changes, whichever statement did it. Stock
-- figures are seen only as "in stock or not".
CREATE FUNCTION products_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  NEW.updated_at := greatest(now(), OLD.updated_at);
  RETURN NEW;
END
$$;

CREATE TRIGGER products_version BEFORE UPDATE ON products FOR EACH ROW
WHEN (
  (NEW.name, NEW.description, NEW.brand, NEW.category, NEW.price_minor, NEW.rating_tenths, NEW.status, NEW.stock > NEW.reserved)
  IS DISTINCT FROM
  (OLD.name, OLD.description, OLD.brand, OLD.category, OLD.price_minor, OLD.rating_tenths, OLD.status, OLD.stock > OLD.reserved)
)
EXECUTE FUNCTION products_version();

-- Every change of stock, and of what is promised of it, in the transaction that made it.
CREATE TABLE stock_ledger (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  product_id     uuid NOT NULL REFERENCES products,
  kind           text NOT NULL CHECK (kind IN ('received', 'reserved', 'released', 'shipped')),
  quantity       integer NOT NULL CHECK (quantity <> 0),
  reservation_id uuid,
  order_id       uuid,
  created_at     timestamptz(3) NOT NULL DEFAULT now()
);

-- The history of one product's stock.
CREATE INDEX stock_ledger_product ON stock_ledger (product_id, id);

-- Every permitted sort has an index that ends with id, and every list of brands, categories or statuses one that holds
-- each value's products in order, so that a page is read and not searched for.
CREATE INDEX products_created ON products (created_at, id);
CREATE INDEX products_price ON products (price_minor, id);
CREATE INDEX products_name ON products (name, id);
CREATE INDEX products_rating ON products (rating_tenths, id);
CREATE INDEX products_brand_created ON products (brand, created_at, id);
CREATE INDEX products_brand_price ON products (brand, price_minor, id);
CREATE INDEX products_category_created ON products (category, created_at, id);
CREATE INDEX products_category_price ON products (category, price_minor, id);
CREATE INDEX products_status_created ON products (status, created_at, id);
