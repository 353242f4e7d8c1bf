import { defined } from "#kit/objects.ts";
import type { Event } from "../model/event-schema.ts";
import type { RunKind, SessionContext } from "../model/session.ts";
import type { EntryOf, TranscriptEntry } from "../model/transcript.ts";
import { isLostCall, isSingleCall, lostCallIn, withoutKnownCalls } from "../rules/calls.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import { runKey } from "../rules/segments.ts";
import { type Bin, binOf, firstMs, isEmpty, namedTurnKey } from "./bins.ts";
import { byOrder, type Draft, partKey, startsSubagent, subagentDraft, turnDraft } from "./drafts.ts";
import type { PairedTool } from "./pair.ts";
import { type JoinedPrompt, joinPrompts, NO_PROMPT } from "./prompts.ts";
import { SubagentParents } from "./subagent.ts";

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
  const timeline = timelineOf(prompts, events, context);
  const turns = new Map<string, Bin>();
  const subagents = new Map<string, Bin>();
  const bins: Bins = {
    subagent: (agentId) => binOf(subagents, agentId),
    at: (agentId, promptKey, ms) =>
      agentId === undefined ? binOf(turns, timeline.turnAt(promptKey, ms)) : binOf(subagents, agentId),
  };
  for (const prompt of prompts) {
    // A command such as /clear is a turn only if it led to model calls, which then name it
    if (prompt.origin !== "command") binOf(turns, prompt.key).prompt = prompt;
  }
  const lost = addEntries(entries, context, bins);
  addEvents(events, bins);
  const parents = new SubagentParents(tools, subagents, context, countedIds);
  for (const call of withoutReportedHelpers(lost, subagents, parents, context))
    bins.at(call.agentId, call.promptKey, call.timeMs).calls.push(call);
  for (const tool of tools) {
    const agentId = parents.isAncestorCall(tool.callId, tool.agentId) ? undefined : tool.agentId;
    bins.at(agentId, tool.promptKey, tool.startMs).toolCalls.push(tool);
  }
  const startOf = (kind: RunKind, key: string) => context.openWork?.get(runKey(kind, key))?.startMs;
  for (const [key, bin] of turns) bin.settledStartMs = startOf("turn", partKey(key, context.turns.get(key)));
  for (const [id, bin] of subagents) bin.settledStartMs = startOf("subagent", partKey(id, context.subagents.get(id)));

  const turnDrafts = [...turns].flatMap(([key, bin]) =>
    isEmpty(bin, context.turns.has(key)) ? [] : [turnDraft(key, bin, context)],
  );
  const subagentDrafts = draftSubagents(subagents, parents, timeline, context);
  return { turns: turnDrafts.sort(byOrder), subagents: subagentDrafts.sort(byOrder) };
}

// --- internal ---

/** The hook of a turn's first tool can arrive before the hook of its prompt. */
const LATE_PROMPT_MS = 2_000;
type Call = EntryOf<"model_call">;
const TURN_ENDS: ReadonlySet<string> = new Set(["turn.end", "turn.error"]);

/** Where the facts of a session go. A bin is made when its first fact comes. */
interface Bins {
  subagent(agentId: string): Bin;
  /** The subagent's, else that of the turn that the prompt key names or that ran at this time. */
  at(agentId: string | undefined, promptKey: string | undefined, ms: number): Bin;
}

/** When the session's turns started. */
interface Timeline {
  /** The turn that the agent names; otherwise the last turn that had started. */
  turnAt(promptKey: string | undefined, ms: number): string;
  /** The last turn that had started, without the time that hooks of prompts may be late; `undefined` before the first. */
  lastBefore(ms: number): string | undefined;
}

function timelineOf(prompts: readonly JoinedPrompt[], events: readonly Event[], context: SessionContext): Timeline {
  const starts = [
    ...prompts.filter((p) => p.origin !== "command").map((p) => ({ key: p.key, ms: p.timeMs })),
    ...[...context.turns].map(([key, turn]) => ({ key, ms: turn.startMs })),
  ].sort((a, b) => a.ms - b.ms);
  const ends = events.filter((e) => TURN_ENDS.has(e.type) && extrasOf(e).agent_id === undefined).map(timeMsOf);
  /** Whether the prompt's hook may have arrived late: no turn ended between the two times. */
  const canBeLate = (promptMs: number, ms: number): boolean =>
    promptMs <= ms + LATE_PROMPT_MS && !ends.some((end) => ms <= end && end <= promptMs);
  return {
    turnAt: (promptKey, ms) => promptKey ?? starts.findLast((t) => t.ms <= ms || canBeLate(t.ms, ms))?.key ?? NO_PROMPT,
    lastBefore: (ms) => starts.findLast((t) => t.ms <= ms)?.key,
  };
}

/** @returns calls that were lost, unless something else reports them */
function addEntries(entries: readonly TranscriptEntry[], context: SessionContext, bins: Bins): readonly Call[] {
  const lost: Call[] = [];
  const knowsCalls = context.knowsCalls || entries.some(isSingleCall);
  for (const entry of withoutKnownCalls(entries, context.coveredCalls)) {
    switch (entry.kind) {
      case "model_call":
        if (isLostCall(entry.key)) {
          // Otherwise its turn was settled with it
          if (!context.turns.has(entry.promptKey ?? "")) lost.push(entry);
          break;
        }
        // A session total replaces calls with unknown tokens; beside known calls, tokens would be counted twice
        if (entry.covers !== "session" || !knowsCalls)
          bins.at(entry.agentId, entry.promptKey, entry.timeMs).calls.push(entry);
        break;
      case "model_error":
      case "interruption":
      case "turn_end":
        bins.at(entry.agentId, entry.promptKey, entry.timeMs).entries.push(entry);
        break;
      case "subagent":
        if (entry.agentId !== undefined) bins.subagent(entry.agentId).meta = entry;
        break;
      default:
    }
  }
  return lost;
}

/**
 * A lost call stands for a helper of which the transcript has no more than the tool call that started it. It is not lost if the helper
 * itself reported its calls, perhaps without the tool call: of several that run at once, none may be known.
 */
function withoutReportedHelpers(
  lost: readonly Call[],
  subagents: ReadonlyMap<string, Bin>,
  parents: SubagentParents,
  context: SessionContext,
): readonly Call[] {
  if (lost.length === 0) return lost;
  const reported = [...subagents].filter(([, bin]) => bin.calls.length > 0).map(([id]) => id);
  const startedBy = [...new Set([...reported, ...context.subagents.keys()])].map((id) => parents.of(id));
  const starting = new Set(startedBy);
  const unknown = reported.filter((id) => parents.of(id) === undefined).length;
  const rest = lost.filter(({ key }) => !starting.has(lostCallIn(key)));
  const ofHelpers = rest
    .filter(({ key, promptKey, agentId }) => agentId === undefined && lostCallIn(key) !== promptKey)
    .slice(0, unknown);
  return rest.filter((call) => !ofHelpers.includes(call));
}

function addEvents(events: readonly Event[], bins: Bins): void {
  for (const event of events) {
    const { agent_id: agentId, prompt_id: promptId } = extrasOf(event);
    switch (event.type) {
      case "turn.end":
      case "turn.error":
      case "tool.batch":
      case "permission":
        bins.at(agentId, promptId, timeMsOf(event)).events.push(event);
        break;
      // A subagent with a separate session id starts and ends like a session
      case "session.start":
      case "session.end":
      case "subagent.start":
      case "subagent.end":
        if (agentId !== undefined) bins.subagent(agentId).events.push(event);
        break;
      default:
    }
  }
}

function draftSubagents(
  subagents: ReadonlyMap<string, Bin>,
  parents: SubagentParents,
  timeline: Timeline,
  context: SessionContext,
): Draft[] {
  const turnOf = turnFinder(subagents, parents, timeline, context);
  return [...subagents].flatMap(([agentId, bin]) => {
    const settled = context.subagents.has(agentId);
    const started = bin.events.some(startsSubagent) || bin.meta !== undefined;
    const working = bin.calls.length + bin.toolCalls.length + bin.entries.length > 0;
    // An end without a start or activity belongs to internal work of the agent, for example a compaction
    if (!working && (!started || settled)) return [];
    const draft = subagentDraft(agentId, bin, parents.of(agentId), turnOf(agentId), context);
    const resumedBy = resumptionOf(agentId, bin, parents, timeline, context);
    return [resumedBy === undefined ? draft : { ...draft, resumedBy }];
  });
}

/** @returns a function with the turn of the call that started a subagent, at any depth of nesting; `undefined` if unknown */
function turnFinder(
  subagents: ReadonlyMap<string, Bin>,
  parents: SubagentParents,
  timeline: Timeline,
  context: SessionContext,
): (agentId: string) => string | undefined {
  const found = new Map<string, string | undefined>();
  const turnOf = (agentId: string, below: ReadonlySet<string> = new Set()): string | undefined => {
    const known = context.subagents.get(agentId)?.turnKey;
    // Sources that contradict each other can form a cycle
    if (known !== undefined || below.has(agentId)) return known;
    const owner = parents.callOf(agentId);
    if (owner?.agentId !== undefined && owner.agentId !== agentId) {
      if (!found.has(owner.agentId)) {
        found.set(owner.agentId, turnOf(owner.agentId, new Set([...below, agentId])));
      }
      return found.get(owner.agentId);
    }
    if (owner !== undefined) return timeline.turnAt(owner.promptKey, owner.startMs);
    const bin = subagents.get(agentId);
    const named = bin === undefined ? undefined : namedTurnKey(bin);
    if (named !== undefined) return named;
    const ms = bin === undefined ? undefined : firstMs(bin);
    const key = ms === undefined ? NO_PROMPT : timeline.lastBefore(ms);
    return key === NO_PROMPT ? undefined : key;
  };
  return (agentId) => turnOf(agentId);
}

/** What resumed a settled subagent; `undefined` if no call did: then it continues in the turn it was settled with. */
function resumptionOf(
  agentId: string,
  bin: Bin,
  parents: SubagentParents,
  timeline: Timeline,
  context: SessionContext,
): Draft["resumedBy"] {
  const settled = context.subagents.get(agentId);
  const named = namedTurnKey(bin) ?? bin.calls.map((call) => call.promptKey).find((key) => key !== undefined);
  const owner = parents.callOf(agentId);
  const isSameTurn = named !== undefined && named === settled?.turnKey;
  // That turn may continue in a later segment and resume the subagent there
  if (settled === undefined || (isSameTurn && owner === undefined)) return undefined;
  const promptKey = named ?? (owner?.agentId === undefined ? owner?.promptKey : undefined);
  const key = timeline.turnAt(promptKey, firstMs(bin) ?? 0);
  return defined<NonNullable<Draft["resumedBy"]>>({
    turnKey: key === NO_PROMPT ? undefined : key,
    parentCallId: owner?.callId,
  });
}
