import type { PlacedCall } from "../explain-money.ts";
import type { ReadSession } from "./read-sessions.ts";

/** A session with its part of an insight, and the call in it that cost most. */
export interface Example {
  readonly session: ReadSession;
  readonly calls: number;
  /** In 10⁻⁹ USD. Absent: unknown. */
  readonly costNanoUsd?: number;
  /** Number of a turn, from 1; 0: outside any turn. */
  readonly turn: number;
  readonly startMs: number;
}

/** Sums over the calls that an insight is about, with the sessions they are in. */
export class Tally {
  readonly #sessions = new Map<ReadSession, Writable>();
  calls = 0;
  tokens = 0;
  /** Absent: no cost is known. */
  costNanoUsd: number | undefined;
  /** Calls of which the cost is unknown, or only a part of it. */
  unpricedCalls = 0;

  /** @param costNanoUsd what counts of the call's cost; absent: unknown */
  add(session: ReadSession, { call, turn, noPrice }: PlacedCall, costNanoUsd: number | undefined, tokens = 0): void {
    this.calls += 1;
    this.tokens += tokens;
    if (costNanoUsd === undefined || noPrice !== undefined) this.unpricedCalls += 1;
    const known = this.#sessions.get(session) ?? { session, calls: 0, most: -1, turn, startMs: call.startMs };
    this.#sessions.set(session, known);
    known.calls += 1;
    if ((costNanoUsd ?? 0) > known.most) {
      known.most = costNanoUsd ?? 0;
      known.turn = turn;
      known.startMs = call.startMs;
    }
    if (costNanoUsd === undefined) return;
    this.costNanoUsd = (this.costNanoUsd ?? 0) + costNanoUsd;
    known.costNanoUsd = (known.costNanoUsd ?? 0) + costNanoUsd;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** The sessions with the highest cost. */
  examples(limit: number): readonly Example[] {
    return [...this.#sessions.values()]
      .sort((a, b) => (b.costNanoUsd ?? 0) - (a.costNanoUsd ?? 0) || b.calls - a.calls)
      .slice(0, limit)
      .map(({ most: _, ...example }) => example);
  }
}

// --- internal ---

type Writable = { -readonly [K in keyof Example]: Example[K] } & { most: number };
