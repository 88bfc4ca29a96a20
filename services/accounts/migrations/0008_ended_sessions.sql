-- The sessions that ended while an access token of theirs can be valid. Every verifier reads them once a second and refuses these tokens.
CREATE TABLE ended_sessions (
  session_id uuid PRIMARY KEY,
  ended_at   timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- The transaction that ended the session. A verifier continues at the oldest transaction that was in progress at its last request, so
  -- that it misses no row that is committed late.
  xid        xid8 NOT NULL DEFAULT pg_current_xact_id()
);

CREATE INDEX ended_sessions_xid ON ended_sessions (xid);
CREATE INDEX ended_sessions_ended ON ended_sessions (ended_at);
