import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { allAgents } from "#agents/registry.ts";
import type { DrainDeps, DrainReport } from "#collect/drain/context.ts";
import { formatEnd, formatHead } from "#collect/intake/inbox-file.ts";
import { loadConfig } from "#config/load.ts";
import { placesOf } from "#config/places.ts";
import { type DrainOptions, drain } from "#pipeline.ts";
import { PROGRAM } from "./program.ts";
import { recordedEnv } from "./recorded-env.ts";
import { removeFolder } from "./remove.ts";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const CASES = join(ROOT, "test", "agents");

/** Whether the agent has our plugin, which runs inside the agent and writes inbox files itself. */
export const hasPlugin = (source: string): boolean => existsSync(join(ROOT, "src", "agents", source, "plugin.js"));

/** One recorded hook call. */
export interface RecordedCall {
  readonly received_at: string;
  readonly event: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Readonly<Record<string, unknown>>;
  readonly stdin_raw?: string;
  readonly transcript_lines?: number | null;
}

/** Which part of the transcripts to write. */
interface Part {
  readonly path?: string;
  readonly lines?: number;
  readonly subagents?: boolean;
  readonly untilMs?: number;
}

export interface ReplayOptions {
  readonly withTranscripts?: boolean;
  /** The caller writes all files and hooks of the session itself. */
  readonly isBare?: boolean;
  readonly edit?: (text: string, path: string) => string;
}

/** A temporary home directory with the recorded transcripts. */
export class Replay {
  readonly home: string;
  readonly places: ReturnType<typeof placesOf>;
  readonly calls: readonly RecordedCall[];
  readonly #folder: string;
  readonly #recordedHome: string;
  readonly #edit: NonNullable<ReplayOptions["edit"]>;
  env: Record<string, string> = {};
  /** The agent's process that runs hooks written by `put`, and where its number is valid. */
  agentProcess: { readonly pid: number; readonly start: string; readonly host: string } | undefined;
  #hooks = 0;

  readonly source: string;

  /** @param options.edit changes the recorded texts first; `path` is relative to the recording */
  constructor(
    source: string,
    name: string,
    { withTranscripts = true, isBare = false, edit = (text) => text }: ReplayOptions = {},
  ) {
    this.source = source;
    this.#edit = edit;
    this.#folder = join(CASES, source, name);
    this.home = mkdtempSync(join(tmpdir(), "openhook-replay-"));
    this.places = placesOf({ env: {}, home: this.home, platform: PLATFORM });
    const text = isBare ? "" : readFileSync(join(this.#folder, "hooks.jsonl"), "utf8");
    this.#recordedHome = /\/home\/dev\d*/.exec(text)?.[0] ?? "/home/dev";
    this.calls = this.#edit(this.#moved(text), "hooks.jsonl")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as RecordedCall);
    if (withTranscripts && !isBare) this.writeTranscripts();
  }

  get transcriptRoot(): string {
    return this.source === "claude-code" ? join(this.home, ".claude", "projects") : this.home;
  }

  get hasTranscripts(): boolean {
    return existsSync(join(this.#folder, "transcripts"));
  }

  /**
   * Writes the recorded transcripts below the home: all, the first lines of one, only those of subagents, or the lines with
   * times up to `untilMs`.
   */
  writeTranscripts(only: Part = {}): void {
    const recorded = join(this.#folder, "transcripts");
    if (!this.hasTranscripts) return;
    for (const file of filesBelow(recorded)) {
      const path = file.slice(recorded.length + 1).replaceAll("\\", "/");
      const target = join(this.transcriptRoot, this.#moved(path));
      if (only.path !== undefined && target !== only.path) continue;
      if (only.subagents === true && !/(^|\/)agent-[^/]*$/.test(path)) continue;
      const bytes = readFileSync(file);
      if (bytes.includes(0)) {
        mkdirSync(dirname(target), { recursive: true });
        writeFileSync(target, bytes);
        continue;
      }
      let text = this.#edit(this.#moved(bytes.toString()), path);
      if (only.untilMs !== undefined) {
        // Of a file that the agent rewrites completely, only the last version was recorded
        if (file.endsWith(".jsonl")) text = linesUntil(text, only.untilMs);
        if (text === "" || (timeOfRecord(text) ?? 0) > only.untilMs) continue;
      }
      if (only.lines !== undefined) {
        const lines = text.split("\n").slice(0, only.lines);
        text = lines.map((line) => `${line}\n`).join("");
      }
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
      const writtenMs = timeOfRecord(text);
      if (writtenMs !== undefined) utimesSync(target, new Date(writtenMs), new Date(writtenMs));
    }
  }

  /** Puts an OpenHook envelope that only reports the end of the session. */
  sessionEnd(sessionId: string, timeMs: number): void {
    const time = new Date(timeMs).toISOString();
    const id = `end-of-${sessionId}`;
    const envelope = { openhook: "0.1", id, source: this.source, type: "session.end", time, session_id: sessionId };
    this.put({ received_at: time, event: "session.end", stdin: envelope });
  }

  /** Runs the real hook program as the agent would. With `keepTime`, the event keeps its recorded time. */
  hook(call: RecordedCall, { keepTime = true }: { readonly keepTime?: boolean } = {}): void {
    const { inboxDir } = this.places;
    const before = new Set(existsSync(inboxDir) ? readdirSync(inboxDir) : []);
    const result = spawnSync("/bin/sh", [join(ROOT, "src", "collect", "intake", "hook.sh"), this.source, call.event], {
      input: call.stdin_raw ?? JSON.stringify(call.stdin),
      cwd: this.home,
      env: { PATH: process.env["PATH"], HOME: this.home, OPENHOOK_OTEL_DRAIN: "off", ...call.env },
    });
    if (result.status !== 0 || result.stdout.length > 0 || result.stderr.length > 0) {
      throw new Error(`the hook exited with ${result.status} and printed ${result.stdout}${result.stderr}`);
    }
    if (!keepTime) return;
    for (const name of readdirSync(inboxDir)) {
      if (!before.has(name)) setModified(join(inboxDir, name), Date.parse(call.received_at));
    }
  }

  /**
   * Writes the file that the hook program would write. Faster than `hook`, which starts a process.
   *
   * @param atMs modification time of the file
   * @param source the agent in whose settings the hook is registered
   */
  put(call: RecordedCall, atMs = Date.parse(call.received_at), source = this.source): void {
    const { inboxDir } = this.places;
    const pid = ++this.#hooks;
    const env = recordedEnv({ HOME: this.home, ...call.env });
    const head = formatHead({ source, event: call.event, ppid: PARENT_PID, pid, cwd: this.home, env });
    const path = join(inboxDir, `${PARENT_PID}-${pid}-0.evt`);
    mkdirSync(inboxDir, { recursive: true, mode: 0o700 });
    const { agentProcess: agent } = this;
    const end = agent === undefined ? formatEnd("whole") : formatEnd("whole", agent.start, { host: agent.host, agent });
    writeFileSync(path, `${head}${call.stdin_raw ?? JSON.stringify(call.stdin)}${end}`);
    setModified(path, atMs);
  }

  async deps(overrides: Partial<DrainDeps> = {}): Promise<DrainDeps> {
    return {
      places: this.places,
      loaded: await loadConfig({ env: this.env, places: this.places }),
      agents: await allAgents(),
      version: "0.0.0-test",
      platform: PLATFORM,
      arch: "x64",
      now: Date.now,
      sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
      log: () => {},
      ...overrides,
    };
  }

  async drain(options: DrainOptions = {}, overrides: Partial<DrainDeps> = {}): Promise<DrainReport> {
    const report = await drain(await this.deps(overrides), options);
    if (report === undefined) throw new Error("another drain is running");
    return report;
  }

  /** Drains with the built program, as a user runs it; needs `ensureBuilt`. */
  drainBuilt(): void {
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, "drain", "--end-idle"], {
      env: { PATH: process.env["PATH"], HOME: this.home },
      encoding: "utf8",
    });
    if (status !== 0 || stderr !== "") throw new Error(`the drain exited with ${status} and printed ${stderr}`);
  }

  remove(): void {
    removeFolder(this.home);
  }

  #moved(text: string): string {
    // On Windows with slashes, because backslashes would need another notation in JSON, and again in JSON inside of it
    const home = this.home.replaceAll("\\", "/");
    const dashed = (path: string): string => path.replaceAll(/[/.:]/g, "-");
    const [recordedDashed, homeDashed] = [dashed(this.#recordedHome), dashed(home)];
    return (
      text
        .replaceAll(`${this.#recordedHome}/`, `${home}/`)
        // pi begins the name with two dashes; a folder of Windows begins with its drive
        .replaceAll(`-${recordedDashed}-`, `-${homeDashed.replace(/^(?!-)/, "-")}-`)
        .replaceAll(`${recordedDashed}-`, `${homeDashed}-`)
    );
  }
}

const PARENT_PID = 3131;

/**
 * Inside the millisecond: at its beginning, Linux' conversion of seconds can give the one before. Not in its middle, which Node 24 rounds
 * to the next one in `mtime`.
 */
function setModified(path: string, atMs: number): void {
  const seconds = (atMs + 0.25) / 1000;
  utimesSync(path, seconds, seconds);
}

/** Other systems than Windows are as Linux for a drain. */
export const PLATFORM = process.platform === "win32" ? "win32" : "linux";

/** When a file was written that is one record with a time. Without a zone it is UTC, the zone of the recordings. */
function timeOfRecord(text: string): number | undefined {
  const time = /^\{"id": ?"[0-9a-f-]{36}", ?"timestamp": ?"([^"]+)"/.exec(text)?.[1];
  return time === undefined ? undefined : Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(time) ? time : `${time}Z`);
}

/** Lines up to the first whose time is later than `untilMs`. Lines without a time belong to the line before them. */
function linesUntil(text: string, untilMs: number): string {
  const lines = text.split("\n").filter((line) => line !== "");
  const end = lines.findIndex((line) => {
    const { timestamp } = JSON.parse(line) as { timestamp?: unknown };
    return typeof timestamp === "string" && Date.parse(timestamp) > untilMs;
  });
  return lines
    .slice(0, end === -1 ? lines.length : end)
    .map((line) => `${line}\n`)
    .join("");
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}
