// The inbox file on one page. hook.sh writes the same form; test/intake/hook.test.ts holds the two together.
//
//   openhook-inbox 1        then key=value lines, each only where known and free of newlines: source event ppid pid cwd
//   source=claude-code      env.<NAME> for the variables in KEPT_ENV
//   <empty line>
//   <payload, untouched>
//   <newline>end=whole      the last line; without it the intake is still at work, or died
import type { IntakeFacts } from "../model/agent.ts";

/** Bound of one inbox file up to its end line. hook.sh has the same number. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** How long the intake reads stdin; some hosts never close it. hook.sh has the same number. */
export const READ_TIMEOUT_MS = 5_000;

/** The only environment variables the intake keeps: they name sessions, never secrets. hook.sh has the same list. */
export const KEPT_ENV = [
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_PID",
  "CLAUDE_PROJECT_DIR",
  "KIRO_SESSION_ID",
  "CRUSH_SESSION_ID",
  "OPENHOOK_SESSION_ID",
  "CODEX_HOME",
  "CRUSH",
  "CURSOR_VERSION",
] as const;

/** How reading stdin ended: at its end; when time was up; at the size bound (or by a failed write). */
export type PayloadEnd = "whole" | "late" | "cut";

export interface Head {
  readonly source?: string | undefined;
  readonly event?: string | undefined;
  readonly ppid: number;
  readonly pid: number;
  readonly cwd: string;
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
    ...KEPT_ENV.map((name): [string, string | undefined] => [`env.${name}`, env[name]]),
  ];
  const lines = fields.filter(([, value]) => value !== undefined && value !== "" && !value.includes("\n"));
  return `${MAGIC}\n${lines.map(([name, value]) => `${name}=${value}\n`).join("")}\n`;
}

/** The last line, with the newline that parts it from the payload. */
export const formatEnd = (end: PayloadEnd): string => `\nend=${end}\n`;

/** No end line is longer. Enough of a file's tail to tell whether it is complete. */
export const END_BYTES = formatEnd("whole").length;

/**
 * @param tail the last bytes of a file, at least `END_BYTES` of them where there are as many
 * @returns how the payload ended, or `undefined` when the end line is missing: the intake is at work, or died
 */
export function endOf(tail: Buffer): PayloadEnd | undefined {
  const text = tail.toString("latin1", Math.max(0, tail.length - END_BYTES));
  return ENDS.find((end) => text.endsWith(formatEnd(end)));
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

  const end = endOf(bytes);
  const payload = bytes.subarray(headEnd + 2, end === undefined ? bytes.length : bytes.length - formatEnd(end).length);
  const parentPid = Number(fields.get("ppid"));
  const text = (name: "source" | "event" | "cwd") => {
    const value = fields.get(name);
    return value === undefined ? {} : { [name]: value };
  };
  return {
    ok: true,
    payload,
    ...(end === undefined ? {} : { end }),
    facts: {
      ...text("source"),
      ...text("event"),
      ...text("cwd"),
      ...(Number.isSafeInteger(parentPid) && parentPid > 0 ? { parentPid } : {}),
      timeMs: mtimeMs,
      env,
      payloadBytes: payload.length,
      truncated: end === "cut",
    },
  };
}

// --- internal ---

const MAGIC = "openhook-inbox 1";
const ENDS: readonly PayloadEnd[] = ["whole", "late", "cut"];
