import type { LoadedConfig } from "../config/load.ts";
import { loadConfig } from "../config/load.ts";
import { otlpSettings } from "../config/otlp.ts";
import { type Context, UserError } from "../context.ts";
import { drainDeps } from "../drain/from-process.ts";
import { cardOf } from "../model/card-of.ts";
import { suggest } from "../model/suggest.ts";
import { protectionOf } from "../privacy/protection.ts";
import { BACKENDS, Backend, type BackendName } from "../reconcile/backend.ts";
import { compareMachine, compareSession, type Destinations } from "../reconcile/compare.ts";
import { Sums } from "../reconcile/facts.ts";
import { type Report, toJson } from "../reconcile/report.ts";
import { bookOf, machineBook, sessionsIn, type TimeRange } from "../reconcile/stored.ts";
import { sentence, tell } from "../reconcile/text.ts";
import { type Look, type Looking, readAnew } from "../reconcile/transcripts.ts";
import { namedSession } from "../sessions/find-session.ts";
import { noStoreMessage, withOpenStore } from "../sessions/open-store.ts";
import type { Database } from "../store/database.ts";
import { isPacked } from "../store/packed.ts";
import { localTime } from "../text/figures.ts";
import { sinceOf, timeOf } from "../text/times.ts";
import { VERSION } from "../version.ts";

export interface ReconcileOptions extends Readonly<Partial<Record<BackendName, string>>> {
  /** An age (`7d`, `36h`, `12w`) or a time (`2026-11-14`, `2026-11-14T09:00`). @default 7d */
  readonly since?: string;
  /** @default now */
  readonly until?: string;
  /** Traces may be missing whole: the gateway samples. */
  readonly sampled: boolean;
  readonly json: boolean;
}

/**
 * `openhook-otel reconcile`: what transcripts say, read anew; what the store has; what was delivered; and what Prometheus,
 * Jaeger and Tempo answer. Looks only: nothing is written, converted or sent.
 *
 * @param session id, the beginning of one, or `<source>/<id>`; without it the sessions of a time, whole
 * @returns exit code: 0, all that could be compared agrees; 1, something differs; 2, nothing could be compared
 * @throws UserError (2) for wrong input and for a backend that cannot be asked, (1) for a store that cannot be read
 */
export async function reconcile(
  session: string | undefined,
  options: ReconcileOptions,
  context: Context,
): Promise<number> {
  if (session !== undefined && (options.since ?? options.until) !== undefined) {
    throw new UserError("E_USAGE", "give a session or a time (--since, --until), not both");
  }
  const range = rangeOf(options, context.now());
  const { config } = await loadConfig(context, {
    "reconcile.prometheus": options.prometheus,
    "reconcile.jaeger": options.jaeger,
    "reconcile.tempo": options.tempo,
  });
  const backends = BACKENDS.flatMap((name) => {
    const url = options[name] ?? config.reconcile[name];
    return url === undefined ? [] : [new Backend(name, url, context.env)];
  });
  const report = await compareAll(session, range, backends, config, options, context);
  if (report === undefined) {
    context.stdout.write(options.json ? "null\n" : `${await noStoreMessage(context)}\n`);
    return 0;
  }
  if (options.json) context.stdout.write(`${JSON.stringify(toJson(report))}\n`);
  else tell(report, context);
  const [first] = report.differences;
  if (first !== undefined && options.json)
    context.stderr.write(`openhook-otel: first difference: ${sentence(first)}\n`);
  return first !== undefined ? 1 : report.compared === 0 && report.sessions.length > 0 ? 2 : 0;
}

// --- internal ---

const DEFAULT_SINCE = "7d";

function rangeOf({ since = DEFAULT_SINCE, until }: ReconcileOptions, nowMs: number): TimeRange {
  const range = {
    sinceMs: sinceOf(since, nowMs),
    untilMs: until === undefined ? Number.MAX_SAFE_INTEGER : timeOf("--until", until, nowMs),
  };
  if (range.sinceMs > range.untilMs) throw new UserError("E_USAGE", "--since is later than --until");
  return range;
}

async function compareAll(
  session: string | undefined,
  range: TimeRange,
  backends: readonly Backend[],
  config: LoadedConfig["config"],
  options: ReconcileOptions,
  context: Context,
): Promise<Report | undefined> {
  // One look at everything the store has, before the first transcript is read: what a drain adds meanwhile can only make
  // transcripts say more, and only of sessions that are open
  const books = withOpenStore(context, (db) => {
    const { numbers, pruned, imported } = session === undefined ? sessionsIn(db, range) : oneOf(db, session);
    return { sessions: numbers.map((number) => bookOf(db, number)), pruned, imported, machine: machineBook(db) };
  });
  if (books === undefined) return undefined;
  const { destinations, instanceId } = asSent(config, context, books.machine.instanceId);
  const drain = await lookingDrain(context);
  const look: Look = (ask) => withOpenStore(context, ask);
  const totals = { transcripts: new Sums(), stored: new Sums(), delivered: new Sums() };
  const traceBackends = backends.filter(({ name }) => name !== "prometheus");
  const traces = traceBackends.map(({ title }) => ({ title, sums: new Sums(), isWhole: true }));
  const [differences, unknown, remarks]: [Report["differences"][number][], string[], string[]] = [[], [], []];
  const counted = new Map<string, string>();
  const sessions: Report["sessions"][number][] = [];
  let compared = 0;
  let knowsAll = true;
  for (const book of books.sessions) {
    const transcript = await readAnew(drain, book, look);
    const one = await compareSession({
      book,
      transcript,
      mayHooksTell: cardOf(drain, book.session.source)?.toEntries !== undefined,
      look,
      counted,
      destinations,
      backends: traceBackends,
      instanceId,
      isSampled: options.sampled,
    });
    sessions.push(one.session);
    differences.push(...one.differences);
    unknown.push(...one.unknown);
    remarks.push(...one.remarks);
    compared += one.compared;
    totals.stored.addAll(one.stored);
    totals.delivered.addAll(one.delivered);
    if (one.told === undefined) knowsAll = false;
    else totals.transcripts.addAll(one.told);
    for (const [i, found] of one.found.entries()) {
      if (found !== undefined) traces[i]?.sums.addAll(found);
    }
  }
  if (books.pruned > 0)
    unknown.push(`sessions of that time were pruned (${books.pruned}): their tokens are in the sums alone`);
  if (books.imported > 0) {
    const were = books.imported === 1 ? "1 session was" : `${books.imported} sessions were`;
    unknown.push(`${were} imported and not sent: there is nothing to compare before ${suggest("import --export")}`);
  }
  const prometheus = backends.find(({ name }) => name === "prometheus");
  // Counters know no sessions: where one was asked for, they are compared only if somebody wants them to be
  const machine =
    session !== undefined && prometheus === undefined
      ? undefined
      : await compareMachine(
          { ...books.machine, instanceId },
          { destinations, prometheus, config, nowMs: context.now() },
        );
  differences.push(...(machine?.differences ?? []));
  unknown.push(...(machine?.unknown ?? []));
  remarks.push(...(machine?.remarks ?? []));
  return {
    what: session === undefined ? inWords(range, options) : "one session",
    backends: backends.map(({ title, url }) => ({ title, url })),
    sessions,
    totals: {
      transcripts: knowsAll ? totals.transcripts : undefined,
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

function inWords({ sinceMs, untilMs }: TimeRange, { until }: ReconcileOptions): string {
  return `since ${localTime(sinceMs)}${until === undefined ? "" : ` until ${localTime(untilMs)}`}`;
}

function oneOf(db: Database, name: string): ReturnType<typeof sessionsIn> {
  const number = namedSession(db, name, 2).id;
  const packed = isPacked(db, number);
  return { numbers: packed ? [] : [number], pruned: 0, imported: packed ? 1 : 0 };
}

/** Where a drain would send to, and as which instance: the user's own attributes win over ours. */
function asSent(config: LoadedConfig["config"], { platform, arch }: Context, instanceId: string | undefined) {
  const identity = { version: VERSION, instanceId: instanceId ?? "", os: platform, arch };
  const { traces, metrics, resource } = otlpSettings(config, identity);
  const destinations: Destinations = { traces: traces?.url, metrics: metrics?.url };
  return { destinations, instanceId: resource["service.instance.id"] || undefined };
}

/** What the stations of a drain want, for looking only. */
async function lookingDrain(context: Context): Promise<Looking> {
  const deps = await drainDeps(context, () => {});
  const protection = await protectionOf(deps.loaded.config.redaction, context.places.home);
  return { ...deps, ...protection, report: { problems: [] } };
}
