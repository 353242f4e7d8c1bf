import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join, parse } from "node:path";
import type { Readable } from "node:stream";
import { parseArgs } from "node:util";
import {
  allowedNodeOptions,
  EVENT_FILE,
  FIRST_BYTE_TIMEOUT_MS,
  formatEnd,
  formatHead,
  GONE_AFTER_MS,
  GONE_MARK,
  HOOK_FOLDER,
  LOST_FILE,
  MAX_FILE_BYTES,
  type PayloadEnd,
  processStart,
  READ_TIMEOUT_MS,
} from "./inbox-file.ts";

/** The process as the intake sees it. */
export interface HookIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names of the environment variables to record. hook.sh has the same list. */
  readonly variables: readonly string[];
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  readonly cwd: string;
  readonly pid: number;
  readonly ppid: number;
  /** To stdout. */
  write(text: string): unknown;
  /** What to print where the command line does not say it. @default nothing */
  readonly replyOf?: (source: string, event: string | undefined) => string | undefined;
}

/** Where the intake writes, and what a drain is started with. Absolute paths. */
export interface HookPlaces {
  readonly stateDir: string;
  readonly inboxDir: string;
  readonly nodePath: string;
  readonly programPath: string;
}

/**
 * The node twin of hook.sh, for Windows and for `.openhook.json`: puts the payload into one file of the inbox, prints the
 * reply, starts a drain where one is due. The caller exits afterwards: stdin may still be open.
 *
 * @param argv `--source S --event E --reply R --drain yes|if-waiting|no`, or the first three by position as hook.sh
 *        takes them; anything else is ignored. Without `--drain` the event's name decides. `--payload-env`: the payload is
 *        in USER_PROMPT, `--payload-argument`: it is the last argument; stdin is left alone then. Hand-written wrappers say
 *        `<source> --phase pre|post --cli <program> [--exit-code N] -- <args…>` instead; the arguments are not kept.
 * @returns after at most some 5 s (READ_TIMEOUT_MS), whatever stdin does
 * @throws never, nor rejects: what cannot be written is lost, and where that can still be noted it is; the agent goes on
 */
export async function runHook(argv: readonly string[], io: HookIo, places: HookPlaces): Promise<void> {
  const options = optionsOf(argv);
  let { event } = options;
  try {
    const { pid, ppid, cwd, env } = io;
    const recorded = Object.fromEntries(io.variables.map((name) => [name, env[name]]));
    const head = Buffer.from(formatHead({ ...options, ppid, pid, cwd, env: recorded }));
    const { chunks, end } = await readPayload(options.payload, io, MAX_FILE_BYTES - head.length);
    const last = Buffer.from(formatEnd(end, startOfProcess(ppid)));
    if (!isGoneForAWeek(places)) attempt(() => writeEvent(places.inboxDir, `${ppid}-${pid}`, [head, ...chunks, last]));
    event ??= eventNameIn(chunks);
    const drain = options.drain ?? drainFor(event);
    if (drain === "yes" || (drain === "if-waiting" && queuedFiles(places.inboxDir) > 1)) {
      startDrain(places, { ...env, [HOOK_FOLDER]: cwd });
    }
  } catch {
    // the agent must not feel it
  }
  attempt(() => {
    const reply = options.reply ?? (options.source && io.replyOf?.(options.source, event));
    if (reply !== undefined && reply !== "") io.write(`${reply}\n`);
  });
}

/**
 * Starts `openhook-otel drain --quiet` in its own session, without any of our streams, and does not wait. Not with
 * `OPENHOOK_OTEL_DRAIN=off`, and not where the program is gone.
 *
 * @throws never
 */
export function startDrain(
  { stateDir, nodePath, programPath }: Omit<HookPlaces, "inboxDir">,
  env: Readonly<Record<string, string | undefined>>,
): void {
  if (env["OPENHOOK_OTEL_DRAIN"] === "off" || !existsSync(programPath)) return;
  try {
    const child = spawn(
      existsSync(nodePath) ? nodePath : process.execPath,
      [...LEAN, programPath, "drain", "--quiet"],
      {
        cwd: existsSync(stateDir) ? stateDir : parse(programPath).root,
        detached: true,
        // Of a folder that `enable` was told in a terminal a desktop's environment knows nothing
        env: { ...env, OPENHOOK_OTEL_HOME: stateDir, NODE_OPTIONS: allowedNodeOptions(env["NODE_OPTIONS"]) },
        stdio: "ignore",
        windowsHide: true,
      },
    );
    child.on("error", () => {});
    child.unref();
  } catch {
    // The next drain finds what is in the inbox
  }
}

// --- internal ---

/** For Node: in the background memory counts more than time. The same in hook.sh. */
const LEAN = ["--max-semi-space-size=2", "--optimize-for-size"];

/**
 * Whether the program was removed a week ago, without `disable`. An update is over in minutes, and what comes meanwhile is
 * kept for whoever puts it back; a drain takes the mark away. The same in hook.sh.
 */
function isGoneForAWeek({ stateDir, programPath }: HookPlaces): boolean {
  if (existsSync(programPath)) return false;
  const mark = join(stateDir, GONE_MARK);
  try {
    return Date.now() - statSync(mark).mtimeMs > GONE_AFTER_MS;
  } catch {
    attempt(() => closeSync(openSync(mark, "wx", 0o600)));
    return false;
  }
}

type Drain = "yes" | "if-waiting" | "no";

interface Options {
  readonly source?: string;
  readonly event?: string;
  /** An empty one was asked for: print nothing. */
  readonly reply?: string;
  readonly drain?: Drain;
  readonly payload: PayloadPlace;
}

type PayloadPlace =
  | { readonly in: "stdin" }
  | { readonly in: "variable" }
  | { readonly in: "argument"; readonly text: string };

function optionsOf(argv: readonly string[]): Options {
  const inArgument = argv.includes("--payload-argument");
  const { values, positionals } = parseArgs({
    args: inArgument ? argv.slice(0, -1) : [...argv],
    strict: false,
    allowPositionals: true,
    options: {
      source: { type: "string" },
      event: { type: "string" },
      reply: { type: "string" },
      drain: { type: "string" },
      "payload-env": { type: "boolean" },
      "payload-argument": { type: "boolean" },
      phase: { type: "string" },
      cli: { type: "string" },
      "exit-code": { type: "string" },
    },
  });
  const { drain, phase, cli } = values;
  const known = drain === "yes" || drain === "if-waiting" || drain === "no" ? { drain: drain as Drain } : {};
  if ((phase === "pre" || phase === "post") && typeof cli === "string") {
    const exitCode = phase === "post" && /^\d{1,9}$/.test(String(values["exit-code"])) && Number(values["exit-code"]);
    const call = { cli, args: [], phase, ...(exitCode !== false && { exit_code: exitCode }) };
    const source = String(values.source ?? positionals[0] ?? "");
    return { source, event: phase, ...known, payload: { in: "argument", text: JSON.stringify(call) } };
  }
  const text = (name: "source" | "event" | "reply", position: number) => {
    const value = values[name] ?? positionals[position];
    const isSilence = name === "reply" && values.reply === "";
    return typeof value === "string" && (value !== "" || isSilence) ? { [name]: value } : {};
  };
  const payload: PayloadPlace = inArgument
    ? { in: "argument", text: argv.at(-1) ?? "" }
    : { in: values["payload-env"] === true ? "variable" : "stdin" };
  return { ...text("source", 0), ...text("event", 1), ...text("reply", 2), ...known, payload };
}

interface Read {
  readonly chunks: readonly Buffer[];
  readonly end: PayloadEnd;
}

/** Some hosts put the payload into USER_PROMPT and leave stdin open, silent: then what is there is believed. */
async function readPayload(place: PayloadPlace, { stdin, env }: HookIo, maxBytes: number): Promise<Read> {
  if (place.in === "argument") return bounded(place.text, maxBytes);
  const prompt = env["USER_PROMPT"];
  if (place.in === "variable") return bounded(prompt ?? "", maxBytes);
  const isJson = prompt?.startsWith("{") === true;
  const firstByteMs = isJson ? FIRST_BYTE_TIMEOUT_MS.json : prompt === "" ? FIRST_BYTE_TIMEOUT_MS.empty : undefined;
  const read = await readBounded(stdin, maxBytes, firstByteMs);
  return isJson && read.chunks.length === 0 ? bounded(prompt, maxBytes) : read;
}

function bounded(text: string, maxBytes: number): Read {
  const bytes = Buffer.from(text);
  return { chunks: [bytes.subarray(0, maxBytes)], end: bytes.length > maxBytes ? "cut" : "whole" };
}

/** Reads to the end, the bound or the time-out. Beyond the bound it goes on without keeping: no broken pipe. */
function readBounded(stdin: HookIo["stdin"], maxBytes: number, firstByteMs = READ_TIMEOUT_MS): Promise<Read> {
  if (stdin.isTTY === true) return Promise.resolve({ chunks: [], end: "whole" });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let cut = false;
    const timer = setTimeout(() => finish("late"), READ_TIMEOUT_MS);
    const firstTimer = setTimeout(() => bytes === 0 && finish("late"), firstByteMs);
    const finish = (end: PayloadEnd) => {
      clearTimeout(timer);
      clearTimeout(firstTimer);
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

/** As hook.sh reads it; `undefined` where there is no /proc. */
function startOfProcess(pid: number): string | undefined {
  try {
    return processStart(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return undefined;
  }
}

/** Writes under the last name at once; the end line makes it complete, see hook.sh. */
function writeEvent(inboxDir: string, stem: string, parts: readonly Buffer[]): void {
  const { path, fd } = reserve(inboxDir, stem);
  try {
    try {
      for (const part of parts) {
        for (let offset = 0; offset < part.length; ) offset += writeSync(fd, part, offset);
      }
    } finally {
      // Over a network this is where it can say that there is no room
      closeSync(fd);
    }
  } catch {
    markLost(path);
  }
}

/** No room on the disk: what is left has no bytes, and says that there was an event. A pid comes back before a drain has. */
function markLost(path: string): void {
  let mark = path.slice(0, -EVENT_FILE.length);
  while (existsSync(`${mark}${LOST_FILE}`)) mark += "-";
  try {
    truncateSync(path);
    renameSync(path, `${mark}${LOST_FILE}`);
  } catch {
    unlinkSync(path);
  }
}

function reserve(inboxDir: string, stem: string): { path: string; fd: number } {
  let made = false;
  for (let n = 0; ; ) {
    const path = join(inboxDir, `${stem}-${n}${EVENT_FILE}`);
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

function queuedFiles(inboxDir: string): number {
  return readdirSync(inboxDir).filter((name) => name.endsWith(EVENT_FILE)).length;
}

function attempt(action: () => unknown): void {
  try {
    action();
  } catch {
    // nothing the agent should hear of
  }
}
