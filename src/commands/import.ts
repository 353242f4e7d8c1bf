import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { StateError } from "../config/file-owner.ts";
import { type Context, UserError } from "../context.ts";
import type { DrainDeps } from "../drain/context.ts";
import { drainDeps } from "../drain/from-process.ts";
import { DrainLog } from "../drain/log.ts";
import type { Exported } from "../import/export.ts";
import { importJson } from "../import/json.ts";
import { readersHere, Threads } from "../import/readers.ts";
import { type ImportReport, importSessions } from "../import/run.ts";
import { tellImport } from "../import/text.ts";
import { setImportV8Flags } from "../import/v8-flags.ts";
import type { Agent } from "../model/agent.ts";
import { cardOf } from "../model/card-of.ts";
import { messageOf } from "../model/error-message.ts";
import { suggest } from "../model/suggest.ts";
import { RuleError } from "../privacy/own.ts";
import { adviceOn } from "../sessions/open-store.ts";
import { StoreError } from "../store/database.ts";
import { ProgressLine } from "../text/progress.ts";
import { sinceOf } from "../text/times.ts";

export interface ImportCommandOptions {
  /** An age (`90d`, `36h`) or a time (`2026-11-14`); sessions whose last activity is earlier stay out. */
  readonly since?: string;
  readonly dryRun: boolean;
  /** Read again what was imported and has not changed. */
  readonly again?: boolean;
  /** Also send what was imported. */
  readonly export: boolean;
  readonly json: boolean;
  /** Aborted when the user wants to stop. */
  readonly stop: AbortSignal;
}

/**
 * `openhook-otel import`: every past session of some agents into the store, with its own times and ids. What is imported
 * stays here, unless it is asked to be sent.
 *
 * @param names of agents; without one all that keep their past sessions
 * @returns exit code: 0; 1, something could not be read or sent; 130, it was stopped
 * @throws UserError (2) for a name or time that is none, and where there is nowhere to send to; (1) when the store cannot be
 *         used
 */
export async function importPast(
  names: readonly string[],
  options: ImportCommandOptions,
  context: Context,
): Promise<number> {
  setImportV8Flags();
  const log = new DrainLog(context);
  const deps = await drainDeps(context, log.line);
  const agents = chosen(names, deps.agents);
  const sinceMs = options.since === undefined ? undefined : sinceOf(options.since, context.now());
  if (options.export) requireDestination(deps);
  const progress = new ProgressLine(context);
  try {
    const report = await patiently(deps, () =>
      importSessions(deps, {
        agents: agents.map(({ source }) => source),
        env: context.env,
        ...(sinceMs !== undefined && { sinceMs }),
        dryRun: options.dryRun,
        again: options.again === true,
        readers: (drain, bytes) => {
          const here = readersHere((source) => cardOf(drain, source), drain.redact);
          const threads = bytes < WORTH_THREADS_BYTES ? undefined : threadsOf(drain, context);
          return threads?.readers(here) ?? here;
        },
        onProgress: progress.show,
        signal: options.stop,
      }),
    );
    progress.clear();
    // Before anything is sent: what hooks told waits in the inbox, and a session that is sent as past begins anew with it
    const hasHooks = report.told.length > 0 || report.isDrainAsked || options.export;
    if (!options.dryRun && hasHooks && !report.isStopped) {
      const { drainNow } = await import("./drain.ts");
      await drainNow(deps, { endIdle: false, quiet: false, sessions: report.told });
    }
    const isToSend = options.export && !options.dryRun && !report.isStopped;
    const sent = isToSend ? await sendTo(deps, agents, sinceMs, progress, options.stop) : undefined;
    progress.clear();
    if (options.json) context.stdout.write(`${JSON.stringify(importJson(report, options.dryRun, sent))}\n`);
    else tellImport({ report, agents, names, isDryRun: options.dryRun, sent }, context);
    return exitCode(report, sent?.waiting ?? 0, options.stop);
  } catch (error) {
    log.line(messageOf(error));
    throw asUserError(error);
  } finally {
    progress.clear();
    // A dry run writes nothing at all
    if (!options.dryRun) await log.flush();
  }
}

// --- internal ---

/** Threads are there only after this much would have been read without. */
const WORTH_THREADS_BYTES = 128 << 20;
/** More of them wait for each other, and take memory each. */
const MAX_THREADS = 4;
const OTHER_DRAIN_MS = 60_000;
const ASK_AGAIN_MS = 100;
const INTERRUPTED = 130;

function chosen(names: readonly string[], agents: readonly Agent[]): readonly Agent[] {
  const readable = agents.filter(({ transcript }) => transcript !== undefined);
  const found = names.map((name) => {
    const agent = agents.find(({ source }) => source === name);
    if (agent === undefined) {
      const known = readable.map(({ source }) => source).join(", ");
      throw new UserError("E_USAGE", `there is no agent ${JSON.stringify(name)}; past sessions are kept by ${known}`);
    }
    if (agent.transcript === undefined) {
      throw new UserError(
        "E_USAGE",
        `${agent.title} keeps no past sessions that can be read: it is collected from the moment it is enabled`,
      );
    }
    return agent;
  });
  return found.length > 0 ? [...new Set(found)] : readable;
}

/** What is wrong with the machine, in one line; what is wrong with the program keeps its stack. */
function asUserError(error: unknown): unknown {
  if (error instanceof StoreError) return new UserError(error.code, adviceOn(error), 1, { cause: error });
  if (error instanceof StateError || error instanceof RuleError) {
    return new UserError(error.code, error.message, 1, { cause: error });
  }
  const isOfSystem = error instanceof Error && error.cause instanceof Error && "syscall" in error.cause;
  return isOfSystem ? new UserError("E_SYSTEM", error.message, 1, { cause: error }) : error;
}

function requireDestination({ loaded }: DrainDeps): void {
  const { endpoint, traces } = loaded.config.otlp;
  if (loaded.config.disabled) {
    throw new UserError(
      "E_USAGE",
      "--export sends, and sending is switched off (disabled); without it the past is imported and stays here",
    );
  }
  if (endpoint !== undefined || traces.endpoint !== undefined) return;
  throw new UserError("E_USAGE", `--export needs an endpoint: run ${suggest("config set otlp.endpoint <url>")}`);
}

async function sendTo(
  deps: DrainDeps,
  agents: readonly Agent[],
  sinceMs: number | undefined,
  progress: ProgressLine,
  signal: AbortSignal,
): Promise<Exported> {
  const { exportPacked } = await import("../import/export.ts");
  return patiently(deps, () =>
    exportPacked(deps, {
      agents: agents.map(({ source }) => source),
      sinceMs,
      signal,
      onProgress: (done, of, spans) =>
        progress.line(done / of, `${done} of ${of} sessions for the backend  ${spans} spans`),
    }),
  );
}

/** `undefined` where one processor is all there is. */
function threadsOf({ loaded, places }: DrainDeps, { programPath }: Context): Threads | undefined {
  // This one reads as well, when it would wait for the others
  const count = Math.min(availableParallelism() - 1, MAX_THREADS);
  if (count < 1) return undefined;
  const settings = { redaction: loaded.config.redaction, home: places.home };
  return new Threads(join(dirname(programPath), "reader.cjs"), count, settings);
}

/** A drain that hooks started is done in a moment. */
async function patiently<T>(deps: DrainDeps, work: () => Promise<T | undefined>): Promise<T> {
  const untilMs = deps.now() + OTHER_DRAIN_MS;
  for (;;) {
    const report = await work();
    if (report !== undefined) return report;
    if (deps.now() >= untilMs) {
      throw new UserError("E_BUSY", "a drain has been at work for a minute; try again when it is done", 1);
    }
    await deps.sleep(ASK_AGAIN_MS);
  }
}

function exitCode(report: ImportReport, waiting: number, signal: AbortSignal): number {
  if (signal.aborted) return INTERRUPTED;
  const isRead = report.unseen === 0 && [...report.agents.values()].every(({ failed }) => failed === 0);
  return isRead && waiting === 0 ? 0 : 1;
}
