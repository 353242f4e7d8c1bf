import type { TranscriptFile } from "#core/model/transcript-reader.ts";
import { assertParsable, ExcessError, excessOf } from "#kit/json-limits.ts";
import { openRegular, readUpTo } from "#kit/open.ts";
import { shrinkJson } from "#kit/shrink.ts";
import { parsedObject } from "../payload/json.ts";

/** A session file that is one JSON object. */
interface WholeFile {
  /** `undefined`: it is no JSON object, or is being written. */
  readonly object: Readonly<Record<string, unknown>> | undefined;
  readonly isEmpty: boolean;
  readonly writtenMs: number;
}

/**
 * Reads a file that its agent rewrites as a whole.
 *
 * @throws ExcessError if it is too large to be parsed at once; RefusedError; the file system's errors
 */
export async function readWhole(file: TranscriptFile): Promise<WholeFile> {
  const { bytes, writtenMs } = await read(file);
  return { object: parsedObject(bytes), isEmpty: bytes.length === 0, writtenMs };
}

/** The whole text of such a file. @throws as `readWhole` */
export const readText = async (file: TranscriptFile): Promise<string> => (await read(file)).bytes.toString("utf8");

// --- internal ---

/** The context window limits sessions to much less, unless images are in them. */
const MAX_BYTES = 64 << 20;

async function read({ path, roots }: TranscriptFile) {
  const { file, stats } = await openRegular(path, roots);
  try {
    if (stats.size > MAX_BYTES) {
      throw new ExcessError(`it has ${stats.size} bytes; one file of more than ${MAX_BYTES} is not read`);
    }
    const bytes = await readUpTo(file, stats.size);
    // Whole milliseconds, as all other times of facts
    return { bytes: parsable(bytes), writtenMs: Math.floor(stats.mtimeMs) };
  } finally {
    await file.close();
  }
}

/** The bytes, without long texts if they have too many. @throws ExcessError */
function parsable(bytes: Buffer): Buffer {
  if (excessOf(bytes) === undefined) return bytes;
  const shrunk = shrinkJson(bytes);
  const short = shrunk.ok && !shrunk.closed ? shrunk.buffer() : bytes;
  assertParsable(short);
  return short;
}
