import { changeEntries, changesOfCall, type RelevantCall, relevantCall } from "#agents/shared/changes/call-changes.ts";
import type { FactBase, FactOf } from "#core/model/fact-sink.ts";
import type { EntryOf } from "#core/model/transcript.ts";
import { hasGivenId } from "#core/rules/call-ids.ts";
import { ticketsOfBranch } from "#core/rules/change-facts.ts";
import type { Unpriced } from "./price.ts";

/**
 * Finds commits and changes in the tool calls of a transcript, by the same rules as a drain in the payloads of hooks. Only ids leave it:
 * neither command lines nor what they printed.
 */
export class CallChanges {
  /** Relevant calls without a result so far, with the folder in which they began. */
  readonly #open = new Map<string, RelevantCall & { readonly cwd: string | undefined }>();
  #cwd: string | undefined;

  /** The session works in this folder from now on. */
  enter(cwd: string | undefined): void {
    if (cwd !== undefined) this.#cwd = cwd;
  }

  use({ callId, name }: FactOf<"tool_use">, given: unknown): void {
    const call = relevantCall(name, given);
    if (call !== undefined) this.#open.set(callId, { ...call, cwd: this.#cwd });
  }

  needsResult(givenId: string): boolean {
    if (this.#open.size === 0) return false;
    for (const callId of this.#open.keys()) if (hasGivenId(callId, givenId)) return true;
    return false;
  }

  /** @param result `undefined` for a record of the call's end that does not have it */
  result(
    { timeMs, agentId }: FactBase,
    { callId, status, exitCode = 0 }: FactOf<"tool_result">,
    result: unknown,
  ): readonly (EntryOf<"commit"> | EntryOf<"change">)[] {
    const call = this.#open.size === 0 ? undefined : this.#open.get(callId);
    if (call === undefined) return [];
    const hasFailed = status !== "success" || exitCode !== 0;
    if (hasFailed || result !== undefined) this.#open.delete(callId);
    return hasFailed || result === undefined
      ? []
      : changeEntries(changesOfCall(call, result, call.cwd), { timeMs, agentId, callId });
  }
}

type Changes = NonNullable<Unpriced["changes"]>;

/** Adds the tickets that names of branches contain. */
export class BranchTickets {
  readonly #pattern: string;
  /** Whether a branch's name contains tickets, so that each name is searched once: most sessions are on few branches. */
  readonly #withTickets = new Map<string, boolean>();

  /** @param pattern as in `changes.ticketPattern` */
  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  addTo(changes: Changes): Changes {
    const tickets = changes.flatMap((one) => {
      if (one.kind !== "change" || one.how !== "transcript") return [];
      if (this.#withTickets.get(one.change) === false) return [];
      const found = ticketsOfBranch(one, this.#pattern);
      this.#withTickets.set(one.change, found.length > 0);
      return found;
    });
    return tickets.length === 0 ? changes : [...changes, ...tickets];
  }
}
