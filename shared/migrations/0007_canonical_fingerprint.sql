-- The fingerprint of the request with its JSON in canonical form (RFC 8785). NULL in rows of the version before, whose `fingerprint` depends
-- on the order of members. It is computed from that fingerprint, too, so it is never valid for a row that the version before has replaced.
ALTER TABLE idempotency_keys ADD COLUMN canonical_fingerprint text;
