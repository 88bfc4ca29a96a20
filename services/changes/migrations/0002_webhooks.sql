-- A webhook is a cursor over the feed. There is no queue of deliveries.
CREATE TABLE webhooks (
  id uuid PRIMARY KEY,
  -- Raised by each change that its owner sees. The sender moves the position only of the version that it has read, so that it undoes no replay.
  version bigint NOT NULL DEFAULT 1,
  -- The account or the machine that added it.
  owner_id uuid NOT NULL,
  is_machine boolean NOT NULL,
  -- The scopes of the owner's token at the last change of the webhook. The present ones can be fewer.
  scopes text[] NOT NULL,
  url text NOT NULL,
  -- The types of resources that it follows.
  types text[] NOT NULL,
  -- Whether only the newest of several waiting changes of a subject is sent.
  collapse boolean NOT NULL,
  -- Encrypted. The previous secret signs until `previous_until`, too.
  secret text NOT NULL,
  previous_secret text,
  previous_until timestamptz(3),
  -- unverified: waits for the response to a ping. paused: by the owner. suspended: by the shop, after 3 days without a success.
  -- ended: the endpoint answered 410.
  status text NOT NULL DEFAULT 'unverified' CHECK (status IN ('unverified', 'active', 'paused', 'suspended', 'ended')),
  -- The changes up to this position are sent, except those of parked subjects.
  epoch text NOT NULL,
  position bigint NOT NULL,
  -- The changes up to this position were not sent, because the webhook was added or reset after them.
  first_position bigint NOT NULL,
  is_ping_due boolean NOT NULL DEFAULT true,
  -- The failures since the last success, without those of messages that failed before, and the time of the first failure.
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamptz(3),
  -- The owner was told of the failures of this many hours.
  noticed_hours integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The process that sends has the webhook until then.
  leased_until timestamptz(3) NOT NULL DEFAULT now(),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX webhooks_of_owner ON webhooks (owner_id, id);

-- The subjects of which a change failed. Their later changes wait for it; those of other subjects do not.
CREATE TABLE parked_subjects (
  webhook_id uuid NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  source text NOT NULL,
  subject uuid NOT NULL,
  -- The change that failed, or that waits because the endpoint failed.
  position bigint NOT NULL,
  -- The changes after it up to the position of the webhook.
  later bigint[] NOT NULL DEFAULT '{}',
  failures integer NOT NULL,
  failing_since timestamptz(3) NOT NULL,
  next_attempt_at timestamptz(3) NOT NULL,
  PRIMARY KEY (webhook_id, source, subject)
);

CREATE TABLE delivery_attempts (
  id uuid PRIMARY KEY,
  webhook_id uuid NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('change', 'ping', 'reset')),
  -- The `webhook-id` of the request: for a change, the id of its event.
  message_id uuid NOT NULL,
  started_at timestamptz(3) NOT NULL,
  duration_ms integer NOT NULL,
  -- The HTTP status; NULL without a response.
  status integer,
  -- Why the attempt failed; NULL for a success.
  error text,
  -- The first 1 KiB of the response.
  answer text
);
CREATE INDEX delivery_attempts_of_webhook ON delivery_attempts (webhook_id, id);
CREATE INDEX delivery_attempts_of_message ON delivery_attempts (message_id);
CREATE INDEX delivery_attempts_started ON delivery_attempts (started_at);
