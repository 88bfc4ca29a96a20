-- What the calculation of an order's price needs to know about a product. NULL: the category `standard`, an unknown
-- weight, and a product that is sent.
-- Satisfied by the last release: check products_tax_category of products
-- Satisfied by the last release: check products_weight_grams of products
ALTER TABLE products
  ADD COLUMN tax_category text COLLATE "C",
  ADD COLUMN weight_grams integer,
  ADD COLUMN is_shipped boolean,
  ADD CONSTRAINT products_tax_category CHECK (char_length(tax_category) BETWEEN 1 AND 50) NOT VALID,
  ADD CONSTRAINT products_weight_grams CHECK (weight_grams BETWEEN 0 AND 1000000) NOT VALID;
