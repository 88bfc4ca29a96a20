-- Accounts, the scopes of staff, refresh tokens, the keys that sign access tokens, and what was done to whom.

CREATE TABLE accounts (
  id               uuid PRIMARY KEY,
  email            text NOT NULL,
  -- NFC, trimmed, lower case: the form that is compared. Case mapping is the service's, so that it is the same everywhere.
  email_key        text COLLATE "C" NOT NULL CONSTRAINT accounts_email_key UNIQUE,
  name             text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  password_hash    text NOT NULL CHECK (password_hash LIKE '$argon2id$%'),
  phone_number     text,
  shipping_address jsonb CHECK (jsonb_typeof(shipping_address) = 'object'),
  -- Granted from the command line only.
  scopes           text[] NOT NULL DEFAULT '{}'
                   CHECK (scopes <@ ARRAY['catalogue:write', 'orders:fulfil', 'orders:read-all']),
  version          integer NOT NULL DEFAULT 1 CHECK (version > 0),
  created_at       timestamptz(3) NOT NULL DEFAULT now(),
  updated_at       timestamptz(3) NOT NULL DEFAULT now()
);

-- The few staff among many customers.
CREATE INDEX accounts_staff ON accounts (email_key) WHERE scopes <> '{}';

-- One family for each log-in; it ends by being deleted, with all its tokens. Whoever touches tokens locks the family first.
CREATE TABLE refresh_families (
  id         uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  -- When the newest token expires; moves on with each rotation.
  expires_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE INDEX refresh_families_account ON refresh_families (account_id);
CREATE INDEX refresh_families_expiry ON refresh_families (expires_at);

-- Used tokens stay, so that one that comes again is recognised.
CREATE TABLE refresh_tokens (
  -- SHA-256 of the token, base64url. The token itself is stored nowhere.
  digest    text COLLATE "C" PRIMARY KEY,
  family_id uuid NOT NULL REFERENCES refresh_families ON DELETE CASCADE,
  used_at   timestamptz(3)
);

CREATE INDEX refresh_tokens_family ON refresh_tokens (family_id);
CREATE INDEX refresh_tokens_used ON refresh_tokens (used_at) WHERE used_at IS NOT NULL;

CREATE TABLE signing_keys (
  -- RFC 7638 thumbprint of the public key.
  kid         text COLLATE "C" PRIMARY KEY,
  state       text NOT NULL CHECK (state IN ('next', 'current', 'retiring', 'revoked')),
  public_jwk  jsonb NOT NULL,
  -- AES-256-GCM. A key that signs no more is forgotten.
  private_key text,
  created_at  timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  current_at  timestamptz(3),
  retired_at  timestamptz(3),
  revoked_at  timestamptz(3),
  CONSTRAINT private_while_signing CHECK ((state IN ('next', 'current')) = (private_key IS NOT NULL)),
  CONSTRAINT retired_has_time CHECK (state <> 'retiring' OR retired_at IS NOT NULL),
  CONSTRAINT revoked_has_time CHECK (state <> 'revoked' OR revoked_at IS NOT NULL)
);

-- Never two that sign, never two that are to come.
CREATE UNIQUE INDEX signing_keys_one ON signing_keys (state) WHERE state IN ('next', 'current');

-- No foreign key: what happened stays, also when the account goes.
CREATE TABLE audit_log (
  id         uuid PRIMARY KEY,
  -- Absent when someone tried an e-mail that has no account.
  account_id uuid,
  action     text NOT NULL,
  -- Absent for what came from the command line.
  request_id text,
  detail     jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE INDEX audit_log_account ON audit_log (account_id, created_at);
CREATE INDEX audit_log_created ON audit_log (created_at);
