import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { RECORDED_VARIABLES } from "#agents/intake.const.ts";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import type { Recording } from "./recordings.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The demo's folders, separate from the user's state and settings. Absolute paths. */
export interface DemoPlaces {
  readonly home: string;
  readonly stateDir: string;
  readonly configDir: string;
}

/** A drain's report. */
type DemoDrain = z.infer<typeof DemoDrain>;
const DemoDrain = z.object({
  events: z.number(),
  spans: z.number(),
  sent: z.number(),
  rejected: z.number(),
  waiting: z.number(),
  problems: z.array(z.string()),
});

/**
 * Runs the hook program once per recorded call, like an agent: with the payload on stdin. Its file in the inbox gets the call's time,
 * because the file's time is the event's.
 *
 * @param packageRoot contains `dist`
 * @returns the hook's durations in milliseconds, one per call
 * @throws UserError if the hook cannot be started, fails, or leaves no event
 */
export async function replay(
  recordings: readonly Recording[],
  places: DemoPlaces,
  context: Context,
  packageRoot: string,
): Promise<readonly number[]> {
  const { program, args } = hookProgram(context, packageRoot);
  const inboxDir = join(places.stateDir, "inbox");
  const tookMs: number[] = [];
  for (const { source, calls } of recordings) {
    for (const call of calls) {
      // OPENHOOK_OTEL_DRAIN: one drain at the end, when the times are set
      const env = { ...demoEnv(context.env, places), ...call.env, OPENHOOK_OTEL_DRAIN: "off" };
      const startMs = performance.now();
      const { pid, code, stderr } = await run(program, [...args, source, call.event], env, places.home, call.stdin);
      tookMs.push(performance.now() - startMs);
      const names = await readdir(inboxDir).catch(() => []);
      const name = names.find((file) => file.includes(`-${pid}-`));
      if (code !== 0 || name === undefined) {
        const reason = stderr === "" ? `it exited with ${code}` : stderr.trim();
        throw new UserError("E_DEMO", `the hook ${program} left no event in ${inboxDir}: ${reason}`, 1);
      }
      await utimes(join(inboxDir, name), call.timeMs / 1000, call.timeMs / 1000);
    }
  }
  return tookMs;
}

/**
 * Runs `openhook-otel drain` of the built program in a separate process.
 *
 * @param env added to the demo's environment, e.g. the destination
 * @throws UserError with the drain's message if it failed
 */
export async function drainOnce(places: DemoPlaces, context: Context, env: Env): Promise<DemoDrain> {
  return DemoDrain.parse(JSON.parse(await runNode([context.programPath, "drain", "--json"], places, context, env)));
}

/**
 * Runs Node in the demo's home and environment.
 *
 * @param args the script first
 * @returns what it printed
 * @throws UserError with its message if it failed
 */
export async function runNode(
  args: readonly string[],
  places: DemoPlaces,
  context: Context,
  env: Env = {},
): Promise<string> {
  const all = { ...demoEnv(context.env, places), ...env };
  const { code, stdout, stderr } = await run(context.nodePath, args, all, places.home, "");
  if (code === 0) return stdout;
  const what = args.slice(1).find((arg) => !arg.includes("/")) ?? args[0];
  throw new UserError("E_DEMO", `the demo's ${what} failed: ${stderr.trim() || `it exited with ${code}`}`, 1);
}

/** An environment without variables for programs like this one, which must not affect the demo. */
export function withoutPrograms(env: Env): Env {
  const recorded: ReadonlySet<string> = new Set(RECORDED_VARIABLES);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_PROGRAMS.test(name) && !recorded.has(name)));
}

// --- internal ---

const OF_PROGRAMS = /^(OTEL_|OPENHOOK_|XDG_|CLAUDE)/;

function demoEnv(env: Env, { home, stateDir, configDir }: DemoPlaces): Env {
  return {
    ...withoutPrograms(env),
    HOME: home,
    USERPROFILE: home,
    APPDATA: configDir,
    // An installed hook records its state directory below it
    LOCALAPPDATA: join(home, "AppData", "Local"),
    XDG_CONFIG_HOME: configDir,
    OPENHOOK_OTEL_HOME: stateDir,
  };
}

/** @throws UserError when it was not built */
function hookProgram({ platform, nodePath }: Context, packageRoot: string) {
  const windows = platform === "win32";
  const path = join(packageRoot, "dist", windows ? "hook.cjs" : "hook.sh");
  if (!existsSync(path)) throw new UserError("E_DEMO", `${path} is missing: run "npm ci && npm run build" first`, 1);
  return windows ? { program: nodePath, args: [path] } : { program: "/bin/sh", args: [path] };
}

interface Finished {
  readonly pid: number;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[], env: Env, cwd: string, input: string): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, windowsHide: true });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", (error) => reject(new UserError("E_DEMO", `cannot start ${program}: ${error.message}`, 1)));
    child.on("close", (code) => resolve({ pid: child.pid ?? 0, code, stdout, stderr }));
    // if the program ends before it has read everything, its exit code decides
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}
