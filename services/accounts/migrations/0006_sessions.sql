-- A session is a family of refresh tokens. These columns describe its last use: its log-in, or a renewal.
ALTER TABLE refresh_families
  -- NULL until the first renewal.
  ADD COLUMN last_used_at timestamptz(3),
  -- As the gateway sends it. NULL for a request that did not pass the gateway, and for a session without a use since this migration.
  ADD COLUMN address varchar(45),
  ADD COLUMN user_agent varchar(200);
