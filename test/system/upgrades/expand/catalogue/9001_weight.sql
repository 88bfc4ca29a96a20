-- A column whose constant default needs no rewrite of the table.
ALTER TABLE products ADD COLUMN weight_grams integer NOT NULL DEFAULT 0;
