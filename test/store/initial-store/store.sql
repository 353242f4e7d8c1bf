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
    last_ms REAL NOT NULL, parent INTEGER REFERENCES sessions (id), process TEXT, capture TEXT, pruned_ms REAL, excluded INTEGER NOT NULL DEFAULT 0, project TEXT, native_id TEXT, identity TEXT, origin_database TEXT, origin_ms REAL, repository_id INTEGER REFERENCES repositories (id), pipeline TEXT,
    UNIQUE (source, session_id)
  );
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
    delivered INTEGER NOT NULL DEFAULT 0, process TEXT,
    PRIMARY KEY (session, ordinal)
  ) WITHOUT ROWID;
CREATE TABLE events (
    id TEXT PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id),
    type TEXT NOT NULL,
    time_ms REAL NOT NULL,
    body TEXT NOT NULL,
    settled INTEGER NOT NULL DEFAULT 0
  , unplaced_process TEXT) WITHOUT ROWID;
CREATE TABLE entries (
    session INTEGER NOT NULL REFERENCES sessions (id),
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    time_ms REAL NOT NULL,
    body TEXT NOT NULL,
    settled INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;
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
    parts INTEGER NOT NULL, span_key TEXT, span_segment INTEGER,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;
CREATE TABLE subagents (
    session INTEGER NOT NULL REFERENCES sessions (id),
    agent_id TEXT NOT NULL,
    agent_type TEXT,
    segment INTEGER NOT NULL,
    turn_key TEXT,
    parent_call_id TEXT,
    start_ms REAL NOT NULL,
    end_ms REAL NOT NULL,
    parts INTEGER NOT NULL, span_key TEXT, span_segment INTEGER,
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
    body TEXT NOT NULL, no_price TEXT, covered_calls INTEGER,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;
CREATE TABLE tool_calls (
    session INTEGER NOT NULL REFERENCES sessions (id),
    call_id TEXT NOT NULL,
    segment INTEGER NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    subagent INTEGER NOT NULL,
    start_ms REAL NOT NULL,
    end_ms REAL NOT NULL,
    body TEXT NOT NULL, input_digest TEXT, spawned_agent TEXT,
    PRIMARY KEY (session, call_id)
  ) WITHOUT ROWID;
CREATE TABLE spans (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES sessions (id),
    segment INTEGER NOT NULL,
    record TEXT NOT NULL
  );
CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY REFERENCES spans (seq),
    attempts INTEGER NOT NULL DEFAULT 0
  , since_ms REAL, bytes INTEGER);
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
  , owed INTEGER NOT NULL DEFAULT 0, changed_ms REAL, made_by TEXT, retired INTEGER NOT NULL DEFAULT 0);
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
CREATE TABLE taken (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE forgotten (digest INTEGER PRIMARY KEY);
CREATE TABLE packed (
    session INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    body TEXT NOT NULL
  , read_by TEXT);
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
  , no_price TEXT, unpriced_calls TEXT);
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
CREATE TABLE packed_turns (
    session INTEGER NOT NULL REFERENCES packed (session) ON DELETE CASCADE,
    time_ms REAL NOT NULL,
    origin TEXT NOT NULL,
    turns INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    interrupted INTEGER NOT NULL
  );
CREATE TABLE packed_owners (
    run INTEGER NOT NULL,
    first INTEGER NOT NULL,
    digests BLOB NOT NULL,
    PRIMARY KEY (run, first)
  ) WITHOUT ROWID;
CREATE TABLE failures (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    step TEXT NOT NULL,
    path TEXT NOT NULL,
    reason TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    since_ms REAL NOT NULL,
    PRIMARY KEY (session, step, path)
  ) WITHOUT ROWID;
CREATE TABLE open_work (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    run TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, run)
  ) WITHOUT ROWID;
CREATE TABLE counted_lately (seq INTEGER PRIMARY KEY, digest INTEGER NOT NULL);
CREATE TABLE counted_before (digest INTEGER PRIMARY KEY);
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
CREATE TABLE repositories (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT,
    url TEXT,
    git_dir TEXT
  );
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
    counted INTEGER NOT NULL DEFAULT 0, commit_id TEXT,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;
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
    attested TEXT, reverted_ms REAL, landing_pull TEXT,
    PRIMARY KEY (repository, commit_id)
  ) WITHOUT ROWID;
CREATE INDEX sessions_recent ON sessions (last_ms);
CREATE INDEX segments_open ON segments (session) WHERE delivered = 0;
CREATE INDEX events_open ON events (session) WHERE settled = 0;
CREATE INDEX events_by_session ON events (session, time_ms);
CREATE INDEX entries_open ON entries (session) WHERE settled = 0;
CREATE INDEX positions_by_session ON positions (session);
CREATE INDEX turns_by_start ON turns (session, start_ms);
CREATE INDEX model_calls_by_time ON model_calls (end_ms);
CREATE INDEX spans_by_session ON spans (session, segment);
CREATE INDEX counters_changed ON counters (id) WHERE changed = 1;
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_by_process ON sessions (source, process) WHERE process IS NOT NULL;
CREATE INDEX tool_calls_by_digest ON tool_calls (session, input_digest) WHERE input_digest IS NOT NULL;
CREATE INDEX outbox_suspect ON outbox (seq) WHERE attempts >= 3;
CREATE INDEX outbox_undated ON outbox (seq) WHERE since_ms IS NULL;
CREATE INDEX owners_by_session ON owners (session);
CREATE INDEX packed_usage_by_session ON packed_usage (session);
CREATE INDEX packed_tools_by_session ON packed_tools (session);
CREATE INDEX packed_turns_by_session ON packed_turns (session);
CREATE INDEX tool_calls_by_spawned_agent ON tool_calls (session, spawned_agent) WHERE spawned_agent IS NOT NULL;
CREATE INDEX packed_by_reader ON packed (read_by);
CREATE INDEX counters_by_metric ON counters (metric, retired);
CREATE INDEX counters_by_maker ON counters (made_by, metric) WHERE made_by IS NOT NULL;
CREATE INDEX events_by_unplaced_process ON events (unplaced_process)
    WHERE unplaced_process IS NOT NULL AND settled = 0;
CREATE INDEX bridge_queue_by_time ON bridge_queue (command, time_ms, seq);
CREATE INDEX bridge_queue_started ON bridge_queue (started_ms) WHERE started_ms IS NOT NULL;
CREATE INDEX sessions_by_native_id ON sessions (source, native_id) WHERE native_id IS NOT NULL;
CREATE INDEX commits_by_id ON commits (commit_id);
CREATE INDEX commits_by_time ON commits (session, time_ms);
CREATE INDEX changes_by_id ON changes (kind, change_id);
CREATE INDEX changes_by_time ON changes (session, time_ms);
CREATE INDEX changes_uncounted ON changes (session) WHERE counted = 0;
CREATE INDEX commits_uncounted ON commits (session) WHERE counted = 0 OR (counted = 1 AND certainty = 'observed');
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
CREATE VIEW usage AS
  SELECT session, end_ms AS time_ms, model, subagent,
    coalesce(covered_calls, json_extract(body, '$.covers') IS NULL) AS calls,
    covered_calls IS NULL AND json_extract(body, '$.covers') IS NOT NULL AS sums_told,
    coalesce(covered_calls, 1) * (input IS NULL OR output IS NULL) AS without_usage,
    coalesce(covered_calls, 1) * (cost_nano_usd IS NULL OR no_price IS NOT NULL) AS unpriced,
    coalesce(covered_calls, 1) * (complete = 0) AS incomplete, input, output, cache_read, cache_write,
    json_extract(body, '$.usage.cacheWrite5m') AS cache_write_5m,
    json_extract(body, '$.usage.cacheWrite1h') AS cache_write_1h,
    json_extract(body, '$.usage.reasoning') AS reasoning, cost_nano_usd,
    max(0, end_ms - json_extract(body, '$.startMs')) AS duration_ms, no_price
  FROM model_calls
  UNION ALL SELECT session, time_ms, model, subagent, calls, sums_told, without_usage, unpriced, incomplete,
    input, output, cache_read, cache_write, cache_write_5m, cache_write_1h, reasoning, cost_nano_usd, duration_ms, no_price
  FROM packed_usage;
INSERT INTO meta VALUES ('capture.level', 'metadata');
INSERT INTO meta VALUES ('capture.remnants', '0');
INSERT INTO meta VALUES ('drain.took_ms', '146');
INSERT INTO meta VALUES ('drift.version', '0.1.0');
INSERT INTO meta VALUES ('events', '6');
INSERT INTO meta VALUES ('instance.id', '14cb97ef-faa4-4a49-8fb2-e0f8113d33cd');
INSERT INTO meta VALUES ('last_drain', '{"atMs":1795934103262,"files":8,"events":6,"ignored":2,"quarantined":0,"left":0,"transcriptLinesUnreadable":0,"spans":5,"sent":0,"rejected":0,"dropped":0,"waiting":5,"metricsSent":false,"hasDestination":false,"problems":[]}');
INSERT INTO meta VALUES ('metrics.labels', '{}');
INSERT INTO meta VALUES ('packed.projects_ms', '1795934102759');
INSERT INTO meta VALUES ('prices.tried', 'genai-prices/0.1.8; 0.1.0; ');
INSERT INTO meta VALUES ('prune.last_ms', '1795934102770');
INSERT INTO meta VALUES ('quarantine.retried', '{"version":"0.1.0","sources":"amp antigravity auggie claude-code cli-wrapper cline codex copilot copilot-vscode crush cursor droid gemini-cli goose grok hook-contract kilo kimi kiro opencode openhands openhook pi qwen-code vibe windsurf","after":"","isDone":true,"converted":0}');
INSERT INTO meta VALUES ('redaction.rules', '200c8d3675146bc88ae405158ff791ab628f86a6b423d68841ede112bdea87b7');
INSERT INTO meta VALUES ('store.checked_ms', '1795934103137');
INSERT INTO sessions VALUES (1, 'codex', '01a1fca1-566b-7c61-9753-b0bc1de1bc07', '/home/dev2/acme-shop', '/home/dev/.codex/sessions/2026/11/21/rollout-2026-11-21T05-43-14-01a1fca1-566b-7c61-9753-b0bc1de1bc07.jsonl', '0.169.0', NULL, NULL, NULL, 0, 1795239794448, 1795239794789, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO sessions VALUES (2, 'claude-code', '1989bcb3-7aa5-4b16-b591-43dca3a46730', '/home/dev/acme-shop', '/home/dev/.claude/projects/-home-dev-acme-shop/1989bcb3-7aa5-4b16-b591-43dca3a46730.jsonl', '2.1.329', 'main', NULL, '{"claude-sonnet-4-5-20250929":{"input":14368,"output":149,"cacheRead":7000,"cacheWrite":7350,"costUsd":0.0319515},"claude-haiku-5-5":{"input":10547,"output":124,"cacheRead":6820,"cacheWrite":3710,"costUsd":0.00059565}}', 0, 1795241424525, 1795241425771, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO sessions VALUES (3, 'claude-code', '864a3682-ec9e-44b3-8211-50bb5c63aa9d', '/home/dev/acme-shop', '/home/dev/.claude/projects/-home-dev-acme-shop/864a3682-ec9e-44b3-8211-50bb5c63aa9d.jsonl', '2.1.329', 'main', NULL, NULL, 0, 1795240540569, 1795240540884, NULL, '3449', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO segments VALUES (1, 0, 1795239794448, 1795239794724, 'completed', 'idle', NULL, 1795239794724, '{"turns":1,"subagents":0,"modelCalls":3,"toolCalls":3,"callsWithUsage":3,"incompleteCalls":0,"costNanoUsd":33548000,"pricedCalls":3,"unpricedCalls":0,"compactions":0,"input":15100,"output":80,"cacheRead":9856,"cacheWrite":0,"firstMs":1795239794448,"lastMs":1795239794789,"workMs":341}', 1, NULL);
INSERT INTO segments VALUES (2, 0, 1795241424525, 1795241425771, 'timeout', 'idle', NULL, 1795241425771, '{"turns":1,"subagents":1,"modelCalls":5,"toolCalls":3,"callsWithUsage":5,"incompleteCalls":0,"costNanoUsd":31951500,"pricedCalls":2,"unpricedCalls":3,"compactions":0,"input":24915,"output":273,"cacheRead":13820,"cacheWrite":11060,"firstMs":1795241424525,"lastMs":1795241425771,"reported":{"claude-sonnet-4-5-20250929":{"input":14368,"output":149,"cacheRead":7000,"cacheWrite":7350,"costUsd":0.0319515},"claude-haiku-5-5":{"input":10547,"output":124,"cacheRead":6820,"cacheWrite":3710,"costUsd":0.00059565}},"workMs":1246}', 1, NULL);
INSERT INTO segments VALUES (3, 0, 1795240540569, 1795240540884, 'timeout', 'idle', 'startup', 1795240540884, '{"turns":1,"subagents":0,"modelCalls":2,"toolCalls":1,"callsWithUsage":2,"incompleteCalls":0,"costNanoUsd":22098000,"pricedCalls":2,"unpricedCalls":0,"compactions":0,"input":10176,"output":80,"cacheRead":5000,"cacheWrite":5160,"firstMs":1795240540641,"lastMs":1795240540884}', 1, NULL);
INSERT INTO events VALUES ('15e29a5f-9004-561c-a011-3ba83f3e560d', 3, 'tool.end', 1795240540796, '{"type":"tool.end","openhook":"0.1","id":"15e29a5f-9004-561c-a011-3ba83f3e560d","source":"claude-code","time":"2026-11-21T05:55:40.796Z","session_id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d","cwd":"/home/dev/acme-shop","extensions":{"native_event":"PostToolUse","prompt_id":"700bb7f3-4e37-46dd-949e-36e5a4132c1e","transcript_path":"/home/dev/.claude/projects/-home-dev-acme-shop/864a3682-ec9e-44b3-8211-50bb5c63aa9d.jsonl","permission_mode":"bypassPermissions","payload_bytes":619,"process":"3449","executable":"cat"},"data":{"tool_name":"Bash","tool_call_id":"toolu_01mvMms5mswGPDoP6cwnpJy6","status":"success","duration_ms":28}}', 1, NULL);
INSERT INTO events VALUES ('4832662f-d96b-5763-abbc-70e19c161d7e', 3, 'tool.batch', 1795240540820, '{"type":"tool.batch","id":"4832662f-d96b-5763-abbc-70e19c161d7e","source":"claude-code","time":"2026-11-21T05:55:40.820Z","session_id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d","cwd":"/home/dev/acme-shop","extensions":{"native_event":"PostToolBatch","prompt_id":"700bb7f3-4e37-46dd-949e-36e5a4132c1e","transcript_path":"/home/dev/.claude/projects/-home-dev-acme-shop/864a3682-ec9e-44b3-8211-50bb5c63aa9d.jsonl","permission_mode":"bypassPermissions","payload_bytes":537,"process":"3449","tool_call_ids":["toolu_01mvMms5mswGPDoP6cwnpJy6"]}}', 1, NULL);
INSERT INTO events VALUES ('5b4e29c2-0271-522e-a398-1e813802706e', 3, 'tool.start', 1795240540736, '{"type":"tool.start","openhook":"0.1","id":"5b4e29c2-0271-522e-a398-1e813802706e","source":"claude-code","time":"2026-11-21T05:55:40.736Z","session_id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d","cwd":"/home/dev/acme-shop","extensions":{"native_event":"PreToolUse","prompt_id":"700bb7f3-4e37-46dd-949e-36e5a4132c1e","transcript_path":"/home/dev/.claude/projects/-home-dev-acme-shop/864a3682-ec9e-44b3-8211-50bb5c63aa9d.jsonl","permission_mode":"bypassPermissions","payload_bytes":446,"process":"3449","executable":"cat"},"data":{"tool_name":"Bash","tool_call_id":"toolu_01mvMms5mswGPDoP6cwnpJy6"}}', 1, NULL);
INSERT INTO events VALUES ('5bc68084-fe35-5218-9d1f-66105fef733a', 3, 'turn.end', 1795240540884, '{"type":"turn.end","id":"5bc68084-fe35-5218-9d1f-66105fef733a","source":"claude-code","time":"2026-11-21T05:55:40.884Z","session_id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d","cwd":"/home/dev/acme-shop","extensions":{"native_event":"Stop","prompt_id":"700bb7f3-4e37-46dd-949e-36e5a4132c1e","transcript_path":"/home/dev/.claude/projects/-home-dev-acme-shop/864a3682-ec9e-44b3-8211-50bb5c63aa9d.jsonl","permission_mode":"bypassPermissions","payload_bytes":417,"process":"3449","background_count":0}}', 1, NULL);
INSERT INTO events VALUES ('7623f493-0e1a-53da-9fc5-50995bb41195', 3, 'prompt.submit', 1795240540641, '{"type":"prompt.submit","openhook":"0.1","id":"7623f493-0e1a-53da-9fc5-50995bb41195","source":"claude-code","time":"2026-11-21T05:55:40.641Z","session_id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d","cwd":"/home/dev/acme-shop","extensions":{"native_event":"UserPromptSubmit","prompt_id":"700bb7f3-4e37-46dd-949e-36e5a4132c1e","transcript_path":"/home/dev/.claude/projects/-home-dev-acme-shop/864a3682-ec9e-44b3-8211-50bb5c63aa9d.jsonl","permission_mode":"bypassPermissions","payload_bytes":366,"process":"3449","prompt_origin":"human"},"data":{"prompt_length":37}}', 1, NULL);
INSERT INTO events VALUES ('e046f032-44ee-580e-97e7-94622b692d55', 3, 'session.start', 1795240540569, '{"type":"session.start","openhook":"0.1","id":"e046f032-44ee-580e-97e7-94622b692d55","source":"claude-code","time":"2026-11-21T05:55:40.569Z","session_id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d","cwd":"/home/dev/acme-shop","extensions":{"native_event":"SessionStart","transcript_path":"/home/dev/.claude/projects/-home-dev-acme-shop/864a3682-ec9e-44b3-8211-50bb5c63aa9d.jsonl","payload_bytes":243,"process":"3449","start_origin":"startup"},"data":{}}', 1, NULL);
INSERT INTO entries VALUES (3, 'change:branch@1795240540620:change:branch:4ynes8ux6', 'change', 1795240480620.5, '{"kind":"change","key":"change:branch@1795240540620:change:branch:4ynes8ux6","timeMs":1795240480620.5,"changeKind":"branch","change":"main","certainty":"observed","how":"transcript"}', 1);
INSERT INTO entries VALUES (3, 'prompt:7fa1fb81-8327-4ea4-8512-45636ecd4a96', 'prompt', 1795240540620, '{"kind":"prompt","key":"prompt:7fa1fb81-8327-4ea4-8512-45636ecd4a96","timeMs":1795240540620,"globalKey":"prompt:7fa1fb81-8327-4ea4-8512-45636ecd4a96","promptKey":"700bb7f3-4e37-46dd-949e-36e5a4132c1e","origin":"human","length":37}', 1);
INSERT INTO entries VALUES (3, 'response:msg_01i8Pakbf4dniUHDZQTRoHAb:req_0179cV1jtNnJy4AfBz3aaDco', 'model_call', 1795240540847, '{"kind":"model_call","key":"response:msg_01i8Pakbf4dniUHDZQTRoHAb:req_0179cV1jtNnJy4AfBz3aaDco","timeMs":1795240540847,"globalKey":"response:msg_01i8Pakbf4dniUHDZQTRoHAb:req_0179cV1jtNnJy4AfBz3aaDco","promptKey":"700bb7f3-4e37-46dd-949e-36e5a4132c1e","responseId":"msg_01i8Pakbf4dniUHDZQTRoHAb","requestId":"req_0179cV1jtNnJy4AfBz3aaDco","model":"claude-sonnet-4-5-20250929","requestedModel":"claude-sonnet-4-5-20250929","startMs":1795240540845,"endMs":1795240540847,"usage":{"input":5165,"output":14,"cacheRead":5000,"cacheWrite":160,"cacheWrite5m":160,"cacheWrite1h":0,"reasoning":0},"complete":true,"finishReason":"end_turn"}', 1);
INSERT INTO entries VALUES (3, 'response:msg_01pT7gJzSJUifQSPhLsay8eE:req_013DPbbqgq8p1SbggfVpCxRh', 'model_call', 1795240540707, '{"kind":"model_call","key":"response:msg_01pT7gJzSJUifQSPhLsay8eE:req_013DPbbqgq8p1SbggfVpCxRh","timeMs":1795240540707,"globalKey":"response:msg_01pT7gJzSJUifQSPhLsay8eE:req_013DPbbqgq8p1SbggfVpCxRh","promptKey":"700bb7f3-4e37-46dd-949e-36e5a4132c1e","responseId":"msg_01pT7gJzSJUifQSPhLsay8eE","requestId":"req_013DPbbqgq8p1SbggfVpCxRh","model":"claude-sonnet-4-5-20250929","requestedModel":"claude-sonnet-4-5-20250929","startMs":1795240540702,"endMs":1795240540707,"usage":{"input":5011,"output":66,"cacheRead":0,"cacheWrite":5000,"cacheWrite5m":5000,"cacheWrite1h":0,"reasoning":0},"complete":true,"finishReason":"tool_use","asksForTools":true}', 1);
INSERT INTO entries VALUES (3, 'result:toolu_01mvMms5mswGPDoP6cwnpJy6', 'tool_result', 1795240540800, '{"kind":"tool_result","key":"result:toolu_01mvMms5mswGPDoP6cwnpJy6","timeMs":1795240540800,"globalKey":"result:toolu_01mvMms5mswGPDoP6cwnpJy6","promptKey":"700bb7f3-4e37-46dd-949e-36e5a4132c1e","callId":"toolu_01mvMms5mswGPDoP6cwnpJy6","status":"success"}', 1);
INSERT INTO entries VALUES (3, 'use:toolu_01mvMms5mswGPDoP6cwnpJy6', 'tool_use', 1795240540707, '{"kind":"tool_use","key":"use:toolu_01mvMms5mswGPDoP6cwnpJy6","timeMs":1795240540707,"globalKey":"use:toolu_01mvMms5mswGPDoP6cwnpJy6","promptKey":"700bb7f3-4e37-46dd-949e-36e5a4132c1e","callId":"toolu_01mvMms5mswGPDoP6cwnpJy6","name":"Bash","executable":"cat"}', 1);
INSERT INTO owners VALUES ('claude-code', 'prompt:7fa1fb81-8327-4ea4-8512-45636ecd4a96', 3);
INSERT INTO owners VALUES ('claude-code', 'response:msg_01i8Pakbf4dniUHDZQTRoHAb:req_0179cV1jtNnJy4AfBz3aaDco', 3);
INSERT INTO owners VALUES ('claude-code', 'response:msg_01pT7gJzSJUifQSPhLsay8eE:req_013DPbbqgq8p1SbggfVpCxRh', 3);
INSERT INTO owners VALUES ('claude-code', 'result:toolu_01mvMms5mswGPDoP6cwnpJy6', 3);
INSERT INTO owners VALUES ('claude-code', 'use:toolu_01mvMms5mswGPDoP6cwnpJy6', 3);
INSERT INTO positions VALUES ('/home/dev/.claude/projects/-home-dev-acme-shop/1989bcb3-7aa5-4b16-b591-43dca3a46730.jsonl', 2, 20996, '{"state":{"timeMs":1795241425819,"promptKey":"9b640831-642c-407c-b64b-c3931d934f95","inputMs":1795241425731,"requests":{"eb09e3bb-ddf4-4aaa-b084-c40e59055236":1795241424601,"2415ccd0-f11f-4f8f-994e-4c866ca344bc":1795241425768},"facts":"1555decf2c959260","version":"2.1.329","answer":{"id":"msg_01APPx5PbDmEPRBo3ydCp4Xe","requestId":"req_01KFLrusZWj7XF8Hu3DW59ZZ","usage":{"input":7355,"output":29,"cacheRead":7000,"cacheWrite":350,"cacheWrite5m":350,"cacheWrite1h":0,"reasoning":0}},"requestOf":[{"id":"msg_01HYAt2r4qyZGHeXTZUSN5u4","requestId":"req_01JMWUu6oNPBRgT7Q1RdoxWH"},{"id":"msg_01APPx5PbDmEPRBo3ydCp4Xe","requestId":"req_01KFLrusZWj7XF8Hu3DW59ZZ"}]},"fingerprint":"f5d0bb5baab8051a.cde2375348d03445"}', 20996, 1795934102777.8203, 0);
INSERT INTO positions VALUES ('/home/dev/.claude/projects/-home-dev-acme-shop/1989bcb3-7aa5-4b16-b591-43dca3a46730/subagents/agent-a673d14fe4f34d7f7.jsonl', 2, 21270, '{"state":{"timeMs":1795241425652,"inputMs":1795241425610,"requests":{"fdf9ed41-7ff7-463b-ba8d-998af54e2983":1795241424721,"6f431c06-c232-45b2-a929-b6746a677657":1795241425552,"269ec261-848a-4cb9-b4ba-0f32d80f0d79":1795241425648},"answer":{"id":"msg_01UxpMWEYQdWSbGVinYx3iZj","requestId":"req_01tAucSCPNAY7BoNtjGkXQvB","usage":{"input":3714,"output":21,"cacheRead":3520,"cacheWrite":190,"cacheWrite5m":190,"cacheWrite1h":0,"reasoning":0}},"requestOf":[{"id":"msg_01DBfNF5iDMuymTv4q1MPxsV","requestId":"req_01iJLiGp71dYwjzmzxf1NovG"},{"id":"msg_01W77QRTAfPeYV5j1jkdPr4v","requestId":"req_01opRGKc6ri2uhPBmuaco1YN"},{"id":"msg_01UxpMWEYQdWSbGVinYx3iZj","requestId":"req_01tAucSCPNAY7BoNtjGkXQvB"}]},"fingerprint":"3300664631f05d86.f19fea84dd5afba9"}', 21270, 1795934102777.8203, 0);
INSERT INTO positions VALUES ('/home/dev/.claude/projects/-home-dev-acme-shop/864a3682-ec9e-44b3-8211-50bb5c63aa9d.jsonl', 3, 15960, '{"state":{"timeMs":1795240540847,"promptKey":"700bb7f3-4e37-46dd-949e-36e5a4132c1e","inputMs":1795240540800,"requests":{"120581f1-e256-48ad-8f9a-887a7f8c1278":1795240540702,"d7ee5035-ae3e-4086-bfce-2b0f8b3dcd3b":1795240540845},"facts":"1555decf2c959260","version":"2.1.329","answer":{"id":"msg_01i8Pakbf4dniUHDZQTRoHAb","requestId":"req_0179cV1jtNnJy4AfBz3aaDco","usage":{"input":5165,"output":14,"cacheRead":5000,"cacheWrite":160,"cacheWrite5m":160,"cacheWrite1h":0,"reasoning":0}},"requestOf":[{"id":"msg_01pT7gJzSJUifQSPhLsay8eE","requestId":"req_013DPbbqgq8p1SbggfVpCxRh"},{"id":"msg_01i8Pakbf4dniUHDZQTRoHAb","requestId":"req_0179cV1jtNnJy4AfBz3aaDco"}]},"fingerprint":"4916332c52d2debb.da59392c3d7ac57a"}', 15960, 1795934102965.8203, 0);
INSERT INTO positions VALUES ('/home/dev/.codex/sessions/2026/11/21/rollout-2026-11-21T05-43-14-01a1fca1-566b-7c61-9753-b0bc1de1bc07.jsonl', 1, 17394, '{"state":{"timeMs":1795239794789,"threadId":"01a1fca1-566b-7c61-9753-b0bc1de1bc07","rootId":"01a1fca1-566b-7c61-9753-b0bc1de1bc07","beganMs":1795239794367,"turnsTell":true,"turnId":"01a1fca1-569b-7931-ac24-7a4ad2613ef7","prompted":"01a1fca1-569b-7931-ac24-7a4ad2613ef7","rootTurnId":"01a1fca1-569b-7931-ac24-7a4ad2613ef7","model":"gpt-5.5","inputMs":1795239794656,"open":[],"used":["call_mcp_0","call_mcp_1","call_mcp_2"],"hasRecords":true,"recordedTurn":"01a1fca1-569b-7931-ac24-7a4ad2613ef7","hasAnswered":true,"series":[{"total":{"input":15100,"output":80,"cacheRead":9856,"cacheWrite":0,"reasoning":0},"lane":"codex"}],"seenTotals":["4900:22","9900:66","15100:80"],"recorded":[]},"fingerprint":"fd2faff092db2c46.6afc3bb25348c3d9"}', 17394, 1795934102363.9487, 0);
INSERT INTO turns VALUES (3, '700bb7f3-4e37-46dd-949e-36e5a4132c1e', 0, 'human', 'ended', 1795240540641, 1795240540884, 37, 1, 1, '700bb7f3-4e37-46dd-949e-36e5a4132c1e', 0);
INSERT INTO model_calls VALUES (3, 'response:msg_01i8Pakbf4dniUHDZQTRoHAb:req_0179cV1jtNnJy4AfBz3aaDco', 0, 'claude-sonnet-4-5-20250929', 0, 1795240540847, 5165, 14, 5000, 160, 2325000, 1, '{"key":"response:msg_01i8Pakbf4dniUHDZQTRoHAb:req_0179cV1jtNnJy4AfBz3aaDco","responseId":"msg_01i8Pakbf4dniUHDZQTRoHAb","requestId":"req_0179cV1jtNnJy4AfBz3aaDco","model":"claude-sonnet-4-5-20250929","requestedModel":"claude-sonnet-4-5-20250929","startMs":1795240540845,"endMs":1795240540847,"usage":{"input":5165,"output":14,"cacheRead":5000,"cacheWrite":160,"cacheWrite5m":160,"cacheWrite1h":0,"reasoning":0},"complete":true,"finishReason":"end_turn"}', NULL, NULL);
INSERT INTO model_calls VALUES (3, 'response:msg_01pT7gJzSJUifQSPhLsay8eE:req_013DPbbqgq8p1SbggfVpCxRh', 0, 'claude-sonnet-4-5-20250929', 0, 1795240540707, 5011, 66, 0, 5000, 19773000, 1, '{"key":"response:msg_01pT7gJzSJUifQSPhLsay8eE:req_013DPbbqgq8p1SbggfVpCxRh","responseId":"msg_01pT7gJzSJUifQSPhLsay8eE","requestId":"req_013DPbbqgq8p1SbggfVpCxRh","model":"claude-sonnet-4-5-20250929","requestedModel":"claude-sonnet-4-5-20250929","startMs":1795240540702,"endMs":1795240540707,"usage":{"input":5011,"output":66,"cacheRead":0,"cacheWrite":5000,"cacheWrite5m":5000,"cacheWrite1h":0,"reasoning":0},"complete":true,"finishReason":"tool_use","asksForTools":true}', NULL, NULL);
INSERT INTO tool_calls VALUES (3, 'toolu_01mvMms5mswGPDoP6cwnpJy6', 0, 'Bash', 'success', 0, 1795240540736, 1795240540796, '{"callId":"toolu_01mvMms5mswGPDoP6cwnpJy6","name":"Bash","startMs":1795240540736,"endMs":1795240540796,"status":"success","executionMs":28,"executable":"cat"}', NULL, NULL);
INSERT INTO spans VALUES (1, '["claude-code","864a3682-ec9e-44b3-8211-50bb5c63aa9d","turn","700bb7f3-4e37-46dd-949e-36e5a4132c1e"]', 3, 0, '{"traceId":"bd3e4e3f7d8ffc4f0a161ba2220586e1","spanId":"99038b6abd460ca9","parentSpanId":"b70a60734b7d7827","name":"invoke_agent claude-code","kind":"internal","startMs":1795240540641,"endMs":1795240540884,"status":{"code":"unset"},"attributes":{"gen_ai.operation.name":"invoke_agent","gen_ai.agent.name":"claude-code","gen_ai.request.model":"claude-sonnet-4-5-20250929","gen_ai.response.finish_reasons":["end_turn"],"openhook.span.kind":"turn","openhook.model_calls":2,"openhook.tool_calls":1,"gen_ai.usage.input_tokens":10176,"gen_ai.usage.output_tokens":80,"openhook.cost.usd":0.022098,"openhook.cost.source":"price_table","openhook.cost.price_table":"genai-prices/0.1.8","openhook.turn.origin":"human","openhook.turn.state":"ended","openhook.prompt.length":37,"gen_ai.conversation.id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d","session.id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d"},"links":[],"events":[],"resource":{"service.name":"claude-code","service.version":"2.1.329"}}');
INSERT INTO spans VALUES (2, '["claude-code","864a3682-ec9e-44b3-8211-50bb5c63aa9d","model_call","response:msg_01pT7gJzSJUifQSPhLsay8eE:req_013DPbbqgq8p1SbggfVpCxRh"]', 3, 0, '{"traceId":"bd3e4e3f7d8ffc4f0a161ba2220586e1","spanId":"8a5232a5c1f437af","parentSpanId":"99038b6abd460ca9","name":"chat claude-sonnet-4-5-20250929","kind":"client","startMs":1795240540702,"endMs":1795240540707,"status":{"code":"unset"},"attributes":{"gen_ai.operation.name":"chat","gen_ai.provider.name":"anthropic","gen_ai.request.model":"claude-sonnet-4-5-20250929","gen_ai.response.model":"claude-sonnet-4-5-20250929","gen_ai.response.id":"msg_01pT7gJzSJUifQSPhLsay8eE","gen_ai.response.finish_reasons":["tool_use"],"openhook.span.kind":"model_call","openhook.request.id":"req_013DPbbqgq8p1SbggfVpCxRh","gen_ai.usage.input_tokens":5011,"gen_ai.usage.output_tokens":66,"gen_ai.usage.cache_read.input_tokens":0,"gen_ai.usage.cache_write.input_tokens":5000,"gen_ai.usage.cache_creation.input_tokens":5000,"openhook.usage.cache_write_5m_tokens":5000,"openhook.usage.cache_write_1h_tokens":0,"gen_ai.usage.reasoning.output_tokens":0,"openhook.cost.usd":0.019773,"openhook.cost.source":"price_table","openhook.cost.price_table":"genai-prices/0.1.8","gen_ai.conversation.id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d","session.id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d"},"links":[],"events":[],"resource":{"service.name":"claude-code","service.version":"2.1.329"}}');
INSERT INTO spans VALUES (3, '["claude-code","864a3682-ec9e-44b3-8211-50bb5c63aa9d","model_call","response:msg_01i8Pakbf4dniUHDZQTRoHAb:req_0179cV1jtNnJy4AfBz3aaDco"]', 3, 0, '{"traceId":"bd3e4e3f7d8ffc4f0a161ba2220586e1","spanId":"e986794458071530","parentSpanId":"99038b6abd460ca9","name":"chat claude-sonnet-4-5-20250929","kind":"client","startMs":1795240540845,"endMs":1795240540847,"status":{"code":"unset"},"attributes":{"gen_ai.operation.name":"chat","gen_ai.provider.name":"anthropic","gen_ai.request.model":"claude-sonnet-4-5-20250929","gen_ai.response.model":"claude-sonnet-4-5-20250929","gen_ai.response.id":"msg_01i8Pakbf4dniUHDZQTRoHAb","gen_ai.response.finish_reasons":["end_turn"],"openhook.span.kind":"model_call","openhook.request.id":"req_0179cV1jtNnJy4AfBz3aaDco","gen_ai.usage.input_tokens":5165,"gen_ai.usage.output_tokens":14,"gen_ai.usage.cache_read.input_tokens":5000,"gen_ai.usage.cache_write.input_tokens":160,"gen_ai.usage.cache_creation.input_tokens":160,"openhook.usage.cache_write_5m_tokens":160,"openhook.usage.cache_write_1h_tokens":0,"gen_ai.usage.reasoning.output_tokens":0,"openhook.cost.usd":0.002325,"openhook.cost.source":"price_table","openhook.cost.price_table":"genai-prices/0.1.8","gen_ai.conversation.id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d","session.id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d"},"links":[],"events":[],"resource":{"service.name":"claude-code","service.version":"2.1.329"}}');
INSERT INTO spans VALUES (4, '["claude-code","864a3682-ec9e-44b3-8211-50bb5c63aa9d","tool_call","toolu_01mvMms5mswGPDoP6cwnpJy6"]', 3, 0, '{"traceId":"bd3e4e3f7d8ffc4f0a161ba2220586e1","spanId":"c651b9843b002c60","parentSpanId":"99038b6abd460ca9","name":"execute_tool Bash cat","kind":"internal","startMs":1795240540736,"endMs":1795240540796,"status":{"code":"unset"},"attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.agent.name":"claude-code","gen_ai.tool.name":"Bash","gen_ai.tool.type":"function","gen_ai.tool.call.id":"toolu_01mvMms5mswGPDoP6cwnpJy6","openhook.span.kind":"tool_call","openhook.tool.status":"success","openhook.tool.execution_ms":28,"process.executable.name":"cat","gen_ai.conversation.id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d","session.id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d"},"links":[],"events":[],"resource":{"service.name":"claude-code","service.version":"2.1.329"}}');
INSERT INTO spans VALUES (5, '["claude-code","864a3682-ec9e-44b3-8211-50bb5c63aa9d","session","0"]', 3, 0, '{"traceId":"bd3e4e3f7d8ffc4f0a161ba2220586e1","spanId":"b70a60734b7d7827","name":"invoke_agent claude-code","kind":"internal","startMs":1795240540569,"endMs":1795240540884,"status":{"code":"unset"},"attributes":{"gen_ai.operation.name":"invoke_agent","gen_ai.agent.name":"claude-code","openhook.span.kind":"session","openhook.session.segment":0,"openhook.session.start_origin":"startup","openhook.session.end_reason":"timeout","openhook.session.native_end_reason":"idle","openhook.turns":1,"openhook.model_calls":2,"openhook.tool_calls":1,"openhook.subagents":0,"openhook.session.input_tokens":10176,"openhook.session.output_tokens":80,"openhook.session.cache_read_tokens":5000,"openhook.session.cache_write_tokens":5160,"openhook.cost.usd":0.022098,"openhook.cost.source":"price_table","openhook.cost.price_table":"genai-prices/0.1.8","gen_ai.conversation.id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d","session.id":"864a3682-ec9e-44b3-8211-50bb5c63aa9d"},"links":[],"events":[],"resource":{"service.name":"claude-code","service.version":"2.1.329"}}');
INSERT INTO outbox VALUES (1, 0, 1795934103234, 974);
INSERT INTO outbox VALUES (2, 0, 1795934103234, 1257);
INSERT INTO outbox VALUES (3, 0, 1795934103234, 1257);
INSERT INTO outbox VALUES (4, 0, 1795934103234, 767);
INSERT INTO outbox VALUES (5, 0, 1795934103256, 1046);
INSERT INTO increments VALUES ('["claude-code","864a3682-ec9e-44b3-8211-50bb5c63aa9d","model_call","response:msg_01i8Pakbf4dniUHDZQTRoHAb:req_0179cV1jtNnJy4AfBz3aaDco"]');
INSERT INTO increments VALUES ('["claude-code","864a3682-ec9e-44b3-8211-50bb5c63aa9d","model_call","response:msg_01pT7gJzSJUifQSPhLsay8eE:req_013DPbbqgq8p1SbggfVpCxRh"]');
INSERT INTO increments VALUES ('["claude-code","864a3682-ec9e-44b3-8211-50bb5c63aa9d","session","0"]');
INSERT INTO increments VALUES ('["claude-code","864a3682-ec9e-44b3-8211-50bb5c63aa9d","tool_call","toolu_01mvMms5mswGPDoP6cwnpJy6"]');
INSERT INTO increments VALUES ('["claude-code","864a3682-ec9e-44b3-8211-50bb5c63aa9d","turn","700bb7f3-4e37-46dd-949e-36e5a4132c1e"]');
INSERT INTO counters VALUES (1, '["openhook.collector.transcript.line.count","{\"service.name\":\"openhook-otel\"}","{\"openhook.collector.outcome\":\"understood\",\"openhook.source\":\"codex\"}"]', 'openhook.collector.transcript.line.count', '{"openhook.collector.outcome":"understood","openhook.source":"codex"}', '{"service.name":"openhook-otel"}', 1795934102549, 26, NULL, NULL, NULL, NULL, 1, 0, 1795934102549, NULL, 0);
INSERT INTO counters VALUES (2, '["openhook.collector.drain.count","{\"service.name\":\"openhook-otel\"}","{\"openhook.collector.outcome\":\"ok\"}"]', 'openhook.collector.drain.count', '{"openhook.collector.outcome":"ok"}', '{"service.name":"openhook-otel"}', 1795934102770, 2, NULL, NULL, NULL, NULL, 1, 0, 1795934103262, NULL, 0);
INSERT INTO counters VALUES (3, '["openhook.collector.drain.duration","{\"service.name\":\"openhook-otel\"}","{}"]', 'openhook.collector.drain.duration', '{}', '{"service.name":"openhook-otel"}', 1795934102770, NULL, '{"count":2,"sum":0.194,"min":0.048,"max":0.146,"bucketCounts":[1,0,1,0,0,0,0,0,0,0,0,0,0,0]}', NULL, NULL, NULL, 1, 0, 1795934103262, NULL, 0);
INSERT INTO counters VALUES (4, '["openhook.collector.transcript.line.count","{\"service.name\":\"openhook-otel\"}","{\"openhook.collector.outcome\":\"understood\",\"openhook.source\":\"claude-code\"}"]', 'openhook.collector.transcript.line.count', '{"openhook.collector.outcome":"understood","openhook.source":"claude-code"}', '{"service.name":"openhook-otel"}', 1795934102941, 91, NULL, NULL, NULL, NULL, 1, 0, 1795934103212, NULL, 0);
INSERT INTO counters VALUES (5, '["openhook.collector.payload.count","{\"service.name\":\"openhook-otel\"}","{\"openhook.collector.outcome\":\"ignored\",\"openhook.collector.reason\":\"InstructionsLoaded\",\"openhook.source\":\"claude-code\"}"]', 'openhook.collector.payload.count', '{"openhook.collector.outcome":"ignored","openhook.collector.reason":"InstructionsLoaded","openhook.source":"claude-code"}', '{"service.name":"openhook-otel"}', 1795934103195, 1, NULL, NULL, NULL, NULL, 1, 0, 1795934103195, NULL, 0);
INSERT INTO counters VALUES (6, '["openhook.collector.payload.count","{\"service.name\":\"openhook-otel\"}","{\"openhook.collector.outcome\":\"converted\",\"openhook.source\":\"claude-code\"}"]', 'openhook.collector.payload.count', '{"openhook.collector.outcome":"converted","openhook.source":"claude-code"}', '{"service.name":"openhook-otel"}', 1795934103195, 6, NULL, NULL, NULL, NULL, 1, 0, 1795934103195, NULL, 0);
INSERT INTO counters VALUES (7, '["openhook.collector.event.count","{\"service.name\":\"openhook-otel\"}","{\"openhook.source\":\"claude-code\"}"]', 'openhook.collector.event.count', '{"openhook.source":"claude-code"}', '{"service.name":"openhook-otel"}', 1795934103195, 6, NULL, NULL, NULL, NULL, 1, 0, 1795934103195, NULL, 0);
INSERT INTO counters VALUES (8, '["openhook.collector.payload.count","{\"service.name\":\"openhook-otel\"}","{\"openhook.collector.outcome\":\"ignored\",\"openhook.collector.reason\":\"MessageDisplay\",\"openhook.source\":\"claude-code\"}"]', 'openhook.collector.payload.count', '{"openhook.collector.outcome":"ignored","openhook.collector.reason":"MessageDisplay","openhook.source":"claude-code"}', '{"service.name":"openhook-otel"}', 1795934103195, 1, NULL, NULL, NULL, NULL, 1, 0, 1795934103195, NULL, 0);
INSERT INTO counters VALUES (9, '["gen_ai.invoke_agent.duration","{\"service.name\":\"claude-code\"}","{\"gen_ai.agent.name\":\"claude-code\",\"gen_ai.operation.name\":\"invoke_agent\"}"]', 'gen_ai.invoke_agent.duration', '{"gen_ai.agent.name":"claude-code","gen_ai.operation.name":"invoke_agent"}', '{"service.name":"claude-code"}', 1795934103234, NULL, '{"count":1,"sum":0.243,"min":0.243,"max":0.243,"bucketCounts":[0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}', NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (10, '["gen_ai.invoke_agent.inference_calls","{\"service.name\":\"claude-code\"}","{\"gen_ai.agent.name\":\"claude-code\"}"]', 'gen_ai.invoke_agent.inference_calls', '{"gen_ai.agent.name":"claude-code"}', '{"service.name":"claude-code"}', 1795934103234, NULL, '{"count":1,"sum":2,"min":2,"max":2,"bucketCounts":[0,1,0,0,0,0,0,0,0]}', NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (11, '["gen_ai.invoke_agent.tool_calls","{\"service.name\":\"claude-code\"}","{\"gen_ai.agent.name\":\"claude-code\"}"]', 'gen_ai.invoke_agent.tool_calls', '{"gen_ai.agent.name":"claude-code"}', '{"service.name":"claude-code"}', 1795934103234, NULL, '{"count":1,"sum":1,"min":1,"max":1,"bucketCounts":[1,0,0,0,0,0,0,0,0]}', NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (12, '["openhook.turn.count","{\"service.name\":\"claude-code\"}","{\"gen_ai.agent.name\":\"claude-code\",\"openhook.turn.origin\":\"human\",\"openhook.turn.state\":\"ended\"}"]', 'openhook.turn.count', '{"gen_ai.agent.name":"claude-code","openhook.turn.origin":"human","openhook.turn.state":"ended"}', '{"service.name":"claude-code"}', 1795934103234, 1, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (13, '["gen_ai.client.inference.usage.input_tokens","{\"service.name\":\"claude-code\"}","{\"gen_ai.operation.name\":\"chat\",\"gen_ai.provider.name\":\"anthropic\",\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"gen_ai.response.model\":\"claude-sonnet-4-5-20250929\",\"gen_ai.token.modality\":\"text\"}"]', 'gen_ai.client.inference.usage.input_tokens', '{"gen_ai.operation.name":"chat","gen_ai.provider.name":"anthropic","gen_ai.request.model":"claude-sonnet-4-5-20250929","gen_ai.response.model":"claude-sonnet-4-5-20250929","gen_ai.token.modality":"text"}', '{"service.name":"claude-code"}', 1795934103234, 10176, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (14, '["openhook.token.usage","{\"service.name\":\"claude-code\"}","{\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"openhook.subagent\":false,\"openhook.token.type\":\"input\"}"]', 'openhook.token.usage', '{"gen_ai.request.model":"claude-sonnet-4-5-20250929","openhook.subagent":false,"openhook.token.type":"input"}', '{"service.name":"claude-code"}', 1795934103234, 10176, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (15, '["gen_ai.client.inference.usage.output_tokens","{\"service.name\":\"claude-code\"}","{\"gen_ai.operation.name\":\"chat\",\"gen_ai.provider.name\":\"anthropic\",\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"gen_ai.response.model\":\"claude-sonnet-4-5-20250929\",\"gen_ai.token.modality\":\"text\"}"]', 'gen_ai.client.inference.usage.output_tokens', '{"gen_ai.operation.name":"chat","gen_ai.provider.name":"anthropic","gen_ai.request.model":"claude-sonnet-4-5-20250929","gen_ai.response.model":"claude-sonnet-4-5-20250929","gen_ai.token.modality":"text"}', '{"service.name":"claude-code"}', 1795934103234, 80, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (16, '["openhook.token.usage","{\"service.name\":\"claude-code\"}","{\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"openhook.subagent\":false,\"openhook.token.type\":\"output\"}"]', 'openhook.token.usage', '{"gen_ai.request.model":"claude-sonnet-4-5-20250929","openhook.subagent":false,"openhook.token.type":"output"}', '{"service.name":"claude-code"}', 1795934103234, 80, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (17, '["gen_ai.client.inference.usage.cache_read.input_tokens","{\"service.name\":\"claude-code\"}","{\"gen_ai.operation.name\":\"chat\",\"gen_ai.provider.name\":\"anthropic\",\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"gen_ai.response.model\":\"claude-sonnet-4-5-20250929\",\"gen_ai.token.modality\":\"text\"}"]', 'gen_ai.client.inference.usage.cache_read.input_tokens', '{"gen_ai.operation.name":"chat","gen_ai.provider.name":"anthropic","gen_ai.request.model":"claude-sonnet-4-5-20250929","gen_ai.response.model":"claude-sonnet-4-5-20250929","gen_ai.token.modality":"text"}', '{"service.name":"claude-code"}', 1795934103234, 5000, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (18, '["openhook.token.usage","{\"service.name\":\"claude-code\"}","{\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"openhook.subagent\":false,\"openhook.token.type\":\"cache_read\"}"]', 'openhook.token.usage', '{"gen_ai.request.model":"claude-sonnet-4-5-20250929","openhook.subagent":false,"openhook.token.type":"cache_read"}', '{"service.name":"claude-code"}', 1795934103234, 5000, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (19, '["gen_ai.client.inference.usage.cache_write.input_tokens","{\"service.name\":\"claude-code\"}","{\"gen_ai.operation.name\":\"chat\",\"gen_ai.provider.name\":\"anthropic\",\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"gen_ai.response.model\":\"claude-sonnet-4-5-20250929\",\"gen_ai.token.modality\":\"text\"}"]', 'gen_ai.client.inference.usage.cache_write.input_tokens', '{"gen_ai.operation.name":"chat","gen_ai.provider.name":"anthropic","gen_ai.request.model":"claude-sonnet-4-5-20250929","gen_ai.response.model":"claude-sonnet-4-5-20250929","gen_ai.token.modality":"text"}', '{"service.name":"claude-code"}', 1795934103234, 5160, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (20, '["openhook.token.usage","{\"service.name\":\"claude-code\"}","{\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"openhook.subagent\":false,\"openhook.token.type\":\"cache_write\"}"]', 'openhook.token.usage', '{"gen_ai.request.model":"claude-sonnet-4-5-20250929","openhook.subagent":false,"openhook.token.type":"cache_write"}', '{"service.name":"claude-code"}', 1795934103234, 5160, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (21, '["gen_ai.client.inference.usage.reasoning.output_tokens","{\"service.name\":\"claude-code\"}","{\"gen_ai.operation.name\":\"chat\",\"gen_ai.provider.name\":\"anthropic\",\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"gen_ai.response.model\":\"claude-sonnet-4-5-20250929\",\"gen_ai.token.modality\":\"text\"}"]', 'gen_ai.client.inference.usage.reasoning.output_tokens', '{"gen_ai.operation.name":"chat","gen_ai.provider.name":"anthropic","gen_ai.request.model":"claude-sonnet-4-5-20250929","gen_ai.response.model":"claude-sonnet-4-5-20250929","gen_ai.token.modality":"text"}', '{"service.name":"claude-code"}', 1795934103234, 0, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (22, '["openhook.token.usage","{\"service.name\":\"claude-code\"}","{\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"openhook.subagent\":false,\"openhook.token.type\":\"reasoning\"}"]', 'openhook.token.usage', '{"gen_ai.request.model":"claude-sonnet-4-5-20250929","openhook.subagent":false,"openhook.token.type":"reasoning"}', '{"service.name":"claude-code"}', 1795934103234, 0, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (23, '["openhook.model.call.count","{\"service.name\":\"claude-code\"}","{\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"openhook.subagent\":false}"]', 'openhook.model.call.count', '{"gen_ai.request.model":"claude-sonnet-4-5-20250929","openhook.subagent":false}', '{"service.name":"claude-code"}', 1795934103234, 2, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (24, '["gen_ai.client.inference.operation.input_tokens","{\"service.name\":\"claude-code\"}","{\"gen_ai.operation.name\":\"chat\",\"gen_ai.provider.name\":\"anthropic\",\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"gen_ai.response.model\":\"claude-sonnet-4-5-20250929\"}"]', 'gen_ai.client.inference.operation.input_tokens', '{"gen_ai.operation.name":"chat","gen_ai.provider.name":"anthropic","gen_ai.request.model":"claude-sonnet-4-5-20250929","gen_ai.response.model":"claude-sonnet-4-5-20250929"}', '{"service.name":"claude-code"}', 1795934103234, NULL, '{"count":2,"sum":10176,"min":5011,"max":5165,"bucketCounts":[0,0,0,0,0,0,0,2,0,0,0,0,0,0,0]}', NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (25, '["gen_ai.client.inference.operation.output_tokens","{\"service.name\":\"claude-code\"}","{\"gen_ai.operation.name\":\"chat\",\"gen_ai.provider.name\":\"anthropic\",\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"gen_ai.response.model\":\"claude-sonnet-4-5-20250929\"}"]', 'gen_ai.client.inference.operation.output_tokens', '{"gen_ai.operation.name":"chat","gen_ai.provider.name":"anthropic","gen_ai.request.model":"claude-sonnet-4-5-20250929","gen_ai.response.model":"claude-sonnet-4-5-20250929"}', '{"service.name":"claude-code"}', 1795934103234, NULL, '{"count":2,"sum":80,"min":14,"max":66,"bucketCounts":[0,0,1,0,1,0,0,0,0,0,0,0,0,0,0]}', NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (26, '["gen_ai.client.inference.duration","{\"service.name\":\"claude-code\"}","{\"gen_ai.operation.name\":\"chat\",\"gen_ai.provider.name\":\"anthropic\",\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"gen_ai.response.model\":\"claude-sonnet-4-5-20250929\"}"]', 'gen_ai.client.inference.duration', '{"gen_ai.operation.name":"chat","gen_ai.provider.name":"anthropic","gen_ai.request.model":"claude-sonnet-4-5-20250929","gen_ai.response.model":"claude-sonnet-4-5-20250929"}', '{"service.name":"claude-code"}', 1795934103234, NULL, '{"count":2,"sum":0.007,"min":0.002,"max":0.005,"bucketCounts":[2,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}', NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (27, '["openhook.cost.usage","{\"service.name\":\"claude-code\"}","{\"gen_ai.request.model\":\"claude-sonnet-4-5-20250929\",\"openhook.cost.source\":\"price_table\",\"openhook.subagent\":false}"]', 'openhook.cost.usage', '{"gen_ai.request.model":"claude-sonnet-4-5-20250929","openhook.cost.source":"price_table","openhook.subagent":false}', '{"service.name":"claude-code"}', 1795934103234, 22098000, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (28, '["openhook.tool.call.count","{\"service.name\":\"claude-code\"}","{\"gen_ai.tool.name\":\"Bash\",\"openhook.tool.status\":\"success\"}"]', 'openhook.tool.call.count', '{"gen_ai.tool.name":"Bash","openhook.tool.status":"success"}', '{"service.name":"claude-code"}', 1795934103234, 1, NULL, NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (29, '["gen_ai.execute_tool.duration","{\"service.name\":\"claude-code\"}","{\"gen_ai.agent.name\":\"claude-code\",\"gen_ai.tool.name\":\"Bash\",\"gen_ai.tool.type\":\"function\"}"]', 'gen_ai.execute_tool.duration', '{"gen_ai.agent.name":"claude-code","gen_ai.tool.name":"Bash","gen_ai.tool.type":"function"}', '{"service.name":"claude-code"}', 1795934103234, NULL, '{"count":1,"sum":0.06,"min":0.06,"max":0.06,"bucketCounts":[0,0,0,1,0,0,0,0,0,0,0,0,0,0,0]}', NULL, NULL, NULL, 1, 0, 1795934103234, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (30, '["openhook.session.count","{\"service.name\":\"claude-code\"}","{\"openhook.session.end_reason\":\"timeout\"}"]', 'openhook.session.count', '{"openhook.session.end_reason":"timeout"}', '{"service.name":"claude-code"}', 1795934103256, 1, NULL, NULL, NULL, NULL, 1, 0, 1795934103256, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO counters VALUES (31, '["openhook.session.duration","{\"service.name\":\"claude-code\"}","{\"openhook.session.end_reason\":\"timeout\"}"]', 'openhook.session.duration', '{"openhook.session.end_reason":"timeout"}', '{"service.name":"claude-code"}', 1795934103256, NULL, '{"count":1,"sum":0.315,"min":0.315,"max":0.315,"bucketCounts":[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}', NULL, NULL, NULL, 1, 0, 1795934103256, 'claude-code/864a3682-ec9e-44b3-8211-50bb5c63aa9d', 0);
INSERT INTO taken VALUES ('01795240540563250000-32482-32593-0-429ea1a8-aa1c-4442-a4f7-4651f040c648.evt');
INSERT INTO taken VALUES ('01795240540569250000-32482-32597-0-3f9844fb-bf02-438b-981d-7bb74bf3a5f0.evt');
INSERT INTO taken VALUES ('01795240540641249000-32482-32601-0-897d6f6a-1f65-4914-8314-356b437e4c83.evt');
INSERT INTO taken VALUES ('01795240540736249000-32482-32605-0-f5c92cdc-36c1-4e27-aaef-b7018f74c678.evt');
INSERT INTO taken VALUES ('01795240540796250000-32482-32609-0-26026307-9f57-47ef-ac7e-1cd5d9b9da0d.evt');
INSERT INTO taken VALUES ('01795240540820250000-32482-32613-0-91c10c78-6000-4ad5-b25e-dc1dc55e9075.evt');
INSERT INTO taken VALUES ('01795240540861249000-32482-32617-0-daa408ba-734e-4a53-949a-41b0a2dae1e7.evt');
INSERT INTO taken VALUES ('01795240540884249000-32482-32621-0-b2739e38-f423-425b-b615-5a67fa88a026.evt');
INSERT INTO packed VALUES (1, '{"version":1,"shapes":[[["kind",1],["key",1],["timeMs",0],["promptKey",1],["origin",1],["length",0]],[["kind",1],["key",1],["timeMs",0],["globalKey",1],["promptKey",1],["responseId",1],["model",1],["startMs",0],["endMs",0],["usage",0],["complete",0],["asksForTools",0]],[["kind",1],["key",1],["timeMs",0],["globalKey",1],["promptKey",1],["responseId",1],["model",1],["startMs",0],["endMs",0],["usage",0],["complete",0]],[["kind",1],["key",1],["timeMs",0],["promptKey",1],["callId",1],["name",1]],[["kind",1],["key",1],["timeMs",0],["promptKey",1],["callId",1],["name",1],["mcpServer",1]],[["kind",1],["key",1],["timeMs",0],["promptKey",1],["callId",1],["status",1]],[["kind",1],["key",1],["timeMs",0],["promptKey",1],["callId",1],["status",1],["durationMs",0]],[["kind",1],["key",1],["timeMs",0],["promptKey",1],["durationMs",0]]],"texts":["prompt","prompt:01a1fca1-569b-7931-ac24-7a4ad2613ef7:1795239794448","01a1fca1-569b-7931-ac24-7a4ad2613ef7","human","model_call","response:resp_48dca9d3e1e1474ab1e0db37:usage:01a1fca1-569b-7931-ac24-7a4ad2613ef7:4900:22","resp_48dca9d3e1e1474ab1e0db37","gpt-5.5","response:resp_a89fba791a86407cbfe0be6e:usage:01a1fca1-569b-7931-ac24-7a4ad2613ef7:9900:66","resp_a89fba791a86407cbfe0be6e","response:resp_03b5dc16c5a142919346e2ad:usage:01a1fca1-569b-7931-ac24-7a4ad2613ef7:15100:80","resp_03b5dc16c5a142919346e2ad","tool_use","use:call_mcp_0","call_mcp_0","tool_search_call","use:call_mcp_1","call_mcp_1","mcp","use:call_mcp_2","call_mcp_2","tool_result","result:call_mcp_0","success","result:call_mcp_2","error","result:call_mcp_1","turn_end","turn_end:01a1fca1-569b-7931-ac24-7a4ad2613ef7"],"rows":[[0,0,1,1795239794448,2,3,13],[1,4,5,1795239794488,5,2,6,7,1795239794448,1795239794488,{"input":4900,"output":22,"cacheRead":0,"cacheWrite":0,"reasoning":0},true,true],[1,4,8,1795239794541,8,2,9,7,1795239794508,1795239794541,{"input":5000,"output":44,"cacheRead":4864,"cacheWrite":0,"reasoning":0},true,true],[2,4,10,1795239794724,10,2,11,7,1795239794656,1795239794724,{"input":5200,"output":14,"cacheRead":4992,"cacheWrite":0,"reasoning":0},true],[3,12,13,1795239794488,2,14,15],[4,12,16,1795239794540,2,17,18,18],[4,12,19,1795239794541,2,20,18,18],[5,21,22,1795239794508,2,14,23],[6,21,24,1795239794580,2,20,25,1.937116],[6,21,26,1795239794609,2,17,23,0.743813],[7,27,28,1795239794789,2,453]]}', '0.1.0');
INSERT INTO packed VALUES (2, X'4f485433fb0400007b2276657273696f6e223a332c227465787473223a3537382c227461626c6573223a7b2270726f6d7074223a7b22726f7773223a312c22636f6c756d6e73223a7b226b6579223a5b302c325d2c22676c6f62616c4b6579223a5b302c2d315d2c2274696d654d73223a5b302c313739353234313432343532355d2c2270726f6d70744b6579223a5b302c305d2c226f726967696e223a5b302c315d2c226c656e677468223a5b302c34325d7d7d2c226d6f64656c5f63616c6c223a7b22726f7773223a352c22636f6c756d6e73223a7b22676c6f62616c4b6579223a5b302c2d315d2c2274696d654d73223a5b322c313739353234313432343630375d2c2270726f6d70744b6579223a5b312c302c315d2c226167656e744964223a5b312c31302c315d2c22726573706f6e73654964223a5b312c335d2c22726571756573744964223a5b312c345d2c226d6f64656c223a5b312c355d2c227265717565737465644d6f64656c223a5b312c355d2c2273746172744d73223a5b322c313739353234313432343630315d2c22656e644d73223a5b322c313739353234313432343632375d2c22696e707574223a5b322c333330375d2c226f7574707574223a5b312c32315d2c22636163686552656164223a5b322c305d2c2263616368655772697465223a5b322c3139305d2c2263616368655772697465356d223a5b322c3139305d2c22636163686557726974653168223a5b302c305d2c22726561736f6e696e67223a5b302c305d2c22636f6d706c657465223a5b302c315d2c2266696e697368526561736f6e223a5b312c365d2c2261736b73466f72546f6f6c73223a5b312c312c315d7d7d2c22746f6f6c5f757365223a7b22726f7773223a332c22636f6c756d6e73223a7b22676c6f62616c4b6579223a5b302c2d315d2c2274696d654d73223a5b322c313739353234313432343632375d2c2270726f6d70744b6579223a5b312c302c315d2c226167656e744964223a5b312c31302c315d2c2263616c6c4964223a5b312c375d2c226e616d65223a5b312c385d2c2265786563757461626c65223a5b312c31392c315d7d7d2c22746f6f6c5f726573756c74223a7b22726f7773223a332c22636f6c756d6e73223a7b22676c6f62616c4b6579223a5b302c2d315d2c2274696d654d73223a5b312c313739353234313432353531325d2c2270726f6d70744b6579223a5b312c302c315d2c226167656e744964223a5b312c31302c315d2c2263616c6c4964223a5b312c375d2c22737461747573223a5b302c395d2c22737061776e65644167656e744964223a5b312c31302c315d7d7d7d2c226f7468657273223a227b5c2276657273696f6e5c223a312c5c227368617065735c223a5b5b5b5c226b696e645c222c315d2c5b5c226b65795c222c315d2c5b5c2274696d654d735c222c305d2c5b5c226167656e7449645c222c315d2c5b5c226167656e74547970655c222c315d2c5b5c22706172656e7443616c6c49645c222c315d5d5d2c5c2274657874735c223a5b5c227375626167656e745c222c5c227375626167656e743a61363733643134666534663334643766375c222c5c2261363733643134666534663334643766375c222c5c2267656e6572616c2d707572706f73655c222c5c22746f6f6c755f303157454e524731525a4e427552354872596e6f456642455c225d2c5c22726f77735c223a5b5b302c302c312c313739353234313432343732342c322c332c345d5d7d227d39623634303833312d363432632d343037632d623634622d6333393331643933346639350a68756d616e0a70726f6d70743a31383934306232312d646238622d343266302d383531322d3161653365333339356138370a6d73675f30314859417432723471795a47486558545a55534e3575340a7265715f30314a4d575575366f4e504252675437513152646f7857480a636c617564652d736f6e6e65742d342d352d32303235303932390a746f6f6c5f7573650a746f6f6c755f303157454e524731525a4e427552354872596e6f456642450a4167656e740a737563636573730a61363733643134666534663334643766370a6d73675f303141505078355062446d455052426f33796443703458650a7265715f30314b464c7275735a576a37584638487533445735395a5a0a656e645f7475726e0a6d73675f30314442664e463569444d75796d54763471314d507873560a7265715f3031694a4c69477037316459776a7a6d7a7866314e6f76470a636c617564652d6861696b752d352d350a746f6f6c755f3031754b76774753617676797939736134355467474b78720a426173680a677265700a6d73675f3031573737515254416650655956356a316a6b64507234760a7265715f30316f7052474b6336726932756850426d7561636f31594e0a746f6f6c755f30316e4b676f72696f6d55396f764364446d4a68445575680a526561640a6d73675f30315578704d57455951645753624756696e597833695a6a0a7265715f3031744175635343504e415937426f4e746a476b5851764200008c047500b20315040101000000000001010100080b111500080b111500000b0b0b00000b0b0b00008f047800b7031704000078041e039e0301047a0ed00f0000db0097016308221b000000581b0000e40cc00d9a1aa000260c1e0000009a1aa000260c1e0000000007000007010001010000001e039e03010000000101000a0f000a0f000100db0062010000000101000a0f010000', '0.1.0');
INSERT INTO packed_usage VALUES (1, 1795239734448.5005, 'gpt-5.5', 0, 3, 0, 0, 0, 0, 15100, 80, 9856, 0, NULL, NULL, 0, 33548000, 141, NULL, NULL);
INSERT INTO packed_usage VALUES (2, 1795241364525.5005, 'claude-sonnet-4-5-20250929', 0, 2, 0, 0, 0, 0, 14368, 149, 7000, 7350, 7350, 0, 0, 31951500, 29, NULL, NULL);
INSERT INTO packed_usage VALUES (2, 1795241364525.5005, 'claude-haiku-5-5', 1, 3, 0, 0, 3, 0, 10547, 124, 6820, 3710, 3710, 0, 0, NULL, 709, 'model', NULL);
INSERT INTO packed_tools VALUES (1, 1795239734448.5005, 'tool_search_call', NULL, 0, 1, 0, 0, 0, 20);
INSERT INTO packed_tools VALUES (1, 1795239734448.5005, 'mcp', 'mcp', 0, 1, 0, 0, 0, 0.743896484375);
INSERT INTO packed_tools VALUES (1, 1795239734448.5005, 'mcp', 'mcp', 0, 1, 1, 0, 0, 1.93701171875);
INSERT INTO packed_tools VALUES (2, 1795241364525.5005, 'Agent', NULL, 0, 1, 0, 0, 0, 1104);
INSERT INTO packed_tools VALUES (2, 1795241364525.5005, 'Bash', NULL, 1, 1, 0, 0, 0, 87);
INSERT INTO packed_tools VALUES (2, 1795241364525.5005, 'Read', NULL, 1, 1, 0, 0, 0, 57);
INSERT INTO packed_turns VALUES (1, 1795239734448.5005, 'human', 1, 0, 0);
INSERT INTO packed_turns VALUES (2, 1795241364525.5005, 'human', 1, 0, 0);
INSERT INTO packed_owners VALUES (0, 43638959354196, X'27b07cabb1540000000149a77df666a7000000016ca9af84b66100000001');
INSERT INTO packed_owners VALUES (1, 5818510826495, X'054aba455bff0000000209f7f9726ec1000000022275783e09b100000002233e7c542386000000023153724d16350000000234da3c1c4f7d0000000241e2102cf8fc00000002442b3da5fbbd000000029925e122de4600000002acfe0a6e38fd00000002af7dafb3f4c900000002b694657fa88600000002d1d2e2f2bf1300000002d292d061fa3000000002d4a774692b7f00000002f3578ab5e88300000002fee56a6be86e00000002');
INSERT INTO counted_lately VALUES (1, 2277843278172130);
INSERT INTO counted_lately VALUES (2, 3119531034170965);
INSERT INTO counted_lately VALUES (3, 2784254359613339);
INSERT INTO counted_lately VALUES (4, 3903116442344058);
INSERT INTO counted_lately VALUES (5, 3097285069130019);
INSERT INTO changes VALUES (2, 'change:branch@1795241424525:change:branch:4ynes8ux6', 'branch', 'main', 1795241364525.5, 'observed', 'transcript', 0, NULL, NULL, NULL, NULL, 0, -1, NULL);
INSERT INTO changes VALUES (3, 'change:branch@1795240540620:change:branch:4ynes8ux6', 'branch', 'main', 1795240480620.5, 'observed', 'transcript', 0, NULL, NULL, NULL, NULL, 0, 1, NULL);
PRAGMA user_version = 24;
