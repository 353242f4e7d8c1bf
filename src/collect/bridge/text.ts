import { count, duration, localTime } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { BridgeCommandState } from "#store/bridge-state.ts";
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
