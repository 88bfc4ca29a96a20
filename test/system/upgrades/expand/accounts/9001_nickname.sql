-- A column that is NULL for existing accounts.
ALTER TABLE accounts ADD COLUMN nickname text;
