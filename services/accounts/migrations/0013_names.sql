-- Support finds accounts by the beginning of the name. Changes of accounts wait while the index is built, and no other statement does.
CREATE INDEX accounts_name ON accounts ((lower(name) COLLATE "C"));
