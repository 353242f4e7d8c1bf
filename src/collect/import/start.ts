import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import type { Context } from "#config/context.ts";
import { StateError } from "#config/file-owner.ts";
import type { Agent } from "#core/model/agent.ts";
import { RuleError } from "#core/privacy/protection.ts";
import { agentNamed, cardOf, meantAgent } from "#core/rules/cards.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { StoreError } from "#store/database.ts";
import { lockHolderText } from "#store/lock-holder.ts";
import { describeStoreError } from "#store/sessions/open-store.ts";
import type { Drain, DrainDeps } from "../drain/context.ts";
import { type Readers, readersInThisThread, Threads } from "./readers.ts";

/**
 * The named agents; without names, all that keep past sessions.
 *
 * @throws UserError for an unknown name, or an agent that keeps none
 */
export function agentsToImport(names: readonly string[], agents: readonly Agent[]): readonly Agent[] {
  const readable = agents.filter(({ transcript }) => transcript !== undefined);
  const found = names.map((name) => {
    const agent = agentNamed(name, agents);
    if (agent === undefined) {
      const known = readable.map(({ source }) => source);
      const hint = meantAgent(name, agents);
      throw new UserError(
        "E_USAGE",
        `unknown agent ${JSON.stringify(name)}${hint}; these agents keep past sessions: ${known.join(", ")}`,
      );
    }
    if (agent.transcript === undefined) {
      throw new UserError(
        "E_USAGE",
        `${agent.title} keeps no past sessions that can be read; it is recorded once it is enabled`,
      );
    }
    return agent;
  });
  return found.length > 0 ? [...new Set(found)] : readable;
}

/** @throws UserError when nothing can be exported: export is disabled or no endpoint is set */
export function requireDestination({ loaded }: DrainDeps): void {
  const { endpoint, traces } = loaded.config.otlp;
  if (loaded.config.disabled) {
    throw new UserError(
      "E_USAGE",
      "--export cannot export, because export is off (disabled); without --export, sessions are imported and stay here",
    );
  }
  if (endpoint !== undefined || traces.endpoint !== undefined) return;
  throw new UserError("E_USAGE", `--export needs an endpoint: run ${suggest("config set otlp.endpoint <url>")}`);
}

/** Repeats work that returns `undefined` while another drain holds the lock. @throws UserError after a minute */
export async function whenNoDrain<T>(deps: DrainDeps, work: () => Promise<T | undefined>): Promise<T> {
  const untilMs = deps.now() + OTHER_DRAIN_MS;
  for (;;) {
    const report = await work();
    if (report !== undefined) return report;
    if (deps.now() >= untilMs) {
      const who = lockHolderText(deps.places.stateDir, deps.now());
      const text = `another drain has been running for a minute (${who}); try again when it has finished`;
      throw new UserError("E_BUSY", text, 1);
    }
    await deps.sleep(RETRY_MS);
  }
}

/** Readers of transcripts: worker threads if there is much to read, otherwise only this thread. */
export function readersFor(drain: Drain, bytes: number, context: Context): Readers {
  const here = readersInThisThread((source) => cardOf(drain, source), drain);
  const threads = bytes < MIN_BYTES_FOR_THREADS ? undefined : startThreads(drain, context);
  return threads?.readers(here) ?? here;
}

/** Problems of the machine become one line for the user; bugs of the program keep their stack. */
export function asUserError(error: unknown): unknown {
  if (error instanceof StoreError) return new UserError(error.code, describeStoreError(error), 1, { cause: error });
  if (error instanceof StateError || error instanceof RuleError) {
    return new UserError(error.code, error.message, 1, { cause: error });
  }
  const isOfSystem = error instanceof Error && error.cause instanceof Error && "syscall" in error.cause;
  return isOfSystem ? new UserError("E_SYSTEM", error.message, 1, { cause: error }) : error;
}

// --- internal ---

/** A drain that a hook started usually finishes within a second. */
const OTHER_DRAIN_MS = 60_000;
const RETRY_MS = 100;

/** A thread costs 0.3 to 0.4 s of processor time. Below this, one thread reads everything in about half a second. */
const MIN_BYTES_FOR_THREADS = 128 << 20;
/** More threads wait for each other, and each takes memory. */
const MAX_THREADS = 4;

/** `undefined` on a machine with one processor. */
function startThreads({ loaded, places }: Drain, { programPath }: Context): Threads | undefined {
  // One fewer than processors, because this thread reads too
  const count = Math.min(availableParallelism() - 1, MAX_THREADS);
  if (count < 1) return undefined;
  const settings = { redaction: loaded.config.redaction, home: places.home };
  return new Threads(join(dirname(programPath), "reader.cjs"), count, settings);
}
