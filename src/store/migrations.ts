/**
 * The schema, one migration per version: `user_version` n means that the first n were run. Never change one that was
 * released; add the next.
 */
export const MIGRATIONS: readonly string[] = [
  `
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
    -- 0: not a fork; 1: a fork whose own part has not begun in its transcript; 2: it has
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

  -- Which session holds the original of a record whose id is unique over sessions; every other one holds a copy
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

  -- Every fact that was counted; the same one never counts again
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
    -- Time of the last point that a backend took, and what it took (for deltas)
    sent_ms REAL,
    sent_value INTEGER,
    sent_histogram TEXT,
    changed INTEGER NOT NULL DEFAULT 1
  );
  CREATE INDEX counters_changed ON counters (id) WHERE changed = 1;
  `,
  `
  -- The session that this one is a subagent of: its facts are kept there
  ALTER TABLE sessions ADD COLUMN parent INTEGER REFERENCES sessions (id);
  CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;

  -- The agent process that told the session's id last; hooks of the same process that tell none belong to it
  ALTER TABLE sessions ADD COLUMN process TEXT;
  CREATE INDEX sessions_by_process ON sessions (source, process) WHERE process IS NOT NULL;

  -- Of calls that hooks and transcripts can join by tool and input alone
  ALTER TABLE tool_calls ADD COLUMN input_digest TEXT;
  CREATE INDEX tool_calls_by_digest ON tool_calls (session, input_digest) WHERE input_digest IS NOT NULL;
  `,
  `
  -- What waits: since when (NULL: not known, the next drain's time stands for it) and how many bytes of record
  ALTER TABLE outbox ADD COLUMN since_ms REAL;
  ALTER TABLE outbox ADD COLUMN bytes INTEGER;
  UPDATE outbox SET bytes = (SELECT length(CAST(record AS BLOB)) FROM spans WHERE spans.seq = outbox.seq);
  CREATE INDEX outbox_suspect ON outbox (seq) WHERE attempts >= 3;
  CREATE INDEX outbox_undated ON outbox (seq) WHERE since_ms IS NULL;

  -- The most that a session's project lets be kept
  ALTER TABLE sessions ADD COLUMN capture TEXT;

  -- Prompts, arguments, results and answers of facts that no closed turn has taken yet; levels below redacted keep none
  CREATE TABLE content (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    fact TEXT NOT NULL,
    part TEXT NOT NULL,
    piece TEXT NOT NULL,
    json INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (session, fact, part, piece)
  );

  -- Names that agents sent and this version does not know, by the version of the agent
  CREATE TABLE drift (
    source TEXT NOT NULL,
    version TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    first_ms REAL NOT NULL,
    last_ms REAL NOT NULL,
    PRIMARY KEY (source, version, kind, name)
  ) WITHOUT ROWID;

  -- Claimed files whose events are committed: should they still be there, they are removed and not taken again
  CREATE TABLE taken (name TEXT PRIMARY KEY) WITHOUT ROWID;

  -- Digests of settled facts that were pruned: what they tell once more is not counted again
  CREATE TABLE forgotten (digest INTEGER PRIMARY KEY);

  -- When a session was pruned; what is left of it is what a resumed one needs
  ALTER TABLE sessions ADD COLUMN pruned_ms REAL;
  CREATE INDEX owners_by_session ON owners (session);

  -- How many series a metric has, asked whenever a new one comes
  CREATE INDEX counters_by_metric ON counters (metric);

  -- What the project that a session runs in asked for: 1, nothing of it is kept; attributes for its spans, as JSON
  ALTER TABLE sessions ADD COLUMN excluded INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN project TEXT;
  `,
  `
  -- Sessions that were imported, are over and have not been sent anywhere: their facts in one value, told apart only when
  -- one of them is asked for. What is asked of many at once stands beside it, summed up per quarter of an hour.
  CREATE TABLE packed (
    session INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    body TEXT NOT NULL
  );
  CREATE TABLE packed_usage (
    session INTEGER NOT NULL REFERENCES packed (session) ON DELETE CASCADE,
    time_ms REAL NOT NULL,
    model TEXT,
    subagent INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    sums_told INTEGER NOT NULL,
    without_usage INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    incomplete INTEGER NOT NULL,
    input INTEGER,
    output INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    cache_write_5m INTEGER,
    cache_write_1h INTEGER,
    reasoning INTEGER,
    cost_nano_usd INTEGER,
    duration_ms REAL NOT NULL
  );
  CREATE INDEX packed_usage_by_session ON packed_usage (session);
  CREATE TABLE packed_tools (
    session INTEGER NOT NULL REFERENCES packed (session) ON DELETE CASCADE,
    time_ms REAL NOT NULL,
    name TEXT NOT NULL,
    mcp_server TEXT,
    subagent INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    denied INTEGER NOT NULL,
    unfinished INTEGER NOT NULL,
    duration_ms REAL NOT NULL
  );
  CREATE INDEX packed_tools_by_session ON packed_tools (session);
  CREATE TABLE packed_turns (
    session INTEGER NOT NULL REFERENCES packed (session) ON DELETE CASCADE,
    time_ms REAL NOT NULL,
    origin TEXT NOT NULL,
    turns INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    interrupted INTEGER NOT NULL
  );
  CREATE INDEX packed_turns_by_session ON packed_turns (session);

  -- Digests of what packed sessions own of records whose id is unique over sessions, sorted, some thousands a row
  CREATE TABLE packed_owners (
    run INTEGER NOT NULL,
    first INTEGER NOT NULL,
    digests BLOB NOT NULL,
    PRIMARY KEY (run, first)
  ) WITHOUT ROWID;

  -- What is settled, in rows of any size: one call, or the sum of a quarter of an hour. A sum is NULL where nobody told it.
  CREATE VIEW usage AS
    SELECT session, end_ms AS time_ms, model, subagent,
      json_extract(body, '$.covers') IS NULL AS calls, json_extract(body, '$.covers') IS NOT NULL AS sums_told,
      input IS NULL AS without_usage, cost_nano_usd IS NULL AS unpriced, complete = 0 AS incomplete,
      input, output, cache_read, cache_write,
      json_extract(body, '$.usage.cacheWrite5m') AS cache_write_5m,
      json_extract(body, '$.usage.cacheWrite1h') AS cache_write_1h,
      json_extract(body, '$.usage.reasoning') AS reasoning, cost_nano_usd,
      max(0, end_ms - json_extract(body, '$.startMs')) AS duration_ms
    FROM model_calls
    UNION ALL SELECT session, time_ms, model, subagent, calls, sums_told, without_usage, unpriced, incomplete,
      input, output, cache_read, cache_write, cache_write_5m, cache_write_1h, reasoning, cost_nano_usd, duration_ms
    FROM packed_usage;
  CREATE VIEW tool_usage AS
    SELECT session, start_ms AS time_ms, name, json_extract(body, '$.mcpServer') AS mcp_server, subagent, 1 AS calls,
      status = 'error' AS errors, status = 'denied' AS denied, status = 'unfinished' AS unfinished,
      max(0, end_ms - start_ms) AS duration_ms
    FROM tool_calls
    UNION ALL SELECT session, time_ms, name, mcp_server, subagent, calls, errors, denied, unfinished, duration_ms
    FROM packed_tools;
  CREATE VIEW turn_usage AS
    SELECT session, start_ms AS time_ms, origin, 1 AS turns, state = 'failed' AS failed,
      state = 'interrupted' AS interrupted
    FROM turns
    UNION ALL SELECT session, time_ms, origin, turns, failed, interrupted FROM packed_turns;
  `,
  `
  -- The subagent that a call started: it can be told of long after the call was settled
  ALTER TABLE tool_calls ADD COLUMN spawned_agent TEXT;
  UPDATE tool_calls SET spawned_agent = json_extract(body, '$.spawnedAgentId') WHERE instr(body, '"spawnedAgentId"') > 0;
  CREATE INDEX tool_calls_by_spawned_agent ON tool_calls (session, spawned_agent) WHERE spawned_agent IS NOT NULL;
  `,
  `
  -- The version of this program that read a packed session: another one may read more of it. NULL: not known
  ALTER TABLE packed ADD COLUMN read_by TEXT;
  CREATE INDEX packed_by_reader ON packed (read_by);
  DELETE FROM meta WHERE key LIKE 'packed.read_by.%';
  `,
  `
  -- What a counter was told too much: sums never go back, so that much of what comes next is in its value already
  ALTER TABLE counters ADD COLUMN owed INTEGER NOT NULL DEFAULT 0;
  `,
];
