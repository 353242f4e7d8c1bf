import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, sep } from "node:path";
import { RECORDED_VARIABLES } from "./agents/intake.const.ts";
import { replyOf } from "./agents/replies.ts";
import { homeDirectory, placesOf } from "./config/places.ts";
import { runHook } from "./intake/hook.ts";

// The agent waits for this program: no framework, no validation, and exit 0 in all cases.
process.exitCode = 0;
process.on("uncaughtException", () => process.exit(0));
const own = ownPath();
const here = dirname(own);
const conf = installation(join(here, "hook.conf"));
const cwd = workingDirectory();
const stateDir = stateDirOf();
void runHook(
  process.argv.slice(process.argv[2] === "hook" ? 3 : 2),
  {
    env: process.env,
    variables: RECORDED_VARIABLES,
    stdin: process.stdin,
    cwd,
    pid: process.pid,
    ppid: process.ppid,
    write: (text) => process.stdout.write(text),
    replyOf,
  },
  {
    stateDir,
    inboxDir: join(stateDir, "inbox"),
    nodePath: conf["node"] ?? process.execPath,
    programPath: conf["program"] ?? join(here, "openhook-otel.cjs"),
  },
).finally(() => process.exit(0));

// --- internal ---

function ownPath(): string {
  const started = process.argv[1] ?? "";
  try {
    return realpathSync(started);
  } catch {
    return started;
  }
}

/**
 * The folder in OPENHOOK_OTEL_HOME, otherwise the one that `enable` wrote. A folder in the repository can come from its .env, and is
 * used only if `enable` wrote none. The same in hook.sh.
 */
function stateDirOf(): string {
  const { env, platform } = process;
  const [written, moved = ""] = [conf["state"], env["OPENHOOK_OTEL_HOME"]];
  if (written !== undefined && (!isAbsolute(moved) || isDoubtful(moved))) return written;
  return placesOf({ env, home: homeDirectory(), platform }).stateDir;
}

function isDoubtful(folder: string): boolean {
  const isBelow = (parent: string): boolean => parent !== "" && `${folder}${sep}`.startsWith(`${parent}${sep}`);
  return [cwd, "/proc"].some(isBelow) || folder.split(/[\\/]/).includes("..");
}

/** Empty if the working directory was deleted. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return "";
  }
}

/** What `enable` wrote beside an installed copy: `name='value'` lines, quoted for sh. Empty in the package itself. */
function installation(path: string): Readonly<Record<string, string>> {
  if (!existsSync(path)) return {};
  const found: Record<string, string> = {};
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const match = /^([a-z]+)='(.*)'$/.exec(line);
    if (match?.[1] !== undefined && match[2] !== undefined) found[match[1]] = match[2].replaceAll("'\\''", "'");
  }
  return found;
}
