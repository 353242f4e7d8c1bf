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
];
