/** Counts of one agent's sessions. */
export interface AgentImport {
  found: number;
  /** Stored by this import, completely or in part. */
  imported: number;
  /** Of these, sessions that were imported before and have not changed. */
  again: number;
  /** Nothing new since the last import. */
  unchanged: number;
  /** Known from hooks, with something new: the drain that follows reads it. */
  fromHooks: number;
  /** Earlier than `sinceMs`. */
  older: number;
  /** Excluded by their project, or without any record of a session. */
  leftOut: number;
  /** Read in part or not at all. What was read is stored; the next import retries. */
  failed: number;
  /** Files whose last line is incomplete although they have not changed for some time; that line is not counted. */
  unfinished: number;
  /** Bytes read; in a dry run, bytes to read. */
  bytes: number;
}
