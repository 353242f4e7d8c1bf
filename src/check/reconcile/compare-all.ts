import type { Context } from "#config/context.ts";
import type { LoadedConfig } from "#config/load.ts";
import { otlpSettings } from "#config/otlp.ts";
import { cardOf } from "#core/rules/cards.ts";
import { suggest } from "#kit/suggest.ts";
import { localTime } from "#kit/text/figures.ts";
import { VERSION } from "#kit/version.ts";
import type { Database } from "#store/database.ts";
import { isPacked } from "#store/packed.ts";
import { putBackOf, putBackText } from "#store/put-back.ts";
import { namedSession } from "#store/sessions/find-session.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import type { Backend } from "./backend.ts";
import { compareMachine, compareSession, type Destinations, type SessionResult } from "./compare-session.ts";
import { AllFindings, type Findings, Sums } from "./facts.ts";
import type { Report } from "./report.ts";
import {
  type MachineFacts,
  machineFacts,
  type StoredSessionFacts,
  sessionFacts,
  sessionsIn,
  type TimeRange,
} from "./stored.ts";
import { rereadTranscripts, type StoreQuery, type TranscriptContext } from "./transcripts.ts";

/** What to compare. */
interface Comparison {
  /** One session by its name; without it all of the range. */
  readonly session: string | undefined;
  readonly range: TimeRange;
  readonly backends: readonly Backend[];
  /** Whole traces may be missing, because the gateway samples. */
  readonly isSampled: boolean;
  /** Compares with the agents' own telemetry too. */
  readonly isNative: boolean;
}

/**
 * Compares transcripts, store, deliveries and backends, session by session, then the counters of this machine. Only reads.
 *
 * @returns `undefined` when there is no store
 * @throws UserError when the store cannot be read, or there is no such session
 */
export async function compareAll(
  comparison: Comparison,
  drain: TranscriptContext,
  context: Context,
): Promise<Report | undefined> {
  const { session, range, backends, isSampled, isNative } = comparison;
  const { config } = drain.loaded;
  const stored = withOpenStore(context, (db) => storedFacts(db, comparison));
  if (stored === undefined) return undefined;
  const { destinations, instanceId } = exportIdentity(config, context, stored.machine.instanceId);
  const queryStore: StoreQuery = (ask) => withOpenStore(context, ask);
  const traceBackends = backends.filter(({ name }) => name !== "prometheus");
  const counted = new Map<string, string>();
  const findings = new AllFindings();
  const results: SessionResult[] = [];
  for (const facts of stored.sessions) {
    const result = await compareSession({
      facts,
      transcript: await rereadTranscripts(drain, facts, queryStore),
      canHooksReport: cardOf(drain, facts.session.source)?.toEntries !== undefined,
      queryStore,
      counted,
      destinations,
      backends: traceBackends,
      instanceId,
      isSampled,
      ...(isNative && { witness: drain }),
    });
    results.push(result);
    findings.add(result);
  }
  findings.add(notCompared(stored, comparison));
  const prometheus = backends.find(({ name }) => name === "prometheus");
  // Counters have no session: for one session they are compared only if Prometheus was named
  const machine =
    session !== undefined && prometheus === undefined
      ? undefined
      : await compareMachine(
          { ...stored.machine, instanceId },
          { destinations, prometheus, config, nowMs: context.now() },
        );
  findings.add(machine ?? {});
  return {
    what: session === undefined ? rangeText(range) : "one session",
    backends: backends.map(({ title, url }) => ({ title, url })),
    sessions: results.map((result) => result.session),
    totals: totalsOf(results, destinations, traceBackends),
    counters: machine?.counters,
    ...(isNative && { native: results.flatMap(({ native = [] }) => native) }),
    ...findings,
    compared: results.reduce((sum, { compared }) => sum + compared, machine?.compared ?? 0),
  };
}

// --- internal ---

interface StoredFacts {
  readonly sessions: readonly StoredSessionFacts[];
  /** Numbers of sessions in the range that are not compared. */
  readonly pruned: number;
  readonly imported: number;
  readonly machine: MachineFacts;
  readonly putBack: ReturnType<typeof putBackOf>;
}

/**
 * Reads the whole store before the first transcript: a drain that runs in between then only makes transcripts of open sessions
 * longer.
 */
function storedFacts(db: Database, { session, range }: Comparison): StoredFacts {
  const { numbers, pruned, imported } = session === undefined ? sessionsIn(db, range) : oneOf(db, session);
  const sessions = numbers.map((number) => sessionFacts(db, number));
  return { sessions, pruned, imported, machine: machineFacts(db), putBack: putBackOf(db) };
}

function notCompared({ pruned, imported, putBack }: StoredFacts, { session, range }: Comparison): Partial<Findings> {
  const unknown: string[] = [];
  if (pruned > 0) {
    unknown.push(`sessions in this range were pruned (${pruned}): only the totals still include their tokens`);
  }
  if (imported > 0) {
    const were = imported === 1 ? "1 session was" : `${imported} sessions were`;
    unknown.push(`${were} imported but not exported; to compare them, run ${suggest("import --export")}`);
  }
  const isPutBackInRange = putBack !== undefined && (session !== undefined || putBack.atMs >= range.sinceMs);
  return { unknown, remarks: isPutBackInRange ? [putBackText(putBack)] : [] };
}

function totalsOf(
  results: readonly SessionResult[],
  destinations: Destinations,
  backends: readonly Backend[],
): Report["totals"] {
  const known = addedUp(results.map(({ reported }) => reported));
  return {
    transcripts: results.every(({ reported }) => reported !== undefined) ? known : undefined,
    known,
    stored: addedUp(results.map(({ stored }) => stored)),
    delivered: destinations.traces === undefined ? undefined : addedUp(results.map(({ delivered }) => delivered)),
    traces: backends.map(({ title }, i) => ({ title, sums: addedUp(results.map(({ found }) => found[i])) })),
  };
}

function addedUp(all: readonly (Sums | undefined)[]): Sums {
  const total = new Sums();
  for (const sums of all) if (sums !== undefined) total.addAll(sums);
  return total;
}

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
