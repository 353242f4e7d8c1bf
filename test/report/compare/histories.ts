import type { ComparedMeasure, Member } from "#show/report/compare/compare.ts";
import type { SessionFigures } from "#show/report/compare/session-figures.ts";
import { NO_TOOLS, NO_TURNS, NOTHING } from "#show/report/usage-facts.ts";

/** Random numbers from 0 to below 1. */
export type Random = () => number;

/** What differs between histories. */
export interface Habits {
  /** How large sessions are: the mean number of turns. */
  readonly turns: number;
  /** How much one session differs from another, and one turn from another (standard deviations of logarithms). */
  readonly spread: number;
  readonly failures: number;
  /** Factor of the cost. */
  readonly cost: number;
  readonly repositories: boolean;
}

export const USUAL: Habits = { turns: 6, spread: 0.6, failures: 0.05, cost: 1, repositories: true };

/** A group of made-up sessions. The turns of a session resemble each other, as those of real ones do. */
export const madeUp = (sessions: number, habits: Habits, random: Random): readonly Member[] =>
  Array.from({ length: sessions }, () => {
    const session = madeUpSession(habits, random);
    return { session, calls: session.calls };
  });

/** The differences that are shown, e.g. `cost_per_turn more`. */
export const shownIn = (measures: readonly ComparedMeasure[]): readonly string[] =>
  measures.flatMap(({ measure, verdict }) =>
    verdict === "less" || verdict === "more" ? `${measure.name} ${verdict}` : [],
  );

/** xorshift128 of a seed: another generator than that of the program. */
export function randomOf(seed: number): Random {
  let [a, b, c, d] = [seed | 1, 362_436_069, 521_288_629, 88_675_123];
  const next = (): number => {
    const t = a ^ (a << 11);
    [a, b, c] = [b, c, d];
    d = d ^ (d >>> 19) ^ (t ^ (t >>> 8));
    return (d >>> 0) / 4_294_967_296;
  };
  for (let round = 0; round < 20; round++) next();
  return next;
}

// --- internal ---

const gauss = (random: Random): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const many = (trials: number, share: number, random: Random): number => {
  let hits = 0;
  for (let trial = 0; trial < trials; trial++) if (random() < share) hits++;
  return hits;
};

function madeUpSession({ turns: mean, spread, failures, cost, repositories }: Habits, random: Random): SessionFigures {
  const turns = 1 + Math.floor(-Math.log(1 - random()) * (mean - 1));
  // Hard tasks cost more in every turn, take longer, and fail more often
  const hardness = Math.exp(spread * gauss(random));
  const calls = Math.max(turns, Math.round(turns * 4 * hardness * Math.exp(0.2 * gauss(random))));
  const tools = Math.round(calls * 1.2);
  const failing = Math.min(0.9, failures * Math.exp(spread * gauss(random)));
  const input = calls * 20_000;
  const costNanoUsd = Math.round(calls * cost * 30_000_000 * Math.exp((spread / 2) * gauss(random)));
  const figures = {
    ...NOTHING,
    modelCalls: calls,
    input,
    output: calls * 400,
    costNanoUsd,
    cacheReportedInput: input,
    cacheReportedRead: Math.round(input * Math.min(0.99, 0.8 * Math.exp(0.1 * gauss(random)))),
  };
  const written = 40 + Math.floor(random() * 200);
  return {
    agent: "claude-code",
    firstMs: 0,
    isResumed: false,
    calls: figures,
    byModel: new Map([["m", figures]]),
    tools: { ...NO_TOOLS, calls: tools, errors: many(tools, failing, random) },
    turns: {
      ...NO_TURNS,
      turns,
      prompts: turns,
      failed: many(turns, 0.04, random),
      interrupted: many(turns, 0.03, random),
    },
    workMs: calls * 9000 * Math.exp(0.3 * gauss(random)),
    isUsageUnknown: false,
    ...(repositories && { merged: many(2, 0.4, random), kept: { written, kept: many(written, 0.85, random) } }),
  };
}
