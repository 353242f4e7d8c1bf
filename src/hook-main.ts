import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { replyOf } from "./agents/replies.ts";
import { homeDirectory, placesOf } from "./config/places.ts";
import { runHook } from "./intake/hook.ts";

// The agent waits for this file alone: no framework, no validation, and whatever happens, exit 0.
process.exitCode = 0;
process.on("uncaughtException", () => process.exit(0));
const own = ownPath();
const here = dirname(own);
const { stateDir, inboxDir } = placesOf({ env: process.env, home: homeDirectory(), platform: process.platform });
const conf = installation(join(here, "hook.conf"));
void runHook(
  process.argv.slice(process.argv[2] === "hook" ? 3 : 2),
  {
    env: process.env,
    stdin: process.stdin,
    cwd: workingDirectory(),
    pid: process.pid,
    ppid: process.ppid,
    write: (text) => process.stdout.write(text),
    replyOf,
  },
  {
    stateDir: conf["state"] !== undefined && process.env["OPENHOOK_OTEL_HOME"] === undefined ? conf["state"] : stateDir,
    inboxDir:
      conf["state"] !== undefined && process.env["OPENHOOK_OTEL_HOME"] === undefined
        ? join(conf["state"], "inbox")
        : inboxDir,
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

/** A folder that was deleted under us has no name. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return "";
  }
}

/** What `enable` wrote beside an installed copy: `name='value'` lines, quoted for sh. Nothing in the package itself. */
function installation(path: string): Readonly<Record<string, string>> {
  if (!existsSync(path)) return {};
  const found: Record<string, string> = {};
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const match = /^([a-z]+)='(.*)'$/.exec(line);
    if (match?.[1] !== undefined && match[2] !== undefined) found[match[1]] = match[2].replaceAll("'\\''", "'");
  }
  return found;
}
