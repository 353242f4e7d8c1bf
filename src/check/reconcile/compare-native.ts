import type { PricedCall } from "#core/model/model-call.ts";
import type { NativeTokens } from "#core/model/native.ts";
import { sumKnown } from "#kit/numbers.ts";
import { plural } from "#kit/text/figures.ts";
import { isSameCost } from "#show/report/native/notes.ts";
import type { Database } from "#store/database.ts";
import { settledCalls } from "#store/queries.ts";
import { numbers } from "#store/rows.ts";
import { nativeOf, partName } from "#store/sessions/native.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import type { StoredSession } from "#store/sessions.ts";
import { AllFindings, type Findings, labelOf } from "./facts.ts";

// A second witness that is not made from the agent's files: what its own telemetry says of the same calls

/** One model of a session, in the store and in the agent's own telemetry. */
export interface NativeRow {
  readonly session: string;
  readonly model: string;
  /** How many of the stored calls the telemetry has. The figures are of these; of agents that report turns, of all or none. */
  readonly calls: { readonly stored: number; readonly native: number };
  readonly figures: readonly NativeFigure[];
  readonly verdict: "equal" | "differs" | "incomplete";
}

export interface NativeFigure {
  readonly kind: "input" | "output" | "cache_read" | "cache_write" | "cost";
  /** Tokens, or 10⁻⁹ USD. */
  readonly stored: number;
  readonly native: number;
  readonly isEqual: boolean;
}

/** @returns no rows if the telemetry says nothing of the session's tokens and cost */
export function compareNative(
  db: Database,
  session: StoredSession,
  { agents }: Pick<SessionSource, "agents">,
): Findings & { readonly rows: readonly NativeRow[] } {
  const native = nativeOf(db, session, unsettledSession({ db, agents }, session));
  if (native.size === 0) return { differences: [], unknown: [], remarks: [], rows: [] };
  const calls = settledCalls(db, session.id).filter(({ call }) => call.covers === undefined);
  const ofCall = (one: PricedCall): Witness => {
    const joined = native.get(partName({ kind: "model_call", key: one.call.key }));
    return { ours: [one], tokens: joined?.tokens, costNanoUsd: joined?.costNanoUsd };
  };
  const pairs = calls.map((one) => ({ ...ofCall(one), model: one.call.model ?? "unknown" }));
  const models = [...new Set(pairs.map(({ model }) => model))].sort();
  const hasCalls = pairs.some(isKnown);
  const turns = [...native].flatMap(([name, { tokens }]) => (name.startsWith("turn ") && tokens ? [tokens] : []));
  const label = labelOf(session);
  const groups: readonly Group[] = hasCalls
    ? models.map((model) => {
        const own = pairs.filter((pair) => pair.model === model);
        return { model, calls: own.length, witnesses: own.filter(isKnown), known: own.filter(isKnown).length };
      })
    : turns.length === 0
      ? []
      : [ofTurns(calls, turns, models, numbers(db, TURNS, session.id)[0] ?? 0)];
  const findings = new AllFindings();
  const rows = groups.map(({ model, calls: stored, known, witnesses }): NativeRow => {
    const figures = figuresOf(witnesses);
    const wrong = figures.filter(({ isEqual }) => !isEqual);
    for (const { kind, stored: left, native: right } of wrong) {
      const [unit, by] = kind === "cost" ? ["cost in USD", 1e9] : [`${kind} tokens`, 1];
      const what = `${unit} of ${plural(known, "call")}`;
      const between = "store and native telemetry";
      findings.differences.push({ between, session: label, subject: model, what, left: left / by, right: right / by });
    }
    if (known < stored)
      findings.unknown.push(`${label}: native telemetry has ${known} of ${plural(stored, "call")} of ${model}`);
    const verdict = wrong.length > 0 ? "differs" : known < stored ? "incomplete" : "equal";
    return { session: label, model, calls: { stored, native: known }, figures, verdict };
  });
  return { ...findings, rows };
}

// --- internal ---

/** What the telemetry says of one call, or of a session's turns together. */
interface Witness {
  readonly ours: readonly PricedCall[];
  readonly tokens: NativeTokens | undefined;
  readonly costNanoUsd: number | undefined;
}

interface Group {
  readonly model: string;
  readonly calls: number;
  readonly known: number;
  readonly witnesses: readonly Witness[];
}

const TURNS = "SELECT count(*) FROM turns WHERE session = ? AND origin <> 'none'";

const isKnown = ({ tokens, costNanoUsd }: Witness): boolean => tokens !== undefined || costNanoUsd !== undefined;

/** Agents whose telemetry has tokens of turns only: the calls of a turn are not told apart, so it is all turns or none. */
function ofTurns(
  calls: readonly PricedCall[],
  turns: readonly NativeTokens[],
  models: readonly string[],
  stored: number,
): Group {
  const total = (kind: keyof NativeTokens): number | undefined => sumKnown(turns.map((tokens) => tokens[kind]));
  const sums = { input: total("input"), output: total("output"), cacheRead: total("cacheRead") };
  const tokens = Object.fromEntries(Object.entries(sums).filter(([, value]) => value !== undefined)) as NativeTokens;
  const isWhole = turns.length >= stored;
  return {
    model: models.length === 1 ? (models[0] ?? "unknown") : "all models",
    calls: calls.length,
    known: isWhole ? calls.length : 0,
    witnesses: isWhole ? [{ ours: calls, tokens, costNanoUsd: undefined }] : [],
  };
}

/** Sums over the calls of which both sides know a figure; kinds that are known of none are left out. */
function figuresOf(witnesses: readonly Witness[]): readonly NativeFigure[] {
  const figure = (
    kind: NativeFigure["kind"],
    nativeOne: (witness: Witness) => number | undefined,
    ourOne: (call: PricedCall) => number | undefined,
  ): readonly NativeFigure[] => {
    const both = witnesses.flatMap((witness) => {
      const [native, ours] = [nativeOne(witness), sumKnown(witness.ours.map(ourOne))];
      return native === undefined || ours === undefined ? [] : [{ native, ours }];
    });
    if (both.length === 0) return [];
    const [stored, native] = [
      sumKnown(both.map(({ ours }) => ours)) ?? 0,
      sumKnown(both.map((one) => one.native)) ?? 0,
    ];
    const isEqual = kind === "cost" ? isSameCost(native, stored, both.length) : native === stored;
    return [{ kind, stored, native, isEqual }];
  };
  return [
    // The telemetry's input is without what the cache is about
    ...figure(
      "input",
      ({ tokens }) =>
        tokens?.input === undefined ? undefined : sumKnown([tokens.input, tokens.cacheRead, tokens.cacheWrite]),
      ({ call }) => call.usage?.input,
    ),
    ...figure(
      "output",
      ({ tokens }) => tokens?.output,
      ({ call }) => call.usage?.output,
    ),
    ...figure(
      "cache_read",
      ({ tokens }) => tokens?.cacheRead,
      ({ call }) => call.usage?.cacheRead,
    ),
    ...figure(
      "cache_write",
      ({ tokens }) => tokens?.cacheWrite,
      ({ call }) => call.usage?.cacheWrite,
    ),
    ...figure(
      "cost",
      ({ costNanoUsd }) => costNanoUsd,
      ({ costNanoUsd }) => costNanoUsd,
    ),
  ];
}
