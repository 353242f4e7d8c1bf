import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, parse } from "node:path";
import { refuseOdd } from "../../config/files.ts";
import type { Context } from "../../context.ts";
import { parseInboxFile } from "../../intake/inbox-file.ts";
import { messageOf } from "../../model/error-message.ts";
import { suggest } from "../../model/suggest.ts";
import { DISCOVERY_NAME, readDiscovery } from "../../registration/discovery.ts";
import { isHookCurrent } from "../../registration/hook-program.ts";
import { plural } from "../../text/figures.ts";
import { brokenHook } from "../status/installed.ts";
import type { Status } from "../status/shape.ts";
import { unwritable } from "../status/waiting.ts";
import { broken, type Finding, inArea } from "./finding.ts";
import { openStateFiles } from "./private.ts";

/**
 * Node, and what all agents on this machine share.
 *
 * @param open the result of `exposed`
 * @param hookSource the shipped hook program
 */
export async function* machineFindings(
  status: Status,
  context: Context,
  open: Exposed,
  hookSource: string,
): AsyncGenerator<Finding> {
  yield* nodeFindings(status, context);
  yield* stateFindings(context, open);
  yield* hookFindings(status, context, hookSource);
  yield* configFindings(status);
  yield* discoveryFindings(context);
}

/** True if an agent is configured to run our hook, so that it must be installed. */
export const isHookWanted = ({ agents }: Pick<Status, "agents">): boolean =>
  agents.some(({ registrations }) => registrations.some(({ state, recorded }) => state === "enabled" || recorded));

/** With the mode that each should have. */
export type Exposed = readonly { readonly path: string; readonly mode: number }[];

/** Paths of the state that others can read, or that are not ours. Empty on Windows, which has no such modes. */
export async function exposed({ places, platform }: Pick<Context, "places" | "platform">): Promise<Exposed> {
  if (platform === "win32") return [];
  const folders = [places.stateDir, places.inboxDir, places.claimedDir, places.quarantineDir, places.backupDir];
  const files = ["", "-wal", "-shm"].map((suffix) => `${places.storePath}${suffix}`);
  const found: { path: string; mode: number }[] = [];
  for (const [paths, mode] of [
    [folders, 0o700],
    [[...files, join(places.stateDir, "drain.log")], 0o600],
  ] as const) {
    for (const path of paths) {
      const is = await stat(path).catch(() => undefined);
      if (is !== undefined && (is.mode & 0o077) !== 0) found.push({ path, mode });
    }
  }
  for (const path of await openStateFiles({ places, platform })) {
    if (!found.some((one) => one.path === path)) found.push({ path, mode: 0o600 });
  }
  return found;
}

// --- internal ---

const OLDEST_NODE = 20;

async function* nodeFindings({ hook }: Status, { nodePath, env }: Context): AsyncGenerator<Finding> {
  const { ok, remark, broken } = inArea("node");
  const todo = `install Node ${OLDEST_NODE} or later, then: ${suggest("enable")}`;
  const own = await nodeVersion(nodePath, env);
  yield own === undefined ? broken(`${nodePath} does not tell its version`, todo) : ok(`${own} at ${nodePath}`);
  if (hook.node === null || hook.node === nodePath) return;
  const told = await nodeVersion(hook.node, env);
  // The hook then uses the one in PATH
  if (told === undefined) yield remark(`hooks start drains with ${hook.node}, which does not run`, suggest("enable"));
  else if (majorOf(told) < OLDEST_NODE) yield broken(`hooks start drains with Node ${told} at ${hook.node}`, todo);
  else yield ok(`hooks start drains with ${told} at ${hook.node}`);
}

async function* stateFindings(context: Context, open: Exposed): AsyncGenerator<Finding> {
  const { ok, remark } = inArea("state");
  const barred = await unwritable(context);
  yield* broken("state", barred);
  const { stateDir } = context.places;
  const isThere = await stat(stateDir).then(
    () => true,
    () => false,
  );
  for (const { path, mode } of open) {
    yield remark(
      `others on this machine can get into ${path}`,
      `${suggest("doctor --fix")}, or chmod ${mode.toString(8)}`,
    );
  }
  if (barred.length > 0 || open.length > 0) return;
  yield ok(isThere ? `${stateDir} is private and can be written` : `${stateDir} is not made yet`);
}

async function* hookFindings(status: Status, context: Context, hookSource: string): AsyncGenerator<Finding> {
  const { ok, remark, broken: isBroken } = inArea("hook");
  const isWanted = isHookWanted(status);
  if (!isWanted && !status.hook.installed) return yield ok("not installed: no agent is enabled");
  const problems = isWanted ? brokenHook(status.hook, true, context) : [];
  if (problems.length > 0) return yield* broken("hook", problems);
  let folder: string;
  try {
    // In the place of the agents' events; a folder for temporary files may not exist
    folder = await mkdtemp(join(context.places.stateDir, "doctor-")).catch(() => mkdtemp(join(tmpdir(), "doctor-")));
  } catch (error) {
    return yield remark(`${status.hook.path} was not tried: ${messageOf(error)}`);
  }
  const failure = await tryHook(context, folder);
  if (failure === undefined) yield ok(`${status.hook.path} takes an event and says nothing`);
  else {
    yield isBroken(
      `${status.hook.path} was started as an agent would, and ${failure}`,
      `${suggest("doctor --fix")} installs it anew; if it stays so, look whether the folder may run programs (noexec)`,
    );
  }
  // Two installations, for example under two versions of Node: hooks do not start the one that is updated here
  const { program } = status.hook;
  if (program !== null && program !== context.programPath) {
    yield remark(
      `hooks start drains with ${program}, and this is ${context.programPath}`,
      `${suggest("doctor --fix")} has them start this one`,
    );
  }
  if (failure === undefined && !(await isHookCurrent(context, hookSource))) {
    yield remark(`${status.hook.path} is of another version than this`, `${suggest("doctor --fix")} renews it`);
  }
}

function* configFindings({ config }: Status): Generator<Finding> {
  const { ok, remark, broken } = inArea("settings");
  const todo = `${suggest("config")} shows every setting and where it comes from`;
  for (const error of config.errors) yield broken(error, todo);
  for (const warning of config.warnings) yield remark(warning, todo);
  if (config.errors.length + config.warnings.length === 0) yield ok(`${config.path} and the environment are in order`);
}

async function* discoveryFindings({ cwd }: Context): AsyncGenerator<Finding> {
  const { ok, remark } = inArea("discovery");
  const path = join(cwd, DISCOVERY_NAME);
  const found = await refuseOdd(path).then(() => readDiscovery(path), messageOf);
  if (found === undefined) return;
  if (typeof found === "string") {
    return yield remark(`${path} is not what OpenHook v0.1 wants: ${found}`, "correct it by hand");
  }
  const ours = found.hooks.filter(({ command }) => command.includes("openhook-otel"));
  yield ours.length === 0
    ? remark(
        `${path} runs ${plural(found.hooks.length, "hook")}, none of them ours`,
        suggest("enable openhook --scope project"),
      )
    : ok(`${path} runs our hook for ${ours.flatMap(({ events }) => events).join(", ")}`);
  for (const hook of ours.filter((one) => !one.async)) {
    yield remark(`${path} lets agents wait for ${JSON.stringify(hook.command)}`, 'set "async": true there');
  }
}

const majorOf = (version: string): number => Number(/^v?(\d+)/.exec(version)?.[1] ?? 0);

const VERSION_TIMEOUT_MS = 3000;

/** `undefined` if it does not run. */
function nodeVersion(path: string, env: Context["env"]): Promise<string | undefined> {
  return new Promise((done) => {
    const options = { env, timeout: VERSION_TIMEOUT_MS, killSignal: "SIGKILL", windowsHide: true } as const;
    execFile(path, ["--version"], options, (error, stdout) => done(error === null ? stdout.trim() : undefined));
  });
}

/** The intake reads for at most 5 s. */
const HOOK_TIMEOUT_MS = 8000;

/**
 * Sends one event through the installed hook into a separate state directory, which no drain reads.
 *
 * @param folder that directory; removed afterwards
 * @returns what went wrong
 */
async function tryHook({ places, platform, nodePath, env }: Context, folder: string): Promise<string | undefined> {
  try {
    const [program, args] = platform === "win32" ? [nodePath, [places.hookPath]] : [places.hookPath, []];
    const own = { ...env, HOME: env["HOME"] ?? places.home, OPENHOOK_OTEL_HOME: folder, OPENHOOK_OTEL_DRAIN: "off" };
    const said = await new Promise<string | undefined>((done) => {
      const options = {
        env: own,
        // Not in the current folder or below, which a repository may control
        cwd: parse(folder).root,
        timeout: HOOK_TIMEOUT_MS,
        killSignal: "SIGKILL",
        windowsHide: true,
      } as const;
      const child = execFile(program, [...args, "doctor"], options, (error, stdout, stderr) => {
        if (error !== null) done(`it failed (${error.killed ? "no end in time" : (error.code ?? error.signal)})`);
        else
          done(stdout === "" && stderr === "" ? undefined : "it printed something, which some agents show their model");
      });
      child.stdin?.on("error", () => {});
      child.stdin?.end("{}");
    });
    if (said !== undefined) return said;
    const [name] = await readdir(join(folder, "inbox")).catch(() => []);
    if (name === undefined) return "no event was written";
    const file = parseInboxFile(await readFile(join(folder, "inbox", name)), 0);
    const isWhole = file.ok && file.facts.source === "doctor" && file.end === "whole";
    return isWhole ? undefined : "the event that it wrote is not whole";
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
