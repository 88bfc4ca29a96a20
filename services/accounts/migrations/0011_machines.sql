-- Programs with scopes of their own, such as the adapter of a payment provider. They have no account.
CREATE TABLE machines (
  -- The client id (RFC 6749 section 2.2).
  id         uuid PRIMARY KEY,
  name       text COLLATE "C" NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  scopes     text[] NOT NULL CHECK (scopes <> '{}'
             AND scopes <@ ARRAY['accounts:support', 'catalogue:write', 'orders:fulfil', 'orders:read-all', 'payments:write']),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  revoked_at timestamptz(3)
);

-- The name of a revoked machine can be used again.
CREATE UNIQUE INDEX machines_name ON machines (name) WHERE revoked_at IS NULL;

CREATE TABLE machine_secrets (
  -- The session of the access tokens that the secret obtains.
  id           uuid PRIMARY KEY,
  machine_id   uuid NOT NULL REFERENCES machines ON DELETE CASCADE,
  -- SHA-256 of the secret, base64url. The secret itself is stored nowhere.
  digest       text COLLATE "C" NOT NULL,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3),
  -- NULL for the current secret; a rotation sets the end of the former one.
  expires_at   timestamptz(3)
);

CREATE UNIQUE INDEX machine_secrets_current ON machine_secrets (machine_id) WHERE expires_at IS NULL;
CREATE INDEX machine_secrets_machine ON machine_secrets (machine_id);
CREATE INDEX machine_secrets_expiry ON machine_secrets (expires_at);
