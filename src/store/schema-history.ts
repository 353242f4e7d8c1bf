/** Part of `INITIAL_SCHEMA`: packed sessions, and the views that count them together with settled rows. */
export const HISTORY_SCHEMA = `
  -- Imported sessions that are over and were not sent: all facts in one value, decoded only when the session is shown. Sums per
  -- quarter of an hour are stored beside it, for questions about many sessions.
  CREATE TABLE packed (
    session INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    body TEXT NOT NULL,
    -- The version of this program that read a packed session; another version may read more. NULL: not known
    read_by TEXT
  );
  CREATE INDEX packed_by_reader ON packed (read_by);
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
    duration_ms REAL NOT NULL,
    -- Why the cost of its calls is unknown, or a lower bound: NoPrice in core/model/price-list.ts
    no_price TEXT,
    -- Of a sum with some priced calls: end and partial cost of the others, as JSON
    unpriced_calls TEXT
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

  -- Everything settled; a row is one call, or the sum of a quarter of an hour. A sum is NULL if it was not reported. A call of which only
  -- input or only output is known is not complete either
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
`;
