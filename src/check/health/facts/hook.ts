import { constants, existsSync } from "node:fs";
import { allRecords, type BackupRecord, holdersOf } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { ownUid } from "#config/file-owner.ts";
import { readFileIfAny } from "#config/files.ts";
import type { Agent } from "#core/model/agent.ts";
import type { Installer } from "#core/model/installer.ts";
import { suggest } from "#kit/suggest.ts";
import { type HookConf, readHookConf } from "#setup/registration/hook-conf.ts";
import { versionOf } from "#setup/registration/installed-copy.ts";
import { managedConfPathOf, managedHookOf } from "#setup/registration/managed-places.ts";
import { installerHere } from "#setup/registration/other-places.ts";
import { listed, readSettingsFiles, targetOf } from "#setup/registration/settings.ts";
import { isAccessible } from "./files.ts";
import type { AgentStatus, Facts, Registration } from "./shape.ts";

/** The program that agents start. */
export async function hookOf({ places, platform }: Context): Promise<Facts["hook"]> {
  const { node, program } = await readHookConf(places.hookConfPath);
  const installed = existsSync(places.hookPath);
  // On Windows, Node runs it, so it only needs to be readable
  const mode = platform === "win32" ? constants.R_OK : constants.X_OK;
  const executable = installed && (await isAccessible(places.hookPath, mode));
  return {
    path: places.hookPath,
    installed,
    executable,
    node,
    program,
    version: program === null ? null : versionOf(program),
  };
}

/** Only root can repair or remove what serves all users. */
export function asRoot(verb: "enable" | "disable", platform: NodeJS.Platform): string {
  const isRoot = ownUid(platform) === 0;
  return isRoot ? suggest(`${verb} --managed`) : `ask the administrator to run ${verb} --managed`;
}

/** Why hooks that are registered for all users would not work for this user, with the remedy. */
export async function brokenManagedHook(platform: NodeJS.Platform): Promise<readonly string[]> {
  const hook = managedHookOf(platform);
  const remedy = asRoot("enable", platform);
  if (!(await isAccessible(hook, constants.X_OK))) {
    return [`it is registered for all users, but ${hook} is missing or cannot be executed; ${remedy}`];
  }
  const { node, program } = await managedHookConf(platform);
  for (const [path, mode] of [
    [node, constants.X_OK],
    [program, constants.R_OK],
  ] as const) {
    if (path !== null && (await isAccessible(path, mode))) continue;
    const what =
      path === null
        ? `${managedConfPathOf(platform)} is missing or damaged`
        : `${path} is missing, or you cannot use it`;
    return [`hooks for all users cannot start a drain: ${what}; ${remedy}`];
  }
  return [];
}

/** Which Node and program the hook for all users starts drains with. */
export const managedHookConf = (platform: NodeJS.Platform): Promise<HookConf> =>
  readHookConf(managedConfPathOf(platform));

/** Where registrations are looked for. */
export type Surroundings = Pick<Context, "places" | "cwd" | "env" | "platform">;

/** Every agent that can be enabled, and where it is registered. */
export async function agentsOf(context: Surroundings, agents: readonly Agent[]): Promise<readonly AgentStatus[]> {
  const records = await allRecords(context.places.backupDir);
  const found: AgentStatus[] = [];
  for (const agent of agents) {
    const everywhere = (await agent.installer?.())?.default;
    if (everywhere === undefined) continue;
    const installer = installerHere(everywhere, context);
    const registrations = await registrationsOf(agent, installer, records, context);
    const managed = await managedPath(installer, context);
    const blocked = await blockedBy(registrations, managed, installer, context);
    found.push({ source: agent.source, title: agent.title, registrations, managed, blocked });
  }
  return found;
}

/** A registration's files as a list for messages: the existing ones, or all if none exists. */
export function whereOf({ paths }: Pick<Registration, "paths">): string {
  const existing = paths.filter((path) => existsSync(path));
  return listed(existing.length > 0 ? existing : paths);
}

/** A deleted project's registration is gone with it; nothing needs fixing. */
export const isOfDeletedProject = ({ project }: Registration): boolean => project !== null && !existsSync(project);

// --- internal ---

async function managedPath({ managed }: Installer, { platform }: Surroundings): Promise<string | null> {
  const path = managed?.path(platform);
  if (managed === undefined || path === undefined) return null;
  const text = await readFileIfAny(path).catch(() => undefined);
  return text !== undefined && managed.registered(text.toString("utf8")).length > 0 ? path : null;
}

/** If the administrator's hooks run, it does not matter whether the user's do. */
async function blockedBy(
  registrations: readonly Registration[],
  managed: string | null,
  installer: Installer,
  context: Surroundings,
): Promise<readonly string[]> {
  const ofManaged =
    managed === null
      ? []
      : [
          ...(await brokenManagedHook(context.platform)),
          ...(await findingsOf([managed], context.cwd, installer, context)),
        ];
  if (managed !== null && ofManaged.length === 0) return [];
  return [...new Set([...ofManaged, ...registrations.flatMap(({ blocked }) => blocked)])];
}

/** What keeps hooks from running, which the agent does not report; its settings and the administrator's show it. */
async function findingsOf(
  paths: readonly string[],
  project: string,
  installer: Installer,
  context: Surroundings,
): Promise<readonly string[]> {
  // Starting an agent for its version takes a second, which is for doctor
  const target = { ...targetOf(context), project, env: { ...context.env, PATH: "" } };
  const findings = (await installer.check?.(await readSettingsFiles(paths), target).catch(() => [])) ?? [];
  return findings.flatMap(({ level, text }) => (level === "broken" ? [text] : []));
}

/** The current settings files, and those that `enable` changed elsewhere. */
async function registrationsOf(
  agent: Agent,
  installer: Installer,
  records: readonly BackupRecord[],
  context: Surroundings,
): Promise<readonly Registration[]> {
  const own = records.filter((record) => record.agent === agent.source).flatMap(holdersOf);
  const target = targetOf(context);
  // Records first: if both scopes share a file, the record names the one that registered
  const groups: Group[] = own.map(({ scope, files, project = null }) => ({
    scope,
    paths: files,
    project,
    recorded: true,
  }));
  for (const scope of installer.scopes) {
    const project = scope === "project" ? target.project : null;
    groups.push({ scope, paths: await installer.paths(scope, target), project, recorded: false });
  }
  return Promise.all(
    merged(groups)
      .sort((a, b) => installer.scopes.indexOf(a.scope) - installer.scopes.indexOf(b.scope))
      .map((group) => registrationAt(group, installer, context)),
  );
}

/**
 * Merges recorded and found registrations. Files may have appeared or disappeared if an installer depends on what exists, and two
 * registrations may share files.
 */
function merged(groups: readonly Group[]): Group[] {
  const done: Group[] = [];
  for (const group of groups) {
    const index = done.findIndex((known) => isSame(known, group));
    const known = done[index];
    if (known === undefined) done.push(group);
    else done[index] = { ...known, paths: [...new Set([...known.paths, ...group.paths])] };
  }
  return done;
}

const isSame = (a: Group, b: Group): boolean =>
  a.scope === b.scope && a.project === b.project
    ? a.paths.some((path) => b.paths.includes(path))
    : a.paths.join("\n") === b.paths.join("\n");

type Group = Pick<Registration, "scope" | "paths" | "project" | "recorded">;

async function registrationAt(group: Group, installer: Installer, context: Surroundings): Promise<Registration> {
  try {
    const events = installer.registered(await readSettingsFiles(group.paths));
    if (events.length === 0) return { ...group, state: group.recorded ? "gone" : "none", events, blocked: [] };
    const blocked = await findingsOf(group.paths, group.project ?? context.cwd, installer, context);
    return { ...group, state: "enabled", events, blocked };
  } catch {
    return { ...group, state: "unreadable", events: [], blocked: [] };
  }
}
