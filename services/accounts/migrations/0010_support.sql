-- The scope of staff who help customers. Every row satisfied the narrower condition, so that nothing has to be read again: the table is
-- locked for a moment only.
ALTER TABLE accounts
  -- A blocked account cannot log in.
  ADD COLUMN blocked_at timestamptz(3),
  DROP CONSTRAINT accounts_scopes_check,
  ADD CONSTRAINT accounts_scopes_check
    CHECK (scopes <@ ARRAY['accounts:support', 'catalogue:write', 'orders:fulfil', 'orders:read-all', 'payments:write']) NOT VALID;

ALTER TABLE audit_log
  -- The account of the member of staff who did it. No foreign key: an outside identity provider may know staff that accounts does not.
  ADD COLUMN staff_id uuid,
  ADD COLUMN reason text;
