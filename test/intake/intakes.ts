import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildSync } from "esbuild";
import { RECORDED_VARIABLES } from "#agents/intake.const.ts";
import { type ParsedFile, parseInboxFile } from "#collect/intake/inbox-file.ts";
import { posixLine, quoted } from "#setup/registration/posix-line.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { removeFolder } from "../support/remove.ts";
import { hasShell } from "../support/shells.ts";
import { firstOf, IS_WHOLE } from "../support/whole.ts";

const HOOK_SH = resolve("src/collect/intake/hook.sh");

/** One way to run the intake: hook.sh under one shell, or the node twin. */
export interface Intake {
  readonly title: string;
  readonly isShell: boolean;
  command(sandbox: Sandbox, args: HookArgs): readonly [string, ...string[]];
}

export interface HookArgs {
  readonly source: string;
  readonly event?: string;
  readonly reply?: string;
  readonly drain?: keyof typeof DRAIN_FLAGS;
  /** Where the payload is, if not on stdin. */
  readonly payload?: "variable" | { readonly argument: string };
}

/** hook.sh under every installed shell, started or read by it, and the node twin. */
export function intakes(): readonly Intake[] {
  const all = [["sh"], ["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"], ["zsh", "--emulate", "sh"]] as const;
  // Agents start `sh`; CI runs the others too
  const shells = firstOf(all, 1);
  const programOf = (name: string) =>
    spawnSync("sh", ["-c", 'readlink -f "$(command -v "$1")"', "sh", name], { encoding: "utf8" }).stdout.trim();
  // `sh` covers the shell that it is a link to
  const found = shells.filter(
    ([name]) =>
      name === "sh" || (hasShell(name, "hook.sh") && (name === "bash" || programOf(name) !== programOf("sh"))),
  );
  return [
    ...found.map(
      ([program, ...flags]): Intake => ({
        title: `hook.sh under ${[program, ...flags].join(" ")}`,
        isShell: true,
        command: (sandbox, args) => [program, ...flags, sandbox.hookPath, ...shellArgs(args)],
      }),
    ),
    // As agents that run sh do; the other shells that can be sh differ more from each other than from this
    ...found
      .filter(([program]) => IS_WHOLE || program === "sh")
      .map(
        ([program, ...flags]): Intake => ({
          title: `hook.sh read by ${[program, ...flags].join(" ")}`,
          isShell: true,
          // Where its stdin is a socket, bash reads the user's file, but not as sh
          command: (sandbox, args) => [
            program,
            ...flags,
            ...(program === "bash" ? ["--norc"] : []),
            "-c",
            lineOf(sandbox, args),
          ],
        }),
      ),
    {
      title: "hook.ts under node",
      isShell: false,
      command: (sandbox, args) => [process.execPath, sandbox.twinPath, ...twinArgs(args)],
    },
  ];
}

/** Only those with hook.sh. */
export const shellIntakes = (): readonly Intake[] => intakes().filter(({ isShell }) => isShell);

/** A separate home with the intake installed as by `enable`. */
export interface Sandbox {
  readonly root: string;
  readonly home: string;
  readonly stateDir: string;
  readonly inboxDir: string;
  readonly hookPath: string;
  /** The same file, by a path without quotes. */
  readonly readPath: string;
  readonly confPath: string;
  readonly twinPath: string;
  /** The program that it starts as a drain. */
  readonly programPath: string;
  /** What the fake drain writes. */
  readonly drainedDir: string;
  remove(): void;
}

export function makeSandbox({ drainMs = 0 } = {}): Sandbox {
  const root = mkdtempSync(join(tmpdir(), "openhook intake's "));
  const hookDir = join(root, "home", ".local", "share", "openhook-otel");
  const stateDir = join(root, "home", "it's state");
  const link = mkdtempSync(join(tmpdir(), "openhook-intake-"));
  rmdirSync(link);
  const sandbox: Sandbox = {
    root,
    home: join(root, "home"),
    stateDir,
    inboxDir: join(stateDir, "inbox"),
    hookPath: join(hookDir, "hook"),
    readPath: join(link, "hook"),
    confPath: join(hookDir, "hook.conf"),
    twinPath: join(root, "twin.cjs"),
    programPath: join(root, "drain.cjs"),
    drainedDir: join(root, "drained"),
    remove() {
      rmSync(link);
      removeFolder(root);
    },
  };
  mkdirSync(hookDir, { recursive: true });
  symlinkSync(hookDir, link);
  mkdirSync(sandbox.drainedDir);
  for (const path of [sandbox.hookPath, `${sandbox.hookPath}.sh`]) copyFileSync(HOOK_SH, path);
  chmodSync(sandbox.hookPath, 0o755);
  const drain = sandbox.programPath;
  writeFileSync(drain, fakeDrain(sandbox.drainedDir, drainMs));
  writeFileSync(
    sandbox.confPath,
    `state=${quoted(stateDir)}\nnode=${quoted(process.execPath)}\nprogram=${quoted(drain)}\n`,
  );
  writeFileSync(sandbox.twinPath, twinProgram(stateDir, drain));
  return sandbox;
}

export interface Run {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves at exit and at the end of stdout and stderr, as an agent waits. */
  readonly durationMs: number;
  /** Error codes from writing to stdin. */
  readonly stdinErrors: readonly unknown[];
}

export interface RunOptions {
  readonly input?: Buffer | string;
  /** Never close stdin. */
  readonly keepOpen?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly onSpawn?: (child: ChildProcess) => void;
}

/** Runs a command as an agent does: with pipes for all three streams, until all are closed. */
export function run([program, ...args]: readonly [string, ...string[]], options: RunOptions = {}): Promise<Run> {
  const { input = "", keepOpen = false, env = {}, cwd, onSpawn } = options;
  const startMs = performance.now();
  const child = spawn(program, args, { env: { PATH: process.env["PATH"], ...env }, cwd, detached: true });
  const stdinErrors: unknown[] = [];
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (data: Buffer) => stdout.push(data));
  child.stderr.on("data", (data: Buffer) => stderr.push(data));
  child.stdin.on("error", (error: NodeJS.ErrnoException) => stdinErrors.push(error.code));
  child.stdin.write(input);
  if (!keepOpen) child.stdin.end();
  if (child.pid !== undefined) onSpawn?.(child);
  return new Promise((done, fail) => {
    child.on("error", fail);
    // With keepOpen, stdin's pipe stays open, and "close" would wait for it
    const end = (code: number | null, signal: NodeJS.Signals | null) => {
      child.stdin.destroy();
      done({
        code,
        signal,
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
        durationMs: performance.now() - startMs,
        stdinErrors,
      });
    };
    if (keepOpen) child.on("exit", (code, signal) => setTimeout(end, 20, code, signal));
    else child.on("close", end);
  });
}

/** The inbox's files, parsed, by name. */
export function readInbox(sandbox: Pick<Sandbox, "inboxDir">): readonly (ParsedFile & { readonly name: string })[] {
  if (!existsSync(sandbox.inboxDir)) return [];
  return readdirSync(sandbox.inboxDir)
    .sort()
    .map((name) => ({ name, ...parseInboxFile(readFileSync(join(sandbox.inboxDir, name)), 0) }));
}

/** The only file in the inbox. */
export function onlyEvent(sandbox: Pick<Sandbox, "inboxDir">): ParsedFile & { readonly ok: true } {
  const files = readInbox(sandbox);
  const [file] = files;
  if (files.length !== 1 || file === undefined || !file.ok) {
    throw new Error(`wanted one event in the inbox, found ${JSON.stringify(files.map(({ name, ok }) => [name, ok]))}`);
  }
  return file;
}

/** Waits until a check holds. @throws Error after two minutes */
export async function until<T>(check: () => T | undefined): Promise<T> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const result = check();
    if (result !== undefined) return result;
    if (performance.now() > deadlineMs) throw new Error(`not within ${PATIENCE_MS} ms`);
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

/** Whether a process has ended, even if its parent has not noticed yet. Without `/proc`: true. */
export function hasEnded(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ");
  } catch {
    return true;
  }
}

export const sleepMs = (durationMs: number): Promise<void> => new Promise((wake) => setTimeout(wake, durationMs));

// --- internal ---

const DRAIN_FLAGS = { yes: ["-d"], "if-waiting": ["-w"], soon: ["-s"], no: [] } as const;

const shellArgs = ({ source, event, reply, drain, payload }: HookArgs): readonly string[] => [
  ...DRAIN_FLAGS[drain ?? "no"],
  ...(payload === undefined ? [] : [payload === "variable" ? "-e" : "-a"]),
  source,
  ...(event !== undefined || reply !== undefined ? [event ?? ""] : []),
  ...(reply !== undefined ? [reply] : []),
  ...argumentOf(payload),
];

const argumentOf = (payload: HookArgs["payload"]): readonly string[] =>
  typeof payload === "object" ? [payload.argument] : [];

/** What `enable` registers for such agents. */
const lineOf = (sandbox: Sandbox, args: HookArgs): string => posixLine(sandbox.readPath, shellArgs(args), {}, "sh");

const twinArgs = ({ source, event, reply, drain, payload }: HookArgs): readonly string[] => [
  `--source=${source}`,
  ...(event === undefined ? [] : [`--event=${event}`]),
  ...(reply === undefined ? [] : [`--reply=${reply}`]),
  ...(drain === undefined ? [] : [`--drain=${drain}`]),
  ...(payload === undefined ? [] : [payload === "variable" ? "--payload-env" : "--payload-argument"]),
  ...argumentOf(payload),
];

/** Writes how it was started, then runs for a while. */
const fakeDrain = (drainedDir: string, drainMs: number): string => `
const fs = require("node:fs");
const fds = [0, 1, 2].map((fd) => { try { return fs.readlinkSync("/proc/self/fd/" + fd); } catch { return "?"; } });
const limit = require("node:child_process").spawnSync("sh", ["-c", "ulimit -f"], { encoding: "utf8" }).stdout.trim();
const facts = { argv: process.argv.slice(2), cwd: process.cwd(), pid: process.pid, fds, limit, state: process.env.OPENHOOK_OTEL_HOME,
  options: [process.env.NODE_OPTIONS, process.env.OPENHOOK_OTEL_HOOK_NODE_OPTIONS], openssl: process.env.OPENSSL_CONF ?? "none" };
const file = ${JSON.stringify(drainedDir)} + "/" + process.pid;
fs.writeFileSync(file + ".tmp", JSON.stringify(facts));
fs.renameSync(file + ".tmp", file + ".json");
setTimeout(() => {}, ${drainMs});
`;

let bundled: string | undefined;

/** What cli.ts does with runHook, without the rest of cli.ts. */
function twinProgram(stateDir: string, programPath: string): string {
  bundled ??= buildSync({
    stdin: {
      contents: 'export { runHook } from "./src/collect/intake/hook.ts";',
      resolveDir: resolve("."),
      loader: "ts",
    },
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node20",
    write: false,
  }).outputFiles[0]?.text;
  return `${bundled}
const join = require("node:path").join;
const stateDir = process.env.OPENHOOK_OTEL_HOME || ${JSON.stringify(stateDir)};
module.exports.runHook(process.argv.slice(2), {
  env: process.env, variables: ${JSON.stringify(RECORDED_VARIABLES)}, stdin: process.stdin, cwd: process.cwd(), pid: process.pid, ppid: process.ppid,
  platform: process.platform,
  write: (text) => process.stdout.write(text),
}, { stateDir, inboxDir: join(stateDir, "inbox"), nodePath: process.execPath, programPath: ${JSON.stringify(programPath)} })
  .then(() => process.exit(0));
`;
}
