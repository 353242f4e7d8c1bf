import { INITIAL_SCHEMA } from "./initial-schema.ts";
import { PRICE_REASONS } from "./migration-price-reasons.ts";

/**
 * The schema, one migration per version: `user_version` n means that the first n were run. Never change a released migration; add
 * another one.
 *
 * The store is the only writer of store.db: every statement that changes it is in this folder. Other code may read it with SQL, and
 * reads totals from the views `usage`, `tool_usage` and `turn_usage`, which cover settled rows and packed history alike. See
 * docs/decisions/0031.
 */
export const MIGRATIONS: readonly string[] = [
  INITIAL_SCHEMA,
  `
  -- The session that this one is a subagent of; its facts are stored there
  ALTER TABLE sessions ADD COLUMN parent INTEGER REFERENCES sessions (id);
  CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;

  -- The agent process that reported the session's id last; its hooks without an id belong to this session
  ALTER TABLE sessions ADD COLUMN process TEXT;
  CREATE INDEX sessions_by_process ON sessions (source, process) WHERE process IS NOT NULL;

  -- For calls that hooks and transcripts can match only by tool and input
  ALTER TABLE tool_calls ADD COLUMN input_digest TEXT;
  CREATE INDEX tool_calls_by_digest ON tool_calls (session, input_digest) WHERE input_digest IS NOT NULL;
  `,
  `
  -- Time of queueing (NULL: not known, the next drain sets its own time), and size of the record in bytes
  ALTER TABLE outbox ADD COLUMN since_ms REAL;
  ALTER TABLE outbox ADD COLUMN bytes INTEGER;
  UPDATE outbox SET bytes = (SELECT length(CAST(record AS BLOB)) FROM spans WHERE spans.seq = outbox.seq);
  CREATE INDEX outbox_suspect ON outbox (seq) WHERE attempts >= 3;
  CREATE INDEX outbox_undated ON outbox (seq) WHERE since_ms IS NULL;

  -- The most that a session's project allows to be kept
  ALTER TABLE sessions ADD COLUMN capture TEXT;

  -- Prompts, arguments, results and answers of unsettled facts; empty at capture levels below redacted
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

  -- Names that agents sent and this version does not know, by version of the agent
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

  -- Claimed files whose events are committed: if they still exist, they are removed and not read again
  CREATE TABLE taken (name TEXT PRIMARY KEY) WITHOUT ROWID;

  -- Digests of settled facts that were pruned: if they are reported again, they are not counted
  CREATE TABLE forgotten (digest INTEGER PRIMARY KEY);

  -- When a session was pruned; what is left of it is needed if it is resumed
  ALTER TABLE sessions ADD COLUMN pruned_ms REAL;
  CREATE INDEX owners_by_session ON owners (session);

  -- For the number of series of a metric, which every new series needs
  CREATE INDEX counters_by_metric ON counters (metric);

  -- Settings of a session's project: excluded = 1, nothing is kept; attributes for its spans, as JSON
  ALTER TABLE sessions ADD COLUMN excluded INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN project TEXT;
  `,
  `
  -- Imported sessions that are over and were not sent: all facts in one value, decoded only when the session is shown. Sums per
  -- quarter of an hour are stored beside it, for questions about many sessions.
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

  -- Digests of the records that packed sessions own, sorted, some thousands per row
  CREATE TABLE packed_owners (
    run INTEGER NOT NULL,
    first INTEGER NOT NULL,
    digests BLOB NOT NULL,
    PRIMARY KEY (run, first)
  ) WITHOUT ROWID;

  -- Everything settled; a row is one call, or the sum of a quarter of an hour. A sum is NULL if it was not reported.
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
  -- The subagent that a call started, which can be reported long after the call was settled
  ALTER TABLE tool_calls ADD COLUMN spawned_agent TEXT;
  UPDATE tool_calls SET spawned_agent = json_extract(body, '$.spawnedAgentId') WHERE instr(body, '"spawnedAgentId"') > 0;
  CREATE INDEX tool_calls_by_spawned_agent ON tool_calls (session, spawned_agent) WHERE spawned_agent IS NOT NULL;
  `,
  `
  -- The version of this program that read a packed session; another version may read more. NULL: not known
  ALTER TABLE packed ADD COLUMN read_by TEXT;
  CREATE INDEX packed_by_reader ON packed (read_by);
  DELETE FROM meta WHERE key LIKE 'packed.read_by.%';
  `,
  `
  -- What was counted too often: sums never decrease, so this much of later increments is already in the value
  ALTER TABLE counters ADD COLUMN owed INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- When the stream last increased, and the session that made it. NULL: before this version, or not by a session
  ALTER TABLE counters ADD COLUMN changed_ms REAL;
  ALTER TABLE counters ADD COLUMN made_by TEXT;
  -- 1: not sent until it increases again, and outside the limit of series. 2: never sent again; its sum stays
  ALTER TABLE counters ADD COLUMN retired INTEGER NOT NULL DEFAULT 0;
  DROP INDEX counters_by_metric;
  CREATE INDEX counters_by_metric ON counters (metric, retired);
  CREATE INDEX counters_by_maker ON counters (made_by, metric) WHERE made_by IS NOT NULL;
  `,
  `
  -- Work on a session that failed; every drain retries it. path: the transcript file, or '' if it concerns the whole session
  CREATE TABLE failures (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    step TEXT NOT NULL,
    path TEXT NOT NULL,
    reason TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    since_ms REAL NOT NULL,
    PRIMARY KEY (session, step, path)
  ) WITHOUT ROWID;
  `,
  `
  -- The agent process of an event without a session id: the event moves to the session that is open in that process
  ALTER TABLE events ADD COLUMN unplaced_process TEXT;
  UPDATE events SET unplaced_process = json_extract(body, '$.extensions.process')
    WHERE settled = 0 AND instr(body, '"minted"') > 0 AND json_valid(body)
      AND json_extract(body, '$.extensions.session_id_origin') = 'minted';
  CREATE INDEX events_by_unplaced_process ON events (unplaced_process)
    WHERE unplaced_process IS NOT NULL AND settled = 0;
  `,
  `
  -- A call of which only input or only output is known is not complete either
  DROP VIEW usage;
  CREATE VIEW usage AS
    SELECT session, end_ms AS time_ms, model, subagent,
      json_extract(body, '$.covers') IS NULL AS calls, json_extract(body, '$.covers') IS NOT NULL AS sums_told,
      input IS NULL OR output IS NULL AS without_usage, cost_nano_usd IS NULL AS unpriced, complete = 0 AS incomplete,
      input, output, cache_read, cache_write,
      json_extract(body, '$.usage.cacheWrite5m') AS cache_write_5m,
      json_extract(body, '$.usage.cacheWrite1h') AS cache_write_1h,
      json_extract(body, '$.usage.reasoning') AS reasoning, cost_nano_usd,
      max(0, end_ms - json_extract(body, '$.startMs')) AS duration_ms
    FROM model_calls
    UNION ALL SELECT session, time_ms, model, subagent, calls, sums_told, without_usage, unpriced, incomplete,
      input, output, cache_read, cache_write, cache_write_5m, cache_write_1h, reasoning, cost_nano_usd, duration_ms
    FROM packed_usage;
  `,
  `
  -- Sums of calls that were settled while their turn or subagent was open. run: kind and key of the open run
  CREATE TABLE open_work (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    run TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, run)
  ) WITHOUT ROWID;
  `,
  `
  -- Digests of counted facts that are not in delivered.log yet
  CREATE TABLE counted_lately (seq INTEGER PRIMARY KEY, digest INTEGER NOT NULL);

  -- Digests of facts that were counted and delivered, and which this store does not know, because an older store was put back
  CREATE TABLE counted_before (digest INTEGER PRIMARY KEY);
  `,
  `
  -- A command of an allowed registration file. failures: in a row; not before: the end of its back-off
  CREATE TABLE bridge_commands (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    command TEXT NOT NULL,
    delivered INTEGER NOT NULL DEFAULT 0,
    dropped INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    not_before_ms REAL NOT NULL DEFAULT 0,
    last_ok_ms REAL,
    last_reason TEXT,
    UNIQUE (path, command)
  );
  -- Envelopes that a command has not accepted yet. started_ms: it was started for this one, and its end is not known
  CREATE TABLE bridge_queue (
    seq INTEGER PRIMARY KEY,
    command INTEGER NOT NULL REFERENCES bridge_commands (id) ON DELETE CASCADE,
    event TEXT NOT NULL,
    time_ms REAL NOT NULL,
    since_ms REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    started_ms REAL,
    UNIQUE (command, event)
  );
  CREATE INDEX bridge_queue_by_time ON bridge_queue (command, time_ms, seq);
  CREATE INDEX bridge_queue_started ON bridge_queue (started_ms) WHERE started_ms IS NOT NULL;
  `,
  `
  -- Of sessions with a local id: the agent's own id; an id that no other session in the world has; and the database that gave the id,
  -- below the home folder if it is there, with the time of the session's creation (NULL: not known)
  ALTER TABLE sessions ADD COLUMN native_id TEXT;
  ALTER TABLE sessions ADD COLUMN identity TEXT;
  ALTER TABLE sessions ADD COLUMN origin_database TEXT;
  ALTER TABLE sessions ADD COLUMN origin_ms REAL;
  CREATE INDEX sessions_by_native_id ON sessions (source, native_id) WHERE native_id IS NOT NULL;
  `,
  `
  -- Processes of agents that worked on a session, where an agent's process runs its hooks. process: pid and start time; host: where they
  -- are valid, empty if unknown; certain = 0: only one kind of event has named it, and it may not be the agent's
  CREATE TABLE session_processes (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    process TEXT NOT NULL,
    host TEXT NOT NULL,
    first_event TEXT NOT NULL,
    certain INTEGER NOT NULL,
    first_ms REAL NOT NULL,
    last_ms REAL NOT NULL,
    PRIMARY KEY (session, process, host)
  ) WITHOUT ROWID;

  -- The process with which the segment begins, from session_processes
  ALTER TABLE segments ADD COLUMN process TEXT;
  `,
  `
  -- Repositories in which sessions worked. key: the remote's address, otherwise the git directory. git_dir: local, never sent
  CREATE TABLE repositories (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT,
    url TEXT,
    git_dir TEXT
  );
  ALTER TABLE sessions ADD COLUMN repository_id INTEGER REFERENCES repositories (id);

  -- Commits of sessions, from the entries of kind commit; see model/changes.ts. Only ids
  CREATE TABLE commits (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    time_ms REAL NOT NULL,
    certainty TEXT NOT NULL,
    how TEXT NOT NULL,
    kind TEXT,
    replaces TEXT,
    call_id TEXT,
    agent_id TEXT,
    branch TEXT,
    -- 1: perhaps in another repository than the session's
    elsewhere INTEGER NOT NULL,
    -- 1: it is in the counters
    counted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;
  CREATE INDEX commits_by_id ON commits (commit_id);
  CREATE INDEX commits_by_time ON commits (session, time_ms);
  CREATE INDEX commits_uncounted ON commits (session) WHERE counted = 0;

  -- Pull requests, issues, tickets and branches of sessions, from the entries of kind change
  CREATE TABLE changes (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    change_id TEXT NOT NULL,
    time_ms REAL NOT NULL,
    certainty TEXT NOT NULL,
    how TEXT NOT NULL,
    created INTEGER NOT NULL,
    url TEXT,
    branch TEXT,
    call_id TEXT,
    agent_id TEXT,
    elsewhere INTEGER NOT NULL,
    counted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;
  CREATE INDEX changes_by_id ON changes (kind, change_id);
  CREATE INDEX changes_by_time ON changes (session, time_ms);
  CREATE INDEX changes_uncounted ON changes (session) WHERE counted = 0;
  `,
  `
  -- What became of commits, one row per commit; see model/outcomes.ts. lines_1: of the written lines those that were there a day after
  -- the commit reached the default branch
  CREATE TABLE commit_outcomes (
    repository INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    commit_id TEXT NOT NULL,
    checked_ms REAL NOT NULL,
    full_id TEXT,
    fate TEXT NOT NULL,
    reason TEXT,
    rewritten_by TEXT,
    rewritten_how TEXT,
    reverted_by TEXT,
    landed_ms REAL,
    lines_written INTEGER,
    lines_now INTEGER,
    lines_1 INTEGER,
    lines_7 INTEGER,
    lines_30 INTEGER,
    attested TEXT,
    PRIMARY KEY (repository, commit_id)
  ) WITHOUT ROWID;
  `,
  // The CI job that ran the agent last: resource attributes as JSON
  "ALTER TABLE sessions ADD COLUMN pipeline TEXT;",
  `
  -- counted: 1, counted as inferred; 2, as observed. A commit can become observed after it was counted
  DROP INDEX commits_uncounted;
  CREATE INDEX commits_uncounted ON commits (session) WHERE counted = 0 OR (counted = 1 AND certainty = 'observed');

  -- When the commit that took another one back reached the default branch
  ALTER TABLE commit_outcomes ADD COLUMN reverted_ms REAL;
  `,
  `
  -- The commit whose message has a trailer with the change
  ALTER TABLE changes ADD COLUMN commit_id TEXT;
  `,
  `
  -- The latest span of a turn or subagent, to which its late parts belong. NULL: written by an earlier version
  ALTER TABLE turns ADD COLUMN span_key TEXT; ALTER TABLE turns ADD COLUMN span_segment INTEGER;
  ALTER TABLE subagents ADD COLUMN span_key TEXT; ALTER TABLE subagents ADD COLUMN span_segment INTEGER;
  `,
  // The pull request that the commit names which brought it to the default branch: #12, !12
  "ALTER TABLE commit_outcomes ADD COLUMN landing_pull TEXT;",
  PRICE_REASONS,
];
