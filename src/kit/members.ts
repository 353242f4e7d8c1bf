/** Members of events and entries that hold an id: used to compare and join, and part of span and count keys. */
export const ID_MEMBERS: ReadonlySet<string> = new Set([
  "id",
  "source",
  "session_id",
  "tool_call_id",
  "tool_call_ids",
  "prompt_id",
  "agent_id",
  "spawned_agent_id",
  "parent_session_id",
  "process",
  "input_digest",
  "given_id",
  "tool_event",
  "key",
  "globalKey",
  "promptKey",
  "agentId",
  "responseId",
  "requestId",
  "besideResponseId",
  "callId",
  "spawnedAgentId",
  "parentCallId",
  "parentGivenId",
  "parentAgentId",
  "parentSessionId",
  "subagentSessionId",
  "inputDigest",
  "givenId",
  "commit",
  "replaces",
]);

/** Members that hold a path, by which transcripts, repositories and files are found. */
export const PATH_MEMBERS: ReadonlySet<string> = new Set(["cwd", "transcript_path", "path"]);

/** Members that hold a time, in milliseconds since 1970. */
export const TIME_MEMBERS: ReadonlySet<string> = new Set(["timeMs", "startMs", "endMs"]);
