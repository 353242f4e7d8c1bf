import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, parse } from "node:path";
import { isPlainOrFree, writeEvent } from "./hook-event-file.ts";
import { type DrainOption, optionsOf } from "./hook-options.ts";
import { readPayload, type Stdin } from "./hook-payload.ts";
import { noteProcesses, originOf, startOfProcess } from "./hook-processes.ts";
import { hasSessionId, sessionStartOf } from "./hook-session-start.ts";
import {
  allowedNodeOptions,
  BRIDGE_CONSENT,
  BRIDGE_LIVE,
  BRIDGE_VARIABLE,
  EVENT_FILE,
  formatEnd,
  formatHead,
  GONE_AFTER_MS,
  GONE_MARK,
  HOOK_FOLDER,
  HOOK_NODE_OPTIONS,
  HOOK_STATE,
  MAX_FILE_BYTES,
  PORT_TAKEN,
  RECEIVER,
  RECEIVER_LIVE,
  STARTUP_VARIABLES,
} from "./inbox-file.ts";

/** The hook's process. */
interface HookIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names of the environment variables to record. hook.sh has the same list. */
  readonly variables: readonly string[];
  readonly stdin: Stdin;
  readonly cwd: string;
  readonly pid: number;
  readonly ppid: number;
  readonly platform: NodeJS.Platform;
  /** Writes to stdout. */
  write(text: string): unknown;
  /** Returns what to print if the command line contains no reply. @default prints nothing */
  readonly replyOf?: (source: string, event: string | undefined) => string | undefined;
}

/** Where the hook writes, and what it starts a drain with. Absolute paths. */
interface HookPlaces {
  readonly stateDir: string;
  readonly inboxDir: string;
  readonly nodePath: string;
  readonly programPath: string;
  /** Whether `enable` recorded the state directory. @default false: it comes from the environment */
  readonly isStateRecorded?: boolean;
}

/**
 * The Node twin of hook.sh, for Windows and for `.openhook.json`: writes the payload to one file in the inbox, prints the reply,
 * and starts a drain if one is due. The caller exits afterwards, because stdin may still be open.
 *
 * @param argv `--source S --event E --reply R --drain yes|if-waiting|soon|no`, or the first three by position as in hook.sh; anything
 *        else is ignored. Without `--drain`, the event's name decides. `--payload-env`: the payload is in USER_PROMPT;
 *        `--payload-argument`: it is the last argument; stdin is not read then. Hand-written wrappers use
 *        `<source> --phase pre|post --cli <program> [--exit-code N] -- <args…>` instead; the arguments are not recorded.
 * @returns after about 5 s (READ_TIMEOUT_MS) at most, even if stdin stays open
 * @throws never, and never rejects: an event that cannot be written is lost, and counted as lost if possible; the agent continues
 */
export async function runHook(argv: readonly string[], io: HookIo, places: HookPlaces): Promise<void> {
  const options = optionsOf(argv);
  let { event } = options;
  try {
    const { pid, cwd, env } = io;
    const recorded = Object.fromEntries(io.variables.map((name) => [name, env[name]]));
    const headFor = (ppid: number) => Buffer.from(formatHead({ ...options, ppid, pid, cwd, env: recorded }));
    const maxBytes = MAX_FILE_BYTES - headFor(Number.MAX_SAFE_INTEGER).length;
    const { chunks, end } = await readPayload(options.payload, io, maxBytes);
    const parent = parentOf(io, options.source, chunks, places);
    const origin = originOf(io.ppid);
    const last = Buffer.from(formatEnd(end, parent.start, origin));
    const parts = [headFor(parent.pid), ...chunks, last];
    const isKept = !isGoneForAWeek(places);
    if (isKept) attempt(() => writeEvent(places, `${io.ppid}-${pid}`, parts));
    event ??= eventNameIn(chunks);
    const drain = options.drain ?? drainFor(event);
    if (isKept && drain === "if-waiting") attempt(() => noteProcesses(places.stateDir, parent, origin));
    // `soon` saves drains in hook.sh; here it is the same as `yes`, since only one drain runs at a time
    const isDue = drain === "yes" || drain === "soon" || (drain === "if-waiting" && queuedFiles(places.inboxDir) > 1);
    const isBridged = isBridgeOn(places, env);
    const started = {
      ...env,
      [HOOK_FOLDER]: cwd,
      [HOOK_STATE]: places.isStateRecorded === true ? "recorded" : "environment",
      [HOOK_NODE_OPTIONS]: allowedNodeOptions(env["NODE_OPTIONS"]),
      NODE_OPTIONS: undefined,
    };
    if (isReceiverMissing(places, isDue)) note(places, RECEIVER_LIVE, startProgram(places, started, RECEIVE));
    if (isDue || (isBridged && !isLive(places, BRIDGE_LIVE))) {
      const drainPid = startDrain(places, started, isDue ? [] : ["--events"]);
      if (isBridged) note(places, BRIDGE_LIVE, drainPid);
    }
  } catch {
    // An error here must not reach the agent
  }
  attempt(() => {
    const reply = options.reply ?? (options.source && io.replyOf?.(options.source, event));
    if (reply !== undefined && reply !== "") io.write(`${reply}\n`);
  });
}

/**
 * Starts `openhook-otel drain --quiet` in its own session, without our streams, and does not wait for it. Does nothing if
 * `OPENHOOK_OTEL_DRAIN=off` or if the program was removed.
 *
 * @param options further options of the drain
 * @returns its process id; `undefined` if none was started
 * @throws never
 */
export const startDrain = (
  places: Omit<HookPlaces, "inboxDir">,
  env: Readonly<Record<string, string | undefined>>,
  options: readonly string[] = [],
): number | undefined => startProgram(places, env, ["drain", "--quiet", ...options]);

// --- internal ---

const RECEIVE = ["receive", "--quiet"];

function startProgram(
  { stateDir, nodePath, programPath }: Omit<HookPlaces, "inboxDir">,
  env: Readonly<Record<string, string | undefined>>,
  args: readonly string[],
): number | undefined {
  if (env["OPENHOOK_OTEL_DRAIN"] === "off" || !existsSync(programPath)) return undefined;
  try {
    const child = spawn(existsSync(nodePath) ? nodePath : process.execPath, [...LEAN, programPath, ...args], {
      cwd: existsSync(stateDir) ? stateDir : parse(programPath).root,
      detached: true,
      // A desktop's environment does not contain a folder that was set in the terminal in which `enable` ran
      env: {
        ...Object.fromEntries(Object.entries(env).filter(([name]) => !STARTUP_VARIABLES.includes(name))),
        OPENHOOK_OTEL_HOME: stateDir,
        NODE_OPTIONS: allowedNodeOptions(env["NODE_OPTIONS"]),
      },
      stdio: "ignore",
      windowsHide: true,
    });
    child.on("error", () => {});
    child.unref();
    return child.pid;
  } catch {
    // The event is in the inbox, so the next drain reads it
    return undefined;
  }
}

/** Node's options for a drain in the background: little memory for a long one, little time for a short one. The same in hook.sh. */
const LEAN = ["--max-semi-space-size=2", "--optimize-for-size", "--initial-heap-size=48"];

/**
 * Whether the program was removed more than a week ago, without `disable`. Until then events are kept: an update takes minutes,
 * and the user may reinstall the program. A drain removes the mark. The same in hook.sh.
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

/** Whether every event starts a drain: the user allowed the bridge to run commands, and the agent is not run by one of them. */
const isBridgeOn = ({ stateDir }: HookPlaces, env: HookIo["env"]): boolean =>
  !env[BRIDGE_VARIABLE] && existsSync(join(stateDir, BRIDGE_CONSENT));

/** Whether an agent exports its own telemetry and nothing receives it. If another program has the port, only drains are reason to try. */
function isReceiverMissing(places: HookPlaces, isDrainDue: boolean): boolean {
  if (!existsSync(join(places.stateDir, RECEIVER)) || isLive(places, RECEIVER_LIVE)) return false;
  const mark = join(places.stateDir, RECEIVER_LIVE);
  return isDrainDue || !existsSync(mark) || readFileSync(mark, "utf8").trim() !== PORT_TAKEN;
}

function note({ stateDir }: HookPlaces, name: string, pid: number | undefined): void {
  const mark = join(stateDir, name);
  if (pid !== undefined && isPlainOrFree(mark)) writeFileSync(mark, `${pid}\n`, { mode: 0o600 });
}

/** Whether the process runs that a file names. */
function isLive({ stateDir }: HookPlaces, name: string): boolean {
  try {
    const mark = join(stateDir, name);
    const pid = isPlainOrFree(mark) ? Number(readFileSync(mark, "utf8")) : 0;
    return Number.isSafeInteger(pid) && pid > 1 && process.kill(pid, 0) && !isZombie(pid);
  } catch {
    return false;
  }
}

/** In a container without init a killed process stays, as a zombie. */
function isZombie(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ");
  } catch {
    return false;
  }
}

/**
 * The process whose child this hook is. On Windows, without a session id, that of the session's start; `start` is then the time of that
 * event.
 */
function parentOf(
  { platform, ppid, cwd }: HookIo,
  source: string | undefined,
  chunks: readonly Buffer[],
  { stateDir }: HookPlaces,
): { readonly pid: number; readonly start: string | undefined } {
  const direct = { pid: ppid, start: startOfProcess(ppid) };
  if (platform !== "win32" || source === undefined) return direct;
  if (hasSessionId(beginningOf(chunks))) return direct;
  try {
    const isStart = STARTS_SESSION.test(eventNameIn(chunks) ?? "");
    const start = sessionStartOf({ stateDir, source, cwd, ppid, isStart, nowMs: Date.now() });
    return { pid: start.ppid, start: String(start.startMs) };
  } catch {
    return direct;
  }
}

const ENDS_SOMETHING = /end|stop|idle|complete|shutdown|dispose|deleted|clear/i;
const STARTS_SESSION = /session.?(start|created)|agentspawn/i;
/** Ends that occur many times in a turn, too often to start a drain each time. */
const WITHIN_TURN = /tool|subagent/i;

function drainFor(event: string | undefined): DrainOption {
  if (event === undefined) return "no";
  if (STARTS_SESSION.test(event)) return "if-waiting";
  return ENDS_SOMETHING.test(event) && !WITHIN_TURN.test(event) ? "yes" : "no";
}

/** The event's name in the payload's first bytes, under the usual members. A wrong match only costs one drain without work. */
function eventNameIn(chunks: readonly Buffer[]): string | undefined {
  const start = beginningOf(chunks);
  for (const key of ["hook_event_name", "hookEventName", "event", "type"]) {
    const found = new RegExp(`"${key}"\\s*:\\s*"([^"\\\\]{1,80})"`).exec(start);
    if (found?.[1] !== undefined) return found[1];
  }
  return undefined;
}
const beginningOf = (chunks: readonly Buffer[]): string =>
  Buffer.concat(chunks.slice(0, 2)).toString("utf8", 0, SCANNED_BYTES);
const SCANNED_BYTES = 8192;

function queuedFiles(inboxDir: string): number {
  return readdirSync(inboxDir).filter((name) => name.endsWith(EVENT_FILE)).length;
}

function attempt(action: () => unknown): void {
  try {
    action();
  } catch {
    // An error here must not reach the agent
  }
}
