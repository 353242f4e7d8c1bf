import { CHANGES_SCHEMA } from "./schema-changes.ts";
import { HISTORY_SCHEMA } from "./schema-history.ts";

/**
 * The tables, indexes and views of a new store, before the migrations. Never change it once it is released; see `MIGRATIONS`.
 *
 * The store is the only writer of store.db: every statement that changes it is in this folder. Other code may read it with SQL, and
 * reads totals from the views `usage`, `tool_usage` and `turn_usage`, which cover settled rows and packed history alike. See
 * docs/decisions/0031.
 */
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
    -- The session that this one is a subagent of; its facts are stored there
    parent INTEGER REFERENCES sessions (id),
    -- The agent process that reported the session's id last; its hooks without an id belong to this session
    process TEXT,
    -- The most that a session's project allows to be kept
    capture TEXT,
    -- When a session was pruned; what is left of it is needed if it is resumed
    pruned_ms REAL,
    -- Settings of a session's project: excluded = 1, nothing is kept; attributes for its spans, as JSON
    excluded INTEGER NOT NULL DEFAULT 0,
    project TEXT,
    -- Of sessions with a local id: the agent's own id; an id that no other session in the world has; and the database that gave the id,
    -- below the home folder if it is there, with the time of the session's creation (NULL: not known)
    native_id TEXT,
    identity TEXT,
    origin_database TEXT,
    origin_ms REAL,
    repository_id INTEGER REFERENCES repositories (id),
    -- The CI job that ran the agent last: resource attributes as JSON
    pipeline TEXT,
    UNIQUE (source, session_id)
  );
  CREATE INDEX sessions_recent ON sessions (last_ms);
  CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
  CREATE INDEX sessions_by_process ON sessions (source, process) WHERE process IS NOT NULL;
  CREATE INDEX sessions_by_native_id ON sessions (source, native_id) WHERE native_id IS NOT NULL;

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
    -- The process with which the segment begins, from session_processes
    process TEXT,
    PRIMARY KEY (session, ordinal)
  ) WITHOUT ROWID;
  CREATE INDEX segments_open ON segments (session) WHERE delivered = 0;

  CREATE TABLE events (
    id TEXT PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id),
    type TEXT NOT NULL,
    time_ms REAL NOT NULL,
    body TEXT NOT NULL,
    settled INTEGER NOT NULL DEFAULT 0,
    -- The agent process of an event without a session id: the event moves to the session that is open in that process
    unplaced_process TEXT
  ) WITHOUT ROWID;
  CREATE INDEX events_open ON events (session) WHERE settled = 0;
  CREATE INDEX events_by_session ON events (session, time_ms);
  CREATE INDEX events_by_unplaced_process ON events (unplaced_process)
    WHERE unplaced_process IS NOT NULL AND settled = 0;

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
  CREATE INDEX owners_by_session ON owners (session);

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
    -- The latest span of a turn or subagent, to which its late parts belong. NULL: late parts of a turn that was pruned
    span_key TEXT,
    span_segment INTEGER,
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
    span_key TEXT,
    span_segment INTEGER,
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
    -- Why the cost of a call is unknown, or a lower bound: NoPrice in core/model/price-list.ts
    no_price TEXT,
    -- Of a sum over several calls: their number; NULL: not reported. In the view, a sum without it is one record in sums_told
    covered_calls INTEGER,
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
    -- For calls that hooks and transcripts can match only by tool and input
    input_digest TEXT,
    -- The subagent that a call started, which can be reported long after the call was settled
    spawned_agent TEXT,
    PRIMARY KEY (session, call_id)
  ) WITHOUT ROWID;
  CREATE INDEX tool_calls_by_digest ON tool_calls (session, input_digest) WHERE input_digest IS NOT NULL;
  CREATE INDEX tool_calls_by_spawned_agent ON tool_calls (session, spawned_agent) WHERE spawned_agent IS NOT NULL;

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
    attempts INTEGER NOT NULL DEFAULT 0,
    -- Time of queueing (NULL: not known, the next drain sets its own time), and size of the record in bytes
    since_ms REAL,
    bytes INTEGER
  );
  CREATE INDEX outbox_suspect ON outbox (seq) WHERE attempts >= 3;
  CREATE INDEX outbox_undated ON outbox (seq) WHERE since_ms IS NULL;

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
    changed INTEGER NOT NULL DEFAULT 1,
    -- What was counted too often: sums never decrease, so this much of later increments is already in the value
    owed INTEGER NOT NULL DEFAULT 0,
    -- When the stream last increased, and the session that made it. NULL: not by a session
    changed_ms REAL,
    made_by TEXT,
    -- 1: not sent until it increases again, and outside the limit of series. 2: never sent again; its sum stays
    retired INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX counters_changed ON counters (id) WHERE changed = 1;
  -- For the number of series of a metric, which every new series needs
  CREATE INDEX counters_by_metric ON counters (metric, retired);
  CREATE INDEX counters_by_maker ON counters (made_by, metric) WHERE made_by IS NOT NULL;

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
${HISTORY_SCHEMA}
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

  -- Sums of calls that were settled while their turn or subagent was open. run: kind and key of the open run
  CREATE TABLE open_work (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    run TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, run)
  ) WITHOUT ROWID;

  -- Digests of counted facts that are not in delivered.log yet
  CREATE TABLE counted_lately (seq INTEGER PRIMARY KEY, digest INTEGER NOT NULL);

  -- Digests of facts that were counted and delivered, and which this store does not know, because an older store was put back
  CREATE TABLE counted_before (digest INTEGER PRIMARY KEY);

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
${CHANGES_SCHEMA}`;
