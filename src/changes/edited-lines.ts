import type { FileWrite } from "#core/model/file-write.ts";

/** What one tool call changed in one file. Lines are those after the call. */
export interface Edit {
  readonly endMs: number;
  readonly writes: readonly FileWrite[];
}

/**
 * The lines that a series of edits leaves in one file, numbered as after the last edit: later edits move and replace the lines of
 * earlier ones. Correct only if nothing else changed the file meanwhile.
 *
 * @returns numbers of lines, ascending; `undefined` if an edit does not say where it wrote, or if there are too many lines
 */
export function linesAfter(edits: readonly Edit[]): readonly number[] | undefined {
  let lines: readonly number[] = [];
  for (const { writes } of edits.toSorted((a, b) => a.endMs - b.endMs)) {
    const runs = writes.map(runOf);
    if (!runs.every((run) => run !== undefined)) return undefined;
    const sorted = runs.toSorted((a, b) => a.start - b.start);
    const written = sorted.flatMap(({ start, added }) => Array.from({ length: added }, (_, at) => start + at));
    lines = [...moved(lines, sorted), ...written].toSorted((a, b) => a - b);
    if (lines.length > MAX_LINES) return undefined;
  }
  return lines;
}

// --- internal ---

/** A file with more edited lines was generated. */
const MAX_LINES = 50_000;

/** Successive lines that replace others. */
interface Run {
  readonly start: number;
  readonly added: number;
  readonly removed: number;
}

/** @returns `undefined` if the place is unknown, as for an edit that only removed lines */
function runOf({ startLine, endLine, added, removed }: FileWrite): Run | undefined {
  if (startLine === undefined || endLine === undefined || removed === undefined) return undefined;
  return added === endLine - startLine + 1 ? { start: startLine, added, removed } : undefined;
}

/** The new numbers of lines after one more call; lines that it replaced are left out. @param runs sorted by start */
function moved(lines: readonly number[], runs: readonly Run[]): readonly number[] {
  let shift = 0;
  const places = runs.map(({ start, added, removed }) => {
    const before = start - shift;
    shift += added - removed;
    return { before, after: before + removed, shift };
  });
  return lines.flatMap((line) => {
    if (places.some(({ before, after }) => line >= before && line < after)) return [];
    return [line + (places.findLast(({ after }) => after <= line)?.shift ?? 0)];
  });
}
