import type { CallSums } from "#core/model/model-call.ts";
import { QUARTER_MS } from "#core/model/packed.ts";
import { CALL_SUM_NAMES, sumOfCalls } from "#core/rules/call-sums.ts";
import type { Database } from "#store/database.ts";
import { packedNumbers } from "#store/packed.ts";
import { type SessionSource, sessionFactsOf } from "#store/sessions/read-session.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import { sessionById } from "#store/sessions.ts";
import { openCalls } from "../call-totals.ts";
import {
  addFigures,
  type CallFigures,
  callFiguresOf,
  type Fact,
  NOTHING,
  openFactsOf,
  settledFacts,
} from "../usage-facts.ts";

/** Calls of one session with one model. */
export type CallFact = Extract<Fact, { readonly kind: "calls" }>;

/**
 * All calls of the sessions. Those of one fact lie in the same quarter of an hour and on the same side of every boundary; its time is
 * theirs or earlier, also on that side.
 *
 * @param boundaries times at which windows begin or end, in milliseconds
 * @returns the facts, and how many quarters of sessions could not be divided at a boundary: they count before it
 */
export function callFacts(
  db: Database,
  deps: Pick<SessionSource, "agents">,
  sessions: ReadonlyMap<number, unknown>,
  boundaries: Iterable<number>,
): { readonly facts: readonly CallFact[]; readonly undivided: number } {
  const cut = new Map<number, number[]>();
  for (const ms of new Set(boundaries)) {
    const quarterMs = Math.floor(ms / QUARTER_MS) * QUARTER_MS;
    if (ms !== quarterMs) cut.set(quarterMs, [...(cut.get(quarterMs) ?? [quarterMs]), ms]);
  }
  const facts: CallFact[] = [];
  const packed = cut.size === 0 ? new Set<number>() : packedNumbers(db);
  const [rows, sums] = [new Map<number, Set<number>>(), new Map<string, CallFact[]>()];
  for (const fact of settledFacts(db, [...sessions.keys()], { ...CALLS, ...ALWAYS, unit: "hour" })) {
    if (fact.kind !== "calls" || !sessions.has(fact.session)) continue;
    if (!cut.has(fact.timeMs)) facts.push(fact);
    else if (packed.has(fact.session)) {
      const key = JSON.stringify([fact.session, fact.timeMs]);
      sums.set(key, [...(sums.get(key) ?? []), fact]);
    } else rows.set(fact.timeMs, (rows.get(fact.timeMs) ?? new Set()).add(fact.session));
  }
  for (const [quarterMs, numbers] of rows) {
    const times = (cut.get(quarterMs) ?? []).toSorted((a, b) => a - b);
    for (const [i, sinceMs] of times.entries()) {
      const range = { sinceMs, untilMs: times[i + 1] ?? quarterMs + QUARTER_MS };
      for (const fact of settledFacts(db, [...numbers], { ...CALLS, ...range })) {
        if (fact.kind === "calls" && numbers.has(fact.session)) facts.push(fact);
      }
    }
  }
  let undivided = 0;
  for (const own of sums.values()) {
    const calls = packedCalls(db, deps, own);
    facts.push(...(calls ?? own));
    if (calls === undefined) undivided++;
  }
  for (const fact of openFactsOf(db, deps, sessions)) if (fact.kind === "calls") facts.push(fact);
  return { facts: facts.sort((a, b) => a.timeMs - b.timeMs), undivided };
}

// --- internal ---

const ALWAYS = { sinceMs: Number.MIN_SAFE_INTEGER, untilMs: Number.POSITIVE_INFINITY };
const CALLS = { calls: true, tools: false, turns: false, byModel: true, toolsBy: [] } as const;

/**
 * The calls of a packed session in one quarter of an hour, of which the store has the sums by model.
 *
 * @returns `undefined` if they have other sums: prices have changed since, or this version reads the session differently
 */
function packedCalls(
  db: Database,
  deps: Pick<SessionSource, "agents">,
  sums: readonly CallFact[],
): readonly CallFact[] | undefined {
  const [{ session, timeMs: quarterMs } = { session: 0, timeMs: 0 }] = sums;
  const stored = sessionById(db, session);
  const calls = openCalls(unsettledSession({ db, ...deps }, stored), sessionFactsOf(deps, stored)).filter(
    ({ call }) => call.endMs >= quarterMs && call.endMs < quarterMs + QUARTER_MS,
  );
  const known = sums.reduce<CallFigures>((sum, { figures }) => addFigures(sum, figures), NOTHING);
  if (!isSame(sumOfCalls(calls), known)) return undefined;
  return calls.map((one) => ({
    kind: "calls",
    session,
    timeMs: one.call.endMs,
    model: one.call.model ?? null,
    figures: callFiguresOf(one),
  }));
}

const isSame = (a: CallSums, b: CallSums): boolean => CALL_SUM_NAMES.every((name) => a[name] === b[name]);
