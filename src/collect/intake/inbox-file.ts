// The format of an inbox file. hook.sh writes the same format; test/intake/hook.test.ts compares the two.
//
//   openhook-inbox 1        then key=value lines, if known and without newlines: source, event, ppid, pid, cwd, and
//   source=claude-code      env.<NAME> for the variables that agents' cards declare
//   <empty line>
//   <payload, unchanged>
//   <newline>end=whole 88   the last line, with the parent's start time if known; without this line the intake is still
//                           running, or was killed
//
// If the disk is full, an empty file is left, named .lost instead of .evt: it counts as a lost event. If no file can be created
// either, one byte is appended to the file `lost-events` in the state directory.
import type { IntakeFacts } from "#core/model/intake-facts.ts";

/** File name suffixes of complete or incomplete events, and of lost ones. hook.sh has the same. */
export const [EVENT_FILE, LOST_FILE] = [".evt", ".lost"] as const;

/** File in the state directory that grows by one byte per event for which no file could be created. hook.sh has the same name. */
export const LOST_COUNT = "lost-events";

/** Environment variable of a drain: the working directory of the hook that started it. hook.sh has the same name. */
export const HOOK_FOLDER = "OPENHOOK_OTEL_HOOK_FOLDER";

/** `recorded` if `enable` recorded the state directory that the hook uses, otherwise `environment`. hook.sh has the same name. */
export const HOOK_STATE = "OPENHOOK_OTEL_HOOK_STATE";

/** The allowed options of the agent's NODE_OPTIONS. The drain decides whether they are the user's. hook.sh has the same name. */
export const HOOK_NODE_OPTIONS = "OPENHOOK_OTEL_HOOK_NODE_OPTIONS";

/**
 * Environment variable of the commands that the bridge runs. Events of agents that such a command starts are recorded but not handed
 * to commands, which would start the agent again. hook.sh has the same name.
 */
export const BRIDGE_VARIABLE = "OPENHOOK_BRIDGE";

/** Set by `openhook-otel run` for the agent: the CI job, as JSON of resource attributes. Hooks record it. */
export const PIPELINE_VARIABLE = "OPENHOOK_OTEL_PIPELINE";

/** A file in the state directory with what the user allowed the bridge to run. Only while it exists do all events start drains. */
export const BRIDGE_CONSENT = "bridge.json";
/** A file in the state directory with the process id of the drain that reads new events by itself. hook.sh has the same names. */
export const BRIDGE_LIVE = "bridge.live";

/** A file in the state directory that says where agents send their own telemetry. While it exists, any event starts the receiver. */
export const RECEIVER = "native/receiver.json";
/** A file in the state directory with the process id of the receiver, or `PORT_TAKEN`. hook.sh has the same names. */
export const RECEIVER_LIVE = "native/receiver.live";
/** In place of the process id: another program had the port when the receiver was last started. hook.sh has the same words. */
export const PORT_TAKEN = "port taken";

/**
 * Variables that act before a program's first line: they load code, a configuration or a cache, or write files. A drain is started
 * without them. `scripts/hook-variables.mjs` writes this list into hook.sh and our plugins.
 */
export const STARTUP_VARIABLES: readonly string[] = [
  "NODE_COMPILE_CACHE",
  "NODE_ICU_DATA",
  "NODE_PATH",
  "NODE_REDIRECT_WARNINGS",
  "NODE_V8_COVERAGE",
  "OPENSSL_CONF",
  "OPENSSL_ENGINES",
  "OPENSSL_MODULES",
];

/**
 * The options in NODE_OPTIONS that a drain keeps: certificates, network and memory; `*` stands for any characters. The others belong to
 * the agent or to its repository: a preloaded module runs foreign code, and is not found from a drain's working directory.
 * `scripts/hook-variables.mjs` writes this list into hook.sh and our plugins.
 */
export const ALLOWED_NODE_OPTIONS: readonly string[] = [
  "--use-*-ca",
  "--use-env-proxy",
  "--network-family-*",
  "--no-network-family-*",
  "--dns-result-order=*",
  "--max-*-size=*",
  "--tls-min-*",
  "--tls-max-*",
  "--tls-cipher-*",
];

/** The part of NODE_OPTIONS that a drain keeps. */
export function allowedNodeOptions(options = ""): string {
  const allowed = new RegExp(`^(?:${ALLOWED_NODE_OPTIONS.join("|").replaceAll("*", ".*")})$`);
  return options
    .split(/\s+/)
    .filter((option) => allowed.test(option))
    .join(" ");
}

/** Limit for one inbox file without its end line. hook.sh has the same number. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** The intake reads stdin for this long; some hosts never close it. hook.sh has the same number. */
export const READ_TIMEOUT_MS = 5_000;

/**
 * How long the intake waits for stdin's first byte if USER_PROMPT is set: some hosts put the payload there and leave stdin open
 * without writing to it. Shorter if USER_PROMPT looks like JSON. hook.sh has the same numbers.
 */
export const FIRST_BYTE_TIMEOUT_MS = { json: 250, empty: 1_000 } as const;

/** A file in the state directory; its time is when the hook first found no program to start. */
export const GONE_MARK = "program.gone";
/** From then on the hook records nothing. hook.sh has the same number. */
export const GONE_AFTER_MS = 7 * 24 * 3_600_000;

/** How reading stdin ended: at its end; when time was up; at the size bound, or by a failed write. */
export type PayloadEnd = "whole" | "late" | "cut";

interface Head {
  readonly source?: string | undefined;
  readonly event?: string | undefined;
  readonly ppid: number;
  readonly pid: number;
  readonly cwd: string;
  /** The environment variables that are recorded, and no others. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The lines before the payload, including the empty one. Values that are empty or contain a newline are left out. */
export function formatHead({ source, event, ppid, pid, cwd, env }: Head): string {
  const fields: [string, string | undefined][] = [
    ["source", source],
    ["event", event],
    ["ppid", String(ppid)],
    ["pid", String(pid)],
    ["cwd", cwd],
    ...Object.entries(env).map(([name, value]): [string, string | undefined] => [`env.${name}`, value]),
  ];
  const lines = fields.filter(([, value]) => value !== undefined && value !== "" && !value.includes("\n"));
  return `${MAGIC}\n${lines.map(([name, value]) => `${name}=${value}\n`).join("")}\n`;
}

/**
 * Start time of a process, from its line in Linux' /proc/<pid>/stat: field 22, the 20th after the name. The name can contain
 * anything, including spaces, brackets and newlines.
 */
export const processStart = (stat: string): string | undefined =>
  stat.slice(stat.lastIndexOf(") ") + 2).split(/\s+/)[19];

/** The pid of a process's parent, from the same line; `undefined` if there is none. */
export const parentOfProcess = (stat: string): number | undefined => {
  const pid = Number(stat.slice(stat.lastIndexOf(") ") + 2).split(" ")[1]);
  return pid > 0 ? pid : undefined;
};

/**
 * The last line, with the newline that separates it from the payload.
 *
 * @param parentStart start time of the parent in the system's unit; not in the header, because a shell reads it slowly and the
 *        payload should not wait for it
 * @param origin of the hook, for the same reason
 */
export const formatEnd = (end: PayloadEnd, parentStart?: string, { host, agent }: HookOrigin = {}): string => {
  if (parentStart === undefined) return `\nend=${end}\n`;
  const process = agent === undefined ? "" : ` agent=${agent.pid}.${agent.start}`;
  return `\nend=${end} ${parentStart}${host === undefined ? "" : ` host=${host}`}${process}\n`;
};

/** Length of the longest end line: this much of a file's tail shows whether it is complete. */
export const END_BYTES = formatEnd("whole", "9".repeat(20), {
  host: `${"9".repeat(20)}.${"f".repeat(36)}`,
  agent: { pid: 9_999_999_999, start: "9".repeat(20) },
}).length;

/** Where a hook ran. */
export interface HookOrigin {
  /** Number of the pid namespace and id of the system's boot, joined by a dot. */
  readonly host?: string;
  /** The first process above the hook that is no shell, if it is not the parent. Pid 0: there is none. */
  readonly agent?: ProcessName;
}

/** Identifies one process of one running system. */
export interface ProcessName {
  readonly pid: number;
  /** Its start time in the system's unit. */
  readonly start: string;
}

interface FileEnd extends HookOrigin {
  readonly end: PayloadEnd;
  readonly parentStart?: string;
  /** Length of the end line. */
  readonly bytes: number;
}

/**
 * Parses the end line.
 *
 * @param tail the last bytes of a file, at least `END_BYTES` unless the file is shorter
 * @returns how the payload ended; `undefined` without an end line: the intake is running, or was killed
 */
export function endOf(tail: Buffer): FileEnd | undefined {
  const text = tail.toString("latin1", Math.max(0, tail.length - END_BYTES));
  const [line, word, parentStart, host, pid, start] = END_LINE.exec(text) ?? [];
  const end = ENDS.find((known) => known === word);
  if (line === undefined || end === undefined) return undefined;
  return {
    end,
    bytes: line.length,
    ...(parentStart === undefined ? {} : { parentStart }),
    ...(host === undefined ? {} : { host }),
    ...(pid === undefined || start === undefined ? {} : { agent: { pid: Number(pid), start } }),
  };
}

export type ParsedFile =
  /** `end` is missing if the intake was killed before it was done. */
  | { readonly ok: true; readonly facts: IntakeFacts; readonly payload: Buffer; readonly end?: PayloadEnd }
  | { readonly ok: false; readonly reason: string };

/**
 * Parses an inbox file. Pure; never throws.
 *
 * @param bytes the whole file; `payload` is a view of it, not a copy
 * @param mtimeMs the file's modification time, which is the event time
 * @returns `ok: false` with a reason if the header is not ours
 */
export function parseInboxFile(bytes: Buffer, mtimeMs: number): ParsedFile {
  if (bytes.toString("latin1", 0, MAGIC.length + 1) !== `${MAGIC}\n`) {
    return { ok: false, reason: `the file does not begin with "${MAGIC}"` };
  }
  const headEnd = bytes.indexOf("\n\n", MAGIC.length);
  if (headEnd === -1) return { ok: false, reason: "the header has no end" };

  const fields = new Map<string, string>();
  const env: Record<string, string> = {};
  for (const line of bytes.toString("utf8", MAGIC.length + 1, headEnd).split("\n")) {
    if (line === "") continue;
    const at = line.indexOf("=");
    if (at < 1) return { ok: false, reason: `the header line ${JSON.stringify(line.slice(0, 80))} has no "="` };
    const [name, value] = [line.slice(0, at), line.slice(at + 1)];
    if (name.startsWith("env.")) env[name.slice("env.".length)] = value;
    else fields.set(name, value);
  }

  const last = endOf(bytes);
  const payload = bytes.subarray(headEnd + 2, bytes.length - (last?.bytes ?? 0));
  const text = <K extends string>(key: K) => {
    const value = fields.get(key);
    return (value === undefined ? {} : { [key]: value }) as { readonly [key in K]?: string };
  };
  const pid = <K extends string>(key: K, name: string) => {
    const value = Number(fields.get(name));
    return (Number.isSafeInteger(value) && value > 0 ? { [key]: value } : {}) as { readonly [key in K]?: number };
  };
  return {
    ok: true,
    payload,
    ...(last === undefined ? {} : { end: last.end }),
    facts: {
      ...text("source"),
      ...text("event"),
      ...text("cwd"),
      ...pid("parentPid", "ppid"),
      ...(last?.parentStart === undefined ? {} : { parentStart: last.parentStart }),
      ...(last?.host === undefined ? {} : { host: last.host }),
      ...agentProcess(Number(fields.get("ppid")), last),
      ...pid("hookPid", "pid"),
      timeMs: mtimeMs,
      env,
      payloadBytes: payload.length,
      truncated: last?.end === "cut",
    },
  };
}

// --- internal ---

const END_LINE =
  /\nend=(whole|late|cut)(?: (\d{1,20})(?: host=(\d{1,20}\.[0-9a-f-]{36}))?(?: agent=(\d{1,10})\.(\d{1,20}))?)?\n$/;

/** Files of earlier hooks do not say whether their parent was a shell, and have no host either. */
function agentProcess(parentPid: number, last: FileEnd | undefined): Pick<IntakeFacts, "agentProcess"> {
  if (last?.host === undefined || last.parentStart === undefined) return {};
  const { pid, start } = last.agent ?? { pid: parentPid, start: last.parentStart };
  return pid > 0 ? { agentProcess: { pid, start } } : {};
}

const MAGIC = "openhook-inbox 1";
const ENDS: readonly PayloadEnd[] = ["whole", "late", "cut"];
