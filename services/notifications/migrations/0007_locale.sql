-- The language of the recipient; NULL: the shop's.
ALTER TABLE recipients ADD COLUMN locale text COLLATE "C";

-- How often an operator had the e-mail sent again.
ALTER TABLE notifications ADD COLUMN resends integer NOT NULL DEFAULT 0;
