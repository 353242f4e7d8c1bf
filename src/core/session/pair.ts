import { defined } from "#kit/objects.ts";
import type { Event, Extras } from "../model/event-schema.ts";
import type { FileWrite } from "../model/file-write.ts";
import type { SessionFacts, SettledCall, ToolCall } from "../model/session.ts";
import type { EntryOf, TranscriptEntry } from "../model/transcript.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import { assignCallIds, isAssignedCallId, withoutGivenId } from "./assign-call-ids.ts";
import { withRunIds } from "./hook-runs.ts";
import { joinCalls } from "./join.ts";

/** A tool call with what assigns it to a turn. */
export interface PairedTool extends ToolCall {
  /** The transcript's id, if hooks without ids reported the call first. */
  readonly transcriptId?: string;
  /** Only a start reported it, and the agent writes calls into its transcript before they start. */
  readonly isOnlyStarted?: true;
  /** The transcript has neither the call nor its result. */
  readonly isUnwritten?: true;
  /** Files in the transcript: those of the result, otherwise those in the arguments. See `withWrittenFiles`. */
  readonly written?: { readonly files: readonly FileWrite[]; readonly isOfResult?: true };
  readonly promptKey?: string;
  readonly uses: readonly string[];
}

/**
 * Pairs `tool.start` with `tool.end` by `tool_call_id`, and both with the transcript's entries for that call. Calls without
 * an id, or with one that several calls share, are paired by tool and input or by that id; see `assignCallIds` and `joinCalls`.
 *
 * Of two ends of one call, the earlier time counts, and a failure rather than a success. Times and statuses from hooks take
 * precedence: their times are exact. Refusals, and the tool name that the model used, come from the transcript.
 *
 * @param events one session's events, any order, duplicates allowed
 * @param entries one session's merged entries
 * @param settled calls already counted; a call that matches one of them gets its id
 * @param hooksNameAgents whether hooks say which agent a call belongs to; see `Agent.hooksNameAgents`
 * @param settledStarts of the agent's processes, in addition to those among the events
 * @returns calls ordered by start; a call without an end is `open`; an end without a start begins at end − duration if the
 *          agent sends a duration, otherwise it has zero length. `endMs >= startMs`.
 */
export function pairTools(
  events: readonly Event[],
  entries: readonly TranscriptEntry[],
  settled: readonly SettledCall[] = [],
  hooksNameAgents?: SessionFacts["hooksNameAgents"],
  settledStarts: readonly number[] = [],
): readonly PairedTool[] {
  const withIds = assignCallIds([...withRunIds(events.map(withoutGivenId), entries)].sort(byTime), settledStarts);
  const joined = joinCalls(withIds, entries, settled, hooksNameAgents, settledStarts);
  const calls = new Map<string, CallParts>();
  const partsOf = (given: string): CallParts => {
    const callId = joined.get(given) ?? given;
    const known = calls.get(callId) ?? { uses: [] };
    calls.set(callId, known);
    return known;
  };
  addEvents(withIds, partsOf);
  addEntries(entries, partsOf);
  for (const call of calls.values()) if (isEndOfRetry(call)) delete call.end;
  return [...calls]
    .filter(([, call]) => call.start ?? call.end ?? call.use ?? endOf(call))
    .map(([callId, call]) => toPairedTool(callId, call))
    .sort((a, b) => a.startMs - b.startMs || (a.callId < b.callId ? -1 : 1));
}

/**
 * Whether a line closes a call that a killed process left open. The next process writes the line, perhaps days later, so its
 * time is not the call's end.
 */
export const isLeftOpen = (entry: TranscriptEntry): boolean =>
  entry.kind === "tool_result" && entry.status === "unfinished";

/** A call that is still open when its run closes is reported as unfinished, not as success or error. */
export function finishTool(
  { promptKey: _promptKey, uses: _uses, transcriptId: _transcriptId, ...call }: PairedTool,
  closed: boolean,
  latestEndMs: number | undefined,
) {
  if (call.status !== "open" || !closed) return call;
  return { ...call, status: "unfinished" as const, endMs: Math.max(call.startMs, latestEndMs ?? call.endMs) };
}

// --- internal ---

interface CallParts {
  uses: string[];
  start?: Extract<Event, { type: "tool.start" }>;
  end?: Extract<Event, { type: "tool.end" }>;
  /** A later call has the same id (some providers count from 0 again), so a further end is not this call's. */
  isReused?: boolean;
  batch?: Event;
  use?: EntryOf<"tool_use">;
  result?: EntryOf<"tool_result">;
}

type PartsOf = (callId: string) => CallParts;

function addEvents(events: readonly Event[], partsOf: PartsOf): void {
  /** Agent and given id → the last call that started with that id. */
  const lastByGivenId = new Map<string, string>();
  for (const event of events) {
    const { agent_id: agentId, given_id: givenId } = extrasOf(event);
    if (event.type === "tool.start") {
      const callId = event.data?.tool_call_id ?? event.id;
      if (givenId !== undefined) lastByGivenId.set(JSON.stringify([agentId, givenId]), callId);
      addStart(partsOf(callId), event);
    } else if (event.type === "tool.end") addEnd(partsOf(event.data?.tool_call_id ?? event.id), event);
    else if (event.type === "tool.batch") {
      for (const callId of extrasOf(event).tool_call_ids ?? []) {
        partsOf(lastByGivenId.get(JSON.stringify([agentId, callId])) ?? callId).batch ??= event;
      }
    }
  }
}

function addStart(call: CallParts, event: NonNullable<CallParts["start"]>): void {
  call.uses.push(event.id);
  call.isReused ||= call.end !== undefined;
  call.start ??= event;
}

function addEnd(call: CallParts, event: NonNullable<CallParts["end"]>): void {
  call.uses.push(event.id);
  if (call.end === undefined) call.end = event;
  else if (isFailed(event) && !isFailed(call.end) && call.isReused !== true) {
    call.end = { ...event, time: call.end.time };
  }
}

function addEntries(entries: readonly TranscriptEntry[], partsOf: PartsOf): void {
  for (const entry of entries) {
    if (entry.kind !== "tool_use" && entry.kind !== "tool_result" && entry.kind !== "hook_run") continue;
    const call = partsOf(entry.callId);
    call.uses.push(entry.key);
    if (entry.kind === "tool_use") call.use ??= entry;
    else if (entry.kind === "tool_result") call.result ??= entry;
  }
}

/**
 * A fork adds an unfinished result after a copied call that a killed process left open. In the original session the call
 * stays open.
 */
const endOf = ({ result }: CallParts): CallParts["result"] =>
  result === undefined || isLeftOpen(result) ? undefined : result;

const isFailed = ({ data }: NonNullable<CallParts["end"]>): boolean => data?.status === "error";

const byTime = (a: Event, b: Event): number => timeMsOf(a) - timeMsOf(b) || (a.id < b.id ? -1 : 1);

function toPairedTool(callId: string, call: CallParts): PairedTool {
  const { use, result } = call;
  const status = statusOf(call);
  return defined<PairedTool>({
    callId,
    status,
    ...timesOf(call),
    ...calledIn(call),
    ...resultIn(call, status),
    hooks: hooksOf(call),
    transcriptId: use?.callId === callId ? undefined : use?.callId,
    isUnwritten: use === undefined && result === undefined ? true : undefined,
    isOnlyStarted: isOnlyStarted(call) ? true : undefined,
    written: writtenIn(call),
    uses: call.uses,
  });
}

const extrasIn = (event: Event | undefined): Extras => (event === undefined ? {} : extrasOf(event));

/** What was called, and by whom. */
function calledIn({ start, end, use, result }: CallParts) {
  const [atStart, atEnd] = [extrasIn(start), extrasIn(end)];
  return {
    name: use?.name ?? start?.data?.tool_name ?? end?.data?.tool_name ?? "unknown",
    executable: atStart.executable ?? atEnd.executable ?? use?.executable,
    subcommand: atStart.subcommand ?? atEnd.subcommand,
    mcpServer: atStart.mcp_server ?? atEnd.mcp_server ?? use?.mcpServer,
    skill: atStart.skill ?? atEnd.skill ?? use?.skill,
    inputDigest: atStart.input_digest ?? atEnd.input_digest ?? use?.inputDigest,
    givenId: atStart.given_id ?? atEnd.given_id ?? use?.givenId,
    agentId: use?.agentId ?? result?.agentId ?? atStart.agent_id ?? atEnd.agent_id,
    promptKey: use?.promptKey ?? result?.promptKey ?? atStart.prompt_id ?? atEnd.prompt_id,
  };
}

/** What the call gave. */
function resultIn({ end, result }: CallParts, status: ToolCall["status"]) {
  const atEnd = extrasIn(end);
  const failure = status === "error" ? (atEnd.error_type ?? result?.errorType) : undefined;
  return {
    errorType: status === "denied" ? "denied" : failure,
    exitCode: atEnd.exit_code ?? result?.exitCode,
    linesAdded: atEnd.lines_added ?? result?.linesAdded,
    linesRemoved: atEnd.lines_removed ?? result?.linesRemoved,
    spawnedAgentId: atEnd.spawned_agent_id ?? result?.spawnedAgentId,
  };
}

/** Only a start reported the call, and the agent writes calls into its transcript before they start. */
const isOnlyStarted = ({ start, end, use, result }: CallParts): boolean =>
  extrasIn(start).in_transcript === true && (use ?? result ?? end) === undefined;

/** `endMs >= startMs`; equal if nothing shows the end. */
function timesOf(call: CallParts): Pick<PairedTool, "startMs" | "endMs" | "executionMs"> {
  const { start, end, result, batch } = call;
  const executionMs = end?.data?.duration_ms ?? result?.durationMs;
  const resultMs = endOf(call)?.timeMs;
  const hookStartMs = start === undefined ? undefined : timeMsOf(start);
  const hookEndMs = end === undefined ? undefined : endOfHook(end, hookStartMs, resultMs);
  const endMs = hookEndMs ?? resultMs ?? (batch && timeMsOf(batch));
  const startMs = startOf(call, hookStartMs, endMs, executionMs);
  return { startMs, endMs: Math.max(startMs, endMs ?? startMs), ...(executionMs !== undefined && { executionMs }) };
}

/** The hook's time, if it fits the end; otherwise the transcript's; otherwise the end minus the duration. */
function startOf(
  { end, use }: CallParts,
  hookStartMs: number | undefined,
  endMs: number | undefined,
  executionMs: number | undefined,
): number {
  if (hookStartMs !== undefined) {
    if (endMs === undefined || hookStartMs <= endMs) return hookStartMs;
    // A transcript with times in whole seconds
    if (end === undefined && endMs === Math.floor(hookStartMs / 1000) * 1000) return hookStartMs;
  }
  const estimatedMs = endMs === undefined ? undefined : endMs - (executionMs ?? 0);
  // Concurrent hooks can deliver the end first
  if (hookStartMs === undefined && use !== undefined && (endMs === undefined || use.timeMs <= endMs)) {
    return executionMs === undefined || estimatedMs === undefined ? use.timeMs : Math.max(use.timeMs, estimatedMs);
  }
  return estimatedMs ?? use?.timeMs ?? 0;
}

/** The time of an end that may be reported late is the transcript's, if it is between the call's start and the report. */
function endOfHook(
  end: NonNullable<CallParts["end"]>,
  startMs: number | undefined,
  resultMs: number | undefined,
): number {
  const reportedMs = timeMsOf(end);
  const isLate = extrasOf(end).reported_late === true && resultMs !== undefined;
  return isLate && resultMs <= reportedMs && resultMs >= (startMs ?? resultMs) ? resultMs : reportedMs;
}

/**
 * No hook reports the end of a refused call, and some agents report none for a failed one. Without an id, a successful end
 * therefore belongs to the retry of the same call.
 */
const isEndOfRetry = ({ end, result }: CallParts): boolean =>
  end !== undefined &&
  isAssignedCallId(end.data?.tool_call_id) &&
  ((result?.status === "denied" && extrasOf(end).denied !== true) ||
    (result?.status === "error" && end.data?.status === "success"));

function writtenIn({ use, result }: CallParts): PairedTool["written"] {
  if (result?.files !== undefined) return { files: result.files, isOfResult: true };
  return use?.files === undefined ? undefined : { files: use.files };
}

function hooksOf({ start, end }: CallParts): ToolCall["hooks"] {
  if (!isAssignedCallId((start ?? end)?.data?.tool_call_id)) return undefined;
  return end === undefined ? "start" : start === undefined ? "end" : "both";
}

function statusOf({ end, result, batch }: CallParts): ToolCall["status"] {
  if (end !== undefined) {
    if (extrasOf(end).denied === true) return "denied";
    if (end.data?.status !== undefined) return end.data.status;
  }
  if (result !== undefined) return result.status;
  if (end !== undefined) return "success";
  // The batch names every call of a message; a call without an end never ran
  return batch === undefined ? "open" : "denied";
}
