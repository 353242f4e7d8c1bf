import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Readable } from "node:stream";
import { programPath } from "#config/programs.ts";
import { messageOf } from "#kit/errors.ts";

/** Git could not answer: it failed, took too long, or the repository must not be read. */
export class GitError extends Error {
  readonly code = "E_GIT";
}

interface GitSettings {
  /** Absolute path. */
  readonly program: string;
  /** In the repository or its git directory. */
  readonly folder: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** When everything must be done, in milliseconds of `performance.now()`. */
  readonly untilMs: number;
}

/**
 * Git, started so that it only reads: it runs no hook, pager, filter, helper or other program that a repository's settings name, opens
 * no connection (also not for objects that a partial clone lacks), takes no lock, and asks nothing. The user's own settings stay, for
 * `safe.directory`. All its commands are stopped when the time is up.
 */
export class Git {
  readonly settings: GitSettings;
  readonly #running = new Set<ChildProcess>();

  constructor(settings: GitSettings) {
    this.settings = settings;
  }

  get isLate(): boolean {
    return performance.now() >= this.settings.untilMs;
  }

  /** @throws GitError if there is no answer, or more than 8 MiB */
  async text(args: readonly string[], input = ""): Promise<string> {
    const parts: Buffer[] = [];
    let bytes = 0;
    const child = this.start(args, input);
    for await (const part of child.output) {
      bytes += part.length;
      if (bytes > MAX_TEXT_BYTES) throw new GitError(`git ${args[0]} prints more than ${MAX_TEXT_BYTES} bytes`);
      parts.push(part);
    }
    await child.ended;
    return Buffer.concat(parts).toString("utf8");
  }

  /** What git prints, in records that end with a byte, as they arrive. @throws GitError */
  async *records(args: readonly string[], end: "\n" | "\0", input = ""): AsyncGenerator<Buffer> {
    for await (const records of this.batches(args, end, input)) yield* records;
  }

  /** The same, but yields all records that have arrived as one list: for very many records. @throws GitError */
  async *batches(args: readonly string[], end: "\n" | "\0", input = ""): AsyncGenerator<readonly Buffer[]> {
    const child = this.start(args, input);
    try {
      yield* split(child.output, end.charCodeAt(0));
      await child.ended;
    } finally {
      this.#kill(child.process);
    }
  }

  /** What a second git prints that reads the first one's output. @throws GitError */
  async piped(first: readonly string[], second: readonly string[], input: string): Promise<string> {
    const from = this.start(first, input);
    const to = this.start(second);
    from.process.stdout?.pipe(to.process.stdin as NodeJS.WritableStream);
    const parts: Buffer[] = [];
    for await (const part of to.output) parts.push(part);
    await Promise.all([from.ended, to.ended]);
    return Buffer.concat(parts).toString("latin1");
  }

  /**
   * @param input for stdin; `undefined` leaves it open
   * @returns `ended` rejects with a GitError if git failed
   */
  start(args: readonly string[], input?: string): { process: ChildProcess; output: Readable; ended: Promise<void> } {
    const leftMs = this.settings.untilMs - performance.now();
    if (this.isLate) throw new GitError(LATE);
    const child = spawn(this.settings.program, [...SAFE_SETTINGS, ...args], {
      cwd: this.settings.folder,
      env: environment(this.settings),
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    this.#running.add(child);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, leftMs);
    let problem = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (problem.length < MAX_PROBLEM_CHARACTERS) problem += text;
    });
    // It may end before it has read everything
    child.stdin.on("error", () => {});
    if (input !== undefined) child.stdin.end(input);
    const ended = new Promise<void>((done, fail) => {
      child.once("error", (error) => fail(new GitError(`git cannot be started: ${messageOf(error)}`)));
      child.once("close", (code, signal) => {
        clearTimeout(timer);
        this.#running.delete(child);
        if (code === 0) done();
        else fail(new GitError(isLate ? LATE : failure(args, problem, code ?? signal)));
      });
    });
    // Its callers await it later; until then a rejection must not end the program
    ended.catch(() => {});
    return { process: child, output: child.stdout, ended };
  }

  /** Ends what is still running. */
  stop(): void {
    for (const child of this.#running) this.#kill(child);
  }

  #kill(child: ChildProcess): void {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  }
}

/** Splits a stream into records that end with a byte; the last one may lack it. */
async function* split(stream: Readable, end: number): AsyncGenerator<readonly Buffer[]> {
  let rest: Buffer[] = [];
  for await (const part of stream as AsyncIterable<Buffer>) {
    const records: Buffer[] = [];
    let from = 0;
    for (let at = part.indexOf(end); at >= 0; at = part.indexOf(end, from)) {
      const last = part.subarray(from, at);
      records.push(rest.length === 0 ? last : Buffer.concat([...rest, last]));
      rest = [];
      from = at + 1;
    }
    if (from < part.length) rest.push(part.subarray(from));
    yield records;
  }
  if (rest.length > 0) yield [Buffer.concat(rest)];
}

/** Where programs are looked for. */
interface Search {
  /** Folders of the repositories that are read. */
  readonly projects: readonly string[];
  readonly home: string;
}

/** The absolute path of git, as `findProgram` finds it. @returns `undefined` if git is not installed */
export function findGit(
  env: Readonly<Record<string, string | undefined>>,
  search: Search,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const found = findProgram("git", env, search, platform);
  if (platform !== "darwin" || found !== MAC_STUB) return found;
  // Without the developer tools this program only opens a window that offers to install them
  return MAC_GITS.find((real) => existsSync(real));
}

/**
 * The absolute path of a program. Folders of PATH that belong to a project are left out, so that a repository cannot bring its own.
 *
 * @returns `undefined` if it is not installed
 */
export function findProgram(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  search: Search,
  platform: NodeJS.Platform,
): string | undefined {
  const path = programPath(env, search);
  const file = platform === "win32" ? `${name}.exe` : name;
  return path
    .split(delimiter)
    .map((folder) => join(folder, file))
    .find(isProgram);
}

// --- internal ---

const LATE = "git took too long";
const MAX_TEXT_BYTES = 8 << 20;
const MAX_PROBLEM_CHARACTERS = 2_000;

/** Settings with which nothing of a repository's own settings starts a program or changes what is printed. */
const SAFE_SETTINGS: readonly string[] = [
  "--no-pager",
  "--literal-pathspecs",
  ...[
    // By default 96 MiB
    "core.deltaBaseCacheLimit=16m",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotePath=false",
    "core.attributesFile=/dev/null",
    "diff.external=",
    "diff.orderFile=/dev/null",
    "diff.ignoreSubmodules=none",
    "log.showSignature=false",
    "log.mailmap=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
  ].flatMap((setting) => ["-c", setting]),
];

/** No variable of git is inherited: an agent's environment may name another repository, or programs. */
function environment({ env, home }: GitSettings): Record<string, string> {
  const kept = ["XDG_CONFIG_HOME", "USERPROFILE", "SystemRoot", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "APPDATA"];
  return {
    ...Object.fromEntries(kept.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    HOME: home,
    PATH: process.platform === "win32" ? "" : "/usr/bin:/bin",
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    // Git before 2.45 does not know the first one
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
  };
}

function failure(args: readonly string[], problem: string, end: number | string | null): string {
  const [line = ""] = problem.split("\n", 1);
  return `git ${args[0]} failed: ${line.replace(/^(fatal|error): /, "") || end}`;
}

const MAC_STUB = "/usr/bin/git";
const MAC_GITS = [
  "/Library/Developer/CommandLineTools/usr/bin/git",
  "/Applications/Xcode.app/Contents/Developer/usr/bin/git",
];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
