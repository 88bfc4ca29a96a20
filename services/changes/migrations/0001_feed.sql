-- The feed of changes. `position` has no gap: the row of `feed` is locked until the transaction that takes a position commits.
-- The service adds the only row when it starts.
CREATE TABLE feed (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- The position of the newest change.
  head bigint NOT NULL DEFAULT 0,
  -- A cursor of another epoch has expired. A restore begins a new epoch.
  epoch uuid NOT NULL DEFAULT gen_random_uuid(),
  began_at timestamptz(3) NOT NULL DEFAULT now()
);

-- Without personal data, except the id of the account.
CREATE TABLE changes (
  event_id uuid PRIMARY KEY,
  -- NULL while the event before it of the same subject is missing.
  position bigint UNIQUE,
  source text NOT NULL,
  type text NOT NULL,
  subject uuid NOT NULL,
  sequence bigint NOT NULL,
  -- The sequence of the event before it of the same source and subject; NULL for the first one.
  previous_sequence bigint,
  happened_at timestamptz(3) NOT NULL,
  -- The resource that changed: `order`, and its id.
  kind text NOT NULL,
  resource_id uuid NOT NULL,
  -- The account that sees the change; NULL for a change without an owner.
  account_id uuid,
  -- Whether everybody sees the resource after the change; NULL when the event does not say so.
  becomes_public boolean,
  -- Whether everybody sees the change, because they see the resource after it or saw it before it.
  is_public boolean NOT NULL DEFAULT false,
  -- The data of the event, of a product that everybody sees.
  data json,
  arrived_at timestamptz(3) NOT NULL DEFAULT now(),
  placed_at timestamptz(3)
);
CREATE INDEX changes_held ON changes (arrived_at) WHERE position IS NULL;
CREATE INDEX changes_of_account ON changes (account_id, position) WHERE account_id IS NOT NULL;
CREATE INDEX changes_public ON changes (position) WHERE is_public;
CREATE INDEX changes_placed ON changes (placed_at);

-- The newest change of each subject.
CREATE TABLE subjects (
  subject uuid NOT NULL,
  source text NOT NULL,
  sequence bigint NOT NULL,
  -- Whether everybody saw the subject after this change.
  is_public boolean NOT NULL,
  PRIMARY KEY (subject, source)
);
