import type { Attestation } from "#core/model/outcomes.ts";
import type { Git } from "./git.ts";
import type { Objects } from "./objects.ts";
import { AI_NOTES, type Refs } from "./refs.ts";
import type { Trailer } from "./trailers.ts";

/**
 * What git-ai noted of commits (`refs/notes/ai`): agents, their sessions, and the lines that they wrote.
 *
 * @see https://github.com/git-ai-project/git-ai, notes of `authorship/3.0.0`
 */
export async function attestationsOf(
  git: Git,
  objects: Objects,
  { hasAiNotes }: Refs,
  commits: readonly string[],
): Promise<ReadonlyMap<string, readonly Attestation[]>> {
  const found = new Map<string, readonly Attestation[]>();
  if (!hasAiNotes) return found;
  const wanted = new Set(commits);
  const notes = new Map<string, string>();
  for await (const line of git.records(["notes", `--ref=${AI_NOTES}`, "list"], "\n")) {
    const [note, commit] = line.toString("latin1").split(" ");
    if (note !== undefined && commit !== undefined && wanted.has(commit)) notes.set(commit, note);
  }
  for (const [commit, note] of notes) {
    const object = await objects.read(note, MAX_NOTE_BYTES);
    if (object?.bytes !== undefined) found.set(commit, attestationsIn(object.bytes.toString("utf8")));
  }
  return found;
}

/** Session ids in the trailers of a commit's message: those of Entire, and others whose name ends in `Session` or `Session-Id`. */
export const sessionsInTrailers = (trailers: readonly Trailer[]): readonly Attestation[] =>
  trailers.flatMap(({ name, value }): Attestation[] =>
    SESSION_TRAILER.test(name) && /^\S{1,200}$/.test(value) ? [{ by: "trailer", name, id: value }] : [],
  );

/** The text of a note: paths with lines per author, `---`, and JSON that describes the authors. @returns `[]` if it is something else */
function attestationsIn(note: string): readonly Attestation[] {
  const end = note.indexOf("---\n");
  if (end < 0) return [];
  const lines = new Map<string, number>();
  for (const [, author = "", ranges = ""] of note.slice(0, end).matchAll(/^ {2}(\S+) ([\d,-]+)$/gm)) {
    // One session may have several parts: `s_…::t_…`
    const [key = author] = author.split("::");
    lines.set(key, (lines.get(key) ?? 0) + countOf(ranges));
  }
  return Object.entries(authorsIn(note.slice(end + 4))).flatMap(([key, author]): Attestation[] => {
    const agent = memberOf(author, "agent_id");
    const name = textOf(memberOf(agent, "tool"));
    if (name === undefined) return [];
    const id = textOf(memberOf(agent, "id"));
    return [{ by: "git-ai", name, ...(id !== undefined && { id }), lines: lines.get(key) ?? 0 }];
  });
}

// --- internal ---

const MAX_NOTE_BYTES = 4 << 20;
const MAX_ID_CHARACTERS = 200;
const SESSION_TRAILER = /^Entire-(?:Checkpoint|Session)$|(?:^|-)Session(?:-Id)?$/i;

const countOf = (ranges: string): number =>
  ranges.split(",").reduce((sum, range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return sum + Math.max(0, last - first + 1);
  }, 0);

/** `prompts` of version 3.0, and `sessions` of later ones. */
function authorsIn(json: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(json);
    return { ...objectOf(memberOf(body, "prompts")), ...objectOf(memberOf(body, "sessions")) };
  } catch {
    return {};
  }
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};

const memberOf = (value: unknown, name: string): unknown => objectOf(value)[name];

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= MAX_ID_CHARACTERS ? value : undefined;
