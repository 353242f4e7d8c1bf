import { count, duration, isoTime, localTime } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { BridgeCommandState } from "#store/bridge.ts";
import type { BridgeCommand } from "./registration-file.ts";
import type { BridgeFile } from "./report.ts";

/** A command with every line of it, so that a line break hides nothing. */
export function commandLines({ command, events, isAsync }: BridgeCommand): readonly string[] {
  const lines = command.split("\n").map((line, index) => `  ${index === 0 ? "$" : ">"} ${printable(line)}`);
  const which = events.includes("*") ? "all events" : events.map(printable).join(", ");
  return [...lines, `      for ${which}${isAsync ? ", sessions side by side" : ""}`];
}

/** Whether a command seems to start a file of the project: its later changes need no consent. */
export const startsOwnFile = ({ command }: BridgeCommand): boolean => /(?:^|[\s;&|"'=(])\.{1,2}[/\\]/.test(command);

/** Each file with its state and its commands. */
export function* fileLines(files: readonly BridgeFile[], nowMs: number): Generator<string> {
  for (const [index, file] of files.entries()) {
    if (index > 0) yield "";
    yield `${printable(file.path)}: ${stateText(file, nowMs)}`;
    for (const command of file.commands) {
      yield* commandLines(command);
      if (command.stored !== undefined) for (const line of storedLines(command.stored, nowMs)) yield `      ${line}`;
    }
  }
}

/** Why a command failed, how often in a row, and when it is tried again. */
export function failureText({ failures, lastReason, notBeforeMs, queued }: BridgeCommandState, nowMs: number): string {
  const times = failures === 1 ? "" : `, ${failures} times in a row`;
  const next = queued > 0 && notBeforeMs > nowMs ? `; next attempt after ${localTime(notBeforeMs)}` : "";
  return `${lastReason ?? "unknown reason"}${times}${next}`;
}

/** A registration file as `bridge status --json` and `status --json` print it. Times are ISO 8601; unknown or never is `null`. */
export interface BridgeFileJson {
  readonly path: string;
  readonly state: BridgeFile["state"];
  /** Why it is refused. */
  readonly problem: string | null;
  readonly allowed: string | null;
  readonly commands: readonly {
    readonly command: string;
    readonly events: readonly string[];
    readonly async: boolean;
    readonly delivered: number;
    readonly queued: number;
    readonly oldest: string | null;
    readonly dropped: number;
    /** In a row. */
    readonly failures: number;
    readonly last_ok: string | null;
    readonly last_problem: string | null;
    readonly not_before: string | null;
  }[];
}

export const fileJson = ({ path, state, problem, allowedMs, commands }: BridgeFile): BridgeFileJson => ({
  path,
  state,
  problem: problem ?? null,
  allowed: isoTime(allowedMs),
  commands: commands.map(({ command, events, isAsync, stored }) => ({
    command,
    events,
    async: isAsync,
    delivered: stored?.delivered ?? 0,
    queued: stored?.queued ?? 0,
    oldest: isoTime(stored?.oldestMs),
    dropped: stored?.dropped ?? 0,
    failures: stored?.failures ?? 0,
    last_ok: isoTime(stored?.lastOkMs),
    last_problem: stored?.lastReason ?? null,
    not_before: stored === undefined || stored.notBeforeMs === 0 ? null : isoTime(stored.notBeforeMs),
  })),
});

// --- internal ---

function stateText({ state, problem, allowedMs, commands }: BridgeFile, nowMs: number): string {
  switch (state) {
    case "allowed":
      return `allowed ${ago(allowedMs, nowMs)}${commands.length === 0 ? ", without commands" : ""}`;
    case "changed":
      return `changed since it was allowed ${ago(allowedMs, nowMs)}; nothing runs until it is allowed again`;
    case "new":
      return "not allowed; nothing runs";
    case "refused":
      return `refused: ${problem}`;
    case "gone":
      return `allowed ${ago(allowedMs, nowMs)}, and gone`;
  }
}

function storedLines(stored: BridgeCommandState, nowMs: number): readonly string[] {
  const { delivered, queued, dropped, lastOkMs, failures } = stored;
  const last = lastOkMs === undefined ? "" : `, the last one ${ago(lastOkMs, nowMs)}`;
  return [
    `${count(delivered)} delivered${last}; ${count(queued)} queued${dropped === 0 ? "" : `; ${count(dropped)} dropped`}`,
    ...(failures === 0 ? [] : [`! ${failureText(stored, nowMs)}`]),
  ];
}

const ago = (ms: number | undefined, nowMs: number): string =>
  ms === undefined ? "" : `${duration(Math.max(0, nowMs - ms))} ago`;
