-- When the password or the e-mail address was last changed. The tokens of an outside identity provider have no count of the changes:
-- they are compared with this time.
ALTER TABLE accounts ADD COLUMN credentials_changed_at timestamptz(3);

UPDATE accounts SET credentials_changed_at = now() WHERE credentials_version > 0;
