import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatEnd, formatHead } from "#collect/intake/inbox-file.ts";
import { type Places, placesOf } from "#config/places.ts";
import { PROGRAM } from "../support/program.ts";

/** Resources that one run of the program used. */
export interface Took {
  readonly code: number | null;
  readonly stdout: string;
  readonly ms: number;
  /** Maximum memory, in MiB. */
  readonly peakMib: number;
}

/** A home with measured drains. */
export class Measured {
  readonly home = mkdtempSync(join(tmpdir(), "openhook-limits-"));
  readonly places: Places = placesOf({ env: {}, home: this.home, platform: process.platform });
  readonly #probe = join(this.home, "probe.cjs");

  constructor() {
    const figures = JSON.stringify(join(this.home, "rss"));
    // Kibibytes on Linux, bytes on macOS
    writeFileSync(
      this.#probe,
      `process.on("exit", () => require("node:fs").writeFileSync(${figures}, String(process.resourceUsage().maxRSS)));`,
    );
  }

  run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Took> {
    const beganMs = performance.now();
    return new Promise((done, failed) => {
      const child = spawn(process.execPath, ["--require", this.#probe, PROGRAM, ...args], {
        env: { PATH: process.env["PATH"], HOME: this.home, ...env },
        stdio: ["ignore", "pipe", "inherit"],
      });
      let stdout = "";
      child.stdout.on("data", (data) => {
        stdout += data;
      });
      child.on("error", failed);
      child.on("close", (code) => {
        const ms = performance.now() - beganMs;
        const peak = Number(readFileSync(join(this.home, "rss"), "utf8"));
        done({
          code,
          stdout,
          ms,
          peakMib: Math.round(process.platform === "darwin" ? peak / 2 ** 20 : peak / 2 ** 10),
        });
      });
    });
  }

  /** One inbox file, as the hook would write it. */
  put(source: string, event: string, payload: unknown, timeMs: number, number: number): void {
    const head = formatHead({ source, event, ppid: 3131, pid: number, cwd: this.home, env: { HOME: this.home } });
    mkdirSync(this.places.inboxDir, { recursive: true, mode: 0o700 });
    const path = join(this.places.inboxDir, `3131-${number}-0.evt`);
    writeFileSync(path, `${head}${JSON.stringify(payload)}${formatEnd("whole")}`);
    utimesSync(path, timeMs / 1000, timeMs / 1000);
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** A Claude Code transcript of turns with tool calls, in lines as recorded. @returns its path */
export function writeTranscript(
  home: string,
  sessionId: string,
  {
    turns,
    callsPerTurn,
    paddingBytes,
    startMs,
  }: Readonly<Record<"turns" | "callsPerTurn" | "paddingBytes" | "startMs", number>>,
): string {
  const folder = join(home, ".claude", "projects", "-acme");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${sessionId}.jsonl`);
  const padding = "x".repeat(paddingBytes);
  let ms = startMs;
  let parts: string[] = [];
  writeFileSync(path, "");
  const flush = (): void => {
    writeFileSync(path, parts.join(""), { flag: "a" });
    parts = [];
  };
  const line = (id: string, more: Readonly<Record<string, unknown>>): void => {
    ms += 100;
    const shared = { uuid: id, sessionId, cwd: "/home/dev/acme-shop", version: "2.1.329", gitBranch: "main" };
    parts.push(`${JSON.stringify({ ...shared, timestamp: new Date(ms).toISOString(), ...more })}\n`);
  };
  for (let turn = 0; turn < turns; turn++) {
    line(`u${turn}`, { type: "user", promptId: `p${turn}`, message: { role: "user", content: "do it" } });
    for (let call = 0; call < callsPerTurn; call++) {
      const id = `${turn}-${call}`;
      const usage = {
        input_tokens: 10,
        cache_read_input_tokens: 1000,
        cache_creation_input_tokens: 5,
        output_tokens: 50,
      };
      const content = [{ type: "tool_use", id: `toolu_${id}`, name: "Read", input: { file_path: "a.ts" } }];
      const message = {
        id: `msg_${id}`,
        model: "claude-sonnet-4-5",
        role: "assistant",
        content,
        usage,
        stop_reason: "tool_use",
      };
      line(`a${id}`, { type: "assistant", requestId: `req_${id}`, message });
      const result = { type: "tool_result", tool_use_id: `toolu_${id}`, content: padding };
      line(`r${id}`, {
        type: "user",
        promptId: `p${turn}`,
        message: { role: "user", content: [result] },
        toolUseResult: {},
      });
    }
    const message = {
      id: `msg_${turn}-end`,
      model: "claude-sonnet-4-5",
      role: "assistant",
      content: [{ type: "text", text: "done" }],
      usage: { input_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 5 },
      stop_reason: "end_turn",
    };
    line(`e${turn}`, { type: "assistant", requestId: `req_${turn}-end`, message });
    if (parts.length > 5_000) flush();
  }
  flush();
  return path;
}
