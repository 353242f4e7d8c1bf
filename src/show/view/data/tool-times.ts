import type { SummedCall } from "#core/model/model-call.ts";
import { sumOfCalls } from "#core/rules/call-sums.ts";
import { spanIdOf } from "#core/telemetry/ids.ts";
import { grouped } from "#kit/objects.ts";
import { usd } from "#kit/text/figures.ts";
import { monotonicMs } from "#kit/time.ts";
import type { Database } from "#store/database.ts";
import { type StoredSession, sessionById } from "#store/sessions.ts";
import { placedCalls, readBy } from "../../report/explain-money.ts";
import { turnsOfCalls } from "../../report/session-spans.ts";
import { viewOf } from "../../report/session-view.ts";
import { type NamedTool, namedTool } from "../../report/usage-facts.ts";
import type { ViewDeps } from "../deps.ts";
import { stampOf } from "./document.ts";

/** How long the calls of a tool took, and the model calls that read their results. */
export interface ToolTimes {
  /** Of calls with an end; `null`: there is none. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** The call that took longest. */
  readonly slowest: {
    readonly source: string;
    readonly session: string;
    readonly span: string;
    readonly ms: number;
  } | null;
  /** Model calls of the same turn that read results of this tool alone, as in `explain`; those of several tools belong to none. */
  readonly callsAfter: number;
  readonly cost_usd: number | null;
  readonly costIsLowerBound: boolean;
}

/**
 * The calls of sessions one by one, which the store has only as sums or as records: read some sessions per request, and kept in memory
 * while the server runs.
 */
export class SessionTools {
  readonly #deps: Pick<ViewDeps, "agents" | "settings">;
  readonly #known = new Map<number, KnownSession>();

  constructor(deps: Pick<ViewDeps, "agents" | "settings">) {
    this.#deps = deps;
  }

  /**
   * @param sessions by latest activity; only the first ones are read
   * @param isWithin whether a time is in the period
   * @returns by tool, MCP server and skill, and the number of sessions that it is of; `hasMore`: further ones can be read in the next request
   */
  over(db: Database, sessions: readonly number[], isWithin: (ms: number) => boolean, nowMs: number) {
    const endMs = monotonicMs() + MAX_MS;
    const wanted = sessions.slice(0, MAX_SESSIONS);
    const read: KnownSession[] = [];
    for (const id of wanted) {
      const known = this.#sessionOf(db, id, nowMs, read.length === 0 || monotonicMs() < endMs);
      if (known === undefined) break;
      read.push(known);
    }
    const tools = read.flatMap((one) => one.tools.filter(({ startMs }) => isWithin(startMs)));
    const after = read.flatMap((one) => one.after.filter(({ priced }) => isWithin(priced.call.endMs)));
    const timesBy = (key: keyof NamedTool): ReadonlyMap<string | undefined, ToolTimes> => {
      const read = grouped(after, (one) => one[key]);
      return new Map(
        [...grouped(tools, (one) => one[key])].map(([name, calls]) => [name, timesOf(calls, read.get(name) ?? [])]),
      );
    };
    return {
      byTool: timesBy("tool"),
      byServer: timesBy("server"),
      bySkill: timesBy("skill"),
      sessions: read.length,
      of: sessions.length,
      hasMore: read.length < wanted.length,
    };
  }

  /** @param canRead false: only if it is known */
  #sessionOf(db: Database, id: number, nowMs: number, canRead: boolean): KnownSession | undefined {
    const stored = sessionById(db, id);
    // A session that is long over changes only if something new is reported for it
    const stamp = nowMs - stored.lastMs < DAY_MS ? stampOf(db, stored) : String(stored.lastMs);
    const known = this.#known.get(id);
    if (known?.stamp === stamp) return known;
    if (!canRead) return undefined;
    const { agents, settings } = this.#deps;
    const view = viewOf(db, stored, { agents }, settings, false);
    const read: KnownSession = {
      stamp,
      tools: view.toolCalls.flatMap(({ tool }) =>
        tool.status === "open" || tool.status === "unfinished"
          ? []
          : [
              {
                ...namedTool(tool),
                startMs: tool.startMs,
                ms: Math.max(0, tool.endMs - tool.startMs),
                callId: tool.callId,
                stored,
              },
            ],
      ),
      after: placedCalls(view, turnsOfCalls(db, view)).flatMap((placed) => {
        const { call, costNanoUsd, noPrice } = placed;
        const priced = { call, ...(costNanoUsd !== undefined && { costNanoUsd }), ...(noPrice && { noPrice }) };
        const named = readBy(placed);
        return named === undefined ? [] : [{ ...named, priced }];
      }),
    };
    this.#known.delete(id);
    this.#known.set(id, read);
    for (const [oldest] of this.#known) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(oldest);
    }
    return read;
  }
}

// --- internal ---

interface KnownSession {
  readonly stamp: string;
  readonly tools: readonly TimedCall[];
  readonly after: readonly (NamedTool & { readonly priced: SummedCall & { readonly call: { endMs: number } } })[];
}

interface TimedCall extends NamedTool {
  readonly startMs: number;
  readonly ms: number;
  readonly callId: string;
  readonly stored: StoredSession;
}

const MAX_MS = 150;
/** A percentile of the latest sessions says as much, and older ones take long to read. */
const MAX_SESSIONS = 500;
const MAX_KNOWN = 2 * MAX_SESSIONS;
const DAY_MS = 86_400_000;

const placeOf = ({ stored, callId, ms }: TimedCall): NonNullable<ToolTimes["slowest"]> => ({
  source: stored.source,
  session: stored.sessionId,
  span: spanIdOf(stored, "tool_call", callId),
  ms,
});

function timesOf(calls: readonly TimedCall[], after: KnownSession["after"]): ToolTimes {
  const sorted = calls.map(({ ms }) => ms).sort((a, b) => a - b);
  /** The smallest duration that so large a share of the calls did not exceed. */
  const percentile = (share: number): number | null => sorted[Math.ceil(share * sorted.length) - 1] ?? null;
  const slowest = calls.reduce<TimedCall | undefined>(
    (most, one) => (most && most.ms >= one.ms ? most : one),
    undefined,
  );
  const { modelCalls, costNanoUsd, unpricedCalls, incompleteCalls } = sumOfCalls(after.map(({ priced }) => priced));
  return {
    p50Ms: percentile(0.5),
    p95Ms: percentile(0.95),
    slowest: slowest === undefined ? null : placeOf(slowest),
    callsAfter: modelCalls,
    cost_usd: modelCalls === 0 ? 0 : usd(costNanoUsd),
    costIsLowerBound: unpricedCalls + incompleteCalls > 0,
  };
}
