/** Part of `INITIAL_SCHEMA`: repositories, the commits and changes of sessions, and what became of them. */
export const CHANGES_SCHEMA = `
  -- Repositories in which sessions worked. key: the remote's address, otherwise the git directory. git_dir: local, never sent
  CREATE TABLE repositories (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT,
    url TEXT,
    git_dir TEXT
  );

  -- Commits of sessions, from the entries of kind commit; see core/model/changes.ts. Only ids
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
    -- 1: it is in the counters as inferred; 2: as observed. A commit can become observed after it was counted
    counted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;
  CREATE INDEX commits_by_id ON commits (commit_id);
  CREATE INDEX commits_by_time ON commits (session, time_ms);
  CREATE INDEX commits_uncounted ON commits (session) WHERE counted = 0 OR (counted = 1 AND certainty = 'observed');

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
    -- The commit whose message has a trailer with the change
    commit_id TEXT,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;
  CREATE INDEX changes_by_id ON changes (kind, change_id);
  CREATE INDEX changes_by_time ON changes (session, time_ms);
  CREATE INDEX changes_uncounted ON changes (session) WHERE counted = 0;

  -- What became of commits, one row per commit; see core/model/outcomes.ts. lines_1: of the written lines those that were there a day
  -- after the commit reached the default branch
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
    -- When the commit that took another one back reached the default branch
    reverted_ms REAL,
    -- The pull request that the commit names which brought it to the default branch: #12, !12
    landing_pull TEXT,
    PRIMARY KEY (repository, commit_id)
  ) WITHOUT ROWID;
`;
