import { statSync } from "node:fs";
import type { PartSize, TranscriptFile } from "#core/model/transcript-reader.ts";

/**
 * Size and time that show whether a transcript part changed. Drains and imports must use the same values, because each
 * continues where the other stopped.
 *
 * @throws what the file system throws if the part's own file is missing; other watched files may be missing and count as empty
 */
export const partSizeOf = ({ path, watch = [path] }: TranscriptFile): PartSize =>
  watch
    .map((one) => statSync(one, { throwIfNoEntry: one === path }))
    .reduce<PartSize>(
      (all, one) => ({
        sizeBytes: all.sizeBytes + (one?.size ?? 0),
        modifiedMs: Math.max(all.modifiedMs, one?.mtimeMs ?? 0),
      }),
      { sizeBytes: 0, modifiedMs: 0 },
    );
