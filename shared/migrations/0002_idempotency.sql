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
