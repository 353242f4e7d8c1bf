import { existsSync } from "node:fs";
import { lstat, readdir, rm, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { allRecords, holdersOf } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { removeFile } from "#config/files.ts";
import type { Places } from "#config/places.ts";
import { schemaPathOf } from "#config/user-file.ts";
import type { Agent } from "#core/model/agent.ts";
import { UserError } from "#kit/errors.ts";
import { nativePartMissing } from "#store/native-part.ts";
import { changedPaths, type DisablePlan, planDisable } from "./disable.ts";
import { installedFolders, readHookPathOf, statusLinePathOf } from "./hook-program.ts";
import { isManaged, managedFiles } from "./managed.ts";
import { managedFolderOf } from "./managed-places.ts";
import { managedProgramFiles } from "./managed-program.ts";
import { mcpSources } from "./mcp-server.ts";
import { nativeSources } from "./native.ts";
import { type AgentLookup, forEachAgent, type InstallableAgent, installableAgents, listed } from "./settings.ts";
import { RECORDED_AS, wrapperPathOf, wrappersHere } from "./wrappers.ts";

/** What this program has left on this machine. */
export interface UninstallPlan {
  /** In the user's settings, and in those of every project that `enable` changed. */
  readonly registrations: readonly Registered[];
  /** Agents whose settings could not be read. */
  readonly failed: readonly string[];
  /** Agents that send their own telemetry to us. */
  readonly native: readonly Agent[];
  /** Agents that have our MCP server. */
  readonly mcp: readonly Agent[];
  readonly wrappers: readonly string[];
  /** The hook program, its configuration, and the programs for wrappers and status lines, as far as they exist. */
  readonly programs: readonly string[];
  /** Copies of this program. */
  readonly copies: readonly string[];
  /** What only `--purge` removes, as far as it exists. */
  readonly stateDir: string | undefined;
  readonly configPath: string | undefined;
  /** What stays: the files of `stack`, and what `enable --managed` has installed for all users. */
  readonly stackDir: string | undefined;
  readonly managed: readonly string[];
}

interface Registered {
  readonly plan: DisablePlan;
  /** `undefined` in user scope. */
  readonly project: string | undefined;
}

/**
 * Finds everything; changes nothing.
 *
 * @param complain gets the error of an agent whose settings cannot be read; the others are planned
 */
export async function planUninstall(
  context: Context,
  agents: AgentLookup,
  complain: (error: unknown) => void,
): Promise<UninstallPlan> {
  const { places } = context;
  const failed: string[] = [];
  const known = await registrationsToCheck(context, agents);
  const onFailure = (error: unknown, { agent, isRecorded }: (typeof known)[number]): void => {
    // Broken settings of an agent that was never enabled are no matter of ours
    if (!isRecorded) return;
    failed.push(agent.source);
    complain(error);
  };
  const plans = await forEachAgent(known, onFailure, async (enabled) => {
    const { project } = enabled;
    const there = project === undefined ? context : { ...context, cwd: project };
    const plan = await planDisable(enabled, project === undefined ? "user" : "project", there);
    return { plan, project };
  });
  const stackDir = join(dirname(places.configPath), "stack");
  return {
    registrations: plans.filter(({ plan }) => plan.enabled),
    failed,
    native: await agentsOf(await nativeSources(context), agents),
    mcp: await agentsOf(await mcpSources(context), agents),
    wrappers: await wrappersHere(context),
    programs: [
      places.hookPath,
      readHookPathOf(places),
      places.hookConfPath,
      statusLinePathOf(context),
      wrapperPathOf(places),
    ].filter((path) => existsSync(path)),
    copies: await installedFolders(places),
    stateDir: existsSync(places.stateDir) ? places.stateDir : undefined,
    configPath: existsSync(places.configPath) ? places.configPath : undefined,
    stackDir: existsSync(stackDir) ? stackDir : undefined,
    managed: await managedPaths(context, agents),
  };
}

/** What will be removed, one line each; empty if there is nothing. */
export function planLines(plan: UninstallPlan, isPurge: boolean): readonly string[] {
  return [
    ...plan.registrations.map(({ plan: registration, project }) => {
      const paths = changedPaths(registration);
      const where = paths.length > 0 ? `from ${listed(paths)}` : "(already gone, only the record of it is left)";
      return `the hooks of ${registration.agent.title} ${where}${project === undefined ? "" : ` in ${project}`}`;
    }),
    ...plan.native.map(({ title }) => `the settings of ${title} that send its own telemetry to openhook-otel`),
    ...plan.mcp.map(({ title }) => `the MCP server in the settings of ${title}`),
    ...plan.wrappers.map((path) => `the wrapper ${path}`),
    ...(plan.programs.length > 0 ? [`the hook program: ${listed(plan.programs)}`] : []),
    ...plan.copies.map((folder) => `the copy of this program in ${folder}`),
    ...(isPurge && plan.stateDir !== undefined ? [`all collected data in ${plan.stateDir}`] : []),
    ...(isPurge && plan.configPath !== undefined ? [`your settings in ${plan.configPath}`] : []),
  ];
}

/**
 * Removes all collected data and this program's state. A folder that the user named with OPENHOOK_OTEL_HOME can have other files, which
 * stay.
 *
 * @param running copies of this program that processes run; on Windows they are in the same folder and stay
 * @returns what else is left in the folder; `undefined`: nothing
 * @throws UserError while a drain runs
 */
export async function removeState(
  { places, now }: Context,
  running: readonly string[],
): Promise<readonly string[] | undefined> {
  const { stateDir } = places;
  const isRunning = (name: string): boolean => running.includes(join(stateDir, name));
  const removable = async () => (await ownNames(stateDir)).filter((name) => !isRunning(name));
  await withoutDrain(join(stateDir, "drain.lock"), now, async () => {
    for (const name of await removable()) {
      // Windows removes no open file
      if (!LOCK.test(name)) await rm(join(stateDir, name), { recursive: true, force: true });
    }
  });
  for (const name of await removable()) await rm(join(stateDir, name), { recursive: true, force: true });
  const isLink = (await lstat(stateDir)).isSymbolicLink();
  const left = await readdir(stateDir);
  if (left.length > 0) return left.every(isRunning) ? undefined : left.filter((name) => !isRunning(name));
  await (isLink ? unlink(stateDir) : rmdir(stateDir));
  return undefined;
}

/** Removes the user's settings, and their folder if nothing else is in it. */
export async function removeSettings({ configPath }: Pick<Places, "configPath">): Promise<void> {
  await removeFile(configPath);
  await removeFile(schemaPathOf(configPath));
  await rmdir(dirname(configPath)).catch(() => {});
}

// --- internal ---

const agentsOf = async (sources: readonly string[], agents: AgentLookup): Promise<readonly Agent[]> =>
  (await agents.list()).filter(({ source }) => sources.includes(source));

async function registrationsToCheck(context: Context, agents: AgentLookup) {
  const records = (await allRecords(context.places.backupDir)).filter(({ agent }) => agent !== RECORDED_AS);
  const user = (await installableAgents("user", agents)).map((installable) => ({
    ...installable,
    project: undefined as string | undefined,
    isRecorded: records.some(({ agent }) => agent === installable.agent.source),
  }));
  const byProject = new Map<string, InstallableAgent & { project: string; isRecorded: boolean }>();
  const inProjects = await installableAgents("project", agents);
  for (const record of records) {
    const installable = inProjects.find(({ agent }) => agent.source === record.agent);
    for (const { scope, project = context.cwd } of holdersOf(record)) {
      if (installable === undefined || scope !== "project") continue;
      byProject.set(`${record.agent}\n${project}`, { ...installable, project, isRecorded: true });
    }
  }
  return [...user, ...byProject.values()];
}

async function managedPaths(context: Context, agents: AgentLookup): Promise<readonly string[]> {
  const files = await managedFiles([], context, agents).catch(() => []);
  const program = await managedProgramFiles(context.platform);
  const isThere = program.files.length + program.folders.length > 0;
  return [...files.filter(isManaged).map(({ path }) => path), ...(isThere ? [managedFolderOf(context.platform)] : [])];
}

/** Everything in the usual folder, which has our name; in another one what this program writes. */
async function ownNames(stateDir: string): Promise<readonly string[]> {
  const names = await readdir(stateDir);
  return basename(stateDir) === "openhook-otel" ? names : names.filter((name) => OWN.test(name));
}

const LOCK = /^drain\.lock/;
const OWN =
  /^((inbox|claimed|quarantine|processes|backup|native|lost-events|program\.gone|variables\.json)$|(store\.db|delivered\.|drain\.|bridge\.|spare-\d|statusline\.|rate-limits\.|doctor-))/;

const DRAIN_MS = 60_000;
const RETRY_MS = 200;

/** Runs the work while no drain runs. Without SQLite's native part none can. */
async function withoutDrain(lock: string, now: () => number, work: () => Promise<void>): Promise<void> {
  let take: typeof import("#store/lock.ts").withDrainLock;
  try {
    ({ withDrainLock: take } = await import("#store/lock.ts"));
  } catch (error) {
    if (nativePartMissing(error) === undefined) throw error;
    return work();
  }
  for (const endMs = now() + DRAIN_MS; !(await take(lock, work)); await sleep(RETRY_MS)) {
    if (now() < endMs) continue;
    throw new UserError("E_BUSY", "a drain is still running, so collected data stays: run the command again later", 1);
  }
}
