import type { DrainDeps, DrainReport } from "#collect/drain/context.ts";
import { DrainLog } from "#collect/drain/log.ts";
import { restartWithoutRepositoryVariables } from "#collect/drain/repository-environment.ts";
import { drainText } from "#collect/drain/text.ts";
import { startDrain } from "#collect/intake/hook.ts";
import type { Context } from "#config/context.ts";
import { StateError } from "#config/file-owner.ts";
import { messageOf } from "#kit/errors.ts";
import { mayHaveOldCopies } from "#setup/registration/copy-folders.ts";
import { lockHolderText } from "#store/lock-holder.ts";
import { type DrainOptions, drain as runDrain } from "../pipeline.ts";
import { drainDeps } from "./drain-deps.ts";

export interface DrainCommandOptions {
  /** End every open session now. */
  readonly endIdle: boolean;
  /** Print nothing; problems go to the log only. For drains that hooks start. */
  readonly quiet: boolean;
  readonly json: boolean;
  /** Only what the bridge needs, for drains that hooks start while it is used. */
  readonly events?: boolean;
}

/**
 * `openhook-otel drain`: converts queued events and exports them. An unreachable backend is no failure: its spans stay
 * queued.
 *
 * @returns exit code: 0; 1 when the store could not be used
 */
export async function drain(options: DrainCommandOptions, context: Context): Promise<number> {
  if (options.quiet && (await restartWithoutRepositoryVariables(context, options.events ? ["--events"] : []))) return 0;
  if (!options.quiet) await (await import("#setup/registration/renew-copy.ts")).renewCopy(context);
  const log = new DrainLog(context);
  let deps: DrainDeps;
  let report: DrainReport | undefined;
  try {
    deps = await drainDeps(context, log.line);
    report = await drainNow(deps, {
      ...options,
      onWait: (text) => void context.stderr.write(`openhook-otel: ${text}\n`),
      ...(options.quiet && { startOutcomes: () => startOutcomes(context) }),
    });
  } catch (error) {
    log.line(messageOf(error));
    // Through sudo, root would create a log that belongs to root
    if (!(error instanceof StateError)) await log.flush();
    if (!options.quiet) context.stderr.write(`openhook-otel: ${messageOf(error)}\n`);
    return 1;
  }
  await log.flush();
  if (options.quiet) {
    if (!mayHaveOldCopies(context.programPath, context.places)) return 0;
    const { tidyCopies } = await import("#setup/registration/old-copies.ts");
    await tidyCopies(context);
    return 0;
  }
  if (options.json) context.stdout.write(`${JSON.stringify(report ?? { busy: true })}\n`);
  else context.stdout.write(drainText(report, deps));
  return 0;
}

/**
 * Runs a drain. If another one is running, a drain that a hook started leaves the work to it; one that a user started waits
 * for it and then runs, so that everything queued is processed when the command returns.
 */
export async function drainNow(
  deps: DrainDeps,
  {
    endIdle,
    quiet,
    events = false,
    onWait,
    ...more
  }: Pick<DrainCommandOptions, "endIdle" | "quiet" | "events"> & {
    /** Called once if another drain makes this one wait. */
    readonly onWait?: (text: string) => void;
  } & Pick<DrainOptions, "prune" | "sessions" | "outcomes" | "startOutcomes">,
): Promise<DrainReport | undefined> {
  const startMs = deps.now();
  const untilMs = startMs + OTHER_DRAIN_MS;
  let isTold = false;
  for (;;) {
    const report = await runDrain(deps, { endIdle, isEager: !quiet, lingers: quiet, onlyEvents: events, ...more });
    if (report !== undefined || quiet || deps.now() >= untilMs) return report;
    if (!isTold && deps.now() - startMs > QUIET_WAIT_MS) {
      isTold = true;
      onWait?.(
        `another drain is running (${lockHolderText(deps.places.stateDir, deps.now())}); waiting for up to ${OTHER_DRAIN_MS / 1000} s`,
      );
    }
    await deps.sleep(RETRY_MS);
  }
}

// --- internal ---

/** In a separate process: it may take a minute in large repositories. */
function startOutcomes({ places: { stateDir }, nodePath, programPath, env }: Context): void {
  startDrain({ stateDir, nodePath, programPath }, env, ["--outcomes"]);
}

/** A drain that waits for late lines and a slow backend takes much less. */
const OTHER_DRAIN_MS = 60_000;
const RETRY_MS = 100;
/** Most drains have ended by then. */
const QUIET_WAIT_MS = 1_000;
