import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { windowsLine } from "#agents/shared/settings/windows-line.ts";
import type { Context } from "#config/context.ts";
import { messageOf } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { isHookCurrent, isNoexec, noexecText, onWindows } from "#setup/registration/hook-program.ts";
import { knowsPathOfNode, ourLinesIn, startsNodeByName } from "#setup/registration/lines-in-settings.ts";
import { hideOtherPlaces } from "#setup/registration/other-places.ts";
import { listed } from "#setup/registration/settings.ts";
import type { Examined } from "../facts/examined.ts";
import type { AgentStatus, Facts, Registration } from "../facts/shape.ts";
import type { Tried } from "../facts/tried.ts";
import { alsoInStatus, type Finding, inArea } from "../finding.ts";
import { inShell, TRIAL_WORDS, type Trial, tryHook, userShell, windowsShells } from "./try-hook.ts";

/** Why registered hooks would not work. */
export function* brokenHookFindings({ facts, context }: Examined): Generator<Finding> {
  if (!isHookWanted(facts)) return;
  const isEnabled = facts.agents.some(({ registrations }) => registrations.some(({ state }) => state === "enabled"));
  for (const text of brokenHook(facts.hook, context)) {
    const finding = inArea("hook").broken(text);
    // No agent starts a hook whose registrations are gone, which `status` says in a line of its own
    yield facts.hook.installed || isEnabled ? alsoInStatus(finding) : finding;
  }
}

/** Whether the installed hook program is current, and records an event without printing anything. */
export async function* triedHookFindings({ facts, context, hookSource }: Tried): AsyncGenerator<Finding> {
  const { ok, remark, broken } = inArea("hook");
  const { hook, agents } = facts;
  const isWanted = isHookWanted(facts);
  if (!isWanted && !hook.installed) {
    if (agents.every(({ managed }) => managed === null)) yield ok("not installed: no agent is enabled");
    return;
  }
  if (isWanted && brokenHook(hook, context).length > 0) return;
  let failure: string | undefined;
  const tried = new Set<string>();
  /** Agents whose settings contain an older command line that no longer starts the program → the problem. */
  const stale = new Map<string, string>();
  try {
    for (const start of await startsOf(facts, context)) {
      const problem = await tryHook(start, context);
      if (problem !== undefined && start.agent !== undefined) stale.set(start.agent, problem);
      else failure ??= problem;
      if (start.shell !== undefined) tried.add(start.shell);
    }
  } catch (error) {
    return yield remark(`${hook.path} was not tested: ${messageOf(error)}`);
  }
  const where = tried.size === 0 ? "" : ` (started by ${[...tried].join(", ")})`;
  if (failure === undefined) yield ok(`${hook.path} records an event and prints nothing${where}`);
  else {
    yield broken(
      `${hook.path} was started as an agent starts it, and ${failure}`,
      `${suggest("doctor --fix")} reinstalls it; if that does not help, check ${
        context.platform === "win32"
          ? "that node is in PATH for every program, not only in your terminal"
          : "that the folder allows programs (noexec)"
      }`,
    );
  }
  for (const [agent, problem] of failure === undefined ? stale : []) {
    yield broken(
      `the command line in the settings of ${agent} was run as the agent runs it, and ${problem}`,
      `${suggest(`enable ${agent}`)} writes it again (add --scope project for a project's settings)`,
    );
  }
  if (failure === undefined && !(await isHookCurrent(context, hookSource))) {
    yield remark(`${hook.path} is from another version`, `${suggest("doctor --fix")} updates it`);
  }
}

/** True if an agent is configured to run our hook, so that it must be installed. */
export const isHookWanted = ({ agents }: Pick<Facts, "agents">): boolean =>
  agents.some(({ registrations }) => registrations.some(({ state, recorded }) => state === "enabled" || recorded));

/** Users' registrations on Windows whose lines start `node` by its name. */
export async function registrationsByName(
  { registrations }: AgentStatus,
  { platform }: Pick<Context, "platform">,
): Promise<readonly Registration[]> {
  if (platform !== "win32") return [];
  const users = registrations.filter(({ scope, state }) => scope === "user" && state === "enabled");
  const found = await Promise.all(users.map(({ paths }) => filesByName(paths)));
  return users.filter((_, index) => (found[index]?.length ?? 0) > 0);
}

/**
 * Lines in the settings of a user or an administrator that start `node` by its name, as `enable` writes them if Node's path has a blank
 * and the disk has no short names.
 *
 * @param asAdministrator the command that writes an administrator's settings again
 */
export async function nodeByNameFindings(
  status: AgentStatus,
  context: Context,
  asAdministrator: string,
): Promise<readonly Finding[]> {
  const { broken, remark } = inArea(status.title);
  const users = (await registrationsByName(status, context)).flatMap(({ paths }) => paths);
  const managed = status.managed === null || context.platform !== "win32" ? [] : [status.managed];
  const [ofUser, ofAll] = await Promise.all([users, managed].map(filesByName));
  const text = (files: readonly string[]): string =>
    `hooks in ${listed(files)} start node by its name: cmd starts a node.cmd of the current folder, such as a repository's, before the one in PATH`;
  const findings: Finding[] = [];
  if (ofUser !== undefined && ofUser.length > 0) {
    findings.push(
      knowsPathOfNode(context)
        ? broken(text(ofUser), `${suggest("doctor --fix")} writes Node's full path`)
        : remark(
            text(ofUser),
            `this disk has no short names: install Node in a folder without blanks, then ${suggest("enable")}`,
          ),
    );
  }
  if (ofAll !== undefined && ofAll.length > 0) findings.push(broken(text(ofAll), asAdministrator));
  return findings;
}

// --- internal ---

/** Why a registered hook would not work, with the remedy. */
function brokenHook(hook: Facts["hook"], { places, platform }: Context): readonly string[] {
  const repair = `${suggest("enable")} repairs it`;
  if (!hook.installed) return [`agents are configured to run ${hook.path}, which does not exist: ${repair}`];
  if (isNoexec(hook.path, platform)) return [noexecText(hook.path)];
  if (!hook.executable) return [`${hook.path} cannot be executed: ${repair}`];
  if (hook.program === null || hook.node === null) {
    return [`${places.hookConfPath} is missing or damaged, so hooks cannot start a drain: ${repair}`];
  }
  // A missing Node binary is replaced by the one in PATH
  return existsSync(hook.program)
    ? []
    : [`hooks cannot start a drain: ${hook.program}, named in ${places.hookConfPath}, does not exist: ${repair}`];
}

interface Start extends Trial {
  /** The agent whose settings contain the line, if they are not what `enable` would write now. */
  readonly agent?: string;
}

/** How agents start the program: by the registered lines, in each shell that agents use and that is there. */
async function startsOf(facts: Facts, context: Context): Promise<readonly Start[]> {
  const { places, platform, env } = context;
  const registered = await registeredLines(facts, context);
  if (platform !== "win32") {
    const shell = userShell(env);
    const lines =
      shell === undefined ? [] : [...registered].map(([line, agent]) => ({ ...inShell(shell, line), agent }));
    return [{ program: places.hookPath, args: (folder) => [`--trial=${folder}`, "doctor"] }, ...lines];
  }
  const current = windowsLine(onWindows(context), [TRIAL_WORDS]);
  const others = [...registered].filter(([line]) => line !== current);
  const lines: readonly (readonly [string, string?])[] = [[current], ...others];
  return (await windowsShells(env)).flatMap((shell) =>
    lines.map(([line, agent]) => ({ ...inShell(shell, line), ...(agent !== undefined && { agent }) })),
  );
}

/** The different lines in the settings of enabled agents for this system, each with the name of one agent that has it. */
async function registeredLines(
  { agents }: Pick<Facts, "agents">,
  context: Context,
): Promise<ReadonlyMap<string, string>> {
  const trialOf = context.platform === "win32" ? windowsTrialOf : posixTrialOf;
  const lines = new Map<string, string>();
  for (const { source, registrations } of agents) {
    const paths = registrations.flatMap((registration) => (registration.state === "enabled" ? registration.paths : []));
    for (const path of new Set(paths)) {
      const text = await readFile(path, "utf8").catch(() => "");
      for (const line of ourLinesIn(hideOtherPlaces(text, context)).map(trialOf)) {
        if (line !== undefined && !lines.has(line)) lines.set(line, source);
      }
    }
  }
  return lines;
}

/** The line with the words of a trial; `undefined`: it is no user's line for Linux and macOS. */
function posixTrialOf(line: string): string | undefined {
  if (!/^(?:sh -c ")?\[ (?:! -x|'\\\\' =) /.test(line)) return undefined;
  const trial = line.replaceAll(
    /((?:exec|set --) (?:'[^']*'|[^\s']+))(?: (?:'[^']*'|[^\s'"#;]+))+/g,
    `$1 ${TRIAL_WORDS}`,
  );
  return trial === line ? undefined : trial;
}

/** The line with the words of a trial; `undefined`: it is no line for Windows. */
function windowsTrialOf(line: string): string | undefined {
  const trial = line.replaceAll(/ --source [a-z-]+ --drain [a-z-]+(?: --event [\w.-]+)?/g, ` ${TRIAL_WORDS}`);
  return trial === line ? undefined : trial;
}

async function filesByName(paths: readonly string[]): Promise<readonly string[]> {
  const texts = await Promise.all(paths.map((path) => readFile(path, "utf8").catch(() => "")));
  return paths.filter((_, index) => startsNodeByName(texts[index] ?? ""));
}
