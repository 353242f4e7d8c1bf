import { spawn } from "node:child_process";
import type { Context } from "../context.ts";
import { drainDeps } from "../drain/from-process.ts";
import { refresh, type Spent } from "../import/refresh.ts";
import type { Behind } from "../model/behind.ts";
import { messageOf } from "../model/error-message.ts";
import { monotonicMs } from "../model/monotonic.ts";
import { StoreError } from "../store/database.ts";
import { megabytes, plural } from "../text/figures.ts";
import { printable } from "../text/terminal.ts";

/** Commands that show sessions have `--no-refresh`. */
export interface RefreshOption {
  readonly refresh?: boolean;
}

/**
 * Imports what is new on this machine before a command shows it: immediately if that is quick, otherwise in the background. Says on
 * stderr what the command cannot show yet. A problem never keeps the command from showing what is stored.
 *
 * @param options.refresh not true: the user passed `--no-refresh`
 * @returns what the command cannot show yet
 */
export async function refreshed(
  { refresh: isWanted }: RefreshOption,
  context: Context,
  spent: Spent = THIS_PROCESS,
): Promise<Behind | undefined> {
  if (isWanted !== true) return undefined;
  try {
    const deps = await drainDeps(context, () => {});
    if (!deps.loaded.config.display.refresh) return undefined;
    const { behind } = await refresh(deps, { env: context.env, spent });
    if (behind === undefined) return undefined;
    context.stderr.write(`${textOf(behind)}\n`);
    if (behind.isRunning !== true) importBehind(context);
    return behind;
  } catch (error) {
    // The command itself reports a store that it cannot read
    if (error instanceof StoreError) return undefined;
    context.stderr.write(`could not look for new sessions: ${printable(messageOf(error))}\n`);
    return undefined;
  }
}

// --- internal ---

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
