import type { SessionContext, SettledCall } from "../model/session.ts";
import type { EntryOf } from "../model/transcript.ts";
import type { Bin } from "./bins.ts";
import type { PairedTool } from "./pair.ts";

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
