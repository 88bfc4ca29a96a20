-- E-mails about orders wait until the address of their account is verified. Accounts from before verification count as verified, and
-- `accounts announce` tells the state of the others.
ALTER TABLE recipients ADD COLUMN verified boolean NOT NULL DEFAULT true;

ALTER TABLE notifications
  DROP CONSTRAINT notifications_status_check,
  -- `withheld`: not sent, because its address was not verified in time.
  ADD CONSTRAINT notifications_status_check CHECK (
    status IN ('waiting', 'sent', 'failed', 'obsolete', 'withheld')) NOT VALID;
