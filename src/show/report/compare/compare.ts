import type { Agent } from "#core/model/agent.ts";
import type { Database } from "#store/database.ts";
import type { UsageQuery } from "../query.ts";
import { isPriced, MEASURES, type Measure, scaleOf } from "./measures.ts";
import { corrected, type Difference, differenceOf, LEVEL, MIN_SESSIONS, measured, type Unit } from "./resample.ts";
import { type SessionFigures, sessionFigures } from "./session-figures.ts";

/** By what sessions can be compared. */
export type ComparedBy = "model" | "agent" | "version" | "repository";

export interface CompareQuery extends Pick<UsageQuery, "agent" | "repository" | "sinceMs" | "untilMs"> {
  readonly by: ComparedBy;
  /** Absent, of versions only: the newest with enough sessions, and the one before it. */
  readonly names?: readonly [a: string, b: string];
}

/** One of the two groups. */
export interface Side {
  readonly name: string;
  readonly sessions: number;
  readonly turns: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** Sessions that do not count for money, because a part of their cost is unknown. */
  readonly withoutCost: number;
}

export interface ComparedMeasure {
  readonly measure: Measure;
  readonly a: SideValue;
  readonly b: SideValue;
  /** Absent: too few sessions, or unknown. */
  readonly difference?: Difference & { readonly corrected: number };
  /** `few`: too few sessions on a side; `unknown`: nothing to divide by; `none`: no difference can be shown. */
  readonly verdict: "less" | "more" | "none" | "few" | "unknown";
}

/** Of one side: the measure, and the number of sessions that have it. */
interface SideValue {
  readonly value?: number;
  readonly sessions: number;
}

export interface Comparison {
  readonly query: CompareQuery;
  readonly a: Side;
  readonly b: Side;
  readonly measures: readonly ComparedMeasure[];
  /** Sessions that belong to no side, or to both, by why. */
  readonly leftOut: LeftOut;
}

interface LeftOut {
  /** They used both models: only measures of single calls count. */
  readonly mixed: number;
  /** Most of their calls were to a third model. */
  readonly helper: number;
  /** They were resumed, perhaps by another version. */
  readonly resumed: number;
}

/** Why there is no comparison: a side without sessions, or without a name no two versions with enough of them. */
export interface NotCompared {
  readonly missing?: string;
  readonly query: CompareQuery;
  /** Of an agent, the newest first. */
  readonly versions: readonly string[];
}

/** Compares two groups of sessions by every measure. */
export function compare(db: Database, agents: readonly Agent[], query: CompareQuery): Comparison | NotCompared {
  const all = query.by === "repository" ? [] : [...sessionFigures(db, agents, query).values()];
  const found = query.by === "version" ? withVersions(all, query) : query;
  const { names } = found;
  const versions = versionsOf(all, found.agent);
  if (names === undefined) return { query: found, versions };
  const { sides, leftOut } = groupsOf(db, agents, { ...found, names }, all);
  const missing = names.find((_, at) => (sides[at] ?? []).length === 0);
  if (missing !== undefined) return { missing, query: found, versions };
  const [a = [], b = []] = sides;
  return {
    query: found,
    a: sideOf(names[0], a),
    b: sideOf(names[1], b),
    measures: comparedMeasures([a, b], names[0] <= names[1]),
    leftOut,
  };
}

/** Compares two groups whose members are given. Exported for tests of the method. */
export function comparedMeasures(
  [a, b]: readonly [a: readonly Member[], b: readonly Member[]],
  isFirst: boolean,
): readonly ComparedMeasure[] {
  const compared = MEASURES.map((measure) => {
    const [ofA, ofB] = [unitsOf(a, measure), unitsOf(b, measure)];
    const isEnough = ofA.length >= MIN_SESSIONS && ofB.length >= MIN_SESSIONS;
    const difference = isEnough ? differenceOf(ofA, ofB, scaleOf(measure), isFirst) : undefined;
    return { measure, a: sideValue(ofA), b: sideValue(ofB), isEnough, difference };
  });
  const tested = compared.filter(isTested);
  const values = corrected(tested.flatMap(({ difference }) => difference?.p ?? []));
  return compared.map(({ isEnough, difference, ...one }): ComparedMeasure => {
    if (difference === undefined) return { ...one, verdict: isEnough ? "unknown" : "few" };
    const at = tested.findIndex(({ measure }) => measure === one.measure);
    const whole = { ...difference, corrected: values[at] ?? 1 };
    return { ...one, difference: whole, verdict: verdictOf(whole, one.a, one.b) };
  });
}

/** Whether a difference is possible: a share that is 0 on both sides takes no part in the correction. */
export const isTested = ({
  difference,
  a,
  b,
}: Pick<ComparedMeasure, "a" | "b"> & { readonly difference?: object | undefined }) =>
  difference !== undefined && (a.value !== 0 || b.value !== 0);

/** A session of a group. */
export interface Member {
  readonly session: SessionFigures;
  /** Of its calls those that count. */
  readonly calls: SessionFigures["calls"];
  /** It belongs to both groups: only measures of single calls count. */
  readonly isMixed?: boolean;
}

// --- internal ---

/** A difference is shown if the test and the interval both show it: they do not fail in the same cases. */
function verdictOf(
  { corrected, interval }: NonNullable<ComparedMeasure["difference"]>,
  a: SideValue,
  b: SideValue,
): ComparedMeasure["verdict"] {
  // A ratio to 0 has no interval
  const isOutside = interval === undefined ? a.value === 0 || b.value === 0 : interval[0] > 0 || interval[1] < 0;
  if (corrected > LEVEL || !isOutside) return "none";
  return (b.value ?? 0) > (a.value ?? 0) ? "more" : "less";
}

const unitsOf = (members: readonly Member[], { of, isOfCalls }: Measure): readonly Unit[] =>
  members.flatMap(({ session, calls, isMixed }) => {
    if (isMixed === true && isOfCalls !== true) return [];
    return of(session, isOfCalls === true ? calls : session.calls) ?? [];
  });

function sideValue(units: readonly Unit[]): SideValue {
  const value = measured(units);
  return { sessions: units.length, ...(value !== undefined && { value }) };
}

function sideOf(name: string, members: readonly Member[]): Side {
  const whole = members.filter(({ isMixed }) => isMixed !== true).map(({ session }) => session);
  const starts = members.map(({ session }) => session.firstMs);
  return {
    name,
    sessions: whole.length,
    turns: whole.reduce((sum, { turns }) => sum + turns.turns, 0),
    firstMs: starts.reduce((first, ms) => Math.min(first, ms), Number.POSITIVE_INFINITY),
    lastMs: starts.reduce((last, ms) => Math.max(last, ms), 0),
    withoutCost: whole.filter((session) => !isPriced(session)).length,
  };
}

interface Groups {
  readonly sides: readonly (readonly Member[])[];
  readonly leftOut: LeftOut;
}

type NamedQuery = CompareQuery & Required<Pick<CompareQuery, "names">>;

function groupsOf(db: Database, agents: readonly Agent[], query: NamedQuery, all: readonly SessionFigures[]): Groups {
  const none: LeftOut = { mixed: 0, helper: 0, resumed: 0 };
  if (query.by === "model") return groupsByModel(query.names, all);
  if (query.by === "repository") {
    const sides = query.names.map((repository) => [...sessionFigures(db, agents, { ...query, repository }).values()]);
    return { sides: sides.map((sessions) => sessions.map(whole)), leftOut: none };
  }
  if (query.by === "agent") {
    const sides = query.names.map((name) => all.filter(({ agent }) => agent === name).map(whole));
    return { sides, leftOut: none };
  }
  const of = (name: string): readonly SessionFigures[] =>
    all.filter(({ agent, version }) => agent === query.agent && version === name);
  const resumed = new Set(query.names.flatMap(of).filter(({ isResumed }) => isResumed)).size;
  const sides = query.names.map((name) =>
    of(name)
      .filter(({ isResumed }) => !isResumed)
      .map(whole),
  );
  return { sides, leftOut: { ...none, resumed } };
}

const whole = (session: SessionFigures): Member => ({ session, calls: session.calls });

/** A session belongs to the model that made most of its calls, unless it used the other one too. */
function groupsByModel(names: readonly [string, string], sessions: readonly SessionFigures[]): Groups {
  const [a, b] = names;
  const [mixed, helper] = [new Set<SessionFigures>(), new Set<SessionFigures>()];
  const sides = names.map((name, at) => {
    const other = at === 0 ? b : a;
    return sessions.flatMap((session): Member[] => {
      const calls = session.byModel.get(name);
      if (calls === undefined) return [];
      const isMixed = other !== name && session.byModel.has(other);
      const isHelper = callsIn(calls) * 2 <= callsIn(session.calls);
      if (isMixed) mixed.add(session);
      else if (isHelper) helper.add(session);
      return [{ session, calls, isMixed: isMixed || isHelper }];
    });
  });
  return { sides, leftOut: { mixed: mixed.size, helper: helper.size, resumed: 0 } };
}

const callsIn = ({ modelCalls, aggregateRecords }: SessionFigures["calls"]): number => modelCalls + aggregateRecords;

/** The versions of an agent, the newest here first: by when each was first used. */
function versionsOf(all: readonly SessionFigures[], agent: string | undefined): readonly string[] {
  const first = new Map<string, number>();
  for (const { agent: source, version, firstMs } of all) {
    if (source !== agent || version === undefined) continue;
    first.set(version, Math.min(firstMs, first.get(version) ?? firstMs));
  }
  return [...first].sort(([, a], [, b]) => b - a).map(([version]) => version);
}

/** Fills in the agent whose newest session names a version, and the versions before and after its update. */
function withVersions(all: readonly SessionFigures[], query: CompareQuery): CompareQuery {
  const sessions = all.filter(({ version }) => version !== undefined);
  const named = query.names?.length === 2 ? sessions.filter(({ version }) => version === query.names?.[1]) : sessions;
  const newest = named.toSorted((a, b) => b.firstMs - a.firstMs)[0];
  const agent = query.agent ?? newest?.agent;
  if (agent === undefined || query.names !== undefined) return { ...query, ...(agent !== undefined && { agent }) };
  const whole = sessions.filter((one) => one.agent === agent && !one.isResumed);
  const enough = versionsOf(all, agent).filter(
    (version) => whole.filter((one) => one.version === version).length >= MIN_SESSIONS,
  );
  const [after, before] = enough;
  return { ...query, agent, ...(after !== undefined && before !== undefined && { names: [before, after] }) };
}
