-- What a product is called in the system that a file of products comes from, and how far the import of a file has come.

ALTER TABLE products
  ADD COLUMN external_key text COLLATE "C" CHECK (char_length(external_key) BETWEEN 1 AND 200);

-- Finds the products of a batch of lines. Products that were not imported have no key and no entry here.
CREATE UNIQUE INDEX products_external_key ON products (external_key) WHERE external_key IS NOT NULL;

-- A row is there while an import runs and after one that was interrupted; it is written with each batch of lines.
CREATE TABLE product_imports (
  -- SHA-256 of the file: the same file goes on where it was interrupted, another one begins at its beginning.
  digest     text PRIMARY KEY,
  -- The last line that is dealt with.
  line       bigint NOT NULL,
  created    bigint NOT NULL,
  changed    bigint NOT NULL,
  unchanged  bigint NOT NULL,
  refused    bigint NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
