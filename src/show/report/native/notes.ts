import type { JoinedNative } from "#core/model/native.ts";
import type { SessionFacts } from "#core/model/session.ts";
import { type SpanSubject, spanIdOf } from "#core/telemetry/ids.ts";
import { duration, exact, plural, preciseDollars } from "#kit/text/figures.ts";
import type { Node } from "../waterfall/tree.ts";

/** What the agent's own telemetry adds to the parts of a session, by `partName`. Empty for most sessions. */
export type NativeParts = ReadonlyMap<string, JoinedNative>;

/** The same by the ids of the parts' spans. */
export const nativeBySpan = (native: NativeParts, facts: SessionFacts): ReadonlyMap<string, JoinedNative> =>
  new Map(
    [...native].map(([name, joined]) => {
      const at = name.indexOf(" ");
      return [spanIdOf(facts, name.slice(0, at) as SpanSubject, name.slice(at + 1)), joined];
    }),
  );

/** Waits for permission, added up over tool calls that can have waited at the same time. */
export interface Waits {
  readonly calls: number;
  readonly ms: number;
}

/** Whether the user was asked. Where the agent does not say who decided, a short wait was none: rules and hooks decide sooner. */
export const isWait = ({ permissionMs, byUser }: Pick<JoinedNative, "permissionMs" | "byUser">): boolean =>
  permissionMs !== undefined && permissionMs >= MIN_WAIT_MS && byUser !== false;

/** The waits in each span and everything inside it. */
export function waitsOf(
  nodes: readonly Node<{ readonly spanId: string }>[],
  native: ReadonlyMap<string, JoinedNative>,
): readonly Waits[] {
  const waits = nodes.map(({ span }): Waits => {
    const own = native.get(span.spanId);
    return own !== undefined && isWait(own) ? { calls: 1, ms: own.permissionMs ?? 0 } : NO_WAITS;
  });
  for (let index = nodes.length - 1; index >= 0; index--) {
    const [one, parent] = [waits[index] ?? NO_WAITS, nodes[index]?.parent ?? -1];
    const above = waits[parent];
    if (one.calls > 0 && above !== undefined) waits[parent] = { calls: above.calls + one.calls, ms: above.ms + one.ms };
  }
  return waits;
}

/**
 * What is notable about a span, in words; nothing if nothing is.
 *
 * @param inside the waits in it, if it is a session, turn or subagent
 */
export function nativeNotes(native: JoinedNative | undefined, inside: Waits = NO_WAITS): readonly string[] {
  const { permissionMs, refusal, connections = [] } = native ?? {};
  const retries = retriesOf(native);
  return [
    ...(native !== undefined && isWait(native) ? [`waited ${duration(permissionMs ?? 0)} for your permission`] : []),
    ...(inside.calls > 0 ? [`waited ${duration(inside.ms)} for you in ${plural(inside.calls, "call")}`] : []),
    ...(retries > 0 ? [retriesText(retries)] : []),
    ...(refusal === undefined ? [] : [refusal === "refusal" ? "refused" : `refused: ${refusal}`]),
    ...connections.filter(({ state }) => state === "failed").map(({ server }) => `${serverText(server)} failed`),
  ];
}

/** In the row of a model call or, of agents that report it only there, a turn. */
export const firstTokenNote = (native: JoinedNative | undefined): readonly string[] =>
  native?.firstTokenMs === undefined ? [] : [`first token after ${duration(native.firstTokenMs)}`];

/** How many requests were sent again; 0 also if it is unknown. */
export const retriesOf = (native: JoinedNative | undefined): number => Math.max(0, (native?.attempts ?? 1) - 1);
export const retriesText = (retries: number): string => plural(retries, "retry", "retries");

/**
 * All facts of a part as names and texts.
 *
 * @param costNanoUsd our cost of the call: the agent's is shown if it is another one
 */
export function nativePairs(native: JoinedNative, costNanoUsd?: number): readonly (readonly [string, string])[] {
  const { permissionMs, decision, decidedBy, executionMs, firstTokenMs, attempts, serverMs } = native;
  const { refusal, costNanoUsd: reported, hooks = [], connections = [] } = native;
  const decided = decision === "deny" ? "denied" : decision === "allow" ? "allowed" : undefined;
  const permission = [
    ...(decided === undefined && decidedBy === undefined
      ? []
      : [`${decided ?? "decided"}${decidedBy === undefined ? "" : ` by ${decidedBy}`}`]),
    ...(permissionMs === undefined ? [] : [`waited ${duration(permissionMs)}`]),
  ];
  return [
    ...pair("Permission", permission.length === 0 ? undefined : permission.join(", ")),
    ...pair("Ran for", executionMs === undefined ? undefined : duration(executionMs)),
    ...pair("First token", firstTokenMs === undefined ? undefined : `after ${duration(firstTokenMs)}`),
    ...pair("Requests", attempts === undefined || attempts < 2 ? undefined : String(attempts)),
    ...pair("Server’s time", serverMs === undefined ? undefined : duration(serverMs)),
    ...pair("Refused", refusal === "refusal" ? "by the model" : refusal),
    ...pair(
      "Agent’s own cost",
      reported === undefined || isSameCost(reported, costNanoUsd) ? undefined : preciseDollars(reported),
    ),
    ...hooks.map(({ event, runs, failures, durationMs }): readonly [string, string] => [
      `${event} hooks`,
      `${runs === undefined ? "" : `${plural(runs, "run")}, `}${duration(durationMs)}${failedText(failures)}`,
    ]),
    ...connections.map(({ server, state, durationMs, errorType }): readonly [string, string] => [
      serverText(server),
      `${state}${durationMs === undefined ? "" : ` after ${duration(durationMs)}`}${errorType === undefined ? "" : ` (${errorType})`}`,
    ]),
  ];
}

export const serverText = (server: string | undefined): string =>
  server === undefined ? "an MCP server" : `MCP server ${server}`;
export const failedText = (failures = 0): string => (failures === 0 ? "" : `, ${exact(failures)} failed`);

/** Agents round each call to a millionth of a dollar. @param calls how many they are the sums of */
export const isSameCost = (reported: number, ours: number | undefined, calls = 1): boolean =>
  ours !== undefined && Math.abs(reported - ours) <= 1_000 * calls;

// --- internal ---

const MIN_WAIT_MS = 1_000;
const NO_WAITS: Waits = { calls: 0, ms: 0 };

const pair = (name: string, text: string | undefined): readonly (readonly [string, string])[] =>
  text === undefined ? [] : [[name, text]];
