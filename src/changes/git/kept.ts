import PQueue from "p-queue";
import {
  type CommitOutcome,
  type CommitToFollow,
  KEPT_AFTER_DAYS,
  type KeptDay,
  type KeptLines,
} from "#core/model/outcomes.ts";
import type { Git } from "./git.ts";
import type { History } from "./history.ts";
import { matchLines } from "./match-lines.ts";
import { ASKED_AT_ONCE, type Objects } from "./objects.ts";
import type { AddedLines, LineRange } from "./patches.ts";
import { Renames } from "./renames.ts";
import type { Trailer } from "./trailers.ts";

/** A commit, as far as the repository has it. */
export interface FoundCommit extends CommitToFollow {
  /** All digits; absent: not in the repository. */
  readonly id?: string;
  /** When its author wrote it, in seconds since the epoch. */
  readonly authored?: string;
  readonly trailers: readonly Trailer[];
}

/** What is known of the commits before their lines are counted. */
export interface Fates {
  readonly history?: History;
  readonly added: AddedLines;
  readonly found: readonly FoundCommit[];
  readonly outcomes: readonly FoundOutcome[];
}

/** An outcome while it is worked on. */
export interface FoundOutcome extends Omit<CommitOutcome, "attested"> {
  /** The commit of the default branch that has the change. */
  readonly landed?: string;
}

/**
 * Counts how many lines of each commit are still there: on the default branch now, and 1, 7 and 30 days after the commit reached it. The
 * commit's files are compared with the same files then, also if they were renamed.
 */
export async function countKept(
  git: Git,
  objects: Objects,
  { history, added, found, outcomes }: Fates,
  nowMs: number,
): Promise<readonly FoundOutcome[]> {
  if (history === undefined) return outcomes;
  const renames = new Renames(git);
  async function withLines(outcome: FoundOutcome, at: number): Promise<FoundOutcome> {
    const { landedMs, id } = outcome;
    const files = chosenFiles(added.get(id ?? ""), found[at]?.files);
    if (history === undefined || landedMs === undefined || id === undefined || files === undefined) return outcome;
    const count = new CommitLines(objects, renames, id, files);
    const after: Partial<Record<KeptDay, number>> = {};
    for (const days of KEPT_AFTER_DAYS) {
      const untilMs = landedMs + days * DAY_MS;
      const state = untilMs <= nowMs ? history.stateAt(untilMs) : undefined;
      const kept = state === undefined ? undefined : await count.keptIn(state);
      if (kept !== undefined) after[days] = kept;
    }
    const now = await count.keptIn(history.tip);
    const lines: KeptLines = { written: count.written, after, ...(now !== undefined && { now }) };
    return { ...outcome, lines };
  }
  try {
    const commits = new PQueue({ concurrency: ASKED_AT_ONCE });
    return await commits.addAll(outcomes.map((outcome, at) => () => withLines(outcome, at)));
  } finally {
    renames.close();
  }
}

// --- internal ---

const DAY_MS = 86_400_000;
/** A file that is larger is generated. */
const MAX_FILE_BYTES = 1 << 20;
/** A commit with more files moves or generates them. */
const MAX_FILES = 500;

type Files = ReadonlyMap<string, readonly LineRange[]>;

/** Those of a commit's files that the agent edited. @returns `undefined` if the commit is a merge, or has too many */
function chosenFiles(all: Files | undefined, edited: readonly string[] | undefined): Files | undefined {
  if (all === undefined || all.size > MAX_FILES) return undefined;
  const isEdited = (path: string): boolean =>
    edited === undefined || edited.some((name) => name === path || name.replaceAll("\\", "/").endsWith(`/${path}`));
  return new Map([...all].filter(([path, ranges]) => ranges.length > 0 && isEdited(path)));
}

class CommitLines {
  readonly written: number;
  readonly #objects: Objects;
  readonly #renames: Renames;
  readonly #commit: string;
  readonly #files: Files;
  /** By path and the other file's object: most files are the same at several times. */
  readonly #known = new Map<string, number | undefined>();
  readonly #texts = new Map<string, readonly string[] | undefined>();
  /** A file's last known name, and where it had it. */
  readonly #names = new Map<string, { readonly name: string; readonly state: string }>();
  /** Removed files, and no search found them under another name. They may come back under their own. */
  readonly #gone = new Set<string>();

  constructor(objects: Objects, renames: Renames, commit: string, files: Files) {
    this.#objects = objects;
    this.#renames = renames;
    this.#commit = commit;
    this.#files = files;
    this.written = [...files.values()].flat().reduce((sum, [first, last]) => sum + last - first + 1, 0);
  }

  /** Lines that a state still has; ask for states in the order of time. @returns `undefined` if it cannot be known */
  async keptIn(state: string): Promise<number | undefined> {
    let sum = 0;
    for (const [path, ranges] of this.#files) {
      const kept = await this.#keptOf(path, ranges, state);
      if (kept === undefined) return undefined;
      sum += kept;
    }
    return sum;
  }

  async #keptOf(path: string, ranges: readonly LineRange[], state: string): Promise<number | undefined> {
    const last = this.#names.get(path) ?? { name: path, state: this.#commit };
    let { name } = last;
    let later = await this.#objects.read(`${state}:${name}`, MAX_FILE_BYTES);
    if (later === undefined) {
      if (this.#gone.has(path)) return 0;
      const renames = await this.#renames.between(last.state, state);
      if (renames === undefined) return undefined;
      name = renames.get(name) ?? path;
      later = await this.#objects.read(`${state}:${name}`, MAX_FILE_BYTES);
      if (later === undefined) this.#gone.add(path);
    }
    if (later?.type !== "blob") return 0;
    this.#names.set(path, { name, state });
    const key = `${path}\0${later.id}`;
    if (!this.#known.has(key)) this.#known.set(key, await this.#compare(path, ranges, later.bytes));
    return this.#known.get(key);
  }

  async #compare(path: string, ranges: readonly LineRange[], after: Buffer | undefined): Promise<number | undefined> {
    const before = await this.#linesAt(path);
    if (before === undefined || after === undefined) return undefined;
    const kept = matchLines(before, textLines(after));
    let sum = 0;
    for (const [first, last] of ranges) for (let line = first; line <= last; line++) sum += kept[line - 1] ?? 0;
    return sum;
  }

  async #linesAt(path: string): Promise<readonly string[] | undefined> {
    if (!this.#texts.has(path)) {
      const object = await this.#objects.read(`${this.#commit}:${path}`, MAX_FILE_BYTES);
      this.#texts.set(path, object?.bytes === undefined ? undefined : textLines(object.bytes));
    }
    return this.#texts.get(path);
  }
}

function textLines(bytes: Buffer): readonly string[] {
  const lines = bytes.toString("latin1").split("\n");
  // The last line's end begins no other line
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
