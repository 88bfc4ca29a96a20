-- The form by which addresses are compared: NFC, lower case, the domain in ASCII (UTS #46), which SQL cannot compute. It is NULL in rows
-- that processes of the last release write, until the service computes it. An account whose mailbox another account has had before has its
-- id behind the form, so that both are kept and found.
ALTER TABLE accounts ADD COLUMN mailbox_key text COLLATE "C";

-- Processes of the last release change the address alone.
CREATE FUNCTION void_mailbox_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.mailbox_key := NULL;
  RETURN NEW;
END $$;

CREATE TRIGGER accounts_void_mailbox_key BEFORE UPDATE OF email_key ON accounts FOR EACH ROW
  WHEN (NEW.email_key <> OLD.email_key AND NEW.mailbox_key IS NOT DISTINCT FROM OLD.mailbox_key)
  EXECUTE FUNCTION void_mailbox_key();
