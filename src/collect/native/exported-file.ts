import {
  closeSync,
  fstatSync,
  ftruncateSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { step } from "#kit/fault-points.ts";
import { openOwn } from "#kit/own-file.ts";
import { MAX_BODY_BYTES } from "./body-file.ts";

/** Whole records that an agent appended to its file. */
interface ExportedPart {
  readonly bytes: Buffer;
  /** Why it cannot be read: it is the beginning of a record that is too large. */
  readonly why?: string;
  /** It was stored: the next drain begins after it. */
  done(): void;
}

/**
 * What an agent's file exporter wrote since the last drain, in parts of some megabytes that end with a whole record: JSON objects, one per
 * line or indented, each beginning in the first column. The agent may append at any time, also another process of it.
 *
 * After the last part the file is emptied if nobody has written for some seconds, because it contains prompts. The position is removed
 * first: a drain that is killed in between lets the next one read everything again, which changes nothing, and nothing is skipped.
 *
 * @returns nothing if there is no such file, or nothing new in it; each part must be done before the next one is asked for
 * @throws what the file system throws; NotOwnFileError
 */
export function* exportedParts(path: string): Generator<ExportedPart> {
  const fd = openOwn(path, "r+");
  try {
    let position = readPosition(path, fstatSync(fd));
    for (;;) {
      const bytes = readFrom(fd, position.offset);
      const next = position.isInside ? bytes.indexOf("\n{") + 1 : zeros(bytes);
      const isStillInside = position.isInside && next === 0;
      // The next record can begin with the last byte's line end
      const begin = isStillInside ? Math.max(0, bytes.length - 1) : next;
      const end = endOfRecords(bytes, begin);
      const isTooLarge = end === begin && bytes.length === MAX_BODY_BYTES && begin === 0;
      const read = isTooLarge ? bytes.length : end;
      if (read === 0) break;
      const isInside = isTooLarge || isStillInside;
      position = { ...position, offset: position.offset + read, isInside };
      const done = (): void => writePosition(path, position);
      const why = isTooLarge ? { why: "a record is larger than 40 MB" } : {};
      if (read > begin) yield { bytes: bytes.subarray(begin, read), ...why, done };
      else done();
    }
    const stats = fstatSync(fd);
    const isQuiet = Math.abs(Date.now() - stats.mtimeMs) > QUIET_MS;
    if (stats.size === 0 || !isQuiet || readPosition(path, stats).offset !== stats.size) return;
    step("native.position", () => rmSync(positionPath(path), { force: true }));
    step("native.empty", () => ftruncateSync(fd));
  } finally {
    closeSync(fd);
  }
}

/** The end of the name of a file with a position, beside the one of the agent. */
export const POSITION_SUFFIX = ".read";

// --- internal ---

/** Agents write every few seconds while they work: with this pause nobody is in the middle of it. */
const QUIET_MS = 2_000;
/** Most of what is read at once, unless a record is larger. */
const PART_BYTES = 4 << 20;

interface Position {
  /** Of the file that it is for: another one in its place is read from its beginning. */
  readonly ino: number;
  readonly bornMs: number;
  /** What was done, in bytes. */
  readonly offset: number;
  /** There, a record that is too large has not ended yet. */
  readonly isInside: boolean;
}

const positionPath = (path: string): string => `${path}${POSITION_SUFFIX}`;

/** The beginning if there is no position, it is of another file, or the file was emptied. */
function readPosition(path: string, { ino, birthtimeMs, size }: Stats): Position {
  const start = { ino, bornMs: birthtimeMs, offset: 0, isInside: false };
  try {
    const known: Position = JSON.parse(readFileSync(positionPath(path), "utf8"));
    const isOfIt = known.ino === ino && known.bornMs === birthtimeMs && known.offset <= size;
    return isOfIt && Number.isSafeInteger(known.offset) ? { ...start, ...known } : start;
  } catch {
    return start;
  }
}

function writePosition(path: string, position: Position): void {
  const to = positionPath(path);
  step("native.position", () => {
    writeFileSync(`${to}.tmp`, JSON.stringify(position), { mode: 0o600 });
    renameSync(`${to}.tmp`, to);
  });
}

/** From a position on: some megabytes, or as many as a whole record needs, up to the limit. */
function readFrom(fd: number, offset: number): Buffer {
  for (let length = PART_BYTES; ; length = Math.min(length * 4, MAX_BODY_BYTES)) {
    const bytes = Buffer.alloc(Math.min(length, Math.max(0, fstatSync(fd).size - offset)));
    let read = 0;
    while (read < bytes.length) {
      const more = readSync(fd, bytes, read, bytes.length - read, offset + read);
      if (more === 0) break;
      read += more;
    }
    if (read < length || length === MAX_BODY_BYTES || endOfRecords(bytes, 0) > 0) return bytes.subarray(0, read);
  }
}

/** Where the last whole record ends: after a line that is a closing brace, or an object. `begin` if there is none. */
function endOfRecords(bytes: Buffer, begin: number): number {
  for (let end = bytes.lastIndexOf(LINE_END); end >= begin; end = bytes.lastIndexOf(LINE_END, end - 1)) {
    const start = Math.max(begin, bytes.lastIndexOf(LINE_END, end - 1) + 1);
    const last = bytes[end - 1] === CARRIAGE_RETURN ? end - 2 : end - 1;
    if (bytes[last] === CLOSED && (last === start || bytes[start] === OPENED)) return end + 1;
    if (end === 0) break;
  }
  return begin;
}

/** An agent that does not append leaves a hole where the file was emptied. */
function zeros(bytes: Buffer): number {
  const found = bytes.findIndex((byte) => byte !== 0);
  return found === -1 ? bytes.length : found;
}

const [LINE_END, CARRIAGE_RETURN, OPENED, CLOSED] = ["\n", "\r", "{", "}"].map((char) => char.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
];
