-- The normal form of the address, for tokens that undo a change. Tokens of the last release have none.
ALTER TABLE email_tokens ADD COLUMN email_key text COLLATE "C";
-- The time of the erasure that its reminder named, so that each erasure has one reminder.
ALTER TABLE accounts ADD COLUMN reminded_erase_at timestamptz(3);
