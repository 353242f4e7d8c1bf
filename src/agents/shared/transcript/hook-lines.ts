import type { HookRun, HookRunReader } from "#core/model/hook-run.ts";
import { ExcessError } from "#kit/json-limits.ts";
import { asObject, asString, type Fields, parsedObject } from "../payload/json.ts";
import { openJsonl } from "./jsonl.ts";

/** One line of a transcript that can be about hooks. */
export type HookLine = Fields;

/**
 * Reads runs of hooks from a file of JSON lines. Only lines that contain a mark are parsed: a session has thousands of others.
 *
 * @param marks texts of which every line with a run contains one
 * @param start makes a function that returns the runs of each line, for one file
 */
export function hookLines(
  marks: readonly string[],
  start: () => (line: HookLine) => readonly HookRun[],
): HookRunReader["read"] {
  const wanted = marks.map((mark) => Buffer.from(mark));
  return async function* read({ path, roots }) {
    const jsonl = await openJsonl(path, { fromBytes: 0, roots });
    const runsOf = start();
    try {
      for await (const { lines } of jsonl.batches) {
        for (const line of lines) {
          if (!wanted.some((mark) => line.bytes.includes(mark))) continue;
          const fields = fieldsOf(line);
          if (fields !== undefined) yield* runsOf(fields);
        }
      }
    } finally {
      await jsonl.close();
    }
  };
}

/** The time of a line in milliseconds since the epoch; `undefined` without one. */
export function timeOf(line: Fields): number | undefined {
  const ms = Date.parse(asString(line["timestamp"]) ?? "");
  return Number.isFinite(ms) ? ms : undefined;
}

/** A member that is an object; empty if it is anything else. */
export const inner = (fields: Fields, name: string): Fields => asObject(fields[name]) ?? {};

// --- internal ---

function fieldsOf(line: { text(): string }): Fields | undefined {
  try {
    return parsedObject(line.text());
  } catch (error) {
    // Its size is in the output of a tool, or of the hook
    if (error instanceof ExcessError || error instanceof RangeError) return undefined;
    throw error;
  }
}
