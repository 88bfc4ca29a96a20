-- Accounts whose personal data this schema erases. The rows stay, so that a late event restores nothing.
CREATE TABLE erased_accounts (
  account_id    uuid PRIMARY KEY,
  erased_at     timestamptz(3) NOT NULL DEFAULT now(),
  -- When the tables are searched again, because a request or an event may have been on its way. NULL: no more.
  next_sweep_at timestamptz(3) DEFAULT now(),
  sweeps        integer NOT NULL DEFAULT 0
);

CREATE INDEX erased_accounts_next_sweep ON erased_accounts (next_sweep_at) WHERE next_sweep_at IS NOT NULL;
