-- Notices to the holder of an account, beside the e-mails about orders; and a bound on how many e-mails a recipient gets.

-- One key for every spelling of an address.
ALTER TABLE recipients
  ADD COLUMN email_key text COLLATE "C" GENERATED ALWAYS AS (lower(btrim(normalize(email, NFC)))) STORED;

ALTER TABLE notifications
  ALTER COLUMN order_id DROP NOT NULL,
  DROP CONSTRAINT notifications_kind_check,
  DROP CONSTRAINT notifications_status_check,
  -- An address other than the account's present one: that of its holder before the change.
  ADD COLUMN recipient text,
  ADD COLUMN recipient_key text COLLATE "C" GENERATED ALWAYS AS (lower(btrim(normalize(recipient, NFC)))) STORED,
  -- The share of which recipient its time of sending was reserved from; NULL: none yet.
  ADD COLUMN paced_for text COLLATE "C",
  ADD CONSTRAINT notifications_kind_check CHECK (
    kind IN ('order-received', 'order-shipped', 'order-cancelled') AND order_id IS NOT NULL
    OR kind IN ('email-changed', 'password-changed') AND order_id IS NULL),
  -- `obsolete`: not sent, because a later e-mail about the same order says more.
  ADD CONSTRAINT notifications_status_check CHECK (status IN ('waiting', 'sent', 'failed', 'obsolete'));

-- Up to when the e-mails of each recipient are scheduled. A row in the past is the same as none.
CREATE TABLE recipient_paces (
  key            text COLLATE "C" PRIMARY KEY,
  reserved_until timestamptz(3) NOT NULL
);

CREATE INDEX recipient_paces_reserved_until ON recipient_paces (reserved_until);
