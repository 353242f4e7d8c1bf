import { existsSync } from "node:fs";
import type { Pruned } from "#collect/drain/context.ts";
import { DrainLog } from "#collect/drain/log.ts";
import { type PruneRequest, pruneDryRun, quarantinedBefore } from "#collect/drain/prune.ts";
import { keptText, prunedLines } from "#collect/drain/text.ts";
import { isUnknown } from "#config/config-state.ts";
import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";
import { messageOf, UserError } from "#kit/errors.ts";
import { localTime, megabytes, plural } from "#kit/text/figures.ts";
import { ProgressLine } from "#kit/text/progress.ts";
import { ageOf } from "#kit/text/times.ts";
import { renewCopy } from "#setup/registration/renew-copy.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { storeBytes } from "#store/vacuum.ts";
import { drainNow } from "./drain.ts";
import { drainDeps } from "./drain-deps.ts";

interface PruneOptions {
  /** `90d`, `12w` or `36h`. @default the setting store.retentionDays */
  readonly olderThan?: string;
  /** Also remove quarantined payloads of that age. */
  readonly quarantine: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
}

/**
 * `openhook-otel prune`: removes sessions from the store whose last activity is long ago, and frees their space. The queue is
 * drained first, so that nothing is lost; sessions with unsent spans stay.
 *
 * @returns exit code: 0; 1 when the store could not be used, or another drain did not finish
 * @throws UserError for a wrong age, or a store that cannot be read
 */
export async function prune(options: PruneOptions, context: Context): Promise<number> {
  const loaded = await loadConfig(context);
  const { config } = loaded;
  if (options.olderThan === undefined && isUnknown(loaded, "store.retentionDays")) {
    throw new UserError("E_CONFIG", `store.retentionDays cannot be read: ${loaded.errors[0]}; or give --older-than`);
  }
  const olderThanMs =
    options.olderThan === undefined ? config.store.retentionDays * DAY_MS : ageOf("--older-than", options.olderThan);
  const request = { olderThanMs, quarantine: options.quarantine };
  if (!existsSync(context.places.storePath)) {
    context.stdout.write(options.json ? `${JSON.stringify(NOTHING)}\n` : "no store yet\n");
    return 0;
  }
  if (options.dryRun) return showDryRun(request, options, context);

  const log = new DrainLog(context);
  const before = storeBytes(context.places.storePath);
  const progress = new ProgressLine(context);
  const onProgress = (sessions: number, of: number): void =>
    progress.line(sessions / of, `${sessions} of ${plural(of, "session")} removed from the store`);
  await renewCopy(context);
  try {
    const report = await drainNow(await drainDeps(context, log.line), {
      endIdle: false,
      quiet: false,
      prune: { ...request, onProgress },
    });
    progress.clear();
    await log.flush();
    if (report?.pruned === undefined) {
      context.stderr.write("openhook-otel: another drain is running and did not finish; try again later\n");
      return 1;
    }
    const after = storeBytes(context.places.storePath);
    if (options.json) context.stdout.write(`${JSON.stringify(asJson(report.pruned, before, after))}\n`);
    else
      for (const line of prunedLines(report.pruned, options.quarantine, before, after))
        context.stdout.write(`${line}\n`);
    return 0;
  } catch (error) {
    log.line(messageOf(error));
    await log.flush();
    progress.clear();
    context.stderr.write(`openhook-otel: ${messageOf(error)}\n`);
    return 1;
  }
}

// --- internal ---

const DAY_MS = 86_400_000;
const NOTHING = { sessions: 0, rows: 0, kept: 0, quarantined: 0, store_bytes: 0 };

async function showDryRun(
  { olderThanMs, quarantine = false }: PruneRequest,
  { json }: PruneOptions,
  context: Context,
): Promise<number> {
  const { places, now } = context;
  const beforeMs = now() - olderThanMs;
  const { sessions = 0, kept = 0, oldestMs } = withOpenStore(context, (db) => pruneDryRun(db, beforeMs)) ?? {};
  const quarantined = quarantine ? await quarantinedBefore(places.quarantineDir, beforeMs) : 0;
  const bytes = storeBytes(places.storePath);
  if (json) {
    context.stdout.write(`${JSON.stringify({ dry_run: true, sessions, kept, quarantined, store_bytes: bytes })}\n`);
    return 0;
  }
  const oldest = oldestMs === undefined ? "" : `, the oldest from ${localTime(oldestMs)}`;
  context.stdout.write(`Dry run: ${plural(sessions, "session")} would be removed${oldest}${keptText(kept)}\n`);
  if (quarantine) context.stdout.write(`${plural(quarantined, "quarantined payload")} would be removed\n`);
  context.stdout.write(`store size: ${megabytes(bytes)}\n`);
  return 0;
}

const asJson = ({ freedBytes: _, ...pruned }: Pruned, before: number, after: number) => ({
  ...pruned,
  store_bytes_before: before,
  store_bytes: after,
});
