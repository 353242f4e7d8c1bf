import { closeSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openRegularSync } from "#kit/open.ts";
import { asString, type Fields, parsedObject } from "../shared/payload/json.ts";
import type { LocalTimes } from "./local-times.ts";
import { eventNumber } from "./places.ts";

/** An event of a conversation. */
export interface EventFile {
  readonly name: string;
  readonly number: number;
  /** `undefined` if the file is no JSON object. */
  readonly event: Fields | undefined;
  /** Absent if the event has none. */
  readonly timeMs: number | undefined;
}

/** Names of the event files from a number on, in order. */
export function eventNames(folder: string, fromNumber: number): readonly string[] {
  const numbered = namesIn(folder).flatMap((name) => {
    const number = eventNumber(name);
    return number === undefined || number < fromNumber ? [] : [{ name, number }];
  });
  return numbered.sort((a, b) => a.number - b.number || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
}

/** Reads event files. */
export function readEvents(
  folder: string,
  names: readonly string[],
  times: LocalTimes,
  roots: readonly string[] | undefined,
): readonly EventFile[] {
  const read = names.map((name) => ({ name, ...readOne(join(folder, name), roots) }));
  const timesMs = times.convert(
    read.map(({ event, writtenMs }) => ({
      text: asString(event?.["timestamp"]) ?? "",
      writtenMs,
      isImmediate: isImmediate(event),
    })),
  );
  return read.map(({ name, event }, i) => ({ name, number: eventNumber(name) ?? 0, event, timeMs: timesMs[i] }));
}

/** One event by its id; `undefined` if there is none. */
export function eventWithId(folder: string, id: string, roots: readonly string[] | undefined): Fields | undefined {
  const name = eventNames(folder, 0).find((one) => one.endsWith(`-${id}.json`));
  return name === undefined ? undefined : readOne(join(folder, name), roots).event;
}

// --- internal ---

/** A tool's output has at most 30,000 characters, unless it is an image. */
const MAX_BYTES = 64 << 20;

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readOne(path: string, roots: readonly string[] | undefined) {
  const { fd, stats } = openRegularSync(path, roots);
  try {
    const event = stats.size > MAX_BYTES ? undefined : parsedObject(readFileSync(fd));
    return { event, writtenMs: stats.mtimeMs };
  } finally {
    closeSync(fd);
  }
}

/** Calls and prompts are written after their hooks, results together with those of parallel calls. */
const isImmediate = (event: Fields | undefined): boolean =>
  event !== undefined && !LATE.has(String(event["kind"])) && event["source"] !== "user";

const LATE: ReadonlySet<string> = new Set([
  "ActionEvent",
  "AgentErrorEvent",
  "ObservationEvent",
  "UserRejectObservation",
]);
