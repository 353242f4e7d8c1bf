import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renameVersion } from "../support/installed-package.ts";
import { ROOT } from "../support/replay.ts";
import { DEBIAN, DISK, environment, make } from "./make.ts";

export const NODE = "C:\\Program Files\\nodejs\\node.exe";
const APP = "C:\\work\\app\\node_modules\\openhook-otel\\dist\\openhook-otel.cjs";
/** As after Node's installer. */
const PATH = "C:\\Program Files\\nodejs;C:\\windows\\system32;C:\\windows";

/** One program to start. */
export interface Step {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string;
  /** The arguments are a command line already. */
  readonly verbatim?: boolean;
  readonly ms?: number;
}

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

/** This program. */
export const otel = (args: readonly string[], more: Omit<Step, "argv"> = {}): Step => otelAt(APP, args, more);

/** Another copy or version of it. */
export const otelAt = (program: string, args: readonly string[], more: Omit<Step, "argv"> = {}): Step => ({
  argv: [NODE, program, ...args],
  ...more,
});

/** A command line for cmd.exe, as agents pass it. */
export const cmd = (line: string, more: Omit<Step, "argv"> = {}): Step => ({
  argv: ["C:\\windows\\system32\\cmd.exe", "/d", "/s", "/c", `"${line}"`],
  verbatim: true,
  ...more,
});

/** Runs the steps one after another, or all at once. */
export const runAll = (steps: readonly Step[], parallel = false): readonly Result[] => start({ steps, parallel });

export function run(step: Step): Result {
  const [result] = runAll([step]);
  if (result === undefined) throw new Error("no result");
  return result;
}

/** Runs the steps while `program` runs, once it has printed `ready`, whose first group replaces `{ready}` in their arguments. */
export const runDuring = (program: Step, ready: RegExp, steps: readonly Step[]): readonly Result[] =>
  start({ during: { ...coded(program), ready: ready.source }, steps });

/**
 * Runs a step without an administrator's rights. Wine has no access lists, so this is Linux' root without the right to overrule modes, and
 * the folders have a mode that forbids writing.
 */
export function runUnelevated(step: Step, closed: readonly string[]): Result {
  // Wine's server opens all files, so it must start again without these rights
  const wait = () => execFileSync("chroot", [DEBIAN, "env", ...environment(), "wineserver", "-w"], { stdio: "ignore" });
  wait();
  for (const folder of closed) chmodSync(folder, 0o555);
  try {
    const [result] = start({ steps: [step] }, ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]);
    wait();
    if (result === undefined) throw new Error("no result");
    return result;
  } finally {
    for (const folder of closed) chmodSync(folder, 0o755);
  }
}

/** Runs a command line in Linux' bash, where its Node is Windows' Node. Git Bash has the same syntax; Wine has no bash. */
export function inBash(line: string, stdin: string): Omit<Result, "ms"> {
  const folder = onDisk("work", "bash");
  mkdirSync(folder, { recursive: true });
  const inWindows = ["chroot", DEBIAN, "env", ...environment(), "wine", NODE].map((word) => `'${word}'`).join(" ");
  // Files, because Wine gives Node no pipes of Linux; see also inside.cjs
  const [input, out, err] = [join(folder, "stdin"), join(folder, "stdout"), join(folder, "stderr")];
  const program = `#!/bin/sh\nexec ${inWindows} "$@" <'${input}' >'${out}' 2>'${err}'\n`;
  // Also by the path in the line: bash halves its backslashes, and for Linux it is a name in PATH
  for (const name of ["node", (line.split(" ")[0] ?? "").replaceAll("\\\\", "\\")])
    if (!name.includes("/")) writeFileSync(join(folder, name), program, { mode: 0o755 });
  for (const [path, content] of [[input, stdin] as const, [out, ""] as const, [err, ""] as const])
    writeFileSync(path, content);
  const { status, stderr } = spawnSync("bash", ["--norc", "-c", line], {
    env: { PATH: `${folder}:/usr/sbin:/usr/bin:/bin` },
    encoding: "utf8",
  });
  const text = (path: string) => readFileSync(path, "utf8").replaceAll("\r", "");
  return { code: status, stdout: text(out), stderr: `${stderr}${text(err).replace(OF_WINE, "")}` };
}

/** Packs this repository and installs it, as npm does it on Windows. */
export function install(): void {
  make();
  const scratch = mkdtempSync(join(tmpdir(), "openhook-windows-"));
  try {
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", scratch], { cwd: ROOT });
    const [archive = ""] = readdirSync(scratch);
    const folder = onDisk("work", "app");
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), "{}");
    const options = ["--os=win32", "--cpu=x64", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"];
    execFileSync("npm", ["install", "--silent", ...options, join(scratch, archive)], { cwd: folder });
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** A path on the disk, as Linux sees it. */
export const onDisk = (...parts: readonly string[]): string => join(DISK, ...parts);

/** A fresh user profile for one test: its folder, and the variables that lead there. */
export function newProfile(name: string) {
  const folder = onDisk("Users", name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "AppData", "Local", "Temp"), { recursive: true });
  mkdirSync(join(folder, "AppData", "Roaming"), { recursive: true });
  const home = `C:\\Users\\${name}`;
  const env = {
    USERPROFILE: home,
    HOME: home,
    LOCALAPPDATA: `${home}\\AppData\\Local`,
    APPDATA: `${home}\\AppData\\Roaming`,
    TEMP: `${home}\\AppData\\Local\\Temp`,
    TMP: `${home}\\AppData\\Local\\Temp`,
    OPENHOOK_OTEL_DRAIN: "off",
    PATH,
  };
  const state = join(folder, "AppData", "Local", "openhook-otel");
  return { folder, home, env, state };
}

/** All files below a folder with their content; nothing if there is no such folder. */
export function filesIn(folder: string): Readonly<Record<string, string>> {
  if (!existsSync(folder)) return {};
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = paths.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  return Object.fromEntries(files.map((path) => [path.slice(folder.length + 1), readFileSync(path, "latin1")]));
}

export const foldersIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((one) => one.isDirectory())
        .map(({ parentPath, name }) => join(parentPath, name))
        .sort()
    : [];

/** The installed package as another version. @returns its program */
export function packageOf(version: string): string {
  const folder = onDisk("work", version);
  rmSync(folder, { recursive: true, force: true });
  cpSync(onDisk("work", "app"), folder, { recursive: true });
  renameVersion(join(folder, "node_modules", "openhook-otel"), version);
  return `C:\\work\\${version}\\node_modules\\openhook-otel\\dist\\openhook-otel.cjs`;
}

export const copyTo = (from: string, to: string): void => cpSync(from, to, { recursive: true });

// --- internal ---

let jobs = 0;

/** For a job; each step has its own, shorter limit. */
const MAX_MS = 1_800_000;

/** What Wine itself writes to stderr. */
const OF_WINE = "error: XDG_RUNTIME_DIR is invalid or not set in the environment.\n";

const coded = ({ stdin, env, ...step }: Step) => ({
  ...step,
  env: { PATH, ...env },
  ...(stdin !== undefined && { stdin: Buffer.from(stdin).toString("base64") }),
});

function start(
  job: { readonly steps: readonly Step[]; readonly parallel?: boolean; readonly during?: object },
  starter: readonly string[] = [],
) {
  const folder = onDisk("work", "jobs");
  mkdirSync(folder, { recursive: true });
  cpSync(join(ROOT, "test", "windows", "inside.cjs"), join(folder, "inside.cjs"));
  const name = `${process.pid}-${jobs++}.json`;
  writeFileSync(join(folder, name), JSON.stringify({ ...job, steps: job.steps.map(coded) }));
  const line = `cd /w/prefix/drive_c/work && exec wine "$1" 'C:\\work\\jobs\\inside.cjs' 'C:\\work\\jobs\\${name}'`;
  execFileSync("chroot", [DEBIAN, ...starter, "env", ...environment(), "sh", "-c", line, "sh", NODE], {
    stdio: "ignore",
    timeout: MAX_MS,
  });
  const { results, error } = JSON.parse(readFileSync(join(folder, `${name}.out`), "utf8")) as {
    readonly results?: readonly Result[];
    readonly error?: string;
  };
  if (results === undefined) throw new Error(error);
  return results.map((one) => ({
    ...one,
    stdout: one.stdout.replaceAll("\r", ""),
    stderr: one.stderr.replaceAll("\r", ""),
  }));
}
