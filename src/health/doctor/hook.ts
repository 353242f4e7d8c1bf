import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, parse } from "node:path";
import { isOurCommand } from "../../agents/shared/settings/settings.ts";
import { windowsLine } from "../../agents/shared/settings/windows-line.ts";
import type { Context } from "../../context.ts";
import { parseInboxFile } from "../../intake/inbox-file.ts";
import { messageOf } from "../../model/error-message.ts";
import { suggest } from "../../model/suggest.ts";
import { isHookCurrent, onWindows } from "../../registration/hook-program.ts";
import { brokenHook } from "../status/hook.ts";
import { MANAGED_HOOK, managedHookConf } from "../status/managed-hook.ts";
import type { Status } from "../status/shape.ts";
import { broken, type Finding, inArea } from "./finding.ts";
import { argumentsOf, windowsShells } from "./windows-shells.ts";

/** Whether the installed hook program is there, current, and records an event without printing anything. */
export async function* hookFindings(status: Status, context: Context, hookSource: string): AsyncGenerator<Finding> {
  const { ok, remark, broken: brokenFinding } = inArea("hook");
  const isWanted = isHookWanted(status);
  if (status.agents.some(({ managed }) => managed !== null)) yield* managedHookFindings(hookSource);
  else if (!isWanted && !status.hook.installed) return yield ok("not installed: no agent is enabled");
  if (!isWanted && !status.hook.installed) return;
  const problems = isWanted ? brokenHook(status.hook, true, context) : [];
  if (problems.length > 0) return yield* broken("hook", problems);
  let failure: string | undefined;
  const tried = new Set<string>();
  /** Agents whose settings have a line from another time, which does not start the program any more. */
  const stale = new Map<string, string>();
  try {
    for (const start of await startsOf(status, context)) {
      // Beside the agents' events; a folder for temporary files may not exist
      const near = join(context.places.stateDir, "doctor-");
      const folder = await mkdtemp(near).catch(() => mkdtemp(join(tmpdir(), "doctor-")));
      const problem = await tryHook(start, context, folder);
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

/** The hook for all users. What keeps it from running is reported with the agents. */
async function* managedHookFindings(hookSource: string): AsyncGenerator<Finding> {
  const { ok, remark } = inArea("hook");
  const [bytes, shipped] = await Promise.all(
    [MANAGED_HOOK, hookSource].map((path) => readFile(path).catch(() => undefined)),
  );
  if (bytes === undefined) return;
  if (shipped !== undefined && !bytes.equals(shipped)) {
    yield remark(`${MANAGED_HOOK} is from another version`, "ask the administrator to run enable --managed");
  } else yield ok(`${MANAGED_HOOK}, for all users, starts drains with ${(await managedHookConf()).program}`);
}

/** True if an agent is configured to run our hook, so that it must be installed. */
export const isHookWanted = ({ agents }: Pick<Status, "agents">): boolean =>
  agents.some(({ registrations }) => registrations.some(({ state, recorded }) => state === "enabled" || recorded));

// --- internal ---

/** The intake reads for at most 5 s. */
const HOOK_TIMEOUT_MS = 8000;

interface Start {
  /** The shell, if there is one. */
  readonly shell?: string;
  /** The agent whose settings contain the line, if they are not what `enable` would write now. */
  readonly agent?: string;
  readonly program: string;
  /** @param folder the state directory to use */
  args(folder: string): readonly string[];
  readonly windowsVerbatimArguments?: boolean;
}

/** How agents start the program: on Windows by the registered lines, in each shell that agents use and that is there. */
async function startsOf(status: Status, context: Context): Promise<readonly Start[]> {
  const { places, platform, env } = context;
  if (platform !== "win32") return [{ program: places.hookPath, args: (folder) => [`--trial=${folder}`, "doctor"] }];
  const registered = await registeredLines(status);
  const current = windowsLine(onWindows(context), [TRIAL_WORDS]);
  const others = [...registered].filter(([line]) => line !== current);
  const lines: readonly (readonly [string, string?])[] = [[current], ...others];
  return (await windowsShells(env)).flatMap((shell) =>
    lines.map(([line, agent]) => ({
      shell: shell.title,
      ...(agent !== undefined && { agent }),
      program: shell.program,
      args: (folder) => {
        const trial = `--trial-hex=${Buffer.from(folder).toString("hex")} --source doctor`;
        return argumentsOf(shell, line.replaceAll(TRIAL_WORDS, trial)).args;
      },
      windowsVerbatimArguments: shell.isVerbatim === true,
    })),
  );
}

/** Stands for the words of a trial, and in a line of some settings for those of an event. */
const TRIAL_WORDS = "{trial}";

/** The different lines for Windows in the settings of enabled agents, each with the name of one agent that has it. */
async function registeredLines({ agents }: Pick<Status, "agents">): Promise<ReadonlyMap<string, string>> {
  const lines = new Map<string, string>();
  for (const { source, registrations } of agents) {
    const paths = registrations.flatMap((one) => (one.state === "enabled" ? one.paths : []));
    for (const path of new Set(paths)) {
      const text = await readFile(path, "utf8").catch(() => "");
      for (const line of linesIn(text)) if (!lines.has(line)) lines.set(line, source);
    }
  }
  return lines;
}

/** Our lines in any format whose strings are written as in JSON. */
function linesIn(text: string): readonly string[] {
  return (text.match(/"(?:[^"\\\n]|\\.)*"/g) ?? []).flatMap((quoted) => {
    try {
      const line: unknown = JSON.parse(quoted);
      if (typeof line !== "string" || !isOurCommand(line)) return [];
      const trial = line.replaceAll(/ --source [a-z-]+ --drain [a-z-]+(?: --event [\w.-]+)?/g, ` ${TRIAL_WORDS}`);
      // Copilot's condition is for PowerShell only
      return trial === line ? [] : [trial.replace(/^if \(\$env:COPILOT_CLI\) \{ exit 0 \}; /, "")];
    } catch {
      return [];
    }
  });
}

/**
 * Sends one event through the installed hook into a separate state directory, which no drain reads.
 *
 * @param folder that directory; removed afterwards
 * @returns what went wrong
 */
async function tryHook(start: Start, { places, env }: Context, folder: string): Promise<string | undefined> {
  const by = start.shell === undefined ? "" : `in ${start.shell} `;
  try {
    const hookEnv = {
      ...env,
      HOME: env["HOME"] ?? places.home,
      // For a hook from a version without --trial
      OPENHOOK_OTEL_HOME: folder,
      OPENHOOK_OTEL_DRAIN: "off",
    };
    const problem = await new Promise<string | undefined>((done) => {
      const options = {
        env: hookEnv,
        // Not in the current folder or below, which a repository may control
        cwd: parse(folder).root,
        timeout: HOOK_TIMEOUT_MS,
        killSignal: "SIGKILL",
        windowsHide: true,
        ...(start.windowsVerbatimArguments === true && { windowsVerbatimArguments: true }),
      } as const;
      const child = execFile(start.program, [...start.args(folder)], options, (error, stdout, stderr) => {
        if (error !== null) done(`${by}it failed (${error.killed ? "timed out" : (error.code ?? error.signal)})`);
        else
          done(
            stdout === "" && stderr === ""
              ? undefined
              : `${by}it printed something, which some agents show their model`,
          );
      });
      child.stdin?.on("error", () => {});
      child.stdin?.end("{}");
    });
    if (problem !== undefined) return problem;
    const [name] = await readdir(join(folder, "inbox")).catch(() => []);
    if (name === undefined) return `${by}no event was written`;
    const file = parseInboxFile(await readFile(join(folder, "inbox", name)), 0);
    const isWhole = file.ok && file.facts.source === "doctor" && file.end === "whole";
    return isWhole ? undefined : `${by}the event that it wrote is incomplete`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
