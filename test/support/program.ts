import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Places, placesOf } from "#config/places.ts";
import { PATIENCE_MS } from "./patience.ts";
import { removeFolder } from "./remove.ts";
import type { RecordedCall } from "./replay.ts";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
/** The built program. */
export const PROGRAM = join(ROOT, "dist", "openhook-otel.cjs");

/** Recorded runs of Claude Code, one folder each. */
export const RECORDINGS = join(ROOT, "test", "agents", "claude-code");

/** The result of a finished process. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly tookMs: number;
}

export interface RunOptions {
  /** Written to stdin. @default "" */
  readonly input?: string | Buffer;
  /** Leaves stdin open after the input. @default false */
  readonly staysOpen?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

/** Builds `dist` if it is missing or older than its sources; only once if several test files call it. */
export async function ensureBuilt(): Promise<void> {
  for (const untilMs = Date.now() + BUILD_MS; !isBuilt(); ) {
    if (tryLock()) {
      try {
        const { status, stderr } = spawnSync(process.execPath, ["scripts/build.mjs"], { cwd: ROOT, encoding: "utf8" });
        if (status !== 0) throw new Error(`npm run build failed:\n${stderr}`);
        return;
      } finally {
        rmdirSync(BUILD_LOCK);
      }
    }
    if (Date.now() > untilMs) throw new Error(`no build after ${BUILD_MS} ms; if none runs, remove ${BUILD_LOCK}`);
    await sleep(100);
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Polls until the condition is true. @throws Error with `what` after the timeout */
export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  timeoutMs = PATIENCE_MS,
): Promise<void> {
  for (const endMs = Date.now() + timeoutMs; !(await isTrue()); await sleep(50)) {
    if (Date.now() > endMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
  }
}

/** A user's machine: a temporary home, and the built program. */
export class Machine {
  readonly home: string;
  readonly places: Places;

  constructor() {
    this.home = mkdtempSync(join(tmpdir(), "openhook-e2e-"));
    this.places = placesOf({ env: {}, home: this.home, platform: process.platform });
  }

  /** The environment of a fresh login: none of the test's own variables that the program reads. */
  get env(): Readonly<Record<string, string>> {
    return { PATH: `${join(this.home, "bin")}:${process.env["PATH"] ?? ""}`, HOME: this.home };
  }

  /** Runs `openhook-otel <args>` until it exits. */
  run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    return this.#finish(process.execPath, [PROGRAM, ...args], options);
  }

  /** As `run`. @returns stdout @throws Error if the exit code is not 0 */
  async ok(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, options);
    if (code !== 0) throw new Error(`openhook-otel ${args.join(" ")} exited with ${code}: ${stderr}`);
    return stdout;
  }

  /** Runs one drain. @returns its report */
  async drain(args: readonly string[] = [], env: RunOptions["env"] = {}): Promise<Record<string, unknown>> {
    return JSON.parse(await this.ok(["drain", "--json", ...args], { env }));
  }

  /** Starts the program without waiting for it. The caller ends it. */
  start(args: readonly string[], options: RunOptions = {}): ChildProcess {
    const env = { ...this.env, ...options.env };
    return spawn(process.execPath, [PROGRAM, ...args], { cwd: options.cwd ?? this.home, env, stdio: "ignore" });
  }

  /** Runs a command line with `sh -c`, as agents run their hooks. */
  shell(command: string, options: RunOptions = {}): Promise<Finished> {
    return this.#finish("/bin/sh", ["-c", command], options);
  }

  /** Registers the hook with `enable`. @returns the command lines in the agent's settings, by event */
  async enable(): Promise<Registered> {
    this.#installAgent();
    await this.ok(["enable", "claude-code", "--yes"]);
    return registeredIn(readFileSync(join(this.home, ".claude", "settings.json"), "utf8"));
  }

  /** Ids of running processes that have this home: drains started by hooks. */
  running(): readonly number[] {
    const { stdout } = spawnSync("ps", ["axeww", "-o", "pid=,args="], { encoding: "utf8", maxBuffer: 1 << 26 });
    const ours = new RegExp(`\\sHOME=${this.home}(\\s|$)`);
    return stdout.split("\n").flatMap((line) => (ours.test(line) ? [Number.parseInt(line, 10)] : []));
  }

  /** Waits until every process of this home has ended. Twice, because `ps` sees no environment of a process that just starts. */
  async quiet(): Promise<void> {
    const isQuiet = async (): Promise<boolean> => {
      if (this.running().length > 0) return false;
      await sleep(200);
      return this.running().length === 0;
    };
    await until("every drain has ended", isQuiet);
  }

  async remove(): Promise<void> {
    await this.quiet();
    removeFolder(this.home);
  }

  /** A fake agent program that reports its version; without it, `enable` registers only the oldest version's events. */
  #installAgent(): void {
    const path = join(this.home, "bin", "claude");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "#!/bin/sh\necho '2.1.329 (Claude Code)'\n");
    chmodSync(path, 0o755);
  }

  #finish(
    program: string,
    args: readonly string[],
    { input = "", staysOpen = false, env, cwd }: RunOptions,
  ): Promise<Finished> {
    const startMs = performance.now();
    return new Promise((done, failed) => {
      const child = spawn(program, args, { cwd: cwd ?? this.home, env: { ...this.env, ...env } });
      const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
      child.stdout.on("data", (data: Buffer) => stdout.push(data));
      child.stderr.on("data", (data: Buffer) => stderr.push(data));
      child.on("error", failed);
      // `close`, not `exit`: the test notices a drain that keeps the pipes of its hook open and so blocks the agent
      child.on("close", (code) => {
        child.stdin.destroy();
        const tookMs = performance.now() - startMs;
        done({ code, stdout: text(stdout), stderr: text(stderr), tookMs });
      });
      child.stdin.on("error", () => {});
      if (staysOpen) child.stdin.write(input);
      else child.stdin.end(input);
    });
  }
}

/** Command lines by the agent's event name. */
export type Registered = Pick<ReadonlyMap<string, readonly string[]>, "get">;

/** The built hook program for every event, without `enable` and without drains. */
export const HOOK_ALONE: Registered = {
  get: (event: string) => [`exec /bin/sh '${join(ROOT, "dist", "hook.sh")}' claude-code ${event}`],
};

/** The command lines that an agent runs, read from its settings. */
export function registeredIn(settings: string): Registered {
  const { hooks }: { hooks: Record<string, { hooks: { command: string }[] }[]> } = JSON.parse(settings);
  return new Map(
    Object.entries(hooks).map(([event, groups]) => [
      event,
      groups.flatMap((group) => group.hooks.map((hook) => hook.command)),
    ]),
  );
}

/**
 * Replays a recorded agent: calls its hooks one after the other, and before each writes the transcript lines that
 * existed by then. Maps recorded times to the real clock, so that event times (from files) and transcript times (from
 * lines) agree.
 */
export class RecordedAgent {
  readonly calls: readonly RecordedCall[];
  readonly #machine: Machine;
  readonly #files: readonly TranscriptText[];
  readonly #clock = new Clock();

  /** @param edit changes the recorded texts first, e.g. to plant a secret; `path` is relative to the recording */
  constructor(machine: Machine, name: string, edit: (text: string, path: string) => string = (text) => text) {
    const folder = join(RECORDINGS, name);
    const below = join(folder, "transcripts");
    const dashed = (path: string): string => path.replaceAll(/[/.]/g, "-");
    const moved = (text: string): string =>
      text.replaceAll("/home/dev/", `${machine.home}/`).replaceAll("-home-dev-", `${dashed(machine.home)}-`);
    this.#machine = machine;
    this.calls = linesOf(edit(moved(readFileSync(join(folder, "hooks.jsonl"), "utf8")), "hooks.jsonl")).map((l) =>
      JSON.parse(l),
    );
    this.#files = filesBelow(below).map((path) => ({
      path: join(machine.home, ".claude", "projects", moved(path)),
      lines: linesOf(edit(moved(readFileSync(join(below, path), "utf8")), path)),
      written: 0,
    }));
  }

  /** Absolute paths of the transcripts and their companion files. */
  get files(): readonly string[] {
    return this.#files.map((file) => file.path);
  }

  /** Makes every call for which a hook is registered. @returns how long each hook took, in milliseconds */
  async work(registered: Registered, env: RunOptions["env"] = {}): Promise<readonly number[]> {
    const tookMs: number[] = [];
    for (const [index, call] of this.calls.entries()) {
      this.#clock.at(call.received_at);
      this.#writeUpTo(call);
      for (const command of registered.get(call.event) ?? []) {
        const input = call.stdin_raw ?? JSON.stringify(call.stdin);
        const { code, stdout, stderr, ...took } = await this.#machine.shell(command, {
          input,
          env: { ...call.env, ...env },
        });
        if (code !== 0 || stdout !== "" || stderr !== "") {
          throw new Error(`${call.event}: the hook exited with ${code} and printed ${stdout}${stderr}`);
        }
        tookMs.push(took.tookMs);
      }
      this.#clock.at(call.received_at);
      // The agent writes the last lines of a session after its last hook
      if (call.event === "SessionEnd") this.#writeRest(call, this.calls.slice(index + 1));
    }
    this.writeTranscripts();
    return tookMs;
  }

  /** Writes the complete transcripts. */
  writeTranscripts(): void {
    for (const file of this.#files) this.#write(file, file.lines.length);
  }

  #writeUpTo({ stdin, transcript_lines: count, received_at }: RecordedCall): void {
    const main = basename(String(stdin?.["transcript_path"] ?? ""));
    for (const file of this.#files) {
      if (basename(file.path) === main) this.#write(file, count ?? 0);
      else if (/^agent-.*\.jsonl$/.test(basename(file.path))) this.#write(file, linesBefore(file, received_at));
      // Companion files exist before a hook names the transcript
      else if (!file.path.endsWith(".jsonl")) this.#write(file, file.lines.length);
    }
  }

  #writeRest({ stdin }: RecordedCall, later: readonly RecordedCall[]): void {
    const main = basename(String(stdin?.["transcript_path"] ?? ""));
    const next = later.find((call) => basename(String(call.stdin?.["transcript_path"] ?? "")) === main);
    for (const file of this.#files) {
      if (basename(file.path) === main) this.#write(file, next?.transcript_lines ?? file.lines.length);
    }
  }

  #write(file: TranscriptText, upTo: number): void {
    const lines = file.lines.slice(file.written, upTo);
    if (lines.length === 0) return;
    file.written = upTo;
    mkdirSync(dirname(file.path), { recursive: true });
    const now = lines.map((line) =>
      line.replace(TIMESTAMP, (_, time: string) => `"timestamp":"${this.#clock.of(time)}"`),
    );
    appendFileSync(file.path, now.map((line) => `${line}\n`).join(""));
  }
}

// --- internal ---

interface TranscriptText {
  readonly path: string;
  readonly lines: readonly string[];
  /** How many lines are on disk. */
  written: number;
}

const TIMESTAMP = /"timestamp":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"/g;

const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");

const linesBefore = ({ lines }: TranscriptText, time: string): number => {
  const later = lines.findIndex((line) => (/"timestamp":"([^"]+)"/.exec(line)?.[1] ?? "") > time);
  return later === -1 ? lines.length : later;
};

/** Maps recorded times to replayed times, by linear interpolation between the known pairs. */
class Clock {
  readonly #known: { recordedMs: number; ms: number }[] = [];

  /** Maps the recorded `time` to now. */
  at(time: string): void {
    this.#known.push({ recordedMs: Date.parse(time), ms: Date.now() });
  }

  of(time: string): string {
    const recordedMs = Date.parse(time);
    const after = this.#known.findIndex((known) => known.recordedMs >= recordedMs);
    const [a, b] = [this.#known[after - 1], this.#known[after]];
    if (a !== undefined && b !== undefined && b.recordedMs > a.recordedMs) {
      const share = (recordedMs - a.recordedMs) / (b.recordedMs - a.recordedMs);
      return new Date(a.ms + share * (b.ms - a.ms)).toISOString();
    }
    const nearest = b ?? this.#known.at(-1) ?? { recordedMs, ms: Date.now() };
    return new Date(nearest.ms + recordedMs - nearest.recordedMs).toISOString();
  }
}

const BUILD_MS = 600_000;
const BUILD_LOCK = join(tmpdir(), `openhook-build-${Buffer.from(ROOT).toString("base64url").slice(-40)}`);

const text = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString("utf8");

function isBuilt(): boolean {
  if (existsSync(BUILD_LOCK)) return false;
  const [bundle, last] = [join(ROOT, "dist", "cli.cjs"), join(ROOT, "dist", "hook.sh")];
  if (!existsSync(bundle) || !existsSync(last)) return false;
  const builtMs = statSync(bundle).mtimeMs;
  return sources().every((path) => statSync(path).mtimeMs <= builtMs);
}

const sources = (): string[] => [
  ...filesBelow(join(ROOT, "src")).map((path) => join(ROOT, "src", path)),
  join(ROOT, "package.json"),
  ...["build", "bundle", "esbuild-plugins", "import-bundled", "licences"].map((name) =>
    join(ROOT, "scripts", `${name}.mjs`),
  ),
];

/** Relative paths. */
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => statSync(join(folder, path)).isFile());

function tryLock(): boolean {
  try {
    mkdirSync(BUILD_LOCK);
    return true;
  } catch {
    return false;
  }
}
