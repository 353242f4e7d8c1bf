import type { ModelCall } from "#core/model/model-call.ts";
import { CALL_NUMBERS, HAS_FEES, IS_SUM } from "#core/model/packed.ts";
import type { Session } from "#core/model/session.ts";
import { TOKEN_KINDS } from "#core/model/token-kinds.ts";
import { callsIn, isWholeUsage } from "#core/rules/calls.ts";
import { PackedSums } from "./packed-sums.ts";
import type { Unpriced } from "./unpriced.ts";

/** Sums over all runs of a session, with the calls that may have a price. @param boundaries as in `PackOptions` */
export function sumsOf(
  { turns, subagents, segments }: Pick<Session, "turns" | "subagents" | "segments">,
  boundaries: readonly number[],
): Pick<Unpriced, "usage" | "tools" | "turns" | "calls" | "sellers"> {
  const sums = new PackedSums(boundaries);
  const priced = new PricedCalls();
  const ordinals = segments.map(({ ordinal }) => ordinal);
  const tokens = new Float64Array(TOKEN_KINDS.length);
  for (const run of [...turns, ...subagents]) {
    const segment = ordinals.indexOf(run.segment);
    for (const call of run.modelCalls) {
      putTokens(tokens, call);
      const { model, provider = null, agentId, covers, complete, startMs, endMs, webSearches = 0, hasOtherFees } = call;
      const summed = { model, isSubagents: agentId !== undefined, calls: callsIn(call), complete };
      const place = sums.addCall({ ...summed, startMs, endMs }, tokens, 0);
      if (!isWholeUsage(call.usage)) continue;
      const flags = (covers === undefined ? 0 : IS_SUM) + (hasOtherFees === true ? HAS_FEES : 0);
      const seller = { provider, tier: call.tier ?? null };
      priced.add({ place, segment, ...seller, endMs, webSearches, flags, calls: summed.calls ?? 1 }, tokens, 0);
    }
    for (const tool of run.toolCalls) sums.addTool(tool);
  }
  // A continuation of a closed turn (key with `~`) is not counted as another turn
  for (const turn of turns) if (!turn.key.includes("~")) sums.addTurn(turn);
  const { calls, sellers } = priced;
  return { usage: sums.usage, tools: sums.tools, turns: sums.turns, calls, sellers };
}

/** Calls that may have a price, `CALL_NUMBERS` numbers each; -1: unknown. */
export class PricedCalls {
  readonly sellers: (readonly [string | null, string | null])[] = [];
  #numbers = new Float64Array(CALL_NUMBERS * 64);
  #length = 0;

  get calls(): Float64Array {
    return this.#numbers.slice(0, this.#length);
  }

  /**
   * @param call `place` of its row in the sums of usage and of its `segment`; `flags`: `IS_SUM` and `HAS_FEES`
   * @param tokens in the order of `TOKEN_KINDS` from `at` on, NaN if unknown
   */
  add(
    call: Readonly<Record<"place" | "segment" | "endMs" | "webSearches" | "flags" | "calls", number>> &
      Readonly<Record<"provider" | "tier", string | null>>,
    tokens: ArrayLike<number>,
    at: number,
  ): void {
    const { place, segment, provider, tier, endMs } = call;
    if (this.#length === this.#numbers.length) {
      const before = this.#numbers;
      this.#numbers = new Float64Array(before.length * 2);
      this.#numbers.set(before);
    }
    let by = this.sellers.findIndex((one) => one[0] === provider && one[1] === tier);
    if (by === -1) by = this.sellers.push([provider, tier]) - 1;
    const to = this.#length;
    this.#numbers[to] = place;
    this.#numbers[to + 1] = segment;
    this.#numbers[to + 2] = by;
    for (const [i, kind] of PRICED.entries()) this.#numbers[to + 3 + i] = orUnknown(tokens[at + kind]);
    this.#numbers[to + 8] = endMs;
    this.#numbers[to + 9] = call.webSearches;
    this.#numbers[to + 10] = call.flags;
    this.#numbers[to + 11] = call.calls;
    this.#length += CALL_NUMBERS;
  }
}

// --- internal ---

/** Token kinds that have a price, as indexes in `TOKEN_KINDS`. */
const PRICED = (["input", "output", "cacheRead", "cacheWrite", "cacheWrite1h"] as const).map((kind) =>
  TOKEN_KINDS.indexOf(kind),
);

const orUnknown = (tokens = Number.NaN): number => (Number.isNaN(tokens) ? -1 : tokens);

function putTokens(tokens: Float64Array, { usage }: ModelCall): void {
  for (const [i, kind] of TOKEN_KINDS.entries()) tokens[i] = usage?.[kind] ?? Number.NaN;
}
