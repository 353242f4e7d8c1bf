import type { ModelCall } from "#core/model/model-call.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { type MissReason, reportedMiss } from "#core/rules/cache-miss.ts";
import { callPrice } from "#core/telemetry/cost.ts";
import type { PlacedCall } from "./explain-money.ts";

/** Why a call could not read the beginning of its prompt from the cache. */
export type MissCause = MissReason | "compaction" | "expired" | "subagent" | "unknown";

/** How the cause is known: said by the provider, or derived from the agent's records. */
export type Evidence = "reported" | "derived" | "unknown";

/** Tokens of one call that were paid for although the provider had, or could have had, them in its cache. */
export interface CacheMiss {
  readonly call: PlacedCall;
  readonly cause: MissCause;
  readonly evidence: Evidence;
  readonly tokens: number;
  /** What they cost more than if they had been read from the cache, in 10⁻⁹ USD. Absent: unknown. */
  readonly costNanoUsd?: number;
}

/**
 * The cache misses of a session, by time. Where the provider gave a reason, that is the cause. Otherwise a call has missed if it read
 * clearly less than the call before it in its thread had left in the cache, and the cause is what the records show between the two:
 *
 * - another model: caches are per model;
 * - a compaction: the prompt is another one;
 * - more time than the longest lifetime that was written to the cache;
 * - nothing: unknown.
 *
 * The first call of a subagent has a prompt of its own.
 *
 * @param calls by time
 * @param compactionMs times of the compactions
 */
export function cacheMisses(
  calls: readonly PlacedCall[],
  compactionMs: readonly number[],
  provider: string | undefined,
): readonly CacheMiss[] {
  const threads = new Map<string | undefined, Thread>();
  const misses: CacheMiss[] = [];
  for (const placed of calls) {
    const { call } = placed;
    const known = knownUsage(call);
    const thread = threads.get(call.agentId) ?? new Thread(call.agentId !== undefined);
    threads.set(call.agentId, thread);
    const reported = reportedMiss(call);
    const derived = known && thread.missOf(call, known, compactionMs);
    const found: Pick<CacheMiss, "cause" | "evidence" | "tokens"> | undefined =
      reported === undefined ? derived : { cause: reported.reason, evidence: "reported", tokens: reported.tokens };
    if (known !== undefined) thread.add(call, known);
    if (found === undefined) continue;
    const costNanoUsd = extraCost(call, found.tokens, provider);
    misses.push({ call: placed, ...found, ...(costNanoUsd !== undefined && { costNanoUsd }) });
  }
  return misses;
}

/** All misses of one cause, known in one way. */
export interface MissSum extends Pick<CacheMiss, "cause" | "evidence" | "tokens" | "costNanoUsd"> {
  readonly calls: number;
  /** Calls of which the cost is unknown. */
  readonly unpricedCalls: number;
}

/** Sums by cause, most tokens first. */
export function missSums(misses: readonly CacheMiss[]): readonly MissSum[] {
  const sums = new Map<string, MissSum>();
  for (const { cause, evidence, tokens, costNanoUsd } of misses) {
    const key = `${cause} ${evidence}`;
    const sum = sums.get(key) ?? { cause, evidence, calls: 0, tokens: 0, unpricedCalls: 0 };
    const cost = costNanoUsd === undefined ? sum.costNanoUsd : (sum.costNanoUsd ?? 0) + costNanoUsd;
    sums.set(key, {
      ...sum,
      calls: sum.calls + 1,
      tokens: sum.tokens + tokens,
      unpricedCalls: sum.unpricedCalls + (costNanoUsd === undefined ? 1 : 0),
      ...(cost !== undefined && { costNanoUsd: cost }),
    });
  }
  return [...sums.values()].sort((a, b) => b.tokens - a.tokens);
}

// --- internal ---

/** Providers cache no shorter prompts; a smaller difference is the end of a prompt, which is another one each time. */
const MIN_TOKENS = 1024;
/** A call that reads this share of what the one before it has read has lost nothing: what is cached ends at blocks. */
const KEPT_SHARE = 0.95;
/** A call that reads at least as much as the one before it has lost something only if it is most of the prompt: the end of a prompt is
 * written to the cache and is often not part of the next one. */
const LOST_SHARE = 0.5;

const LIFETIMES = [
  ["cacheWrite1h", 3_600_000],
  ["cacheWrite5m", 300_000],
] as const satisfies readonly (readonly [keyof TokenUsage, number])[];

type KnownUsage = TokenUsage & { readonly input: number; readonly cacheRead: number };

/** Usage of a call of the conversation with the figures that are compared. */
function knownUsage({ usage, covers, purpose }: ModelCall): KnownUsage | undefined {
  if (covers !== undefined || purpose !== undefined) return undefined;
  const { input, cacheRead } = usage ?? {};
  return input === undefined || cacheRead === undefined ? undefined : { ...usage, input, cacheRead };
}

/** The calls of the main conversation, or of one subagent. */
class Thread {
  readonly #isSubagent: boolean;
  #last: { readonly call: ModelCall; readonly usage: KnownUsage } | undefined;
  /** The longest lifetime of anything that was written to the cache; 0: not reported. */
  #lifetimeMs = 0;

  constructor(isSubagent: boolean) {
    this.#isSubagent = isSubagent;
  }

  add(call: ModelCall, usage: KnownUsage): void {
    this.#last = { call, usage };
    for (const [kind, ms] of LIFETIMES) if ((usage[kind] ?? 0) > 0) this.#lifetimeMs = Math.max(this.#lifetimeMs, ms);
  }

  missOf(
    call: ModelCall,
    usage: KnownUsage,
    compactionMs: readonly number[],
  ): Pick<CacheMiss, "cause" | "evidence" | "tokens"> | undefined {
    const unread = usage.input - usage.cacheRead;
    if (this.#last === undefined) {
      const isOwn = this.#isSubagent && unread > 0;
      return isOwn ? { cause: "subagent", evidence: "derived", tokens: unread } : undefined;
    }
    const { call: before, usage: previous } = this.#last;
    const left = previous.cacheWrite === undefined ? previous.input : previous.cacheRead + previous.cacheWrite;
    const tokens = Math.min(Math.min(left, usage.input) - usage.cacheRead, unread);
    const hasLost = usage.cacheRead < previous.cacheRead * KEPT_SHARE || tokens >= left * LOST_SHARE;
    if (tokens < MIN_TOKENS || !hasLost) return undefined;
    const derived = (cause: MissCause) => ({ cause, evidence: "derived" as const, tokens });
    if (before.model !== call.model && before.model !== undefined && call.model !== undefined)
      return derived("model_changed");
    if (compactionMs.some((ms) => ms >= before.startMs && ms <= call.endMs)) return derived("compaction");
    if (this.#lifetimeMs > 0 && call.startMs - before.endMs > this.#lifetimeMs) return derived("expired");
    return { cause: "unknown", evidence: "unknown", tokens };
  }
}

/** The price of a call less its price if these tokens had been read from the cache: they were written to it, or paid in full. */
function extraCost(call: ModelCall, tokens: number, provider: string | undefined): number | undefined {
  const { usage } = call;
  if (usage?.input === undefined) return undefined;
  const { cacheRead = 0, cacheWrite } = usage;
  const written = Math.min(tokens, cacheWrite ?? 0);
  const share = cacheWrite === undefined || cacheWrite === 0 ? 1 : (cacheWrite - written) / cacheWrite;
  const less = (kind: "cacheWrite" | "cacheWrite5m" | "cacheWrite1h") =>
    usage[kind] === undefined ? {} : { [kind]: Math.round(usage[kind] * share) };
  const read = {
    ...usage,
    cacheRead: cacheRead + tokens,
    ...less("cacheWrite"),
    ...less("cacheWrite5m"),
    ...less("cacheWrite1h"),
  };
  const [paid, best] = [callPrice(call, provider), callPrice({ ...call, usage: read }, provider)];
  if (paid.costNanoUsd === undefined || best.costNanoUsd === undefined) return undefined;
  return Math.max(0, paid.costNanoUsd - best.costNanoUsd);
}
