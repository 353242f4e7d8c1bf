import type { FileWrite } from "#core/model/file-write.ts";

// The forms in which agents report changes of files: unified diffs, hunks as objects, and the patches of `apply_patch`.

/** A hunk as in a unified diff: each line begins with a space, `+` or `-`. */
interface Hunk {
  /** Its first line in the new file, from 1. */
  readonly newStart: number;
  readonly lines: readonly string[];
}

type Target = Pick<FileWrite, "path" | "operation">;

/** One write for each contiguous change; a single one without range if there are more than `MAX_RANGES`. */
export function writesOfHunks(target: Target, hunks: readonly Hunk[]): readonly FileWrite[] {
  const runs = hunks.flatMap(runsIn);
  if (runs.length > 0 && runs.length <= MAX_RANGES) return runs.map((run) => ({ ...target, ...run }));
  const sum = (name: "added" | "removed"): number => runs.reduce((total, run) => total + run[name], 0);
  return [{ ...target, added: sum("added"), removed: sum("removed") }];
}

/** The writes in a unified diff of one file. Its lines may lack their texts: only their first characters are read. */
export const writesOfDiff = (target: Target, diff: string): readonly FileWrite[] =>
  writesOfHunks(target, hunksOf(diff));

/** A file that was written as a whole. @param isAll whether nothing of an earlier file is left, so that all lines are new */
export function writeOfContent(target: Target, content: string, isAll: boolean): FileWrite {
  const lines = lineCount(content);
  const range = lines > 0 ? { startLine: 1, endLine: lines } : {};
  return { ...target, ...range, ...(isAll && { added: lines, removed: 0 }) };
}

/**
 * The writes in a patch of `apply_patch`. New files have a range; hunks name no line numbers, so changed files have only counts. A
 * moved file is deleted and created.
 *
 * @returns `[]` if there is no patch in the text
 */
export function writesOfPatch(text: string): readonly FileWrite[] {
  const begin = text.indexOf("*** Begin Patch");
  if (begin === -1) return [];
  const writes: FileWrite[] = [];
  let section: Section | undefined;
  const close = (): void => {
    if (section !== undefined) writes.push(...writesOf(section));
    section = undefined;
  };
  for (const line of text.slice(begin).split(/\r?\n/)) {
    const head = HEAD.exec(line);
    if (head !== null) {
      close();
      section = { kind: head[1] as Section["kind"], path: head[2] ?? "", added: 0, removed: 0 };
    } else if (line.startsWith("*** End Patch")) break;
    else if (section !== undefined && line.startsWith("*** Move to: ")) section.movedTo = line.slice(13).trim();
    else if (section !== undefined && line.startsWith("+")) section.added++;
    else if (section !== undefined && line.startsWith("-")) section.removed++;
  }
  close();
  return writes;
}

/** Lines of a text; a last line without a line break counts. */
export function lineCount(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  const breaks = text.split("\n").length - 1;
  return text.endsWith("\n") ? breaks : breaks + 1;
}

// --- internal ---

/** More changes in one file come from a replacement everywhere; their ranges say little. */
const MAX_RANGES = 50;

interface Run {
  readonly startLine?: number;
  readonly endLine?: number;
  readonly added: number;
  readonly removed: number;
}

/** Successive added and removed lines. */
function runsIn({ newStart, lines }: Hunk): readonly Run[] {
  const runs: Run[] = [];
  let [at, added, removed] = [newStart, 0, 0];
  const close = (): void => {
    if (added + removed > 0)
      runs.push({ ...(added > 0 && { startLine: at - added, endLine: at - 1 }), added, removed });
    [added, removed] = [0, 0];
  };
  for (const line of lines) {
    if (line.startsWith("+")) {
      added++;
      at++;
    } else if (line.startsWith("-")) removed++;
    // "\ No newline at end of file"
    else if (!line.startsWith("\\")) {
      close();
      at++;
    }
  }
  close();
  return runs;
}

/** Lines are counted as the header says: inside a hunk, `--- a` is a removed line. */
function hunksOf(diff: string): readonly Hunk[] {
  const hunks: Hunk[] = [];
  const lines = diff.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const header = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(lines[at] ?? "");
    if (header === null) continue;
    let [before, after] = [Number(header[1] ?? 1), Number(header[3] ?? 1)];
    const from = at + 1;
    while (before > 0 || after > 0) {
      const line = lines[at + 1];
      if (line === undefined) break;
      at++;
      if (line.startsWith("\\")) continue;
      if (!line.startsWith("+")) before--;
      if (!line.startsWith("-")) after--;
    }
    hunks.push({ newStart: Number(header[2]), lines: lines.slice(from, at + 1) });
  }
  return hunks;
}

const HEAD = /^\*\*\* (Add|Update|Delete) File: (.+?)\s*$/;

interface Section {
  readonly kind: "Add" | "Update" | "Delete";
  readonly path: string;
  movedTo?: string;
  added: number;
  removed: number;
}

function writesOf({ kind, path, movedTo, added, removed }: Section): readonly FileWrite[] {
  if (kind === "Delete") return [{ path, operation: "delete" }];
  if (kind === "Add") {
    return [{ path, operation: "create", ...(added > 0 && { startLine: 1, endLine: added }), added, removed: 0 }];
  }
  if (movedTo === undefined) return [{ path, operation: "update", added, removed }];
  return [
    { path, operation: "delete" },
    { path: movedTo, operation: "create", added, removed },
  ];
}
