/** An object without its `undefined` members, as `exactOptionalPropertyTypes` requires. */
export function defined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  const kept: Partial<T> = {};
  // No list of members is made: every record of every transcript passes through here
  for (const name in value) {
    const member = value[name];
    if (member !== undefined) kept[name] = member;
  }
  return kept as T;
}

/** Items by a key, in their order. */
export function grouped<T, K>(items: Iterable<T>, keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (groups.get(key)?.push(item) === undefined) groups.set(key, [item]);
  }
  return groups;
}

/** Removes `readonly`, for code that builds the object. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };

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
