import { constants, existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { allAgents } from "../../agents/registry.ts";
import { allRecords, type BackupRecord } from "../../config/backup.ts";
import type { Agent, Installer } from "../../model/agent.ts";
import type { Context } from "../context.ts";
import { targetOf } from "../settings-edit.ts";
import type { AgentStatus, Registration, Status } from "./facts.ts";
import { isAccessible } from "./files.ts";

/** Every agent that can be enabled, and where it is. */
export async function agentsOf(context: Context): Promise<readonly AgentStatus[]> {
  const records = await allRecords(context.places.backupDir);
  const found: AgentStatus[] = [];
  for (const agent of await allAgents()) {
    const installer = (await agent.installer?.())?.default;
    if (installer === undefined) continue;
    found.push({
      source: agent.source,
      title: agent.title,
      registrations: await registrationsOf(agent, installer, records, context),
    });
  }
  return found;
}

/** What the user must mend of an agent's registrations, one line each. */
export function brokenRegistrations({ title, source, registrations }: AgentStatus): readonly string[] {
  return registrations.flatMap(({ scope, path, state }) => {
    const flag = scope === "project" ? " --scope project" : "";
    if (state === "unreadable") return [`cannot read ${title}'s settings ${path}: make it readable for you`];
    if (state !== "gone") return [];
    // A project that was deleted takes its registration with it; nobody needs to mend that
    if (scope === "project" && !existsSync(dirname(dirname(path)))) return [];
    return [
      `${title} is not collected: our registration is gone from ${path}; openhook-otel enable ${source}${flag} puts it back, openhook-otel disable ${source}${flag} forgets it`,
    ];
  });
}

/** The program that agents start. */
export async function hookOf({ places, platform }: Context): Promise<Status["hook"]> {
  const conf = await readFile(places.hookConfPath, "utf8").catch(() => "");
  const installed = existsSync(places.hookPath);
  // On Windows the Node binary runs it, so that reading is enough
  const mode = platform === "win32" ? constants.R_OK : constants.X_OK;
  const executable = installed && (await isAccessible(places.hookPath, mode));
  return {
    path: places.hookPath,
    installed,
    executable,
    node: confValue(conf, "node"),
    program: confValue(conf, "program"),
  };
}

/** Why a registered hook would not do its work, with what to do. */
export function brokenHook(hook: Status["hook"], isEnabled: boolean, { places }: Context): readonly string[] {
  const repair = "openhook-otel enable puts it right";
  if (!hook.installed) return isEnabled ? [`agents are told to run ${hook.path}, and it is not there: ${repair}`] : [];
  if (!hook.executable) return [`${hook.path} cannot be executed: ${repair}`];
  if (hook.program === null || hook.node === null) {
    return [`${places.hookConfPath} is missing or damaged, so that no hook can start a drain: ${repair}`];
  }
  // A missing Node binary is made good by the one on the PATH
  return existsSync(hook.program)
    ? []
    : [`hooks cannot start a drain: ${hook.program}, named in ${places.hookConfPath}, is not there: ${repair}`];
}

// --- internal ---

/** The settings files of here and now, and those that `enable` has touched elsewhere. */
async function registrationsOf(
  agent: Agent,
  installer: Installer,
  records: readonly BackupRecord[],
  context: Context,
): Promise<readonly Registration[]> {
  const own = records.filter((record) => record.agent === agent.source);
  const recorded = new Set(own.map((record) => record.path));
  const places = new Map<string, "user" | "project">();
  for (const scope of installer.scopes) {
    const path = installer.path(scope, targetOf(context));
    if (!places.has(path)) places.set(path, scope);
  }
  for (const { path, scope } of own) places.set(path, scope);
  const found = [...places].map(([path, scope]) => registrationAt(path, scope, installer, recorded.has(path)));
  return Promise.all(found);
}

async function registrationAt(
  path: string,
  scope: "user" | "project",
  installer: Installer,
  recorded: boolean,
): Promise<Registration> {
  try {
    const events = installer.registered(await readFile(path, "utf8"));
    const state = events.length > 0 ? "enabled" : recorded ? "gone" : "none";
    return { scope, path, state, events, recorded };
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return { scope, path, state: isMissing ? (recorded ? "gone" : "none") : "unreadable", events: [], recorded };
  }
}

/** A value as `enable` wrote it, for a POSIX shell. */
function confValue(conf: string, name: string): string | null {
  const found = new RegExp(`^${name}='((?:[^']|'\\\\'')*)'$`, "m").exec(conf)?.[1];
  return found === undefined ? null : found.replaceAll("'\\''", "'");
}
