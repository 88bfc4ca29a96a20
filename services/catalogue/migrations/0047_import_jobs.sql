-- Imports over HTTP. A row stays for some days after the import has ended.
CREATE TABLE import_jobs (
  id            uuid PRIMARY KEY,
  -- Imports run in this order.
  number        bigint GENERATED ALWAYS AS IDENTITY,
  status        text COLLATE "C" NOT NULL DEFAULT 'waiting'
    CHECK (status IN ('waiting', 'running', 'completed', 'failed')),
  lines         integer NOT NULL,
  lines_read    integer NOT NULL DEFAULT 0,
  created       integer NOT NULL DEFAULT 0,
  changed       integer NOT NULL DEFAULT 0,
  unchanged     integer NOT NULL DEFAULT 0,
  refused       integer NOT NULL DEFAULT 0,
  -- The first of them, as clients see them.
  refused_lines jsonb NOT NULL DEFAULT '[]',
  -- Failures of the present part in a row.
  failures      smallint NOT NULL DEFAULT 0,
  -- Who imports, and in which request: an account or a machine.
  account_id    uuid NOT NULL,
  request_id    text NOT NULL,
  traceparent   text NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  ended_at      timestamptz(3),
  CONSTRAINT ended_is_final CHECK ((ended_at IS NULL) = (status IN ('waiting', 'running')))
);
CREATE INDEX import_jobs_waiting ON import_jobs (status, number) WHERE ended_at IS NULL;
CREATE INDEX import_jobs_ended ON import_jobs (ended_at);

-- The lines that are not imported yet. A part is deleted in the transaction that imports its lines.
CREATE TABLE import_parts (
  import_id  uuid NOT NULL REFERENCES import_jobs ON DELETE CASCADE,
  first_line integer NOT NULL,
  bytes      bytea NOT NULL,
  PRIMARY KEY (import_id, first_line)
);

-- The keys of the lines that were imported, so that a repeated key is found in every part of a file. `import` is the id
-- of an import over HTTP, or the digest of the file of an operator's import. The keys are deleted when the import ends.
CREATE TABLE import_keys (
  import       text COLLATE "C" NOT NULL,
  external_key text COLLATE "C" NOT NULL,
  line         bigint NOT NULL,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (import, external_key)
);
-- Finds those of imports that were interrupted for good.
CREATE INDEX import_keys_created ON import_keys (created_at);
