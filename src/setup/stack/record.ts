import { isAbsolute, join, normalize } from "node:path";
import * as z from "zod";
import { readFileIfAny, writeFileAtomic } from "#config/files.ts";
import { UserError } from "#kit/errors.ts";

/** The files that this program wrote to a stack's folder, to distinguish them from the user's. */
const StackRecord = z.object({
  /** SHA-256 by path, relative to the folder. */
  files: z.record(z.string().refine(isInside), z.string()),
  /** Present if this command set `otlp.endpoint`: the user's value before, `null` for none. */
  endpoint: z.object({ before: z.string().nullable() }).optional(),
});
export type StackRecord = z.infer<typeof StackRecord>;

export const recordPathOf = (folder: string): string => join(folder, ".openhook-otel-stack.json");

/** @returns `undefined` where there is none @throws UserError for a damaged record, because the files' origin is then unknown */
export async function readRecord(folder: string): Promise<StackRecord | undefined> {
  const path = recordPathOf(folder);
  const bytes = await readFileIfAny(path);
  if (bytes === undefined) return undefined;
  try {
    return StackRecord.parse(JSON.parse(bytes.toString("utf8")));
  } catch (error) {
    throw new UserError("E_RECORD", `${path} is damaged: remove it, and run the command again with --force`, 1, {
      cause: error,
    });
  }
}

export const writeRecord = (folder: string, record: StackRecord): Promise<void> =>
  writeFileAtomic(recordPathOf(folder), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o644, dirMode: 0o755 });

// --- internal ---

/** Rejects paths outside of the folder: only files in it may be removed. */
function isInside(path: string): boolean {
  return !isAbsolute(path) && !normalize(path).startsWith("..");
}
