import { statSync } from "node:fs";
import type { PartSize, TranscriptFile } from "../model/agent.ts";

/**
 * What tells whether a part has anything new: the same for drains and imports, which go on where the other stopped.
 *
 * @throws what the file system throws where the part's own file is gone; one beside it that is gone is empty
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
