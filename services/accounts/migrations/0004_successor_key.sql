-- The successor of a refresh token is derived from the token with this key, so that a repeated request gets the same successor
-- although no token is stored. 244 random bits.
ALTER TABLE refresh_families ADD COLUMN successor_key bytea NOT NULL
  DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');
