-- Finds the accounts that are due. Changes of accounts wait while the index is built, and no other statement does.
CREATE INDEX accounts_erase_at ON accounts (erase_at) WHERE erase_at IS NOT NULL;
