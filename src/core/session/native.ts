import { sumOfAll } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import type { JoinedNative, NativeFacts, NativeIdKind, NativeRecord } from "../model/native.ts";
import type { Segment, Session, Subagent, Turn } from "../model/session.ts";
import { baseKey } from "./drafts.ts";

// Which part of a session a record of the agent's own telemetry belongs to. Only ids decide; a record that names nothing but its
// session belongs to the segment of its time

/** A part of a session: a call, a turn, or a segment by its ordinal. */
export interface NativePart {
  readonly kind: "model_call" | "tool_call" | "turn" | "session";
  readonly key: string;
}

/** Finds a part by an id; `undefined`: it is not known here. */
export type FindPart = (kind: NativeIdKind, id: string) => NativePart | undefined;

/** A part with the records that belong to it, in the order of time. */
export interface NativeJoin {
  readonly part: NativePart;
  readonly records: readonly NativeRecord[];
}

/** Names a part in a map. */
export const partName = ({ kind, key }: NativePart): string => `${kind} ${key}`;

/** The parts that these runs contain. */
export function partsOf(runs: readonly (Turn | Subagent)[]): FindPart {
  const parts = new Map<string, NativePart>();
  const add = (kind: NativeIdKind, id: string | undefined, part: NativePart): void => {
    if (id !== undefined && !parts.has(`${kind} ${id}`)) parts.set(`${kind} ${id}`, part);
  };
  for (const run of runs) {
    if ("origin" in run && run.origin !== "none") add("promptId", baseKey(run.key), { kind: "turn", key: run.key });
    for (const { key, responseId, requestId } of run.modelCalls) {
      add("responseId", responseId, { kind: "model_call", key });
      add("requestId", requestId, { kind: "model_call", key });
    }
    for (const { callId, givenId } of run.toolCalls) {
      add("callId", callId, { kind: "tool_call", key: callId });
      add("callId", givenId, { kind: "tool_call", key: callId });
    }
  }
  return (kind, id) => parts.get(`${kind} ${id}`);
}

/**
 * The part that a record belongs to.
 *
 * @param recordOf finds the record of a native span by its id
 * @param segments of the session, all
 * @returns `undefined` if the session does not know any of its ids
 */
export function partOf(
  record: NativeRecord,
  find: FindPart,
  recordOf: (spanId: string) => NativeRecord | undefined,
  segments: readonly Segment[],
): NativePart | undefined {
  const seen = new Set<NativeRecord>();
  for (let at: NativeRecord | undefined = record; at !== undefined && !seen.has(at); ) {
    seen.add(at);
    if (at.ids.length === 0) return segmentAt(at.timeMs, segments);
    for (const { kind, id } of at.ids) {
      const part = find(kind, id);
      if (part !== undefined) return part;
    }
    const parent: string | undefined = at.ids.find(({ kind }) => kind === "spanId")?.id;
    at = parent === undefined ? undefined : recordOf(parent);
  }
  return undefined;
}

/** Groups records by their parts. */
export function joinsOf(
  records: readonly NativeRecord[],
  partIn: (record: NativeRecord) => NativePart | undefined,
): { readonly joins: ReadonlyMap<string, NativeJoin>; readonly rest: readonly NativeRecord[] } {
  const joins = new Map<string, { part: NativePart; records: NativeRecord[] }>();
  const rest: NativeRecord[] = [];
  for (const record of [...records].sort(inOrder)) {
    const part = partIn(record);
    if (part === undefined) {
      rest.push(record);
      continue;
    }
    const name = partName(part);
    const join = joins.get(name);
    if (join === undefined) joins.set(name, { part, records: [record] });
    else join.records.push(record);
  }
  return { joins, rest };
}

/** The facts of records about the same part. Of two that say the same thing, the later one counts. Their order does not matter. */
export function mergedNative(records: readonly NativeRecord[]): JoinedNative {
  const ordered = [...records].sort(inOrder);
  const hooks = hooksOf(ordered);
  const connections = ordered.flatMap(({ timeMs, facts: { connection } }) =>
    connection === undefined ? [] : [{ ...connection, timeMs }],
  );
  const { hook: _, connection: __, ...facts }: NativeFacts = Object.assign({}, ...ordered.map((one) => one.facts));
  // Other spans of the same part are below the first one
  const own = ordered.find(({ span, ids }) => span !== undefined && !ids.some(({ kind }) => kind === "spanId"))?.span;
  return {
    ...facts,
    ...(hooks.length > 0 && { hooks }),
    ...(connections.length > 0 && { connections }),
    ...(own !== undefined && { span: own }),
  };
}

/** A session whose parts have what was joined with them. @returns the same session if nothing was */
export function withNative(session: Session, joins: ReadonlyMap<string, NativeJoin>): Session {
  if (joins.size === 0) return session;
  const add = <T extends object>(kind: NativePart["kind"], key: string, part: T): T => {
    const join = joins.get(partName({ kind, key }));
    return join === undefined ? part : { ...part, native: mergedNative(join.records) };
  };
  const run = <T extends Turn | Subagent>(one: T): T => ({
    ...("origin" in one ? add("turn", one.key, one) : one),
    modelCalls: one.modelCalls.map((call) => add("model_call", call.key, call)),
    toolCalls: one.toolCalls.map((call) => add("tool_call", call.callId, call)),
  });
  return {
    ...session,
    segments: session.segments.map((segment) => add("session", String(segment.ordinal), segment)),
    turns: session.turns.map(run),
    subagents: session.subagents.map(run),
    finishedParts: session.finishedParts.map(run),
  };
}

// --- internal ---

/** By event, in the order of their first runs: a turn has two for each tool call. */
function hooksOf(records: readonly NativeRecord[]): NonNullable<JoinedNative["hooks"]> {
  const hooks = new Map<string, NonNullable<JoinedNative["hooks"]>[number]>();
  for (const { timeMs, facts } of records) {
    if (facts.hook === undefined) continue;
    const { event, ...one } = facts.hook;
    const { runs, failures, durationMs } = one;
    const before = hooks.get(event);
    hooks.set(
      event,
      before === undefined
        ? { event, timeMs, ...one }
        : defined({
            event,
            timeMs: before.timeMs,
            runs: sumOfAll(before.runs, runs),
            failures: sumOfAll(before.failures, failures),
            // So that their order makes no difference
            durationMs: Math.round((before.durationMs + durationMs) * 1e3) / 1e3,
          }),
    );
  }
  return [...hooks.values()];
}

const inOrder = (a: NativeRecord, b: NativeRecord): number =>
  a.timeMs - b.timeMs || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/** Hooks run shortly before the start that they report. */
function segmentAt(timeMs: number, segments: readonly Segment[]): NativePart | undefined {
  const [first, ...later] = [...segments].sort((a, b) => a.ordinal - b.ordinal);
  const at = later.findLast(({ startMs }) => startMs <= timeMs) ?? first;
  return at === undefined ? undefined : { kind: "session", key: String(at.ordinal) };
}
