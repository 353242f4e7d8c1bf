import { useMemo } from "preact/hooks";
import type { Documents } from "../../wire/documents.ts";
import { SPAN_ID_LENGTH } from "../../wire/spans.ts";
import { useApi } from "../data/api.ts";

/** What was asked and done in a session, from the agent's own files, and which files it wrote. */
export interface Story {
  /** By span id. */
  readonly about: ReadonlyMap<string, string>;
  readonly writes: readonly FileWrites[];
  /** What is missing and why, as a sentence; empty if nothing is. */
  readonly note: string;
}

/** What one call wrote in one file. */
export type FileWrites = Documents["lines"]["writes"][number];

/** A file that was written, with all of its writes by time. */
export interface ChangedFile {
  readonly path: string;
  readonly operation: FileWrites["operation"];
  readonly writes: readonly FileWrites[];
}

/**
 * It arrives after the spans, because it takes longer to read; empty until then.
 *
 * @param isShown whether the spans have arrived: the server answers one request after the other
 */
export function useStory(source: string, id: string, isShown: boolean): Story {
  const { data } = useApi("lines", isShown ? { source, id } : undefined);
  return useMemo(() => {
    const { ids = "", texts = [], writes = [], state } = data ?? {};
    const idOf = (i: number): string => ids.slice(i * SPAN_ID_LENGTH, (i + 1) * SPAN_ID_LENGTH);
    return { about: new Map(texts.map((text, i) => [idOf(i), text])), writes, note: NOTES[state ?? "whole"] };
  }, [data]);
}

/** The files of writes, those with the most lines first. */
export function filesOf(writes: readonly FileWrites[]): readonly ChangedFile[] {
  const byPath = new Map<string, FileWrites[]>();
  for (const write of writes) {
    const known = byPath.get(write.path);
    if (known === undefined) byPath.set(write.path, [write]);
    else known.push(write);
  }
  const files = [...byPath].map(([path, all]) => ({
    path,
    // A new file stays one when it is changed again
    operation: all.find(({ operation }) => operation === "create")?.operation ?? all.at(-1)?.operation ?? null,
    writes: all,
  }));
  const size = (file: ChangedFile): number =>
    file.writes.reduce((n, one) => n + (one.added ?? 0) + (one.removed ?? 0), 0);
  return files.sort((a, b) => size(b) - size(a) || (a.path < b.path ? -1 : 1));
}

/** A path without the session's folder, if it is inside. */
export const pathIn = (folder: string | null, text: string): string =>
  folder !== null && text.startsWith(`${folder}/`) ? text.slice(folder.length + 1) : text;

// --- internal ---

const NOTES = {
  // The user knows the settings
  hidden: "",
  whole: "",
  missing: "Prompts and commands are not shown: the agent’s file of this session is gone or has none.",
  part: "Later prompts and commands are not shown: the agent’s file of this session is too long to read at once.",
} as const satisfies Record<Documents["lines"]["state"], string>;
