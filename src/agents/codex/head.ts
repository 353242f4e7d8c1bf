import { asObject, asString } from "../shared/payload/json.ts";

/** Identity of a thread, from the first line of its file. */
export interface Head {
  readonly threadId: string;
  /** Its session: the root thread. In versions that do not report it, the closest known ancestor. */
  readonly rootId: string;
  /** The thread that started it; absent for a root thread. */
  readonly parentId?: string;
}

/** @param meta payload of a `session_meta` line */
export function headOf(meta: Readonly<Record<string, unknown>>): Head | undefined {
  const threadId = asString(meta["id"]);
  if (threadId === undefined) return undefined;
  const spawn = asObject(asObject(asObject(meta["source"])?.["subagent"])?.["thread_spawn"]);
  const parentId = asString(meta["parent_thread_id"]) ?? asString(spawn?.["parent_thread_id"]);
  const rootId = asString(meta["session_id"]) ?? parentId ?? threadId;
  return { threadId, rootId, ...(parentId !== undefined && { parentId }) };
}

/** The same, from the first bytes of a line: these members precede the long instructions. */
export function headOfBytes(bytes: string): Head | undefined {
  if (!/"type":\s*"session_meta"/.test(bytes)) return undefined;
  const memberOf = (name: string): string | undefined =>
    new RegExp(`[{,]\\s*"${name}":\\s*"([^"\\\\]+)"`).exec(bytes)?.[1];
  const threadId = memberOf("id");
  if (threadId === undefined) return undefined;
  const parentId = memberOf("parent_thread_id");
  return {
    threadId,
    rootId: memberOf("session_id") ?? parentId ?? threadId,
    ...(parentId !== undefined && { parentId }),
  };
}

/** Type of a subagent: the requested role, or the purpose for which Codex started it (`review`, `compact`). */
export function agentTypeOf(source: unknown): string | undefined {
  const subagent = asObject(source)?.["subagent"];
  if (typeof subagent === "string") return asString(subagent);
  const spawn = asObject(asObject(subagent)?.["thread_spawn"]);
  if (spawn !== undefined) return asString(spawn["agent_role"]) ?? "default";
  return asString(asObject(subagent)?.["other"]);
}
