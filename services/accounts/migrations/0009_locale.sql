-- The language of the holder, in which e-mails are written; NULL: the shop's.
ALTER TABLE accounts ADD COLUMN locale text COLLATE "C";
