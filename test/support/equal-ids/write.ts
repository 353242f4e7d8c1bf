import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A record of a transcript and when the agent writes it. */
export interface TimedLine {
  readonly ms: number;
  readonly line: unknown;
}

/** Writes a JSON Lines file as it is at a time; no file before its first line. */
export function writeLines(path: readonly string[], lines: readonly TimedLine[], untilMs: number): void {
  const written = until(lines, untilMs);
  if (written.length > 0) write(path, written.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** Writes a file that is one object with all messages. */
export function writeDocument(path: readonly string[], lines: readonly TimedLine[], untilMs: number): void {
  const messages = until(lines, untilMs);
  if (messages.length > 0) write(path, JSON.stringify({ version: 1, messages }));
}

export function write(path: readonly string[], text: string): void {
  const file = join(...path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

// --- internal ---

const until = (lines: readonly TimedLine[], untilMs: number): readonly unknown[] =>
  lines.filter(({ ms }) => ms <= untilMs).map(({ line }) => line);
