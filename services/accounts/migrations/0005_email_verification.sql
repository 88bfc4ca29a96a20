-- Accounts from before verification count as verified, so that an upgrade takes nothing from their holders. The default also covers
-- registrations by processes of the previous release, which send no verification e-mail.
ALTER TABLE accounts
  ADD COLUMN email_verified boolean NOT NULL DEFAULT true,
  -- The new address of a change that takes effect when the address is verified.
  ADD COLUMN pending_email text;

-- Tokens that were sent by e-mail. A token is deleted when it is used or replaced, so each works once.
CREATE TABLE email_tokens (
  -- SHA-256 of the token, base64url. The token itself is stored nowhere.
  digest     text COLLATE "C" PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  purpose    text NOT NULL CHECK (purpose IN ('email-verification', 'email-change-undo', 'password-reset')),
  -- The address that the token was sent to: it verifies or restores this address.
  email      text NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX email_tokens_account ON email_tokens (account_id);
CREATE INDEX email_tokens_expiry ON email_tokens (expires_at);
