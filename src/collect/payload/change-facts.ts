import {
  changeEntries,
  changesOfCall,
  MAX_COMMAND_CHARACTERS,
  relevantCall,
} from "#agents/shared/changes/call-changes.ts";
import { mayChange, mayCreateChange } from "#agents/shared/changes/printed.ts";
import type { Agent, PayloadFacts } from "#core/model/agent.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { timeMsOf } from "#core/rules/event.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

/** What a payload shows of commits and changes: entries, and its event with the number of commits that the call certainly made. */
interface FoundChanges {
  readonly events: readonly Event[];
  readonly entries: readonly TranscriptEntry[];
}

/**
 * Finds commits and changes in a payload that reports the end of a tool call. Only ids leave this function: neither the command line
 * nor what it printed.
 */
export function changesInPayload(agent: Agent, payload: unknown, facts: PayloadFacts): FoundChanges {
  const [event] = facts.events;
  if (event?.type !== "tool.end" || hasFailed(event)) return { events: facts.events, entries: [] };
  const isOfTool = event.data?.tool_name !== undefined && mayCreateChange(event.data.tool_name);
  if (!isOfTool && !hasCommand(payload, 0)) return { events: facts.events, entries: [] };
  // An unexpected shape must not cost the call itself
  try {
    const content = agent.toContent?.(payload, facts) ?? [];
    const partOf = (part: "arguments" | "result"): unknown =>
      content.find((one) => one.fact === event.id && one.part === part)?.value;
    const call = relevantCall(event.data?.tool_name, partOf("arguments"));
    if (call === undefined) return { events: facts.events, entries: [] };
    const found = changesOfCall(call, partOf("result"), event.cwd);
    const { madeCommits } = found;
    const [, ...others] = facts.events;
    const events =
      madeCommits === undefined
        ? facts.events
        : [{ ...event, extensions: { ...event.extensions, made_commits: madeCommits } }, ...others];
    const { agent_id: agentId } = extrasOf(event);
    const entries = changeEntries(found, { timeMs: timeMsOf(event), agentId, callId: event.data?.tool_call_id });
    return { events, entries };
  } catch {
    return { events: facts.events, entries: [] };
  }
}

// --- internal ---

/** Whether a payload has a command line that can make a commit or a change: the content of all others is not even built. */
const hasCommand = (value: unknown, depth: number): boolean =>
  typeof value === "string"
    ? value.length <= MAX_COMMAND_CHARACTERS && mayChange(value)
    : typeof value === "object" &&
      value !== null &&
      depth < MAX_DEPTH &&
      Object.values(value).some((one) => hasCommand(one, depth + 1));

const MAX_DEPTH = 4;

function hasFailed(event: Extract<Event, { type: "tool.end" }>): boolean {
  const { denied, exit_code: exitCode } = extrasOf(event);
  return event.data?.status === "error" || denied === true || (exitCode ?? 0) !== 0;
}
