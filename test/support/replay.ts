import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { allAgents } from "../../src/agents/registry.ts";
import { loadConfig } from "../../src/config/load.ts";
import { placesOf } from "../../src/config/places.ts";
import type { DrainDeps, DrainReport } from "../../src/drain/deps.ts";
import { type DrainOptions, drain } from "../../src/pipeline.ts";
import { PROGRAM } from "./program.ts";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const CASES = join(ROOT, "test", "agents");

/** One hook call as it was recorded. */
export interface RecordedCall {
  readonly received_at: string;
  readonly event: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Readonly<Record<string, unknown>>;
  readonly stdin_raw?: string;
  readonly transcript_lines?: number | null;
}

/** A home directory of its own, with the recorded transcripts in it. */
export class Replay {
  readonly home: string;
  readonly places: ReturnType<typeof placesOf>;
  readonly calls: readonly RecordedCall[];
  readonly #folder: string;
  readonly #recordedHome: string;
  env: Record<string, string> = {};

  readonly source: string;

  constructor(source: string, name: string, { withTranscripts = true }: { readonly withTranscripts?: boolean } = {}) {
    this.source = source;
    this.#folder = join(CASES, source, name);
    this.home = mkdtempSync(join(tmpdir(), "openhook-replay-"));
    this.places = placesOf({ env: {}, home: this.home, platform: "linux" });
    const text = readFileSync(join(this.#folder, "hooks.jsonl"), "utf8");
    this.#recordedHome = /\/home\/dev\d*/.exec(text)?.[0] ?? "/home/dev";
    this.calls = this.#moved(text)
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as RecordedCall);
    if (withTranscripts) this.writeTranscripts();
  }

  get transcriptRoot(): string {
    return this.source === "claude-code" ? join(this.home, ".claude", "projects") : this.home;
  }

  /** Puts the recorded transcripts, the first lines of one, or those of subagents alone, below the home. */
  writeTranscripts(only: { readonly path?: string; readonly lines?: number; readonly subagents?: boolean } = {}): void {
    const recorded = join(this.#folder, "transcripts");
    if (!existsSync(recorded)) return;
    for (const file of filesBelow(recorded)) {
      const target = join(this.transcriptRoot, this.#moved(file.slice(recorded.length + 1)));
      if (only.path !== undefined && target !== only.path) continue;
      if (only.subagents === true && !/(^|\/)agent-[^/]*$/.test(target)) continue;
      let text = this.#moved(readFileSync(file, "utf8"));
      if (only.lines !== undefined) {
        const lines = text.split("\n").slice(0, only.lines);
        text = lines.map((line) => `${line}\n`).join("");
      }
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
  }

  /** Runs the real hook program as the agent would; `at` becomes the event's time. */
  hook(call: RecordedCall, { keepTime = true }: { readonly keepTime?: boolean } = {}): void {
    const { inboxDir } = this.places;
    const before = new Set(existsSync(inboxDir) ? readdirSync(inboxDir) : []);
    const result = spawnSync("/bin/sh", [join(ROOT, "src", "intake", "hook.sh"), this.source, call.event], {
      input: call.stdin_raw ?? JSON.stringify(call.stdin),
      cwd: this.home,
      env: { PATH: process.env["PATH"], HOME: this.home, OPENHOOK_OTEL_DRAIN: "off", ...call.env },
    });
    if (result.status !== 0 || result.stdout.length > 0 || result.stderr.length > 0) {
      throw new Error(`the hook said ${result.status} ${result.stdout}${result.stderr}`);
    }
    if (!keepTime) return;
    const time = new Date(call.received_at);
    for (const name of readdirSync(inboxDir)) if (!before.has(name)) utimesSync(join(inboxDir, name), time, time);
  }

  async deps(overrides: Partial<DrainDeps> = {}): Promise<DrainDeps> {
    return {
      places: this.places,
      loaded: await loadConfig({ env: this.env, places: this.places }),
      agents: await allAgents(),
      version: "0.0.0-test",
      platform: "linux",
      arch: "x64",
      now: Date.now,
      sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
      log: () => {},
      ...overrides,
    };
  }

  async drain(options: DrainOptions = {}, overrides: Partial<DrainDeps> = {}): Promise<DrainReport> {
    const report = await drain(await this.deps(overrides), options);
    if (report === undefined) throw new Error("another drain was at work");
    return report;
  }

  /** The same by the built program, as its user runs it; needs `ensureBuilt`. */
  drainBuilt(): void {
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, "drain", "--end-idle"], {
      env: { PATH: process.env["PATH"], HOME: this.home },
      encoding: "utf8",
    });
    if (status !== 0 || stderr !== "") throw new Error(`the drain said ${status} ${stderr}`);
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }

  #moved(text: string): string {
    const dashed = (path: string): string => path.replaceAll(/[/.]/g, "-");
    return text
      .replaceAll(`${this.#recordedHome}/`, `${this.home}/`)
      .replaceAll(`${dashed(this.#recordedHome)}-`, `${dashed(this.home)}-`);
  }
}

/** A copy of a folder, for tests that change it. */
export const copyFolder = (from: string, to: string): void => cpSync(from, to, { recursive: true });

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}
