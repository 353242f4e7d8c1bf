import type { Git } from "./git.ts";

/** First and last line, from 1. */
export type LineRange = readonly [first: number, last: number];

/** Commit → path, as in the commit → lines that the commit added there. */
export type AddedLines = ReadonlyMap<string, ReadonlyMap<string, readonly LineRange[]>>;

/** Commits whose patches are compared: alone, or as the difference from another one. */
export interface PatchOf {
  readonly commit: string;
  /** @default the commit's parent */
  readonly from?: string;
}

/**
 * The patch ids of commits, by commit. Equal ids mean equal changes, wherever they are in the file. Merges, and commits without changes,
 * have none.
 *
 * @param isReversed return the ids of the patches that would revert the commits
 * @throws GitError, also if an object is missing
 */
export async function patchIds(
  git: Git,
  patches: readonly PatchOf[],
  isReversed = false,
): Promise<Map<string, string>> {
  if (patches.length === 0) return new Map();
  // -R also exchanges the prefixes, which are part of a patch id
  const sides = isReversed ? ["-R", ...prefixes("b/", "a/")] : prefixes("a/", "b/");
  const diff = [...DIFF_TREE, "--no-renames", ...sides, "--stdin"];
  const printed = await git.piped(diff, ["patch-id", "--stable"], linesOf(patches));
  const pairs = printed.split("\n").flatMap((line): [string, string][] => {
    const [patch, commit] = line.split(" ");
    return patch !== undefined && commit !== undefined && commit !== "" ? [[commit, patch]] : [];
  });
  return new Map(pairs);
}

/** All files that each of some patches changes. @throws GitError */
export async function allChangedFiles(
  git: Git,
  patches: readonly PatchOf[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const files = new Map<string, readonly string[]>();
  for await (const [commit, names] of changedFiles(git, patches))
    files.set(
      commit,
      names.map((name) => name.toString("utf8")),
    );
  return files;
}

/** Finds commits by the files that they change, among very many. Keeps one number per commit, and reads each commit once. */
export class FileSets {
  readonly #git: Git;
  readonly #known = new Map<string, number>();

  constructor(git: Git) {
    this.#git = git;
  }

  /**
   * Finds the commits that change exactly the files of one of the patches: only they can equal or revert it. As digests are compared,
   * the result may contain a few others. @throws GitError
   */
  async like(patches: readonly PatchOf[], commits: readonly string[]): Promise<readonly string[]> {
    const wanted = new Set<number>();
    for await (const [, names] of changedFiles(this.#git, patches)) wanted.add(digestOf(names));
    if (wanted.size === 0) return [];
    const unread = commits.filter((commit) => !this.#known.has(commit));
    // Merges, and commits without changes, are not printed
    for (const commit of unread) this.#known.set(commit, NO_FILES);
    const read = unread.map((commit) => ({ commit }));
    for await (const [commit, names] of changedFiles(this.#git, read)) this.#known.set(commit, digestOf(names));
    return commits.filter((commit) => wanted.has(this.#known.get(commit) ?? NO_FILES));
  }
}

/**
 * The lines that commits added. A renamed file has only its changed lines, a removed one has none. Merges, empty commits, and commits of
 * which a partial clone lacks files are left out.
 *
 * @throws GitError
 */
export async function addedLines(git: Git, commits: readonly string[]): Promise<AddedLines> {
  try {
    return await readAddedLines(git, commits);
  } catch (error) {
    // Git ends at the first file that is missing, so read the halves. If there is no time left, they throw too
    if (commits.length <= 1) {
      if (git.isLate) throw error;
      return new Map();
    }
    const middle = commits.length >> 1;
    const [left, right] = [commits.slice(0, middle), commits.slice(middle)];
    return new Map([...(await addedLines(git, left)), ...(await addedLines(git, right))]);
  }
}

// --- internal ---

/** Each patch with the files that it changes, as git prints them; merges and patches without files are left out. */
async function* changedFiles(
  git: Git,
  patches: readonly PatchOf[],
): AsyncGenerator<readonly [commit: string, names: readonly Buffer[]]> {
  if (patches.length === 0) return;
  const ids = new Set(patches.map(({ commit }) => commit));
  let commit: string | undefined;
  let names: Buffer[] = [];
  const args = ["diff-tree", "-r", "-z", "--root", "--name-only", "--no-renames", "--stdin"];
  for await (const fields of git.batches(args, "\0", linesOf(patches))) {
    for (const field of fields) {
      const id = field.length === 40 || field.length === 64 ? field.toString("latin1") : "";
      if (!ids.has(id)) names.push(field);
      else {
        if (commit !== undefined && names.length > 0) yield [commit, names];
        [commit, names] = [id, []];
      }
    }
  }
  if (commit !== undefined && names.length > 0) yield [commit, names];
}

const NO_FILES = -1;

/** The same number for the same list of names, and very rarely for another: FNV-1a and the number of names. */
function digestOf(names: readonly Buffer[]): number {
  let hash = 0x811c9dc5;
  for (const name of names) {
    for (const byte of name) hash = Math.imul(hash ^ byte, 0x01000193);
    hash = Math.imul(hash, 0x01000193);
  }
  return (names.length % 2 ** 20) * 2 ** 32 + (hash >>> 0);
}

async function readAddedLines(git: Git, commits: readonly string[]): Promise<AddedLines> {
  const added = new Map<string, Map<string, LineRange[]>>();
  if (commits.length === 0) return added;
  let files = new Map<string, LineRange[]>();
  let ranges: LineRange[] | undefined;
  let former: string | undefined;
  // How many lines of the hunk are still to come. Count them, because they may look like headers
  let [removed, written] = [0, 0];
  const args = [...DIFF_TREE, ...prefixes("a/", "b/"), "-M", "-U0", "--stdin"];
  for await (const line of git.records(args, "\n", linesOf(commits.map((commit) => ({ commit }))))) {
    const [first] = line;
    if (removed > 0 && first === MINUS) removed--;
    else if (written > 0 && first === PLUS) written--;
    else if (first === AT) {
      const [, gone = "1", start = "0", count = "1"] = HUNK.exec(line.toString("latin1")) ?? [];
      [removed, written] = [Number(gone), Number(count)];
      if (written > 0) ranges?.push([Number(start), Number(start) + written - 1]);
    } else if (first === MINUS && line.subarray(0, 4).toString("latin1") === "--- ") {
      former = pathOf(line.subarray(4));
    } else if (first === PLUS && line.subarray(0, 4).toString("latin1") === "+++ ") {
      const path = pathOf(line.subarray(4)) ?? former;
      ranges = [];
      if (path !== undefined) files.set(path, ranges);
    } else if (line.length >= 40 && line.length <= 64 && /^[0-9a-f]+$/.test(line.toString("latin1"))) {
      files = new Map();
      added.set(line.toString("latin1"), files);
    }
  }
  return added;
}

const [PLUS, MINUS, AT] = [0x2b, 0x2d, 0x40];
const HUNK = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Plumbing, so that settings of the user and of the repository change nothing. */
const DIFF_TREE = [
  "diff-tree",
  "-r",
  "-p",
  "--root",
  "--no-ext-diff",
  "--no-textconv",
  "--full-index",
  "--diff-algorithm=myers",
];

const prefixes = (from: string, to: string): readonly string[] => [`--src-prefix=${from}`, `--dst-prefix=${to}`];

const linesOf = (patches: readonly PatchOf[]): string =>
  patches.map(({ commit, from }) => (from === undefined ? `${commit}\n` : `${commit} ${from}\n`)).join("");

/** `a/…` or `b/…`, in quotes if it has unusual characters. @returns `undefined` for `/dev/null` */
function pathOf(name: Buffer): string | undefined {
  const text = name.toString("utf8").replace(/\t$/, "");
  if (!text.startsWith('"')) return PREFIX.test(text) ? text.slice(2) : undefined;
  const bytes: number[] = [];
  for (const [, octal, escaped, plain = ""] of text.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (escaped !== undefined) bytes.push((ESCAPES[escaped] ?? escaped).charCodeAt(0));
    else bytes.push(...Buffer.from(plain));
  }
  const path = Buffer.from(bytes).toString("utf8");
  return PREFIX.test(path) ? path.slice(2) : undefined;
}

const PREFIX = /^[ab]\//;

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };
