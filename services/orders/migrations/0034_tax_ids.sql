-- The customer's tax id, learnt from the events of accounts. NULL without one, and until the next event about the account.
ALTER TABLE customers ADD COLUMN tax_id jsonb;
-- The tax id that made the order free of tax, for its invoice. NULL for other orders, and after the erasure of the account.
ALTER TABLE orders ADD COLUMN tax_id jsonb;
