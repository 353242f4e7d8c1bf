import type { DrainDeps } from "#collect/drain/context.ts";
import { DrainLog } from "#collect/drain/log.ts";
import type { Exported } from "#collect/import/export.ts";
import { type ImportOptions, type ImportReport, importSessions } from "#collect/import/run.ts";
import { agentsToImport, asUserError, requireDestination, whenNoDrain } from "#collect/import/start.ts";
import { importJson, printImport } from "#collect/import/text.ts";
import type { Context } from "#config/context.ts";
import type { Agent } from "#core/model/agent.ts";
import { messageOf } from "#kit/errors.ts";
import { ProgressLine } from "#kit/text/progress.ts";
import { sinceOf } from "#kit/text/times.ts";
import { renewCopy } from "#setup/registration/renew-copy.ts";
import { drainDeps } from "./drain-deps.ts";
import { optimiseLater } from "./v8-flags.ts";

export interface ImportCommandOptions {
  /** An age (`90d`, `36h`) or a time (`2026-11-14`): only sessions with a later activity. */
  readonly since?: string;
  readonly dryRun: boolean;
  /** Import unchanged sessions again. */
  readonly again?: boolean;
  /** Also export the imported sessions. */
  readonly export: boolean;
  readonly json: boolean;
  /** Gets what a dry run found, and returns whether to import it. @default does not ask */
  readonly confirm?: (found: ImportReport | undefined, agents: readonly Agent[]) => Promise<boolean>;
  /** No table, and no commands that show the sessions. @default false */
  readonly brief?: boolean;
  /** Aborted by Ctrl-C. */
  readonly stop: AbortSignal;
}

/**
 * `openhook-otel import`: imports past sessions with their own times and ids. They are exported only with `export`.
 *
 * @param names of agents; none: all that keep past sessions
 * @returns exit code: 0; 1 something could not be read or sent; 130 interrupted
 * @throws UserError (2) for an unknown name, a wrong time or a missing endpoint; (1) when the store cannot be used
 */
export async function importPast(
  names: readonly string[],
  options: ImportCommandOptions,
  context: Context,
): Promise<number> {
  optimiseLater();
  const log = new DrainLog(context);
  const deps = await drainDeps(context, log.line);
  const agents = agentsToImport(names, deps.agents);
  const sinceMs = options.since === undefined ? undefined : sinceOf(options.since, context.now());
  if (options.export) requireDestination(deps);
  if (!options.dryRun) await renewCopy(context);
  const progress = new ProgressLine(context);
  try {
    const work: ImportOptions = {
      agents: agents.map(({ source }) => source),
      env: context.env,
      ...(sinceMs !== undefined && { sinceMs }),
      dryRun: options.dryRun,
      again: options.again === true,
      readers: async (drain, bytes) => (await import("#collect/import/start.ts")).readersFor(drain, bytes, context),
      onProgress: progress.show,
      signal: options.stop,
    };
    if (options.confirm && !(await options.confirm(await importSessions(deps, { ...work, dryRun: true }), agents)))
      return 0;
    const report = await whenNoDrain(deps, () => importSessions(deps, work));
    progress.clear();
    // Drain before the export: the inbox may hold events of these sessions, which would reopen an exported one
    const hasHooks = report.fromHooks.length > 0 || report.isDrainRequested || options.export;
    if (!options.dryRun && hasHooks && !report.isStopped) {
      const { drainNow } = await import("./drain.ts");
      await drainNow(deps, { endIdle: false, quiet: false, sessions: report.fromHooks });
    }
    const isToSend = options.export && !options.dryRun && !report.isStopped;
    const sent = isToSend ? await sendTo(deps, agents, sinceMs, progress, options.stop) : undefined;
    progress.clear();
    if (options.json) context.stdout.write(`${JSON.stringify(importJson(report, options.dryRun, sent))}\n`);
    else printImport({ report, agents, names, isDryRun: options.dryRun, sent, brief: options.brief === true }, context);
    return exitCode(report, sent?.queued ?? 0, options.stop);
  } catch (error) {
    log.line(messageOf(error));
    throw asUserError(error);
  } finally {
    progress.clear();
    // A dry run writes nothing
    if (!options.dryRun) await log.flush();
  }
}

// --- internal ---

async function sendTo(
  deps: DrainDeps,
  agents: readonly Agent[],
  sinceMs: number | undefined,
  progress: ProgressLine,
  signal: AbortSignal,
): Promise<Exported> {
  const { exportPacked } = await import("#collect/import/export.ts");
  return whenNoDrain(deps, () =>
    exportPacked(deps, {
      agents: agents.map(({ source }) => source),
      sinceMs,
      signal,
      onProgress: (done, of, spans) =>
        progress.line(done / of, `${done} of ${of} sessions for the backend  ${spans} spans`),
    }),
  );
}

function exitCode(report: ImportReport, waiting: number, signal: AbortSignal): number {
  if (signal.aborted) return 130;
  const isRead = report.unseen === 0 && [...report.agents.values()].every(({ failed }) => failed === 0);
  return isRead && waiting === 0 ? 0 : 1;
}
