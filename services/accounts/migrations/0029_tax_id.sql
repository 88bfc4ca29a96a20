-- The tax id that staff set: its country and its value, as the contract defines them.
ALTER TABLE accounts ADD COLUMN tax_id jsonb;
