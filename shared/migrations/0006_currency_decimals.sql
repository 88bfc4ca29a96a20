-- The decimals with which the amounts are stored. NULL until a process of this version has started.
ALTER TABLE shop_currency ADD COLUMN decimals smallint;
