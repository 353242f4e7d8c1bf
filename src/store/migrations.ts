/** `user_version` of a store with `INITIAL_SCHEMA` and no migration. A store with a lower one cannot be brought up to date. */
export const INITIAL_VERSION = 24;

/**
 * What brings a store up to date, one migration per version: `user_version` `INITIAL_VERSION + n` means that the first n were run. A
 * new store gets all of them. Never change a released migration; add another one.
 */
export const MIGRATIONS: readonly string[] = [
  // The agents whose commands started a session, as its first hook found them; session_id is empty if one passes none on
  `ALTER TABLE sessions ADD COLUMN launched_ms REAL;
   CREATE TABLE launches (
     session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
     source TEXT NOT NULL,
     session_id TEXT NOT NULL,
     call_id TEXT,
     PRIMARY KEY (session, source)
   ) WITHOUT ROWID;
   CREATE INDEX launches_by_session ON launches (source, session_id) WHERE session_id <> ''`,
  // The skills that tool calls load
  `ALTER TABLE packed_tools ADD COLUMN skill TEXT;
  DROP VIEW tool_usage;
  CREATE VIEW tool_usage AS
    SELECT session, start_ms AS time_ms, name, json_extract(body, '$.mcpServer') AS mcp_server,
      json_extract(body, '$.skill') AS skill, subagent, 1 AS calls,
      status = 'error' AS errors, status = 'denied' AS denied, status = 'unfinished' AS unfinished,
      max(0, end_ms - start_ms) AS duration_ms
    FROM tool_calls
    UNION ALL SELECT session, time_ms, name, mcp_server, skill, subagent, calls, errors, denied, unfinished, duration_ms
    FROM packed_tools;`,
  // What filled the context when the agent ended, as it counts it
  "ALTER TABLE sessions ADD COLUMN context_parts TEXT",
  // What is charged besides tokens. NULL: nothing, or not known, as in rows that were written before
  `ALTER TABLE model_calls ADD COLUMN fee_nano_usd INTEGER;
  ALTER TABLE packed_usage ADD COLUMN web_searches INTEGER;
  ALTER TABLE packed_usage ADD COLUMN unpriced_searches INTEGER;
  ALTER TABLE packed_usage ADD COLUMN fee_nano_usd INTEGER;
  ALTER TABLE packed_usage ADD COLUMN nano_credits INTEGER;
  DROP VIEW usage;
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
      max(0, end_ms - json_extract(body, '$.startMs')) AS duration_ms, no_price,
      json_extract(body, '$.webSearches') AS web_searches,
      json_extract(body, '$.webSearches') * (fee_nano_usd IS NULL) AS unpriced_searches,
      fee_nano_usd, json_extract(body, '$.nanoCredits') AS nano_credits
    FROM model_calls
    UNION ALL SELECT session, time_ms, model, subagent, calls, sums_told, without_usage, unpriced, incomplete,
      input, output, cache_read, cache_write, cache_write_5m, cache_write_1h, reasoning, cost_nano_usd, duration_ms,
      no_price, web_searches, unpriced_searches, fee_nano_usd, nano_credits
    FROM packed_usage;`,
  // The agents' processes that began sessions (pid and start time), and those above them, the nearest first. since_ms: when the process
  // directly below such a one was started, by which the agent came about; NULL: unknown
  `CREATE TABLE agent_processes (
     session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
     process TEXT NOT NULL,
     host TEXT NOT NULL,
     time_ms REAL NOT NULL,
     PRIMARY KEY (session, process, host)
   ) WITHOUT ROWID;
   CREATE INDEX agent_processes_by_process ON agent_processes (process, host);
   CREATE TABLE process_ancestors (
     process TEXT NOT NULL,
     host TEXT NOT NULL,
     distance INTEGER NOT NULL,
     ancestor TEXT NOT NULL,
     since_ms REAL,
     PRIMARY KEY (process, host, distance)
   ) WITHOUT ROWID;
   CREATE INDEX process_ancestors_by_ancestor ON process_ancestors (ancestor, host)`,
  // Records of agents' own telemetry, reduced to what is kept. They can come before their session. state: 0 not on a span yet, 1 on a span
  // and counted, 2 counted as unjoined. span_id: of a native span, to which other records refer
  `CREATE TABLE native_records (
     source TEXT NOT NULL,
     session_id TEXT NOT NULL,
     key TEXT NOT NULL,
     time_ms REAL NOT NULL,
     received_ms REAL NOT NULL,
     span_id TEXT,
     state INTEGER NOT NULL DEFAULT 0,
     body TEXT NOT NULL,
     PRIMARY KEY (source, session_id, key)
   ) WITHOUT ROWID;
   CREATE INDEX native_records_by_span ON native_records (source, session_id, span_id) WHERE span_id IS NOT NULL;
   CREATE INDEX native_records_pending ON native_records (source, session_id) WHERE state = 0`,
  // Log records to be sent, in the form of the outbox. They are parts of stored spans, or have a body of their own
  `CREATE TABLE log_outbox (
     seq INTEGER PRIMARY KEY,
     session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
     span INTEGER REFERENCES spans (seq) ON DELETE CASCADE,
     part TEXT NOT NULL,
     body TEXT,
     attempts INTEGER NOT NULL DEFAULT 0,
     since_ms REAL,
     bytes INTEGER
   );
   CREATE INDEX log_outbox_by_session ON log_outbox (session);
   CREATE INDEX log_outbox_by_span ON log_outbox (span) WHERE span IS NOT NULL;
   CREATE INDEX log_outbox_suspect ON log_outbox (seq) WHERE attempts >= 3`,
  // The audit trail; see core/audit/record.ts. key: the action that a record is about, NULL if it is about the trail. time_ms: when it was added
  `CREATE TABLE audit (
     seq INTEGER PRIMARY KEY,
     key TEXT UNIQUE,
     time_ms REAL NOT NULL,
     record TEXT NOT NULL,
     names TEXT,
     texts TEXT,
     hash TEXT NOT NULL
   )`,
];
