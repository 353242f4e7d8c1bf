import { statSync } from "node:fs";
import { platform } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Finding, InstallTarget, SettingsText } from "#core/model/installer.ts";
import { readSettingsText } from "#kit/open.ts";
import { compareVersions, parseVersion, versionOf } from "../shared/payload/version.ts";
import { SettingsError } from "../shared/settings/settings.ts";
import { type Statement, valueAt } from "../shared/settings/toml.ts";
import { statementsOf } from "../shared/settings/toml-statements.ts";
import { hookStates } from "./config.ts";
import { registeredIn, requirementsPath } from "./managed.ts";
import { notifyOf } from "./notify.ts";
import { CONFIG, HOOKS, hooksPath, resolvedPath } from "./places.ts";
import { type Handler, handlersOf, stateKey, trustHash } from "./trust.ts";

/** The first version that runs hooks by default; in 0.114.0 to 0.123.0 they must be switched on. */
const HOOKS_SINCE = "0.124.0";

/** True for a version that supports only `notify`. */
export function hasNoHooks(version: string | undefined): boolean {
  const installed = parseVersion(version ?? "");
  return installed !== undefined && compareVersions(installed, HOOKS_SINCE) < 0;
}

/** Reports why registered hooks do not run. Codex silently skips untrusted hooks and hooks of untrusted projects. */
export async function check(
  files: readonly SettingsText[],
  target: InstallTarget,
  requirements = requirementsPath(platform()),
): Promise<readonly Finding[]> {
  if (files.some(({ path }) => path === requirements)) return policyFindings(requirements);
  const config = files.find(({ path }) => basename(path) === CONFIG);
  const hooks = files.find(({ path }) => basename(path) === HOOKS);
  const ours = handlersOf(hooks?.text).filter(({ isOurs }) => isOurs);
  if (config === undefined || hooks === undefined) return [];
  try {
    const statements = statementsOf(config.text ?? "");
    if (ours.length === 0) return await foreignNotify(config, target);
    return [
      ...switchedOff(statements),
      ...(await policyFindings(requirements)),
      ...untrusted(ours, hooks.path, config),
      ...(hooks.path === (await hooksPath("user", target)) ? [] : await projectFindings(statements, target)),
      ...bothForms(statements, config, hooks),
    ];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [broken(`${config.path} cannot be read (${error.message}): Codex does not start with it`)];
  }
}

// --- internal ---

/** What the administrator's file forbids; Codex then silently skips users' hooks. Verified with 0.171.0. */
async function policyFindings(path: string): Promise<readonly Finding[]> {
  const text = await readSettingsText(path);
  if (text === undefined) return [];
  const statements = statementsOf(text);
  if (valueAt(statements, ["features", "hooks"]) === false) {
    return [broken(`all hooks are switched off by hooks = false in ${path}; ask its administrator to remove it`)];
  }
  const isManaged = registeredIn(text).length > 0;
  if (isManaged || valueAt(statements, ["allow_managed_hooks_only"]) !== true) return [];
  const advice = "ask its administrator to remove it, or to run enable --managed";
  return [broken(`users' hooks are switched off by allow_managed_hooks_only in ${path}; ${advice}`)];
}

const broken = (text: string): Finding => ({ level: "broken", text });
const REVIEW = "enable it again, or review and trust it with /hooks in Codex";

const switchedOff = (statements: readonly Statement[]): readonly Finding[] =>
  ["hooks", "codex_hooks"]
    .filter((name) => valueAt(statements, ["features", name]) === false)
    .map((name) => broken(`hooks are switched off: ${name} = false in [features] of ${CONFIG}; remove that line`));

function untrusted(ours: readonly Handler[], path: string, config: SettingsText): readonly Finding[] {
  const states = hookStates(config.text ?? "");
  const eventsOf = (is: (handler: Handler) => boolean): string =>
    [...new Set(ours.filter(is).map((h) => h.event))].join(", ");
  const stateOf = (handler: Handler) => states.get(stateKey(path, handler));
  const off = eventsOf((handler) => stateOf(handler)?.enabled === false);
  const unknown = eventsOf((handler) => stateOf(handler)?.trustedHash === undefined);
  // The hash of a hook with a matcher cannot be computed here, so any trusted hash counts
  const changed = eventsOf((handler) => {
    const hash = stateOf(handler)?.trustedHash;
    return hash !== undefined && handler.matcher === undefined && hash !== trustHash(handler);
  });
  return [
    ...(off === "" ? [] : [broken(`the hook is switched off for ${off}; switch it on in Codex with /hooks`)]),
    ...(unknown === "" ? [] : [broken(`the hook is not trusted for ${unknown}, so Codex does not run it; ${REVIEW}`)]),
    ...(changed === "" ? [] : [broken(`the hook was changed since it was trusted for ${changed}; ${REVIEW}`)]),
  ];
}

/** A project's settings count only if the project is trusted. In a worktree, Codex uses those of the main checkout. */
async function projectFindings(statements: readonly Statement[], target: InstallTarget): Promise<readonly Finding[]> {
  const project = await resolvedPath(target.project);
  const { root, main } = await checkoutOf(project);
  const trusted = [project, root, main].some((path) => levelOf(statements, path) === "trusted");
  return [
    ...(trusted
      ? []
      : [broken(`the project is not trusted, so Codex skips its hooks; start codex in ${root} and trust it`)]),
    ...(main === root ? [] : [broken(`this is a worktree: Codex reads the hooks of ${main} instead; enable it there`)]),
  ];
}

const levelOf = (statements: readonly Statement[], path: string) =>
  valueAt(statements, ["projects", path, "trust_level"]);

/** The checkout that contains a folder, and its main checkout if it is a worktree; outside of a checkout both are the folder. */
async function checkoutOf(folder: string): Promise<{ readonly root: string; readonly main: string }> {
  for (let at = folder; ; at = dirname(at)) {
    const dotGit = join(at, ".git");
    if (statSync(dotGit, { throwIfNoEntry: false })?.isDirectory() === true) return { root: at, main: at };
    const git = await readSettingsText(dotGit);
    const linked = /^gitdir: (.+)[/\\]\.git[/\\]worktrees[/\\][^/\\]+\s*$/.exec(git ?? "")?.[1];
    if (linked !== undefined) return { root: at, main: linked };
    if (dirname(at) === at) return { root: folder, main: folder };
  }
}

/** Hooks in both files run, but Codex prints a warning at every start. */
function bothForms(statements: readonly Statement[], config: SettingsText, hooks: SettingsText): readonly Finding[] {
  if (dirname(config.path) !== dirname(hooks.path) || !statements.some(isHookTable)) return [];
  return [{ level: "remark", text: `${CONFIG} has hooks beside ${HOOKS}: both run, and Codex warns at each start` }];
}

const isHookTable = (statement: Statement): boolean =>
  statement.kind === "header" && statement.isArray && statement.path[0]?.name === "hooks";

/** For versions without hooks: reports that another program uses the only `notify`. */
async function foreignNotify(config: SettingsText, { env }: InstallTarget): Promise<readonly Finding[]> {
  if (notifyOf(config.text) !== "foreign") return [];
  const version = await versionOf("codex", env);
  if (!hasNoHooks(version)) return [];
  return [
    broken(`Codex ${version} has no hooks, and its notify in ${config.path} is taken; install ${HOOKS_SINCE} or newer`),
  ];
}
