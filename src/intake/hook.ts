import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, unlinkSync, writeSync } from "node:fs";
import { join, parse } from "node:path";
import type { Readable } from "node:stream";
import { parseArgs } from "node:util";
import { formatEnd, formatHead, MAX_FILE_BYTES, type PayloadEnd, READ_TIMEOUT_MS } from "./facts.ts";

/** The process as the intake sees it. */
export interface HookIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  readonly cwd: string;
  readonly pid: number;
  readonly ppid: number;
  /** To stdout. */
  write(text: string): unknown;
}

/** Where the intake writes, and what a drain is started with. Absolute paths. */
export interface HookPlaces {
  readonly stateDir: string;
  readonly inboxDir: string;
  readonly nodePath: string;
  readonly programPath: string;
}

/**
 * The node twin of hook.sh, for Windows and for `.openhook.json`: puts stdin into one file of the inbox, prints the
 * reply, starts a drain where one is due. The caller exits afterwards: stdin may still be open.
 *
 * @param argv `--source S --event E --reply R --drain yes|if-waiting|no`, or the first three by position as hook.sh
 *        takes them; anything else is ignored. Without `--drain` the event's name decides.
 * @returns after at most some 5 s (READ_TIMEOUT_MS), whatever stdin does
 * @throws never, nor rejects: what cannot be written is lost, the agent goes on
 */
export async function runHook(argv: readonly string[], io: HookIo, places: HookPlaces): Promise<void> {
  const options = optionsOf(argv);
  try {
    const head = Buffer.from(formatHead({ ...options, ppid: io.ppid, pid: io.pid, cwd: io.cwd, env: io.env }));
    const { chunks, end } = await readBounded(io.stdin, MAX_FILE_BYTES - head.length);
    attempt(() => writeEvent(places.inboxDir, `${io.ppid}-${io.pid}`, [head, ...chunks, Buffer.from(formatEnd(end))]));
    const drain = options.drain ?? drainFor(options.event ?? eventNameIn(chunks));
    if (drain === "yes" || (drain === "if-waiting" && filesWaiting(places.inboxDir) > 1)) startDrain(places, io.env);
  } catch {
    // the agent must not feel it
  }
  attempt(() => options.reply !== undefined && options.reply !== "" && io.write(`${options.reply}\n`));
}

/**
 * Starts `openhook-otel drain --quiet` in its own session, without any of our streams, and does not wait.
 *
 * @returns false when it was not started: `OPENHOOK_OTEL_DRAIN=off`, or the program is gone
 * @throws never
 */
export function startDrain(
  { stateDir, nodePath, programPath }: Omit<HookPlaces, "inboxDir">,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (env["OPENHOOK_OTEL_DRAIN"] === "off" || !existsSync(programPath)) return false;
  try {
    const child = spawn(existsSync(nodePath) ? nodePath : "node", [programPath, "drain", "--quiet"], {
      cwd: existsSync(stateDir) ? stateDir : parse(programPath).root,
      detached: true,
      env: { ...env },
      stdio: "ignore",
      windowsHide: true,
    });
    child.on("error", () => {});
    child.unref();
    return child.pid !== undefined;
  } catch {
    return false;
  }
}

// --- internal ---

type Drain = "yes" | "if-waiting" | "no";

interface Options {
  readonly source?: string;
  readonly event?: string;
  readonly reply?: string;
  readonly drain?: Drain;
}

function optionsOf(argv: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...argv],
    strict: false,
    allowPositionals: true,
    options: {
      source: { type: "string" },
      event: { type: "string" },
      reply: { type: "string" },
      drain: { type: "string" },
    },
  });
  const text = (name: "source" | "event" | "reply", position: number) => {
    const value = values[name] ?? positionals[position];
    return typeof value === "string" && value !== "" ? { [name]: value } : {};
  };
  const { drain } = values;
  const known = drain === "yes" || drain === "if-waiting" || drain === "no" ? { drain: drain as Drain } : {};
  return { ...text("source", 0), ...text("event", 1), ...text("reply", 2), ...known };
}

interface Read {
  readonly chunks: readonly Buffer[];
  readonly end: PayloadEnd;
}

/** Reads to the end, the bound or the time-out. Beyond the bound it goes on without keeping: no broken pipe. */
function readBounded(stdin: HookIo["stdin"], maxBytes: number): Promise<Read> {
  if (stdin.isTTY === true) return Promise.resolve({ chunks: [], end: "whole" });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let cut = false;
    const timer = setTimeout(() => finish("late"), READ_TIMEOUT_MS);
    const finish = (end: PayloadEnd) => {
      clearTimeout(timer);
      stdin.removeAllListeners("data");
      stdin.destroy();
      resolve({ chunks, end: cut ? "cut" : end });
    };
    stdin.on("error", () => finish("whole"));
    stdin.on("end", () => finish("whole"));
    stdin.on("close", () => finish("whole"));
    stdin.on("data", (data: Buffer | string) => {
      const chunk = typeof data === "string" ? Buffer.from(data) : data;
      const kept = chunk.subarray(0, maxBytes - bytes);
      if (kept.length > 0) chunks.push(kept);
      bytes += kept.length;
      cut ||= kept.length < chunk.length;
    });
  });
}

/** Writes under the last name at once; the end line makes it complete, see hook.sh. */
function writeEvent(inboxDir: string, stem: string, parts: readonly Buffer[]): void {
  const { path, fd } = reserve(inboxDir, stem);
  try {
    for (const part of parts) {
      for (let offset = 0; offset < part.length; ) offset += writeSync(fd, part, offset);
    }
  } catch {
    closeSync(fd);
    unlinkSync(path);
    return;
  }
  closeSync(fd);
}

function reserve(inboxDir: string, stem: string): { path: string; fd: number } {
  let made = false;
  for (let n = 0; ; ) {
    const path = join(inboxDir, `${stem}-${n}.evt`);
    try {
      return { path, fd: openSync(path, "wx", 0o600) };
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EEXIST" && n < 1000) n += 1;
      else if (code === "ENOENT" && !made) {
        made = true;
        mkdirSync(inboxDir, { recursive: true, mode: 0o700 });
      } else throw error;
    }
  }
}

const ENDS_SOMETHING = /end|stop|idle|complete|shutdown|dispose|deleted|clear/i;
const STARTS_SESSION = /session.?(start|created)|agentspawn/i;
/** Ends that come many times in a turn: not worth a drain each. */
const WITHIN_TURN = /tool|subagent/i;

function drainFor(event: string | undefined): Drain {
  if (event === undefined) return "no";
  if (STARTS_SESSION.test(event)) return "if-waiting";
  return ENDS_SOMETHING.test(event) && !WITHIN_TURN.test(event) ? "yes" : "no";
}

/** The event's name where agents put it, looked for in the first bytes only; wrong guesses cost one idle drain. */
function eventNameIn(chunks: readonly Buffer[]): string | undefined {
  const start = Buffer.concat(chunks.slice(0, 2)).toString("utf8", 0, SCANNED_BYTES);
  for (const key of ["hook_event_name", "hookEventName", "event", "type"]) {
    const found = new RegExp(`"${key}"\\s*:\\s*"([^"\\\\]{1,80})"`).exec(start);
    if (found?.[1] !== undefined) return found[1];
  }
  return undefined;
}
const SCANNED_BYTES = 8192;

function filesWaiting(inboxDir: string): number {
  return readdirSync(inboxDir).filter((name) => name.endsWith(".evt")).length;
}

function attempt(action: () => unknown): void {
  try {
    action();
  } catch {
    // nothing the agent should hear of
  }
}
