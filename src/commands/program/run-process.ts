import { join } from "node:path";
import type { Context } from "#config/context.ts";
import { lastingNode, programName } from "#config/own-program.ts";
import { homeDirectory, placesOf } from "#config/places.ts";
import { UserError } from "#kit/errors.ts";
import { isCiLog, safeOutput, safeText } from "#kit/safe-output.ts";
import { setProgramName } from "#kit/suggest.ts";
import { keepOwnerRights } from "#kit/umask.ts";
import { nativePartMissing } from "#store/native-part.ts";
import { type HeldOutput, holdable } from "./held-output.ts";

/**
 * Runs one command in this process, prints what it throws, and sets the exit code.
 *
 * @param packageRoot contains `dist`, `demo`, `collector-config` and `dashboards`
 * @param command returns the exit code; `stdout` is the context's, and can be held for a pager
 */
export function runProcess(
  packageRoot: string,
  command: (context: Context, stdout: HeldOutput) => Promise<number>,
): void {
  keepOwnerRights();
  const isCi = isCiLog(process.env);
  const safe = (text: string): string => safeText(text, false, isCi);
  const stdout = holdable(safeOutput(process.stdout, isCi));
  const context = processContext(join(packageRoot, "dist", "openhook-otel.cjs"), stdout);
  setProgramName((isAnywhere) => {
    const { env, platform, programPath } = context;
    const cwd = isAnywhere ? undefined : currentDirectory();
    return programName({ env, platform, cwd, nodePath: process.execPath, programPath });
  });

  let isCutShort = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader that closes early (`| head`) is not an error, and the command still finishes its work
    if (error.code === "EPIPE") return;
    if (!isCutShort) process.stderr.write(`openhook-otel: cannot write all of the output: ${safe(error.message)}\n`);
    isCutShort = true;
    process.exitCode = 1;
  });
  // If stderr is closed, the exit code still reports failure
  process.stderr.on("error", () => {});

  command(context, stdout).then(
    (code) => {
      process.exitCode = isCutShort ? Math.max(1, code) : code;
    },
    (error: unknown) => {
      const missing = nativePartMissing(error);
      if (error instanceof UserError || missing !== undefined) {
        process.stderr.write(`openhook-otel: ${safe(missing ?? (error as UserError).message)}\n`);
        process.exitCode = error instanceof UserError ? error.exitCode : 1;
      } else {
        process.stderr.write(`${safe(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`);
        process.exitCode = 1;
      }
    },
  );
}

// --- internal ---

function processContext(programPath: string, stdout: HeldOutput): Context {
  return {
    env: process.env,
    // Read on use, because the directory may have been deleted
    get cwd() {
      return workingDirectory();
    },
    platform: process.platform,
    arch: process.arch,
    places: placesOf({ env: process.env, home: homeDirectory(), platform: process.platform }),
    // Most commands read none, and opening it takes 5 ms
    get stdin() {
      return process.stdin;
    },
    stdout,
    stderr: safeOutput(process.stderr, isCiLog(process.env)),
    now: Date.now,
    nodePath: lastingNode(process.execPath, homeDirectory()),
    programPath,
  };
}

function workingDirectory(): string {
  const directory = currentDirectory();
  if (directory === undefined)
    throw new UserError("E_CWD", "the current directory was deleted: change to another one", 1);
  return directory;
}

/** `undefined` if it was deleted. */
function currentDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
