import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { ensureBuilt, PROGRAM } from "../support/program.ts";
import type { InputWorld } from "./input-world.ts";

/** Resources that a run of the built program used. */
export interface Run {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Maximum resident memory, in MiB; 0 if the system does not report it. */
  readonly peakMib: number;
  readonly tookMs: number;
  readonly stdout: string;
}

/** One drain of the built program, observed. @param killWhen called repeatedly; true ends it by SIGKILL */
export async function watchedDrain({ home }: InputWorld, killWhen?: () => boolean): Promise<Run> {
  await ensureBuilt();
  const startMs = performance.now();
  const child = spawn(process.execPath, [PROGRAM, "drain", "--json"], {
    env: { PATH: process.env["PATH"], HOME: home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let [peakMib, stdout] = [0, ""];
  child.stdout.on("data", (data: Buffer) => {
    stdout += data.toString("utf8");
  });
  const watch = setInterval(() => {
    peakMib = Math.max(peakMib, highWater(child.pid));
    if (killWhen?.() === true) child.kill("SIGKILL");
  }, 20);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((done) => {
    child.on("close", (...ended) => done(ended));
  });
  clearInterval(watch);
  return { code, signal, peakMib, tookMs: performance.now() - startMs, stdout };
}

/** A transcript with this many turns, each with one answer of 7 input tokens and a tool result of this many bytes. */
export function writeTurns(path: string, sessionId: string, turns: number, resultBytes: number): void {
  const base = { sessionId, cwd: "/home/dev/acme-shop", version: "2.1.329", isSidechain: false };
  const usage = { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  const answer = { type: "message", role: "assistant", model: "m", usage };
  const output = "0123456789abcdef".repeat(Math.ceil(resultBytes / 16)).slice(0, resultBytes);
  const line = (n: number, s: number, more: object): string =>
    `${JSON.stringify({ ...base, uuid: `u-${n}-${s}`, promptId: `p-${n}`, timestamp: new Date(START_MS + n * 1000 + s).toISOString(), ...more })}\n`;
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, "a");
  for (let n = 0; n < turns; n++) {
    const call = { type: "tool_use", id: `toolu_${n}`, name: "Read", input: { file_path: "a" } };
    const result = { type: "tool_result", tool_use_id: `toolu_${n}`, content: output };
    writeSync(
      file,
      line(n, 0, { type: "user", message: { role: "user", content: "go on" } }) +
        line(n, 100, {
          type: "assistant",
          requestId: `req_${n}`,
          message: { ...answer, id: `msg_${n}`, content: [call], stop_reason: "tool_use" },
        }) +
        line(n, 200, { type: "user", message: { role: "user", content: [result] } }),
    );
  }
  closeSync(file);
}

/** One line of JSON of this many bytes. */
export function writeLongLine(path: string, bytes: number): void {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, "a");
  const chunk = Buffer.alloc(1 << 20, 0x78);
  writeSync(file, '{"type":"user","message":{"role":"user","content":"');
  for (let left = bytes; left > 0; left -= chunk.length) writeSync(file, chunk, 0, Math.min(left, chunk.length));
  writeSync(file, '"}}\n');
  closeSync(file);
}

// --- internal ---

const START_MS = Date.UTC(2026, 10, 1, 8);

function highWater(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
