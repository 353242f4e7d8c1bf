import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { RECORDED_VARIABLES } from "#agents/intake.const.ts";
import { replyOf } from "#agents/replies.ts";
import { homeDirectory, placesOf } from "#config/places.ts";
import { runHook } from "./hook.ts";

// The agent waits for this program: no framework, no validation, and exit 0 in all cases.
process.exitCode = 0;
process.on("uncaughtException", () => process.exit(0));
// The same in hook.sh: with the agent's umask, others could read the files, or this user could not
process.umask(0o077);
const own = ownPath();
const here = dirname(own);
const TRIAL = "--trial=";
/** The same for Windows, where command lines that work in every shell contain no quotes. */
const TRIAL_IN_HEX = "--trial-hex=";
const conf = installation(join(here, "hook.conf"));
const { stateDir, isStateRecorded } = stateOf();
void runHook(
  process.argv.slice(process.argv[2] === "hook" ? 3 : 2),
  {
    env: process.env,
    variables: RECORDED_VARIABLES,
    stdin: process.stdin,
    cwd: workingDirectory(),
    pid: process.pid,
    ppid: process.ppid,
    platform: process.platform,
    write: (text) => process.stdout.write(text),
    replyOf,
  },
  {
    stateDir,
    isStateRecorded,
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
 * The state directory that `enable` recorded, beside this program or at the usual place. OPENHOOK_OTEL_HOME is used only if there is
 * no record, and never if the hook is installed for all users, because it can come from a repository's .env. hook.sh does the same.
 */
function stateOf(): { readonly stateDir: string; readonly isStateRecorded: boolean } {
  const { env, platform } = process;
  const home = homeDirectory();
  const trial = optionValue(TRIAL) ?? Buffer.from(optionValue(TRIAL_IN_HEX) ?? "", "hex").toString();
  const unmoved = placesOf({ env: { ...env, OPENHOOK_OTEL_HOME: undefined }, home, platform });
  const recorded = (trial || conf["state"]) ?? installation(unmoved.hookConfPath)["state"];
  return recorded !== undefined && isAbsolute(recorded)
    ? { stateDir: recorded, isStateRecorded: true }
    : {
        stateDir: (conf["users"] === "all" ? unmoved : placesOf({ env, home, platform })).stateDir,
        isStateRecorded: false,
      };
}

function optionValue(name: string): string | undefined {
  return process.argv.find((argument) => argument.startsWith(name))?.slice(name.length);
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
