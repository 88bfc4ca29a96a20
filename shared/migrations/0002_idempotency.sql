-- Answers kept for repeated requests; one row per account, operation and key.
CREATE TABLE idempotency_keys (
  account_id   text NOT NULL,
  operation_id text NOT NULL,
  key          text NOT NULL,
  fingerprint  text NOT NULL,
  status       smallint NOT NULL CHECK (status BETWEEN 200 AND 499),
  headers      jsonb NOT NULL,
  etag         text,
  body         text,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, operation_id, key)
);

-- Serves the hourly pruning.
CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

-- Locks a key until the transaction ends, unless another request has it, and then reads what the key holds: a row that was committed
-- while the lock was being taken is seen, since each statement of a volatile function sees the database as it is at that moment.
CREATE FUNCTION claim_idempotency_key(account text, operation text, wanted text)
RETURNS TABLE (locked boolean, fingerprint text, status smallint, headers jsonb, etag text, body text)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  locked := pg_try_advisory_xact_lock(hashtextextended(concat_ws(E'\n', account, operation, wanted), 1));
  IF locked THEN
    SELECT kept.fingerprint, kept.status, kept.headers, kept.etag, kept.body
    INTO fingerprint, status, headers, etag, body
    FROM idempotency_keys AS kept
    WHERE kept.account_id = account AND kept.operation_id = operation AND kept.key = wanted
      AND kept.created_at > now() - interval '24 hours';
  END IF;
  RETURN NEXT;
END
$$;
