import type { EntryOf, TokenUsage, ToolStatus, TranscriptEntry } from "#core/model/transcript.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { lostCallKey } from "#core/rules/calls.ts";
import { defined } from "#kit/objects.ts";
import { executableOf } from "../shared/names/executables.ts";
import { providerName } from "../shared/names/providers.ts";
import { skillOf } from "../shared/names/skill.ts";
import { writesOfCall } from "../shared/payload/tool-writes.ts";
import { callsOf, type LedgerCall, responseIdOf } from "./ledger.ts";
import { EDITORS } from "./own-names.ts";
import type { Figures, LedgerRow, MessageRow, PartRow } from "./rows.ts";

/** The session being processed. */
interface WalkSession {
  readonly provider?: string | undefined;
  /** Set for a subagent's session: the session itself. */
  readonly agentId?: string | undefined;
  /** The id under which a call is reported; see `uniqueCallIds`. */
  readonly callIdOf: (callId: string, rowId: string) => string;
  /** When subagents began whose calls are not in the messages. In milliseconds since the epoch. */
  readonly strayStartsMs?: readonly number[];
  /** A subagent whose session went on without its call. */
  readonly isCutOff?: boolean;
}

/** All entries of a session. The same rows give the same keys again, wherever a compaction has put them. */
export function walk(
  messages: readonly MessageRow[],
  ledger: readonly LedgerRow[] | undefined,
  session: WalkSession,
): readonly TranscriptEntry[] {
  const own = ownReplies(messages);
  const places = placesOf(messages, own, session);
  const entries = messages.flatMap((row, index) => {
    const place = places.placeOf(row);
    return row.isCopy || own.has(row) ? [] : messageEntries(row, endOf(messages, index), place, session, places);
  });
  const calls = ledger === undefined ? recordedCalls(messages) : callsOf(ledger, messages);
  return [...entries, ...places.lost, ...calls.flatMap((call) => callEntries(call, places.placeOfCall(call), session))];
}

// --- internal ---

/** How a call ended. */
function outcomeOf({ isFailed, error }: PartRow): { readonly status: ToolStatus } {
  if (!isFailed) return { status: "success" };
  return { status: DENIED.test(error ?? "") ? "denied" : "error" };
}

/** By a hook, by the user, or by the mode in which no tool runs. */
const DENIED = /Tool call denied by policy hook\b|The user has declined to run this tool|denied by the user\b/i;

interface Place {
  readonly promptKey?: string;
  readonly agentId?: string;
}

interface Places {
  placeOf(row: MessageRow): Place;
  placeOfCall(call: LedgerCall): Place;
  readonly prompts: ReadonlySet<MessageRow>;
  /** Call id in an answer → the id under which it is reported. */
  callIdOf(callId: string, row: MessageRow): string;
  readonly lost: readonly EntryOf<"model_call">[];
}

/** The turn of each message, and the calls that were lost. */
function placesOf(
  messages: readonly MessageRow[],
  own: ReadonlySet<MessageRow>,
  { agentId, callIdOf, strayStartsMs = [], isCutOff = false }: WalkSession,
): Places {
  const places = new Map<MessageRow, Place>();
  const prompts = new Set<MessageRow>();
  const reported = new Map<MessageRow, ReadonlyMap<string, string>>();
  const lost: EntryOf<"model_call">[] = [];
  let [current, open]: [MessageRow | undefined, MessageRow | undefined] = [undefined, undefined];
  let ids = new Map<string, string>();
  for (const row of messages) {
    if (isPrompt(row) && agentId === undefined && !own.has(row)) {
      // After a tool's result Goose asks the model again, and writes the answer when its tools have ended
      const last = open ?? (hasStrayBetween(strayStartsMs, current, row) ? current : undefined);
      if (current !== undefined && last !== undefined)
        lost.push({ ...lostCall(current.id, last), promptKey: current.id });
      [current, open] = [row, undefined];
      if (!row.isCopy) prompts.add(row);
    } else if (!row.isCopy && row.isVisible) open = isAnsweredByModel(row, agentId) ? row : undefined;
    for (const { type, callId } of row.parts) {
      if (type === "toolRequest" && callId !== undefined) ids = new Map(ids).set(callId, callIdOf(callId, row.id));
    }
    reported.set(row, ids);
    places.set(row, agentId !== undefined ? { agentId } : current === undefined ? {} : { promptKey: current.id });
  }
  if (agentId !== undefined && isCutOff && open !== undefined) lost.push({ ...lostCall(agentId, open), agentId });
  const promptAt = (ms: number): Place => {
    if (agentId !== undefined) return { agentId };
    const prompt = [...prompts].findLast(({ createdMs }) => createdMs <= ms);
    return prompt === undefined ? {} : { promptKey: prompt.id };
  };
  return {
    prompts,
    lost,
    placeOf: (row) => places.get(row) ?? {},
    placeOfCall: ({ row, message }) =>
      (message === undefined || row.isCompaction ? undefined : places.get(message)) ?? promptAt(row.createdMs),
    callIdOf: (callId, row) => reported.get(row)?.get(callId) ?? callId,
  };
}

/** Commands for Goose itself, such as `/compact`, and Goose's replies to them. */
function ownReplies(messages: readonly MessageRow[]): ReadonlySet<MessageRow> {
  const visible = messages.filter(({ isVisible }) => isVisible);
  return new Set(
    visible.flatMap((row, index) => {
      const next = visible[index + 1];
      const isCommand = isPrompt(row) && !row.isForModel && row.parts.some(({ text }) => COMMAND.test(text ?? ""));
      return isCommand && next !== undefined && isOwnReply(next) ? [row, next] : [];
    }),
  );
}

/** COMPACT_TRIGGERS in crates/goose/src/agents/execute_commands.rs; the other commands begin with a slash too. */
const COMMAND = /^\s*(?:\/|Please compact this conversation\s*$)/;

const isOwnReply = (row: MessageRow): boolean =>
  row.role === "assistant" && !row.isForModel && row.usage === undefined && responseIdOf(row) === undefined;

export const isPrompt = ({ role, isVisible, parts }: MessageRow): boolean =>
  role === "user" &&
  isVisible &&
  parts.length > 0 &&
  parts.every(({ type }) => type !== "toolResponse") &&
  parts.some(({ type }) => type === "text" || type === "image");

/** Whether the model answers next: after the results of tools, and after a subagent's task. */
const isAnsweredByModel = ({ role, parts }: MessageRow, agentId: string | undefined): boolean =>
  parts.some(({ type }) => type === "toolResponse") || (agentId !== undefined && role === "user");

/** The answer that started a subagent was lost if its call is not there before the next prompt. */
const hasStrayBetween = (startsMs: readonly number[], prompt: MessageRow | undefined, next: MessageRow): boolean =>
  prompt !== undefined && startsMs.some((ms) => ms >= prompt.createdMs && ms <= next.createdMs);

const lostCall = (id: string, { writtenMs }: MessageRow): EntryOf<"model_call"> => ({
  kind: "model_call",
  key: lostCallKey(id),
  timeMs: writtenMs,
  startMs: writtenMs,
  endMs: writtenMs,
  complete: false,
});

/** The end of what a message reports: rows are written after the tools, but all are written again by a compaction. */
function endOf(messages: readonly MessageRow[], index: number): number {
  const row = messages[index];
  const next = messages.slice(index + 1).find(({ usage }) => usage !== undefined);
  return row === undefined ? 0 : Math.max(row.createdMs, Math.min(row.writtenMs, next?.createdMs ?? row.writtenMs));
}

function messageEntries(
  row: MessageRow,
  endMs: number,
  place: Place,
  session: WalkSession,
  places: Places,
): readonly TranscriptEntry[] {
  if (places.prompts.has(row)) return [promptEntry(row)];
  const entries = row.parts.flatMap((part): readonly TranscriptEntry[] => {
    if (part.callId === undefined) return [];
    const callId = places.callIdOf(part.callId, row);
    if (part.type === "toolRequest") return [{ ...toolUse(part, callId, row), ...place }];
    return part.type === "toolResponse" ? [{ ...toolResult(part, callId, row, endMs), ...place }] : [];
  });
  const isFinal = row.role === "assistant" && row.isVisible && row.parts.every(({ type }) => type !== "toolRequest");
  return isFinal && row.parts.length > 0 && session.agentId === undefined
    ? [...entries, { kind: "turn_end", key: `turn_end:${row.id}`, timeMs: endMs, ...place }]
    : entries;
}

function promptEntry({ id, createdMs, parts }: MessageRow): EntryOf<"prompt"> {
  const texts = parts.flatMap(({ text }) => text ?? []);
  return defined<EntryOf<"prompt">>({
    kind: "prompt",
    key: `prompt:${id}`,
    timeMs: createdMs,
    promptKey: id,
    origin: "human",
    length: texts.length === 0 ? undefined : texts.reduce((sum, text) => sum + text.length, 0),
  });
}

const toolUse = (part: PartRow, callId: string, row: MessageRow): EntryOf<"tool_use"> =>
  defined<EntryOf<"tool_use">>({
    kind: "tool_use",
    key: `use:${row.id}:${part.callId}`,
    timeMs: row.createdMs,
    callId,
    givenId: part.callId !== undefined && isSequenceNumber(part.callId) ? part.callId : undefined,
    name: part.name ?? "unknown",
    executable: executableOf(part.command),
    skill: skillOf(part.name, { name: part.named }),
    files: writesOfCall(EDITORS, part.name, part.edit),
  });

const toolResult = (part: PartRow, callId: string, row: MessageRow, endMs: number): EntryOf<"tool_result"> =>
  defined<EntryOf<"tool_result">>({
    kind: "tool_result",
    key: `result:${row.id}:${part.callId}`,
    timeMs: endMs,
    callId,
    ...outcomeOf(part),
    exitCode: part.exitCode,
    spawnedAgentId: part.spawned,
  });

/** Versions without a ledger have the usage in the messages only. */
const recordedCalls = (messages: readonly MessageRow[]): readonly LedgerCall[] =>
  messages.flatMap((message) => {
    const { id, usage, createdMs, isCopy, role } = message;
    if (usage === undefined || isCopy || role !== "assistant") return [];
    return [
      { key: `message:${id}`, message, row: { id: 0, createdMs, model: undefined, isCompaction: false, ...usage } },
    ];
  });

function callEntries(
  { key, row, message }: LedgerCall,
  place: Place,
  session: WalkSession,
): readonly TranscriptEntry[] {
  const asksForTools = message?.parts.some(({ type }) => type === "toolRequest") === true;
  const startMs = row.isCompaction ? row.createdMs : (message?.createdMs ?? row.createdMs);
  // The time that Goose measures includes the tools
  const endMs = asksForTools ? startMs : startMs + (message?.elapsedMs ?? 0);
  const call = defined<EntryOf<"model_call">>({
    kind: "model_call",
    key,
    timeMs: startMs,
    ...place,
    responseId: message === undefined ? undefined : responseIdOf(message),
    model: row.model ?? message?.requestedModel,
    requestedModel: message?.requestedModel,
    provider: providerName(message?.provider ?? session.provider),
    startMs,
    endMs,
    usage: usageOf(row),
    complete: true,
    purpose: row.isCompaction ? "compaction" : undefined,
    asksForTools: asksForTools ? true : undefined,
  });
  const compaction = { kind: "compaction", key: `compaction:${row.id}`, timeMs: row.createdMs, ...place } as const;
  return row.isCompaction ? [call, compaction] : [call];
}

function usageOf({ input, output, cacheRead, cacheWrite }: Figures): TokenUsage | undefined {
  const usage = defined<TokenUsage>({ input, output, cacheRead, cacheWrite });
  return Object.keys(usage).length === 0 ? undefined : usage;
}
