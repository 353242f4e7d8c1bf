import { defined } from "../model/defined.ts";
import { type Event, extrasOf, timeMsOf } from "../model/event.ts";
import { isLostCall } from "../model/lost-calls.ts";
import { minOf } from "../model/min-max.ts";
import type { ModelCall } from "../model/model-call.ts";
import { withoutKnownCalls } from "../model/removed-calls.ts";
import {
  type ExportedSpan,
  isEndedByUs,
  type ModelError,
  type RunKind,
  runKey,
  type SessionContext,
  type SettledCall,
  type SettledTurn,
  SUPERSEDED,
} from "../model/session.ts";
import { isSingleCall } from "../model/single-call.ts";
import type { EntryOf, TranscriptEntry } from "../model/transcript.ts";
import type { PairedTool } from "./pair.ts";
import { type JoinedPrompt, joinPrompts, NO_PROMPT } from "./prompts.ts";
import { LATE_ACTIVITY_WITHIN_MS } from "./segments.ts";
import { toModelCall } from "./to-model-call.ts";

/** A turn or subagent under construction. */
export interface Draft {
  readonly key: string;
  /** Start by the most reliable source; decides order and segment. */
  readonly orderMs: number;
  readonly startMs: number;
  readonly origin: "human" | "machine" | "none";
  /** It has a prompt, not only activity. */
  readonly hasPrompt: boolean;
  /** It continues a turn or subagent that is already settled. */
  readonly continues: boolean;
  /** The span of what it continues. */
  readonly exported?: ExportedSpan;
  readonly hasHookPrompt: boolean;
  /** Set when it continues something settled within the same segment. */
  readonly segment?: number;
  readonly promptLength?: number;
  readonly agentId?: string;
  readonly agentType?: string;
  readonly parentCallId?: string;
  readonly turnKey?: string;
  /** What resumed a settled subagent, perhaps in a later segment. */
  readonly resumedBy?: { readonly turnKey?: string; readonly parentCallId?: string };
  readonly events: readonly Event[];
  readonly entries: readonly TranscriptEntry[];
  readonly modelCalls: readonly ModelCall[];
  readonly toolCalls: readonly PairedTool[];
  readonly errors: readonly ModelError[];
  readonly uses: readonly string[];
}

export interface Drafts {
  readonly turns: readonly Draft[];
  readonly subagents: readonly Draft[];
}

/**
 * Assigns every model call, tool call, error and signal to at most one turn or subagent.
 *
 * @param countedIds transcript call id → the id under which the call is counted
 */
export function assign(
  events: readonly Event[],
  entries: readonly TranscriptEntry[],
  tools: readonly PairedTool[],
  context: SessionContext,
  countedIds: ReadonlyMap<string, string>,
): Drafts {
  const prompts = joinPrompts(events, entries, context);
  const turns = new Map<string, Bin>();
  const subagents = new Map<string, Bin>();
  const timeline = [
    ...prompts.filter((p) => p.origin !== "command").map((p) => ({ key: p.key, ms: p.timeMs })),
    ...[...context.turns].map(([key, turn]) => ({ key, ms: turn.startMs })),
  ].sort((a, b) => a.ms - b.ms);

  const ends = events.filter((e) => TURN_ENDS.has(e.type) && extrasOf(e).agent_id === undefined).map(timeMsOf);
  /** Whether the prompt's hook may have arrived late: no turn ended between the two times. */
  const canBeLate = (promptMs: number, ms: number): boolean =>
    promptMs <= ms + LATE_PROMPT_MS && !ends.some((end) => ms <= end && end <= promptMs);
  /** The turn that the agent names; otherwise the last turn that had started. */
  const turnKeyOf = (promptKey: string | undefined, ms: number): string =>
    promptKey ?? timeline.findLast((t) => t.ms <= ms || canBeLate(t.ms, ms))?.key ?? NO_PROMPT;
  const turnBin = (key: string): Bin => binOf(turns, key);
  const binFor = (agentId: string | undefined, promptKey: string | undefined, ms: number): Bin =>
    agentId === undefined ? turnBin(turnKeyOf(promptKey, ms)) : binOf(subagents, agentId);

  for (const prompt of prompts) {
    // A command such as /clear is a turn only if it led to model calls, which then name it
    if (prompt.origin !== "command") turnBin(prompt.key).prompt = prompt;
  }
  const knowsCalls = context.knowsCalls || entries.some(isSingleCall);
  for (const entry of withoutKnownCalls(entries, context.coveredCalls)) {
    switch (entry.kind) {
      case "model_call":
        // Its turn was settled with it
        if (isLostCall(entry.key) && context.turns.has(entry.promptKey ?? "")) break;
        // A session total replaces calls with unknown tokens; beside known calls, tokens would be counted twice
        if (entry.covers !== "session" || !knowsCalls)
          binFor(entry.agentId, entry.promptKey, entry.timeMs).calls.push(entry);
        break;
      case "model_error":
      case "interruption":
      case "turn_end":
        binFor(entry.agentId, entry.promptKey, entry.timeMs).entries.push(entry);
        break;
      case "subagent":
        if (entry.agentId !== undefined) binOf(subagents, entry.agentId).meta = entry;
        break;
      default:
    }
  }
  for (const event of events) {
    const extras = extrasOf(event);
    switch (event.type) {
      case "turn.end":
      case "turn.error":
      case "tool.batch":
      case "permission":
        binFor(extras.agent_id, extras.prompt_id, timeMsOf(event)).events.push(event);
        break;
      case "session.start":
      case "session.end":
        // A subagent with a separate session id starts and ends like a session
        if (extras.agent_id !== undefined) binOf(subagents, extras.agent_id).events.push(event);
        break;
      case "subagent.start":
      case "subagent.end":
        if (extras.agent_id !== undefined) binOf(subagents, extras.agent_id).events.push(event);
        break;
      default:
    }
  }

  const callOwner = new Map(tools.map((tool) => [tool.callId, tool]));
  const spawnedBy = new Map(
    tools.flatMap((t) => (t.spawnedAgentId === undefined ? [] : [[t.spawnedAgentId, t.callId]])),
  );
  /** The parent call of a subagent whose entry names it by an id that several calls share. */
  const callByGivenId = (meta: EntryOf<"subagent"> | undefined): string | undefined =>
    meta?.parentGivenId === undefined
      ? undefined
      : [...tools, ...context.calls]
          .filter((call) => call.givenId === meta.parentGivenId && call.agentId === meta.parentAgentId)
          .filter(({ startMs }) => startMs <= meta.timeMs)
          .reduce<SettledCall | undefined>(
            (last, call) => (call.startMs > (last?.startMs ?? 0) ? call : last),
            undefined,
          )?.callId;
  const reportedParents = (agentId: string): readonly string[] => {
    const all = [
      subagents.get(agentId)?.meta?.parentCallId,
      callByGivenId(subagents.get(agentId)?.meta),
      spawnedBy.get(agentId),
      context.spawnedBy?.get(agentId),
      context.subagents.get(agentId)?.parentCallId,
    ].flatMap((reported) => {
      const id = countedIds.get(reported ?? "") ?? reported;
      return id === undefined || context.unusedIds?.has(id) === true ? [] : [id];
    });
    return [...new Set(all)];
  };
  /** Whether this agent or a descendant made the call: such a call cannot have started the agent. */
  const isDescendantCall = (callId: string, agentId: string): boolean => {
    // The set visits each owner once: several sources name parents, and agents can be nested hundreds deep
    const owners = new Set<string | undefined>([callOwner.get(callId)?.agentId]);
    for (const owner of owners) {
      if (owner === agentId) return true;
      if (owner !== undefined) for (const id of reportedParents(owner)) owners.add(callOwner.get(id)?.agentId);
    }
    return false;
  };
  const parents = new Map<string, string | undefined>();
  const parentOf = (agentId: string): string | undefined => {
    if (!parents.has(agentId)) {
      parents.set(
        agentId,
        reportedParents(agentId).find((id) => !isDescendantCall(id, agentId)),
      );
    }
    return parents.get(agentId);
  };
  /** The parent of a settled subagent is already exported, so it stays the parent even if new facts disagree. */
  const isAncestorCall = (callId: string, agentId: string | undefined): boolean => {
    const agents = new Set([agentId]);
    for (const below of agents) {
      const parent = context.subagents.get(below ?? "")?.parentCallId;
      if (parent === callId) return true;
      if (parent !== undefined) agents.add(callOwner.get(parent)?.agentId);
    }
    return false;
  };
  for (const tool of tools) {
    const agentId = isAncestorCall(tool.callId, tool.agentId) ? undefined : tool.agentId;
    binFor(agentId, tool.promptKey, tool.startMs).toolCalls.push(tool);
  }
  const startOf = (kind: RunKind, key: string) => context.openWork?.get(runKey(kind, key))?.startMs;
  for (const [key, bin] of turns) bin.settledStartMs = startOf("turn", partKey(key, context.turns.get(key)));
  for (const [id, bin] of subagents) bin.settledStartMs = startOf("subagent", partKey(id, context.subagents.get(id)));
  const turnDrafts = [...turns].flatMap(([key, bin]) =>
    isEmpty(bin, context.turns.has(key)) ? [] : [turnDraft(key, bin, context)],
  );
  const turnsBySubagent = new Map<string, string | undefined>();
  /** The turn of the call that started the subagent, at any depth of nesting. */
  const turnOf = (agentId: string, below: ReadonlySet<string> = new Set()): string | undefined => {
    const known = context.subagents.get(agentId)?.turnKey;
    // Sources that contradict each other can form a cycle
    if (known !== undefined || below.has(agentId)) return known;
    const owner = callOwner.get(parentOf(agentId) ?? "");
    if (owner?.agentId !== undefined && owner.agentId !== agentId) {
      if (!turnsBySubagent.has(owner.agentId)) {
        turnsBySubagent.set(owner.agentId, turnOf(owner.agentId, new Set([...below, agentId])));
      }
      return turnsBySubagent.get(owner.agentId);
    }
    if (owner !== undefined) return turnKeyOf(owner.promptKey, owner.startMs);
    const bin = subagents.get(agentId);
    const named = bin === undefined ? undefined : namedTurnKey(bin);
    if (named !== undefined) return named;
    const ms = bin === undefined ? undefined : firstMs(bin);
    const key = ms === undefined ? NO_PROMPT : timeline.findLast((t) => t.ms <= ms)?.key;
    return key === NO_PROMPT ? undefined : key;
  };
  /** What resumed a settled subagent; `undefined` if no call did: then it continues in the turn it was settled with. */
  const resumptionOf = (agentId: string, bin: Bin): Draft["resumedBy"] => {
    const settled = context.subagents.get(agentId);
    const named = namedTurnKey(bin) ?? bin.calls.map((call) => call.promptKey).find((key) => key !== undefined);
    const parentCallId = parentOf(agentId);
    const owner = callOwner.get(parentCallId ?? "");
    const isSameTurn = named !== undefined && named === settled?.turnKey;
    // That turn may continue in a later segment and resume the subagent there
    if (settled === undefined || (isSameTurn && owner === undefined)) return undefined;
    const key = turnKeyOf(named ?? (owner?.agentId === undefined ? owner?.promptKey : undefined), firstMs(bin) ?? 0);
    return defined<NonNullable<Draft["resumedBy"]>>({
      turnKey: key === NO_PROMPT ? undefined : key,
      parentCallId: owner === undefined ? undefined : parentCallId,
    });
  };
  const subagentDrafts = [...subagents].flatMap(([agentId, bin]) => {
    const settled = context.subagents.has(agentId);
    const started = bin.events.some((e) => STARTS.has(e.type)) || bin.meta !== undefined;
    const working = bin.calls.length + bin.toolCalls.length + bin.entries.length > 0;
    // An end without a start or activity belongs to internal work of the agent, for example a compaction
    if (!working && (!started || settled)) return [];
    const draft = subagentDraft(agentId, bin, parentOf(agentId), turnOf(agentId), context);
    const resumedBy = resumptionOf(agentId, bin);
    return [resumedBy === undefined ? draft : { ...draft, resumedBy }];
  });
  return { turns: turnDrafts.sort(byOrder), subagents: subagentDrafts.sort(byOrder) };
}

// --- internal ---

/** The hook of a turn's first tool can arrive before the hook of its prompt. */
const LATE_PROMPT_MS = 2_000;
const TURN_ENDS: ReadonlySet<string> = new Set(["turn.end", "turn.error"]);
const STARTS: ReadonlySet<string> = new Set(["subagent.start", "session.start"]);

/** The facts of one turn or subagent. */
interface Bin {
  prompt?: JoinedPrompt;
  meta?: EntryOf<"subagent">;
  readonly events: Event[];
  readonly entries: TranscriptEntry[];
  readonly calls: EntryOf<"model_call">[];
  readonly toolCalls: PairedTool[];
  /** Start of what was settled of the run while it was open. */
  settledStartMs?: number | undefined;
}

function binOf(bins: Map<string, Bin>, key: string): Bin {
  const bin = bins.get(key) ?? { events: [], entries: [], calls: [], toolCalls: [] };
  bins.set(key, bin);
  return bin;
}

/** Without a prompt and without calls: signals alone are no turn. */
function isEmpty(bin: Bin, settled: boolean): boolean {
  const work = bin.calls.length + bin.toolCalls.length;
  if (work > 0 || bin.entries.some((e) => e.kind === "model_error")) return false;
  return settled || bin.prompt === undefined;
}

function turnDraft(key: string, bin: Bin, context: SessionContext): Draft {
  const settled = context.turns.get(key);
  const orderMs = bin.prompt?.timeMs ?? firstMs(bin) ?? settled?.endMs ?? 0;
  return defined<Draft>({
    ...commonParts(bin),
    key: partKey(key, settled),
    orderMs,
    startMs: orderMs,
    origin: key === NO_PROMPT ? "none" : bin.prompt?.origin === "machine" ? "machine" : "human",
    hasPrompt: bin.prompt !== undefined,
    // Activity without a prompt belongs to the segment in which it happened
    continues: settled !== undefined && key !== NO_PROMPT,
    exported: key === NO_PROMPT ? undefined : settled?.span,
    hasHookPrompt: bin.prompt?.hasHook === true,
    segment: key === NO_PROMPT || continuesLater(bin, settled, context) ? undefined : settled?.segment,
    promptLength: bin.prompt?.length,
    agentId: undefined,
    agentType: undefined,
    parentCallId: undefined,
    turnKey: undefined,
    uses: [...(bin.prompt?.uses ?? []), ...usesOf(bin)],
  });
}

/**
 * Whether a settled turn continued after its segment's end: after we ended the segment as idle, or during a later segment.
 * The continuation then belongs to the later segment.
 */
function continuesLater(bin: Bin, settled: SettledTurn | undefined, { segment: last }: SessionContext): boolean {
  const ms = firstMs(bin);
  if (settled === undefined || last === undefined || ms === undefined) return false;
  if (settled.segment < last.ordinal) return ms >= last.startMs;
  const isIdle = isEndedByUs(last) || (last.reason === "timeout" && last.nativeReason !== SUPERSEDED);
  return isIdle && last.endMs !== undefined && ms > last.endMs + LATE_ACTIVITY_WITHIN_MS;
}

function subagentDraft(
  agentId: string,
  bin: Bin,
  parentCallId: string | undefined,
  turnKey: string | undefined,
  context: SessionContext,
): Draft {
  const settled = context.subagents.get(agentId);
  const startMs = firstMs(bin) ?? 0;
  const types = bin.events.map((e) => extrasOf(e).agent_type);
  const isResumed =
    bin.events.some((e) => STARTS.has(e.type)) ||
    (settled?.parentCallId !== undefined && settled.parentCallId !== parentCallId);
  return defined<Draft>({
    ...commonParts(bin),
    key: partKey(agentId, settled),
    orderMs: startMs,
    startMs,
    origin: "none",
    hasPrompt: false,
    continues: settled !== undefined,
    exported: isResumed ? undefined : settled?.span,
    hasHookPrompt: false,
    segment: settled?.segment,
    promptLength: undefined,
    agentId,
    agentType: bin.meta?.agentType ?? types.find((t) => t !== undefined && t !== "") ?? settled?.agentType,
    parentCallId,
    turnKey,
    uses: [...(bin.meta === undefined ? [] : [bin.meta.key]), ...usesOf(bin)],
  });
}

function commonParts(bin: Bin) {
  return {
    events: bin.events,
    entries: bin.entries,
    modelCalls: bin.calls.map(toModelCall).sort((a, b) => a.endMs - b.endMs || (a.key < b.key ? -1 : 1)),
    toolCalls: bin.toolCalls,
    errors: bin.entries
      .filter((e) => e.kind === "model_error")
      .map(({ timeMs, errorType, httpStatus, final }) => defined<ModelError>({ timeMs, errorType, httpStatus, final }))
      .sort((a, b) => a.timeMs - b.timeMs),
  };
}

/** The key of a run, or of a further part of a settled one. */
const partKey = (key: string, settled: { readonly parts: number } | undefined): string =>
  settled === undefined ? key : `${key}~${settled.parts}`;

const usesOf = (bin: Bin): readonly string[] => [
  ...bin.events.map((e) => e.id),
  ...bin.entries.map((e) => e.key),
  ...bin.calls.map((e) => e.key),
  ...bin.toolCalls.flatMap((t) => t.uses),
];

function firstMs(bin: Bin): number | undefined {
  const times = [
    ...bin.events.map(timeMsOf),
    ...bin.calls.map((c) => Math.min(c.startMs ?? c.timeMs, c.timeMs)),
    ...bin.toolCalls.map((t) => t.startMs),
    ...bin.entries.map((e) => e.timeMs),
    ...(bin.settledStartMs === undefined ? [] : [bin.settledStartMs]),
  ];
  return times.length === 0 ? (bin.meta?.timeMs ?? undefined) : minOf(times);
}

/** The turn that the events or tools name. */
const namedTurnKey = ({ events, toolCalls }: Bin): string | undefined =>
  events.map((e) => extrasOf(e).prompt_id).find((id) => id !== undefined) ??
  toolCalls.map((t) => t.promptKey).find((key) => key !== undefined);

const byOrder = (a: Draft, b: Draft): number => a.orderMs - b.orderMs || (a.key < b.key ? -1 : 1);
