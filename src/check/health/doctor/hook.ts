import { readFile } from "node:fs/promises";
import { windowsLine } from "#agents/shared/settings/windows-line.ts";
import type { Context } from "#config/context.ts";
import { messageOf } from "#kit/error-message.ts";
import { suggest } from "#kit/suggest.ts";
import { isHookCurrent, onWindows } from "#setup/registration/hook-program.ts";
import { ourLinesIn } from "#setup/registration/lines-in-settings.ts";
import { hideOtherPlaces } from "#setup/registration/other-places.ts";
import { brokenHook } from "../status/hook.ts";
import type { Status } from "../status/shape.ts";
import { broken, type Finding, inArea } from "./finding.ts";
import { managedHookFindings } from "./managed.ts";
import { userShell, windowsShells } from "./shells.ts";
import { inShell, TRIAL_WORDS, type Trial, tryHook } from "./try-hook.ts";

/** Whether the installed hook program is there, current, and records an event without printing anything. */
export async function* hookFindings(status: Status, context: Context, hookSource: string): AsyncGenerator<Finding> {
  const { ok, remark, broken: brokenFinding } = inArea("hook");
  const isWanted = isHookWanted(status);
  const isManaged = status.agents.some(({ managed }) => managed !== null);
  yield* managedHookFindings(isManaged, context, hookSource);
  if (!isWanted && !status.hook.installed) {
    if (!isManaged) yield ok("not installed: no agent is enabled");
    return;
  }
  const problems = isWanted ? brokenHook(status.hook, true, context) : [];
  if (problems.length > 0) return yield* broken("hook", problems);
  let failure: string | undefined;
  const tried = new Set<string>();
  /** Agents whose settings contain an older command line that no longer starts the program → the problem. */
  const stale = new Map<string, string>();
  try {
    for (const start of await startsOf(status, context)) {
      const problem = await tryHook(start, context);
      if (problem !== undefined && start.agent !== undefined) stale.set(start.agent, problem);
      else failure ??= problem;
      if (start.shell !== undefined) tried.add(start.shell);
    }
  } catch (error) {
    return yield remark(`${status.hook.path} was not tested: ${messageOf(error)}`);
  }
  const where = tried.size === 0 ? "" : ` (started by ${[...tried].join(", ")})`;
  if (failure === undefined) yield ok(`${status.hook.path} records an event and prints nothing${where}`);
  else {
    yield brokenFinding(
      `${status.hook.path} was started as an agent starts it, and ${failure}`,
      `${suggest("doctor --fix")} reinstalls it; if that does not help, check ${
        context.platform === "win32"
          ? "that node is in PATH for every program, not only in your terminal"
          : "that the folder allows programs (noexec)"
      }`,
    );
  }
  for (const [agent, problem] of failure === undefined ? stale : []) {
    yield brokenFinding(
      `the command line in the settings of ${agent} was run as the agent runs it, and ${problem}`,
      `${suggest(`enable ${agent}`)} writes it again (add --scope project for a project's settings)`,
    );
  }
  if (failure === undefined && !(await isHookCurrent(context, hookSource))) {
    yield remark(`${status.hook.path} is from another version`, `${suggest("doctor --fix")} updates it`);
  }
}

/** True if an agent is configured to run our hook, so that it must be installed. */
export const isHookWanted = ({ agents }: Pick<Status, "agents">): boolean =>
  agents.some(({ registrations }) => registrations.some(({ state, recorded }) => state === "enabled" || recorded));

// --- internal ---

interface Start extends Trial {
  /** The agent whose settings contain the line, if they are not what `enable` would write now. */
  readonly agent?: string;
}

/** How agents start the program: by the registered lines, in each shell that agents use and that is there. */
async function startsOf(status: Status, context: Context): Promise<readonly Start[]> {
  const { places, platform, env } = context;
  const registered = await registeredLines(status, context);
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
  { agents }: Pick<Status, "agents">,
  context: Context,
): Promise<ReadonlyMap<string, string>> {
  const trialOf = context.platform === "win32" ? windowsTrialOf : posixTrialOf;
  const lines = new Map<string, string>();
  for (const { source, registrations } of agents) {
    const paths = registrations.flatMap((one) => (one.state === "enabled" ? one.paths : []));
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
  const trial = line.replace(
    /^((?:sh -c ")?\[ ! -x (\S+|'[^']*') \]\|\|exec \2|set -- (?:'[^']*'|[^\s']+))(?: (?:'[^']*'|[^\s'"#;]+))+/,
    `$1 ${TRIAL_WORDS}`,
  );
  return trial === line ? undefined : trial;
}

/** The line with the words of a trial; `undefined`: it is no line for Windows. */
function windowsTrialOf(line: string): string | undefined {
  const trial = line.replaceAll(/ --source [a-z-]+ --drain [a-z-]+(?: --event [\w.-]+)?/g, ` ${TRIAL_WORDS}`);
  return trial === line ? undefined : trial;
}
