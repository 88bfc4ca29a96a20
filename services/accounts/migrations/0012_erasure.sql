-- When the account is erased, at the wish of its holder. Nobody can log in from then on.
ALTER TABLE accounts ADD COLUMN erase_at timestamptz(3);
