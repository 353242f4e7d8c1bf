import type { JoinedNative } from "#core/model/native.ts";
import { sumKnown } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import { duration, plural, preciseDollars } from "#kit/text/figures.ts";
import { partName } from "#store/sessions/native.ts";
import type { SessionView } from "../session-view.ts";
import { failedText, isSameCost, isWait, retriesOf, retriesText, serverText, type Waits } from "./notes.ts";

/** What the agent's own telemetry adds to a session, in sums. Absent: no part reports it. */
export interface NativeSums {
  /** Of at least a second. */
  readonly waits?: Waits;
  /** Median of the model calls that report it, or of the turns if no call does. */
  readonly firstTokenMs?: number;
  readonly retries?: number;
  readonly refusals?: number;
  /** Of the model calls of which both are known: the agent's own cost, and ours. */
  readonly cost?: { readonly calls: number; readonly reportedNanoUsd: number; readonly ourNanoUsd: number };
  readonly hooks?: { readonly runs?: number; readonly failures?: number; readonly ms: number };
  /** MCP servers to which a connection failed, each once; `undefined`: without a name. */
  readonly failedServers: readonly (string | undefined)[];
}

/** What was joined with a call of a session. */
export const nativeOfCall = (
  { native }: Pick<SessionView, "native">,
  kind: "model_call" | "tool_call",
  key: string,
): JoinedNative | undefined => native.get(partName({ kind, key }));

/** @returns `undefined` if the agent's own telemetry says nothing of the session */
export function nativeSums(view: Pick<SessionView, "native" | "calls">): NativeSums | undefined {
  const { native } = view;
  if (native.size === 0) return undefined;
  const all = [...native.values()];
  const firstTokens = (kind: string): readonly number[] =>
    [...native].flatMap(([name, { firstTokenMs }]) =>
      firstTokenMs !== undefined && name.startsWith(`${kind} `) ? [firstTokenMs] : [],
    );
  const [ofCalls, ofTurns] = [firstTokens("model_call"), firstTokens("turn")];
  const firstTokenMs = median(ofCalls.length > 0 ? ofCalls : ofTurns);
  const waiting = all.filter(isWait);
  const refused = all.filter(({ refusal }) => refusal !== undefined);
  const priced = view.calls.flatMap(({ call, costNanoUsd: ours }) => {
    const reported = nativeOfCall(view, "model_call", call.key)?.costNanoUsd;
    return reported === undefined || ours === undefined ? [] : [{ reported, ours }];
  });
  const hooks = all.flatMap((one) => one.hooks ?? []);
  const failed = all.flatMap(({ connections = [] }) => connections.filter(({ state }) => state === "failed"));
  return {
    ...(all.some(({ permissionMs }) => permissionMs !== undefined) && {
      waits: { calls: waiting.length, ms: sum(waiting.map(({ permissionMs = 0 }) => permissionMs)) },
    }),
    ...(firstTokenMs !== undefined && { firstTokenMs }),
    ...(all.some(({ attempts }) => attempts !== undefined) && { retries: sum(all.map(retriesOf)) }),
    ...(refused.length > 0 && { refusals: refused.length }),
    ...(priced.length > 0 && {
      cost: {
        calls: priced.length,
        reportedNanoUsd: sum(priced.map(({ reported }) => reported)),
        ourNanoUsd: sum(priced.map(({ ours }) => ours)),
      },
    }),
    ...(hooks.length > 0 && {
      hooks: {
        ...defined({
          runs: sumKnown(hooks.map(({ runs }) => runs)),
          failures: sumKnown(hooks.map(({ failures }) => failures)),
        }),
        ms: sum(hooks.map(({ durationMs }) => durationMs)),
      },
    }),
    failedServers: [...new Set(failed.map(({ server }) => server))],
  };
}

/** The sums for people, in parts; those that say nothing are left out. */
export function nativeSumsTexts({ waits, firstTokenMs, retries = 0, refusals = 0, cost, ...rest }: NativeSums) {
  const { hooks, failedServers } = rest;
  return [
    ...(waits === undefined || waits.calls === 0 ? [] : [waitsText(waits)]),
    ...(firstTokenMs === undefined ? [] : [`first token after ${duration(firstTokenMs)} (median)`]),
    ...(retries === 0 ? [] : [retriesText(retries)]),
    ...(refusals === 0 ? [] : [plural(refusals, "refusal")]),
    ...(hooks === undefined ? [] : [`hooks ${duration(hooks.ms)}${failedText(hooks.failures)}`]),
    ...failedServers.map((server) => `${serverText(server)} failed`),
    ...(cost === undefined || isSameCost(cost.reportedNanoUsd, cost.ourNanoUsd, cost.calls)
      ? []
      : [
          `the agent’s own cost of ${plural(cost.calls, "call")} ${preciseDollars(cost.reportedNanoUsd)}, ours ${preciseDollars(cost.ourNanoUsd)}`,
        ]),
  ];
}

export const waitsText = ({ calls, ms }: Waits): string =>
  `waited ${duration(ms)} for your permission in ${plural(calls, "call")}`;

// --- internal ---

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}
