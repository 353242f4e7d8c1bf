import { eventId } from "#agents/shared/payload/identity.ts";
import type { Agent, PayloadFacts } from "#core/model/agent.ts";
import type { Envelope } from "#core/model/envelope.ts";
import { OPENHOOK_VERSION } from "#core/model/envelope-types.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { limitPath } from "#core/rules/limits.ts";
import { defined } from "#kit/objects.ts";
import { absolutePath, MAX_WRITES } from "#store/capture/protect.ts";
import { isFileWrite } from "./valid-facts.lazy.ts";

type WriteEvent = Extract<Envelope, { type: "file.write" }>;

/**
 * Makes `file.write` events from what a payload reports of changed files. They belong to the payload's event, usually the end of a tool
 * call, and have its time.
 *
 * @returns `[]` if the payload has no event, or its call failed
 */
export function fileWriteEvents(agent: Agent, payload: unknown, facts: PayloadFacts): readonly Event[] {
  const [event] = facts.events;
  if (agent.toFileWrites === undefined || event === undefined) return [];
  if (event.type === "tool.end" && event.data?.status === "error") return [];
  // If a patch cannot be read, the call itself still counts
  try {
    const writes = agent.toFileWrites(payload, facts).slice(0, MAX_WRITES);
    const made = writes.flatMap((write, at) => eventOf(write, at, event) ?? []);
    return made.filter((one) => isFileWrite(one));
  } catch {
    return [];
  }
}

// --- internal ---

function eventOf(write: FileWrite, at: number, event: Event): WriteEvent | undefined {
  const path = limitPath(absolutePath(write.path, event.cwd));
  if (path === undefined || path === "") return undefined;
  const extras = extrasOf(event);
  const callId = event.type === "tool.end" ? event.data?.tool_call_id : undefined;
  // Two hooks can report one call; an id that the provider counts identifies no call
  const key = callId === undefined || extras.given_id !== undefined ? event.id : callId;
  return {
    openhook: OPENHOOK_VERSION,
    id: eventId(event.source, event.session_id, "file.write", extras.agent_id ?? "", key, String(at), path),
    source: event.source,
    type: "file.write",
    time: event.time,
    session_id: event.session_id,
    ...(event.cwd !== undefined && { cwd: event.cwd }),
    data: defined<WriteEvent["data"]>({
      path,
      operation: write.operation,
      start_line: write.startLine,
      end_line: write.endLine,
      tool_call_id: callId,
    } as WriteEvent["data"]),
    extensions: defined<Extras>({
      ...Object.fromEntries(SHARED.map((name) => [name, extras[name]])),
      tool_event: event.type === "tool.end" ? event.id : undefined,
      lines_added: write.added,
      lines_removed: write.removed,
    }),
  };
}

/** What places the event in its session. */
const SHARED = [
  "native_event",
  "prompt_id",
  "agent_id",
  "agent_type",
  "agent_version",
  "given_id",
  "process",
  "session_id_origin",
  "parent_session_id",
] as const satisfies readonly (keyof Extras)[];
