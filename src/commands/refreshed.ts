import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { DrainDeps } from "#collect/drain/context.ts";
import { refresh, type Spent } from "#collect/import/refresh.ts";
import type { Context } from "#config/context.ts";
import type { Behind } from "#kit/behind.ts";
import { messageOf } from "#kit/errors.ts";
import { megabytes, plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import { monotonicMs } from "#kit/time.ts";
import { StoreError } from "#store/database.ts";
import { drainDeps } from "./drain-deps.ts";

/** Commands that show sessions have `--no-refresh`. */
export interface RefreshOption {
  readonly refresh?: boolean;
}

/** What every command that shows sessions needs. */
export interface ReadContext extends Pick<DrainDeps, "agents" | "loaded"> {
  /** What the command cannot show yet. */
  readonly behind: Behind | undefined;
}

/**
 * Imports what is new on this machine before a command shows it: immediately if that is quick, otherwise in the background. Says on
 * stderr what the command cannot show yet. A problem never keeps the command from showing what is stored.
 *
 * @param options.refresh not true: the user passed `--no-refresh`
 * @throws UserError if the configuration cannot be used
 */
export async function refreshed(
  { refresh: isWanted }: RefreshOption,
  context: Context,
  spent: Spent = THIS_PROCESS,
): Promise<ReadContext> {
  const deps = await drainDeps(context, () => {});
  const { agents, loaded } = deps;
  const behind =
    isWanted === true && loaded.config.display.refresh ? await newsBehind(deps, context, spent) : undefined;
  return { agents, loaded, behind };
}

// --- internal ---

async function newsBehind(deps: DrainDeps, context: Context, spent: Spent): Promise<Behind | undefined> {
  try {
    const { behind } = await refresh(deps, { env: context.env, spent });
    if (behind === undefined) return undefined;
    if (behind.isRunning !== true) await ensureWritable(deps);
    context.stderr.write(`${textOf(behind)}\n`);
    if (behind.isRunning !== true) importBehind(context);
    return behind;
  } catch (error) {
    // The command itself reports a store that it cannot read
    if (error instanceof StoreError) return undefined;
    context.stderr.write(`new sessions are not shown: ${printable(messageOf(error))}\n`);
    return undefined;
  }
}

const THIS_PROCESS: Spent = {
  time: monotonicMs,
  processorTime: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

function textOf({ sessions, bytes, isRunning }: Behind): string {
  if (sessions === undefined) return "the search for new sessions takes long and continues in the background";
  const how = isRunning ? "another import or drain is running" : "being imported in the background";
  return `not shown yet: ${plural(sessions, "session")} with new data (${megabytes(bytes)}), ${how}`;
}

/**
 * The import in the background would fail unseen, and every command would announce it again.
 *
 * @throws Error with the cause and the remedy if nothing can be stored
 */
async function ensureWritable(deps: DrainDeps): Promise<void> {
  const { ensurePrivateState } = await import("#collect/drain/open.ts");
  await ensurePrivateState(deps);
  const { stateDir } = deps.places;
  await access(stateDir, constants.W_OK).catch((error: unknown) => {
    throw new Error(`cannot write to ${JSON.stringify(stateDir)}: ${messageOf(error)}; check its owner and mode`);
  });
}

/** Does not wait and never fails: the next command tries again. */
function importBehind({ nodePath, programPath, env }: Context): void {
  try {
    const child = spawn(nodePath, [programPath, "import"], {
      stdio: "ignore",
      detached: true,
      windowsHide: true,
      env: { ...env },
    });
    child.on("error", () => {});
    child.unref();
  } catch {
    // The process limit is reached
  }
}
