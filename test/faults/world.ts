import { spawnSync } from "node:child_process";
import {
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
import { dirname, join } from "node:path";
import { formatEnd, formatHead, LOST_FILE } from "#collect/intake/inbox-file.ts";
import { nativeDir } from "#collect/native/receiver-file.ts";
import type { NativeBytes } from "#collect/native/records.ts";
import { type Places, placesOf } from "#config/places.ts";
import { summaryPath } from "#show/statusline/summary.ts";
import { recording, unpack } from "../native/recorded.ts";
import { recordedEnv } from "../support/recorded-env.ts";
import { CASES, type RecordedCall } from "../support/replay.ts";

/** A recorded run of an agent. */
export interface Case {
  readonly source: string;
  readonly name: string;
  /** The agent ran without hooks: there are only its transcripts. */
  readonly isPast?: true;
  /** One of test/native: its own telemetry was received too. */
  readonly isNative?: true;
}

/** Hooks and transcripts of different kinds of agents; small enough for quick drains. */
export const MIXED: readonly Case[] = [
  { source: "claude-code", name: "subagent" },
  { source: "claude-code", name: "killed-then-resumed" },
  { source: "claude-code", name: "fork" },
  { source: "codex", name: "subagent" },
  { source: "codex", name: "interrupted" },
  { source: "gemini-cli", name: "parallel-tools" },
  { source: "copilot", name: "subagent" },
  { source: "cursor", name: "subagent" },
  { source: "cline", name: "basic" },
  { source: "opencode", name: "subagent" },
  { source: "claude-code", name: "parallel-tools", isNative: true },
];

/**
 * One home directory with the transcripts of recorded runs, and inbox files as the hooks wrote them. State directories are created
 * from it quickly and differ only in their path: ids come from content, and paths are content.
 */
export class World {
  readonly root: string;
  readonly home: string;
  /** Hook calls in the inbox. */
  readonly events: number;
  /** Every transcript file, absolute. */
  readonly transcripts: string[] = [];
  readonly #inbox: string;
  readonly #bodies: (NativeBytes & { readonly source: string })[] = [];
  #states = 0;

  /** @param strangers adds foreign input: a payload that no agent recognises, a torn one, a foreign file, and lost events */
  constructor(cases: readonly Case[] = MIXED, { strangers = true }: { readonly strangers?: boolean } = {}) {
    this.root = mkdtempSync(join(tmpdir(), "openhook-faults-"));
    this.home = join(this.root, "home");
    this.#inbox = join(this.root, "inbox");
    mkdirSync(this.#inbox);
    mkdirSync(this.home);
    let files = 0;
    for (const { source, name, isPast, isNative } of cases) {
      if (isNative) {
        files = this.#native(source, name, files);
        continue;
      }
      const folder = join(CASES, source, name);
      const moved = this.#mover(readFileSync(join(folder, "hooks.jsonl"), "utf8"));
      this.#transcripts(join(folder, "transcripts"), source, moved);
      if (isPast) continue;
      for (const line of moved(readFileSync(join(folder, "hooks.jsonl"), "utf8")).split("\n")) {
        if (line !== "") this.#put(source, JSON.parse(line), ++files);
      }
    }
    this.events = files;
    if (strangers) this.#strangers();
  }

  /**
   * A state directory with the inbox as the hooks wrote it, before any drain.
   *
   * @param part of the inbox files in order of time, as shares of the whole. @default [0, 1]
   * @param below another directory, e.g. one on another file system
   */
  state(part: readonly [number, number] = [0, 1], below = this.root): State {
    const state = new State(join(below, `state-${++this.#states}`), this.home);
    mkdirSync(state.places.inboxDir, { recursive: true, mode: 0o700 });
    // A status line was set up, so that drains write its file
    writeFileSync(summaryPath(state.places.stateDir), "", { mode: 0o600 });
    this.fill(state, part);
    if (this.#bodies.length > 0) mkdirSync(nativeDir(state.places.stateDir), { mode: 0o700 });
    for (const [i, { source, signal, encoding, bytes }] of this.#bodies.entries()) {
      const name = `${NATIVE_MS + i}-${String(i).padStart(16, "0")}.${source}.${signal}.${encoding}`;
      writeFileSync(join(nativeDir(state.places.stateDir), name), bytes, { mode: 0o600 });
    }
    return state;
  }

  /** Copies a part of the inbox files into a state directory. */
  fill(state: State, [from, to]: readonly [number, number] = [0, 1]): void {
    const names = readdirSync(this.#inbox).sort();
    const [first, end] = [Math.round(from * names.length), Math.round(to * names.length)];
    const files = names.slice(first, end).map((name) => join(this.#inbox, name));
    if (files.length === 0) return;
    // Hard links, or copies on another file system; both keep times to the nanosecond
    const { status, stderr } = spawnSync(
      "sh",
      [
        "-c",
        'into=$1; shift; cp -pl "$@" "$into" 2>/dev/null || cp -p "$@" "$into"',
        "sh",
        state.places.inboxDir,
        ...files,
      ],
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`the inbox could not be filled: ${stderr}`);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 10 });
  }

  #mover(hooks: string): (text: string) => string {
    const recorded = /\/home\/dev\d*/.exec(hooks)?.[0] ?? "/home/dev";
    const dashed = (path: string): string => path.replaceAll(/[/.]/g, "-");
    return (text) =>
      text.replaceAll(`${recorded}/`, `${this.home}/`).replaceAll(`${dashed(recorded)}-`, `${dashed(this.home)}-`);
  }

  #transcripts(folder: string, source: string, moved: (text: string) => string): void {
    // Some agents report everything by their hooks
    if (!existsSync(folder)) return;
    const below = source === "claude-code" ? join(this.home, ".claude", "projects") : this.home;
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }).filter((e) => e.isFile())) {
      const from = join(entry.parentPath, entry.name);
      const target = join(below, moved(from.slice(folder.length + 1)));
      const bytes = readFileSync(from);
      mkdirSync(dirname(target), { recursive: true });
      this.transcripts.push(target);
      writeFileSync(target, bytes.includes(0) ? bytes : moved(bytes.toString()));
    }
  }

  /** @returns how many hook calls there are now */
  #native(source: string, name: string, files: number): number {
    const { folder, bodies } = recording(source, name);
    unpack(join(folder, "transcripts"), this.home);
    const hooks = readFileSync(join(dirname(folder), "..", "..", "hooks", `${source}.jsonl`), "utf8");
    const calls = hooks.replaceAll("/home/dev", this.home).split("\n").filter(Boolean);
    for (const [i, call] of calls.entries()) this.#put(source, JSON.parse(call), files + i + 1);
    this.#bodies.push(...bodies.map((body) => ({ ...body, source })));
    return files + calls.length;
  }

  #put(source: string, call: RecordedCall, n: number): void {
    const env = recordedEnv({ HOME: this.home, ...call.env });
    const head = formatHead({ source, event: call.event, ppid: PARENT_PID, pid: n, cwd: this.home, env });
    this.#file(`${head}${call.stdin_raw ?? JSON.stringify(call.stdin)}${formatEnd("whole")}`, call.received_at, n);
  }

  #file(text: string, time: string, n: number, suffix = ".evt"): void {
    // Sorted by name they are in order of time
    const path = join(this.#inbox, `${Date.parse(time)}-${String(n).padStart(4, "0")}${suffix}`);
    writeFileSync(path, text, { mode: 0o600 });
    utimesSync(path, new Date(time), new Date(time));
  }

  #strangers(): void {
    const time = "2026-11-20T12:00:00.000Z";
    const head = formatHead({ ppid: PARENT_PID, pid: 9_999, cwd: this.home, env: {} });
    this.#file(`${head}{"what":"nobody knows this"}${formatEnd("whole")}`, time, 9_001);
    this.#file(`${head}{"session_id":"torn`, time, 9_002);
    this.#file("no inbox file at all", time, 9_003);
    this.#file("not ours", time, 9_004, ".tmp");
    for (const n of [1, 2, 3]) this.#file("", time, 9_004 + n, LOST_FILE);
  }
}

/** One state directory, and what a process needs to work on it. */
export class State {
  readonly places: Places;
  constructor(dir: string, home: string) {
    this.places = placesOf({ env: { OPENHOOK_OTEL_HOME: dir }, home, platform: process.platform });
  }

  get env(): Readonly<Record<string, string>> {
    return {
      PATH: process.env["PATH"] ?? "",
      HOME: this.places.home,
      OPENHOOK_OTEL_HOME: this.places.stateDir,
      // So that its rows are compared too
      OPENHOOK_OTEL_AUDIT_ENABLED: "true",
    };
  }

  remove(): void {
    rmSync(this.places.stateDir, { recursive: true, force: true, maxRetries: 10 });
  }
}

// --- internal ---

const PARENT_PID = 3_131;
/** When the first body was received. */
const NATIVE_MS = Date.parse("2026-11-28T16:27:00Z");
