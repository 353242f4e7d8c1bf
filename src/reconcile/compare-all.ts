import type { LoadedConfig } from "../config/load.ts";
import { otlpSettings } from "../config/otlp.ts";
import type { Context } from "../context.ts";
import { cardOf } from "../model/card-of.ts";
import { suggest } from "../model/suggest.ts";
import { namedSession } from "../sessions/find-session.ts";
import { withOpenStore } from "../sessions/open-store.ts";
import type { Database } from "../store/database.ts";
import { isPacked } from "../store/packed.ts";
import { putBackOf, putBackText } from "../store/put-back.ts";
import { localTime } from "../text/figures.ts";
import { VERSION } from "../version.ts";
import type { Backend } from "./backend.ts";
import { compareMachine, compareSession, type Destinations } from "./compare-session.ts";
import { Sums } from "./facts.ts";
import type { Report } from "./report.ts";
import { machineFacts } from "./stored-machine.ts";
import { sessionFacts, sessionsIn, type TimeRange } from "./stored-session.ts";
import { rereadTranscripts, type StoreQuery, type TranscriptContext } from "./transcripts.ts";

/** What to compare. */
export interface Comparison {
  /** One session by its name; without it all of the range. */
  readonly session: string | undefined;
  readonly range: TimeRange;
  readonly backends: readonly Backend[];
  /** Whole traces may be missing, because the gateway samples. */
  readonly isSampled: boolean;
}

/**
 * Compares transcripts, store, deliveries and backends, session by session, then the counters of this machine. Only reads.
 *
 * @returns `undefined` when there is no store
 * @throws UserError when the store cannot be read, or there is no such session
 */
export async function compareAll(
  { session, range, backends, isSampled }: Comparison,
  drain: TranscriptContext,
  context: Context,
): Promise<Report | undefined> {
  const { config } = drain.loaded;
  // Read the whole store before the first transcript: a drain that runs in between then only makes transcripts of open
  // sessions longer
  const stored = withOpenStore(context, (db) => {
    const { numbers, pruned, imported } = session === undefined ? sessionsIn(db, range) : oneOf(db, session);
    const sessions = numbers.map((number) => sessionFacts(db, number));
    return { sessions, pruned, imported, machine: machineFacts(db), putBack: putBackOf(db) };
  });
  if (stored === undefined) return undefined;
  const { destinations, instanceId } = exportIdentity(config, context, stored.machine.instanceId);
  const queryStore: StoreQuery = (ask) => withOpenStore(context, ask);
  const totals = { transcripts: new Sums(), stored: new Sums(), delivered: new Sums() };
  const traceBackends = backends.filter(({ name }) => name !== "prometheus");
  const traces = traceBackends.map(({ title }) => ({ title, sums: new Sums(), isWhole: true }));
  const [differences, unknown, remarks]: [Report["differences"][number][], string[], string[]] = [[], [], []];
  const counted = new Map<string, string>();
  const sessions: Report["sessions"][number][] = [];
  let compared = 0;
  let areAllKnown = true;
  for (const facts of stored.sessions) {
    const transcript = await rereadTranscripts(drain, facts, queryStore);
    const one = await compareSession({
      facts,
      transcript,
      canHooksReport: cardOf(drain, facts.session.source)?.toEntries !== undefined,
      queryStore,
      counted,
      destinations,
      backends: traceBackends,
      instanceId,
      isSampled,
    });
    sessions.push(one.session);
    differences.push(...one.differences);
    unknown.push(...one.unknown);
    remarks.push(...one.remarks);
    compared += one.compared;
    totals.stored.addAll(one.stored);
    totals.delivered.addAll(one.delivered);
    if (one.reported === undefined) areAllKnown = false;
    else totals.transcripts.addAll(one.reported);
    for (const [i, found] of one.found.entries()) {
      if (found !== undefined) traces[i]?.sums.addAll(found);
    }
  }
  if (stored.pruned > 0)
    unknown.push(`sessions in this range were pruned (${stored.pruned}): only the totals still include their tokens`);
  if (stored.imported > 0) {
    const were = stored.imported === 1 ? "1 session was" : `${stored.imported} sessions were`;
    unknown.push(`${were} imported but not exported; to compare them, run ${suggest("import --export")}`);
  }
  const { putBack } = stored;
  if (putBack !== undefined && (session !== undefined || putBack.atMs >= range.sinceMs)) {
    remarks.push(putBackText(putBack));
  }
  const prometheus = backends.find(({ name }) => name === "prometheus");
  // Counters have no session: for one session they are compared only if Prometheus was named
  const machine =
    session !== undefined && prometheus === undefined
      ? undefined
      : await compareMachine(
          { ...stored.machine, instanceId },
          { destinations, prometheus, config, nowMs: context.now() },
        );
  differences.push(...(machine?.differences ?? []));
  unknown.push(...(machine?.unknown ?? []));
  remarks.push(...(machine?.remarks ?? []));
  return {
    what: session === undefined ? rangeText(range) : "one session",
    backends: backends.map(({ title, url }) => ({ title, url })),
    sessions,
    totals: {
      transcripts: areAllKnown ? totals.transcripts : undefined,
      known: totals.transcripts,
      stored: totals.stored,
      delivered: destinations.traces === undefined ? undefined : totals.delivered,
      traces,
    },
    counters: machine?.counters,
    differences,
    unknown,
    remarks,
    compared: compared + (machine?.compared ?? 0),
  };
}

// --- internal ---

function rangeText({ sinceMs, untilMs }: TimeRange): string {
  return `since ${localTime(sinceMs)}${untilMs === Number.MAX_SAFE_INTEGER ? "" : ` until ${localTime(untilMs)}`}`;
}

function oneOf(db: Database, name: string): ReturnType<typeof sessionsIn> {
  const number = namedSession(db, name, 2).id;
  const packed = isPacked(db, number);
  return { numbers: packed ? [] : [number], pruned: 0, imported: packed ? 1 : 0 };
}

/** The destinations of a drain and its instance id; the user's resource attributes override ours. */
function exportIdentity(config: LoadedConfig["config"], { platform, arch }: Context, instanceId: string | undefined) {
  const identity = { version: VERSION, instanceId: instanceId ?? "", os: platform, arch };
  const { traces, metrics, resource } = otlpSettings(config, identity);
  const destinations: Destinations = { traces: traces?.url, metrics: metrics?.url };
  return { destinations, instanceId: resource["service.instance.id"] || undefined };
}
