import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { type Git, GitError } from "./git.ts";

/** Files that have another name in a later commit, as git finds them. One `git diff-tree` answers all questions. */
export class Renames {
  readonly #git: Git;
  readonly #known = new Map<string, Promise<ReadonlyMap<string, string> | undefined>>();
  #search: Search | undefined;
  #before: Promise<unknown> = Promise.resolve();

  constructor(git: Git) {
    this.#git = git;
  }

  /** @returns names by former name; `undefined` if there were too many searches, or git failed */
  between(commit: string, state: string): Promise<ReadonlyMap<string, string> | undefined> {
    const key = `${commit} ${state}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const names = this.#known.size >= MAX_SEARCHES ? Promise.resolve(undefined) : this.#next(commit, state);
    this.#known.set(key, names);
    return names;
  }

  close(): void {
    this.#search?.close();
    this.#search = undefined;
  }

  // --- internal ---

  /** One after the other. */
  #next(commit: string, state: string): Promise<ReadonlyMap<string, string> | undefined> {
    const found = this.#before.then(async () => {
      try {
        this.#search ??= new Search(this.#git);
        return await this.#search.between(commit, state);
      } catch {
        // A file is missing in a partial clone, or there is no time left
        this.close();
        return undefined;
      }
    });
    this.#before = found;
    return found;
  }
}

// --- internal ---

const MAX_SEARCHES = 200;

/** Marks the end of an answer: git prints a line that does not begin with a commit id again, after all that it has found. */
const END = "openhook-otel: end of the search\n";

const MAX_ANSWER_BYTES = 8 << 20;

class Search {
  readonly #process: ChildProcess;
  readonly #parts: AsyncIterator<Buffer>;

  constructor(git: Git) {
    const args = ["diff-tree", "--stdin", "-r", "-z", "-M", "-l2000", "--diff-filter=R", "--name-status"];
    const { process, output } = git.start([...args, "--no-ext-diff"]);
    this.#process = process;
    this.#parts = (output as Readable & AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  async between(commit: string, state: string): Promise<ReadonlyMap<string, string>> {
    this.#process.stdin?.write(`${state} ${commit}\n${END}`);
    const parts: Buffer[] = [];
    for (let bytes = 0; !isWhole(parts); ) {
      const { value, done } = await this.#parts.next();
      if (done === true) throw new GitError("git diff-tree ended");
      bytes += value.length;
      if (bytes > MAX_ANSWER_BYTES) throw new GitError(`git diff-tree prints more than ${MAX_ANSWER_BYTES} bytes`);
      parts.push(value);
    }
    // The commit; for each file the kind of its change, its former name, its name
    const [, ...fields] = Buffer.concat(parts).toString("utf8").split("\0");
    const names = new Map<string, string>();
    for (let at = 0; at + 2 < fields.length; at += 3) names.set(fields[at + 1] ?? "", fields[at + 2] ?? "");
    return names;
  }

  close(): void {
    this.#process.stdin?.end();
    this.#process.kill("SIGKILL");
  }
}

/** Whether the answer has ended. Names end with a zero byte, so no name contains the mark. */
function isWhole(parts: readonly Buffer[]): boolean {
  const end = Buffer.concat(parts.slice(-2)).toString("latin1");
  return end === END || end.endsWith(`\0${END}`);
}
