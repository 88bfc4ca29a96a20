-- Counts the changes of password and e-mail address. An access token contains the count of its time: it may change them only while
-- no later change was made.
ALTER TABLE accounts ADD COLUMN credentials_version integer NOT NULL DEFAULT 0 CHECK (credentials_version >= 0);
