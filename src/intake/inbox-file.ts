// The inbox file on one page. hook.sh writes the same form; test/intake/hook.test.ts holds the two together.
//
//   openhook-inbox 1        then key=value lines, each only where known and free of newlines: source event ppid pid
//   source=claude-code      cwd, and env.<NAME> for the variables that agents' cards declare
//   <empty line>
//   <payload, untouched>
//   <newline>end=whole 88   the last line, with the parent's start time where there is one; without this line the intake is
//                           still at work, or died
//
// Where the disk had no room, the file is left without a byte and is called .lost in place of .evt: there was an event.
import type { IntakeFacts } from "../model/agent.ts";

/** How the names of events end that are whole, or will be, and of those that found no room. hook.sh has the same. */
export const [EVENT_FILE, LOST_FILE] = [".evt", ".lost"] as const;

/** Where a hook that started a drain was at work, in the drain's environment. hook.sh has the same name. */
export const HOOK_FOLDER = "OPENHOOK_OTEL_HOOK_FOLDER";

/**
 * What of NODE_OPTIONS a drain has, too: whom to trust and how to get there, and how much memory. The rest is the agent's or its
 * repository's: a module that is to be loaded first is a program of somebody's, and is not found from where a drain works.
 * hook.sh has the same.
 */
export const allowedNodeOptions = (options = ""): string =>
  options
    .split(/\s+/)
    .filter((option) =>
      /^--(?:use-.*-ca|use-env-proxy|(?:no-)?network-family-.*|dns-result-order=.*|max-.*-size=.*|tls-(?:min|max|cipher)-.*)$/.test(
        option,
      ),
    )
    .join(" ");

/** Bound of one inbox file up to its end line. hook.sh has the same number. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** How long the intake reads stdin; some hosts never close it. hook.sh has the same number. */
export const READ_TIMEOUT_MS = 5_000;

/**
 * How long stdin may take to begin where USER_PROMPT could hold the payload: some hosts put it there and leave stdin open,
 * silent. Shorter where it does look like one. hook.sh has the same numbers.
 */
export const FIRST_BYTE_TIMEOUT_MS = { json: 250, empty: 1_000 } as const;

/** A file in the state directory; its time says since when the hook finds no program to start. */
export const GONE_MARK = "program.gone";
/** From then on the hook records nothing. hook.sh has the same number. */
export const GONE_AFTER_MS = 7 * 24 * 3_600_000;

/** How reading stdin ended: at its end; when time was up; at the size bound, or by a failed write. */
export type PayloadEnd = "whole" | "late" | "cut";

export interface Head {
  readonly source?: string | undefined;
  readonly event?: string | undefined;
  readonly ppid: number;
  readonly pid: number;
  readonly cwd: string;
  /** The environment variables that are recorded, and no others. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The lines before the payload, the empty one included. Values that are empty or hold a newline are left out. */
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
 * When a process was started, from its line in Linux' /proc/<pid>/stat: field 22, which is the 20th behind the name. The
 * name may hold anything, spaces and brackets and newlines too.
 */
export const processStart = (stat: string): string | undefined =>
  stat.slice(stat.lastIndexOf(") ") + 2).split(/\s+/)[19];

/**
 * The last line, with the newline that parts it from the payload.
 *
 * @param parentStart when the parent was started, as the system says it; not in the header, since a shell reads it slowly
 *        and the payload need not wait
 */
export const formatEnd = (end: PayloadEnd, parentStart?: string): string =>
  `\nend=${end}${parentStart === undefined ? "" : ` ${parentStart}`}\n`;

/** No end line is longer. Enough of a file's tail to tell whether it is complete. */
export const END_BYTES = formatEnd("whole", "9".repeat(20)).length;

export interface FileEnd {
  readonly end: PayloadEnd;
  readonly parentStart?: string;
  /** Of the end line. */
  readonly bytes: number;
}

/**
 * @param tail the last bytes of a file, at least `END_BYTES` of them where there are as many
 * @returns how the payload ended, or `undefined` when the end line is missing: the intake is at work, or died
 */
export function endOf(tail: Buffer): FileEnd | undefined {
  const text = tail.toString("latin1", Math.max(0, tail.length - END_BYTES));
  const [line, word, parentStart] = /\nend=(whole|late|cut)(?: (\d{1,20}))?\n$/.exec(text) ?? [];
  const end = ENDS.find((known) => known === word);
  if (line === undefined || end === undefined) return undefined;
  return { end, bytes: line.length, ...(parentStart === undefined ? {} : { parentStart }) };
}

export type ParsedFile =
  /** `end` is missing where the intake died before it was done. */
  | { readonly ok: true; readonly facts: IntakeFacts; readonly payload: Buffer; readonly end?: PayloadEnd }
  | { readonly ok: false; readonly reason: string };

/**
 * Takes an inbox file apart. Pure; never throws.
 *
 * @param bytes the whole file; `payload` is a view of it, not a copy
 * @param mtimeMs the file's modification time, which is the event time
 * @returns `ok: false` with a reason when the header is not one of ours
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
      ...pid("hookPid", "pid"),
      timeMs: mtimeMs,
      env,
      payloadBytes: payload.length,
      truncated: last?.end === "cut",
    },
  };
}

// --- internal ---

const MAGIC = "openhook-inbox 1";
const ENDS: readonly PayloadEnd[] = ["whole", "late", "cut"];
