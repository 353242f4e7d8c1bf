/** The first migration. Never changed; see `MIGRATIONS`. */
export const INITIAL_SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    session_id TEXT NOT NULL,
    cwd TEXT,
    transcript_path TEXT,
    agent_version TEXT,
    branch TEXT,
    repository TEXT,
    reported TEXT,
    -- 0: not a fork; 1: a fork whose own part has not begun in its transcript; 2: a fork whose own part has begun
    fork_state INTEGER NOT NULL DEFAULT 0,
    first_ms REAL NOT NULL,
    last_ms REAL NOT NULL,
    UNIQUE (source, session_id)
  );
  CREATE INDEX sessions_recent ON sessions (last_ms);

  CREATE TABLE segments (
    session INTEGER NOT NULL REFERENCES sessions (id),
    ordinal INTEGER NOT NULL,
    start_ms REAL NOT NULL,
    end_ms REAL,
    reason TEXT,
    native_reason TEXT,
    start_origin TEXT,
    last_activity_ms REAL NOT NULL,
    totals TEXT NOT NULL,
    -- 1: the root span is in the outbox or sent
    delivered INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, ordinal)
  ) WITHOUT ROWID;
  CREATE INDEX segments_open ON segments (session) WHERE delivered = 0;

  CREATE TABLE events (
    id TEXT PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id),
    type TEXT NOT NULL,
    time_ms REAL NOT NULL,
    body TEXT NOT NULL,
    settled INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE INDEX events_open ON events (session) WHERE settled = 0;
  CREATE INDEX events_by_session ON events (session, time_ms);

  CREATE TABLE entries (
    session INTEGER NOT NULL REFERENCES sessions (id),
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    time_ms REAL NOT NULL,
    body TEXT NOT NULL,
    settled INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;
  CREATE INDEX entries_open ON entries (session) WHERE settled = 0;

  -- The session that owns a record whose id is unique across sessions; all others contain copies
  CREATE TABLE owners (
    source TEXT NOT NULL,
    global_key TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (id),
    PRIMARY KEY (source, global_key)
  ) WITHOUT ROWID;

  CREATE TABLE positions (
    path TEXT PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id),
    bytes INTEGER NOT NULL,
    memo TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified_ms REAL NOT NULL,
    unreadable INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE INDEX positions_by_session ON positions (session);

  CREATE TABLE turns (
    session INTEGER NOT NULL REFERENCES sessions (id),
    key TEXT NOT NULL,
    segment INTEGER NOT NULL,
    origin TEXT NOT NULL,
    state TEXT NOT NULL,
    start_ms REAL NOT NULL,
    end_ms REAL NOT NULL,
    prompt_length INTEGER,
    hook_seen INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;
  CREATE INDEX turns_by_start ON turns (session, start_ms);

  CREATE TABLE subagents (
    session INTEGER NOT NULL REFERENCES sessions (id),
    agent_id TEXT NOT NULL,
    agent_type TEXT,
    segment INTEGER NOT NULL,
    turn_key TEXT,
    parent_call_id TEXT,
    start_ms REAL NOT NULL,
    end_ms REAL NOT NULL,
    parts INTEGER NOT NULL,
    PRIMARY KEY (session, agent_id)
  ) WITHOUT ROWID;

  CREATE TABLE model_calls (
    session INTEGER NOT NULL REFERENCES sessions (id),
    key TEXT NOT NULL,
    segment INTEGER NOT NULL,
    model TEXT,
    subagent INTEGER NOT NULL,
    end_ms REAL NOT NULL,
    input INTEGER,
    output INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    cost_nano_usd INTEGER,
    complete INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;
  CREATE INDEX model_calls_by_time ON model_calls (end_ms);

  CREATE TABLE tool_calls (
    session INTEGER NOT NULL REFERENCES sessions (id),
    call_id TEXT NOT NULL,
    segment INTEGER NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    subagent INTEGER NOT NULL,
    start_ms REAL NOT NULL,
    end_ms REAL NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, call_id)
  ) WITHOUT ROWID;

  CREATE TABLE spans (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES sessions (id),
    segment INTEGER NOT NULL,
    record TEXT NOT NULL
  );
  CREATE INDEX spans_by_session ON spans (session, segment);

  CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY REFERENCES spans (seq),
    attempts INTEGER NOT NULL DEFAULT 0
  );

  -- Every fact that was counted; it is never counted again
  CREATE TABLE increments (key TEXT PRIMARY KEY) WITHOUT ROWID;

  CREATE TABLE counters (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    metric TEXT NOT NULL,
    attributes TEXT NOT NULL,
    resource TEXT NOT NULL,
    start_ms REAL NOT NULL,
    -- Counters: the sum, a whole number. Histograms: the JSON of count, sum, min, max and bucket counts.
    value INTEGER,
    histogram TEXT,
    -- Time and value of the last point that a backend accepted (for deltas)
    sent_ms REAL,
    sent_value INTEGER,
    sent_histogram TEXT,
    changed INTEGER NOT NULL DEFAULT 1
  );
  CREATE INDEX counters_changed ON counters (id) WHERE changed = 1;
`;
