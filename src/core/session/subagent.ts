import { maxOf, minOf } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import type { Segment, SessionContext, SessionFacts, SettledCall, Subagent, Turn } from "../model/session.ts";
import type { EntryOf } from "../model/transcript.ts";
import { lastCallOf } from "../rules/calls.ts";
import { timeMsOf } from "../rules/event.ts";
import type { Bin } from "./bins.ts";
import { type Draft, exportedKeyOf, isLatePart } from "./drafts.ts";
import { finishTool, type PairedTool } from "./pair.ts";

/**
 * @param endingSegment see `endingSegmentOf`
 * @param endsSession the session ends now; a subagent without a segment ends with it
 */
export function toSubagent(
  draft: Draft,
  segment: Segment | undefined,
  endingSegment: Segment | undefined,
  turn: Turn | undefined,
  endsSession: boolean,
  facts: SessionFacts,
): Subagent {
  const lastCall = lastCallOf(draft.modelCalls);
  const hasReportedEnd = reportsEnd(draft);
  const finished =
    draft.toolCalls.every((tool) => tool.status !== "open") &&
    lastCall?.complete === true &&
    lastCall.asksForTools !== true;
  const closed =
    endsSession ||
    (endingSegment?.endMs !== undefined && isOver(draft, endingSegment, facts)) ||
    // Without a segment the span would have no parent; settled parts open no new segment
    (hasReportedEnd && segment !== undefined && (finished || turn?.closed === true));
  const toolCalls = draft.toolCalls.map((tool) => finishTool(tool, closed, endingSegment?.endMs));
  return defined<Subagent>({
    key: draft.key,
    agentId: draft.agentId ?? draft.key,
    agentType: draft.agentType,
    parentCallId: draft.parentCallId,
    turnKey: draft.turnKey,
    segment: segment?.ordinal ?? 0,
    startMs: minOf(
      [...toolCalls, ...draft.modelCalls].map(({ startMs }) => startMs),
      draft.startMs,
    ),
    endMs: maxOf([
      draft.startMs,
      ...toolCalls.map((t) => t.endMs),
      ...draft.modelCalls.map((c) => c.endMs),
      ...draft.events.map(timeMsOf),
    ]),
    modelCalls: draft.modelCalls,
    toolCalls,
    errors: draft.errors,
    closed,
    uses: draft.uses,
    exportedKey: exportedKeyOf(draft, segment),
    isLate: isLatePart(draft, segment),
  });
}

/**
 * A settled subagent that works again in a later segment belongs to that segment, under the call or turn that resumed it:
 * the trace and sums of the earlier segment are already exported.
 */
export function inLaterSegment(draft: Draft, turns: ReadonlyMap<string, Turn>, segments: readonly Segment[]): Draft {
  const { resumedBy, segment: open, settledSegment: before, turnKey: _, parentCallId: __, ...rest } = draft;
  if (resumedBy === undefined || before === undefined) return draft;
  const turn = resumedBy.turnKey === undefined ? undefined : turns.get(resumedBy.turnKey);
  const segment = turn?.segment ?? segments.findLast((s) => s.startMs <= draft.startMs)?.ordinal;
  if (open === undefined) return { ...rest, settledSegment: before, ...resumedBy };
  return segment === undefined || segment <= before ? draft : { ...rest, ...resumedBy, segment };
}

/** Whether it ends with the segment: it does not work on after that, as far as is known. */
export function isOver(draft: Draft, { endMs = 0, reason }: Segment, facts: SessionFacts): boolean {
  // Its span belongs to the segment's trace, because spans of its calls are there
  if (draft.hasParts === true) return true;
  // It started a call later
  if (draft.toolCalls.some(({ status, startMs }) => status === "open" && startMs > endMs)) return false;
  // Sessions of its agent may end first
  if (facts.endsBeforeSubagents !== true || reason !== "completed" || reportsEnd(draft)) return true;
  return !draft.events.some((event) => event.type === "subagent.start");
}

/**
 * The segment whose end also ends the subagent: the latest one in which it worked. The subagent still belongs to the segment
 * that started it.
 */
export function endingSegmentOf(
  draft: Draft,
  own: Segment | undefined,
  segments: readonly Segment[],
): Segment | undefined {
  const now = segments.findLast((s) => s.startMs <= lastStartMs(draft));
  return now !== undefined && own !== undefined && now.ordinal > own.ordinal ? now : own;
}

/** The tool calls that started subagents, from all sources that name them. */
export class SubagentParents {
  readonly #tools: readonly PairedTool[];
  readonly #subagents: ReadonlyMap<string, Bin>;
  readonly #context: SessionContext;
  readonly #countedIds: ReadonlyMap<string, string>;
  readonly #callById: ReadonlyMap<string, PairedTool>;
  readonly #spawnedBy: ReadonlyMap<string, string>;
  readonly #parents = new Map<string, string | undefined>();

  /** @param countedIds transcript call id → the id under which the call is counted */
  constructor(
    tools: readonly PairedTool[],
    subagents: ReadonlyMap<string, Bin>,
    context: SessionContext,
    countedIds: ReadonlyMap<string, string>,
  ) {
    this.#tools = tools;
    this.#subagents = subagents;
    this.#context = context;
    this.#countedIds = countedIds;
    this.#callById = new Map(tools.map((tool) => [tool.callId, tool]));
    this.#spawnedBy = new Map(
      tools.flatMap((t) => (t.spawnedAgentId === undefined ? [] : [[t.spawnedAgentId, t.callId]])),
    );
  }

  /** The id of the call that started the subagent; `undefined` if no source names one that can be. */
  of(agentId: string): string | undefined {
    if (!this.#parents.has(agentId)) {
      const parent = this.#reported(agentId).find((id) => !this.#isDescendantCall(id, agentId));
      this.#parents.set(agentId, parent);
    }
    return this.#parents.get(agentId);
  }

  /** The call that started the subagent; `undefined` if it is unknown or settled. */
  callOf(agentId: string): PairedTool | undefined {
    return this.#callById.get(this.of(agentId) ?? "");
  }

  /**
   * Whether the call started the settled agent or one of its ancestors. The parent of a settled subagent is already exported, so it
   * stays the parent even if new facts disagree.
   */
  isAncestorCall(callId: string, agentId: string | undefined): boolean {
    const agents = new Set([agentId]);
    for (const below of agents) {
      const parent = this.#context.subagents.get(below ?? "")?.parentCallId;
      if (parent === callId) return true;
      if (parent !== undefined) agents.add(this.#callById.get(parent)?.agentId);
    }
    return false;
  }

  /** The counted ids of all calls that a source names as parent, the most reliable source first. */
  #reported(agentId: string): readonly string[] {
    const meta = this.#subagents.get(agentId)?.meta;
    const all = [
      meta?.parentCallId,
      this.#callByGivenId(meta),
      this.#spawnedBy.get(agentId),
      this.#context.spawnedBy?.get(agentId),
      this.#context.subagents.get(agentId)?.parentCallId,
    ].flatMap((reported) => {
      const id = this.#countedIds.get(reported ?? "") ?? reported;
      return id === undefined || this.#context.unusedIds?.has(id) === true ? [] : [id];
    });
    return [...new Set(all)];
  }

  /** The parent call of a subagent whose entry names it by an id that several calls share: the last one before the entry. */
  #callByGivenId(meta: EntryOf<"subagent"> | undefined): string | undefined {
    if (meta?.parentGivenId === undefined) return undefined;
    return [...this.#tools, ...this.#context.calls]
      .filter((call) => call.givenId === meta.parentGivenId && call.agentId === meta.parentAgentId)
      .filter(({ startMs }) => startMs <= meta.timeMs)
      .reduce<SettledCall | undefined>((last, call) => (call.startMs > (last?.startMs ?? 0) ? call : last), undefined)
      ?.callId;
  }

  /** Whether this agent or a descendant made the call: such a call cannot have started the agent. */
  #isDescendantCall(callId: string, agentId: string): boolean {
    // The set visits each owner once: several sources name parents, and agents can be nested hundreds deep
    const owners = new Set<string | undefined>([this.#callById.get(callId)?.agentId]);
    for (const owner of owners) {
      if (owner === agentId) return true;
      if (owner !== undefined) for (const id of this.#reported(owner)) owners.add(this.#callById.get(id)?.agentId);
    }
    return false;
  }
}

// --- internal ---

/** When the subagent or its latest open call started: a subagent that finished can be resumed. */
const lastStartMs = ({ startMs, toolCalls }: Draft): number =>
  maxOf([startMs, ...toolCalls.filter(({ status }) => status === "open").map((tool) => tool.startMs)]);

const reportsEnd = (draft: Draft): boolean =>
  draft.events.some((e) => SUBAGENT_ENDS.has(e.type) && timeMsOf(e) >= lastStartMs(draft));

const SUBAGENT_ENDS: ReadonlySet<string> = new Set(["subagent.end", "turn.end", "turn.error", "session.end"]);
