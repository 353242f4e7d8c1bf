import { BACKENDS, Backend, type BackendName } from "#check/reconcile/backend.ts";
import { compareAll } from "#check/reconcile/compare-all.ts";
import { toJson } from "#check/reconcile/report.ts";
import type { TimeRange } from "#check/reconcile/stored.ts";
import { differenceText, printReport } from "#check/reconcile/text.ts";
import type { TranscriptContext } from "#check/reconcile/transcripts.ts";
import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";
import { protectionOf } from "#core/privacy/protection.ts";
import { UserError } from "#kit/errors.ts";
import { sinceOf, timeOf } from "#kit/text/times.ts";
import { drainDeps } from "./drain-deps.ts";
import { noStoreMessage } from "./no-store-message.ts";

export interface ReconcileOptions extends Readonly<Partial<Record<BackendName, string>>> {
  /** An age (`7d`, `36h`, `12w`) or a time (`2026-11-14`, `2026-11-14T09:00`). @default 7d */
  readonly since?: string;
  /** @default now */
  readonly until?: string;
  /** Whole traces may be missing, because the gateway samples. */
  readonly sampled: boolean;
  /** Also compares with what the agents' own telemetry says of tokens and cost. @default false */
  readonly native?: boolean;
  readonly json: boolean;
}

/**
 * `openhook-otel reconcile`: compares transcripts (read again), the store, deliveries, and what Prometheus, Jaeger and Tempo
 * return. Only reads.
 *
 * @param session id, the beginning of one, or `<source>/<id>`; without it all sessions with activity in the range
 * @returns exit code: 0 everything that could be compared agrees; 1 something differs; 2 nothing could be compared
 * @throws UserError (2) for wrong input and for a backend that does not respond, (1) for a store that cannot be read
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
  const report = await compareAll(
    { session, range, backends, isSampled: options.sampled, isNative: options.native === true },
    await transcriptContext(context),
    context,
  );
  if (report === undefined) {
    context.stdout.write(options.json ? "null\n" : `${await noStoreMessage(context)}\n`);
    return 0;
  }
  if (options.json) context.stdout.write(`${JSON.stringify(toJson(report))}\n`);
  else printReport(report, context);
  const [first] = report.differences;
  if (first !== undefined && options.json)
    context.stderr.write(`openhook-otel: first difference: ${differenceText(first)}\n`);
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

/** What the readers of transcripts need, without a store that stays open. */
async function transcriptContext(context: Context): Promise<TranscriptContext> {
  const deps = await drainDeps(context, () => {});
  const protection = await protectionOf(deps.loaded.config.redaction, context.places.home);
  return { ...deps, ...protection, report: { problems: [] } };
}
