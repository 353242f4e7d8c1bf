import type { ModelCall } from "#core/model/model-call.ts";
import type { Compaction } from "#core/model/session.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { type MissReason, reportedMiss } from "#core/rules/cache-miss.ts";
import { isAside } from "#core/rules/calls.ts";
import { costBeyond } from "./call-totals.ts";
import type { PlacedCall } from "./explain-money.ts";

/** Why a call could not read the beginning of its prompt from the cache. */
export type MissCause = MissReason | "compaction" | "expired" | "subagent" | "unknown";

/** How the cause is known: said by the provider, or derived from the agent's records. */
export type Evidence = "reported" | "derived" | "unknown";

/** Tokens of one call that the provider did not read from its cache: its own estimate, or what the call before had left there. */
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
 * The first call of a subagent has a prompt of its own. After a call whose figures are not known, nothing can be compared.
 *
 * @param calls by time
 */
export function cacheMisses(
  calls: readonly PlacedCall[],
  compactions: readonly Pick<Compaction, "timeMs" | "agentId">[],
  provider: string | undefined,
): readonly CacheMiss[] {
  const threads = new Map<string | undefined, Thread>();
  const misses: CacheMiss[] = [];
  for (const placed of calls) {
    const { call } = placed;
    const found = reportedAs(call) ?? derivedIn(threads, call, compactions);
    if (!isAside(call)) threadOf(threads, call).add(call);
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

type Found = Pick<CacheMiss, "cause" | "evidence" | "tokens">;
type Threads = Map<string | undefined, Thread>;
type Compactions = Parameters<typeof cacheMisses>[1];

/** A smaller difference is the end of a prompt, which is another one each time. Most providers cache no shorter prompts. */
const MIN_TOKENS = 1024;
/** A call that reads this share of what the one before it has read has lost nothing: caches end at the boundary of a block. */
const KEPT_SHARE = 0.95;
/**
 * A call that reads as much as the one before it has lost something only if it reads less than this share of what was left: the end of
 * a prompt is written to the cache and is often not part of the next one.
 */
const LEFT_SHARE = 0.5;

const LIFETIMES = [
  ["cacheWrite1h", 3_600_000],
  ["cacheWrite5m", 300_000],
] as const satisfies readonly (readonly [keyof TokenUsage, number])[];

function reportedAs(call: ModelCall): Found | undefined {
  const miss = reportedMiss(call);
  return miss && { cause: miss.reason, evidence: "reported", tokens: miss.tokens };
}

function derivedIn(threads: Threads, call: ModelCall, compactions: Compactions): Found | undefined {
  if (isAside(call)) return undefined;
  const own = compactions.filter(({ agentId }) => agentId === call.agentId);
  return threadOf(threads, call).missOf(call, own);
}

function threadOf(threads: Threads, { agentId }: ModelCall): Thread {
  const thread = threads.get(agentId) ?? new Thread(agentId !== undefined);
  threads.set(agentId, thread);
  return thread;
}

type KnownUsage = TokenUsage & { readonly input: number; readonly cacheRead: number };

/** The usage of one call with the figures that are compared. */
function knownUsage({ usage, covers }: ModelCall): KnownUsage | undefined {
  const { input, cacheRead } = usage ?? {};
  return covers !== undefined || input === undefined || cacheRead === undefined
    ? undefined
    : { ...usage, input, cacheRead };
}

/** The calls of the main conversation, or of one subagent. */
class Thread {
  readonly #isSubagent: boolean;
  #isEmpty = true;
  /** Absent: its figures are not known. */
  #last: { readonly call: ModelCall; readonly usage: KnownUsage } | undefined;
  /** The longest lifetime of anything that was written to the cache; 0: not reported. */
  #lifetimeMs = 0;
  #hasRead = false;
  /** Some providers report 0 for all writes. */
  #hasWritten = false;

  constructor(isSubagent: boolean) {
    this.#isSubagent = isSubagent;
  }

  add(call: ModelCall): void {
    const usage = knownUsage(call);
    this.#isEmpty = false;
    this.#last = usage && { call, usage };
    if (usage === undefined) return;
    this.#hasRead ||= usage.cacheRead > 0;
    this.#hasWritten ||= (usage.cacheWrite ?? 0) > 0;
    for (const [kind, ms] of LIFETIMES) if ((usage[kind] ?? 0) > 0) this.#lifetimeMs = Math.max(this.#lifetimeMs, ms);
  }

  /** @param compactions of this thread */
  missOf(call: ModelCall, compactions: Compactions): Found | undefined {
    const usage = knownUsage(call);
    if (usage === undefined) return undefined;
    if (this.#isEmpty) {
      const tokens = usage.input - usage.cacheRead;
      return this.#isSubagent && tokens > 0 ? { cause: "subagent", evidence: "derived", tokens } : undefined;
    }
    const left = this.#left();
    if (this.#last === undefined || left === undefined) return undefined;
    const { call: before, usage: previous } = this.#last;
    const tokens = Math.min(left, usage.input) - usage.cacheRead;
    const hasLost = usage.cacheRead < previous.cacheRead * KEPT_SHARE || usage.cacheRead < left * LEFT_SHARE;
    if (tokens < MIN_TOKENS || !hasLost) return undefined;
    const derived = (cause: MissCause): Found => ({ cause, evidence: "derived", tokens });
    if (before.model !== call.model && before.model !== undefined && call.model !== undefined)
      return derived("model_changed");
    if (compactions.some(({ timeMs }) => timeMs > before.endMs && timeMs <= call.endMs)) return derived("compaction");
    if (this.#lifetimeMs > 0 && call.startMs - before.endMs > this.#lifetimeMs) return derived("expired");
    return { cause: "unknown", evidence: "unknown", tokens };
  }

  /** What the call before left in the cache. `undefined` if no call of the thread has used a cache: then there may be none. */
  #left(): number | undefined {
    const { cacheRead, cacheWrite = 0, input } = this.#last?.usage ?? { cacheRead: 0, input: 0 };
    if (this.#hasWritten) return cacheRead + cacheWrite;
    return this.#hasRead ? input : undefined;
  }
}

/** The price of a call less its price if these tokens had been read from the cache: they were written to it, or paid in full. */
function extraCost(call: ModelCall, tokens: number, provider: string | undefined): number | undefined {
  const { usage } = call;
  if (usage?.input === undefined) return undefined;
  const { cacheRead = 0, cacheWrite } = usage;
  // The provider's estimate can be larger than what was not read
  const missed = Math.min(tokens, usage.input - cacheRead);
  const written = Math.min(missed, cacheWrite ?? 0);
  const share = cacheWrite === undefined || cacheWrite === 0 ? 1 : (cacheWrite - written) / cacheWrite;
  const less = (kind: "cacheWrite" | "cacheWrite5m" | "cacheWrite1h") =>
    usage[kind] === undefined ? {} : { [kind]: Math.round(usage[kind] * share) };
  const read = {
    ...usage,
    cacheRead: cacheRead + missed,
    ...less("cacheWrite"),
    ...less("cacheWrite5m"),
    ...less("cacheWrite1h"),
  };
  return costBeyond(call, { ...call, usage: read }, provider);
}
