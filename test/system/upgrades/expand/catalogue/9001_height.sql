-- A column whose constant default needs no rewrite of the table.
ALTER TABLE products ADD COLUMN height_millimetres integer NOT NULL DEFAULT 0;
