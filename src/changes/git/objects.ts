import type { ChildProcess } from "node:child_process";
import { type Git, GitError } from "./git.ts";

/** An object, as `git cat-file` prints it. `bytes` is absent if it is larger than was allowed. */
interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly bytes?: Buffer;
}

/** How many objects to ask for at once: enough that git never waits for the next name, and few enough for memory. */
export const ASKED_AT_ONCE = 16;

/** Reads objects through one `git cat-file --batch`. Several can be asked for at once. */
export class Objects {
  readonly #git: Git;
  #reader: Reader | undefined;
  #restarts = 0;

  constructor(git: Git) {
    this.#git = git;
  }

  /**
   * @param name of an object, e.g. `<commit>` or `<commit>:<path>`
   * @returns `undefined` if it is not in this repository
   */
  async read(name: string, maxBytes: number): Promise<GitObject | undefined> {
    // The protocol has one name per line
    if (/[\n\0]/.test(name)) return undefined;
    while (this.#restarts <= MAX_RESTARTS) {
      let reader: Reader | undefined;
      try {
        reader = this.#reader ??= new Reader(this.#git);
        return await reader.read(name, maxBytes);
      } catch (error) {
        if (reader !== undefined && this.#reader === reader) {
          this.close();
          this.#restarts++;
        }
        // Git before 2.45 ends at the first object that a partial clone lacks; ask again for those after it
        if (!(error instanceof NotAnswered)) return undefined;
      }
    }
    return undefined;
  }

  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
  }
}

// --- internal ---

/** After this many failures the rest counts as missing. */
const MAX_RESTARTS = 20;

/** Git ended before it reached this name; asking again can succeed. */
class NotAnswered extends GitError {}

interface Question {
  readonly maxBytes: number;
  readonly done: (object: GitObject | undefined) => void;
  readonly fail: (error: GitError) => void;
}

/** An object that has not arrived completely. */
interface Unfinished {
  readonly id: string;
  readonly type: string;
  readonly size: number;
  readonly parts: Buffer[];
  /** Bytes that have not arrived yet, including the newline after the object. */
  left: number;
}

class Reader {
  readonly #process: ChildProcess;
  readonly #questions: Question[] = [];
  #rest: Buffer = Buffer.alloc(0);
  #object: Unfinished | undefined;
  #hasEnded = false;

  constructor(git: Git) {
    const { process, output } = git.start(["cat-file", "--batch"]);
    this.#process = process;
    output.on("data", (part: Buffer) => this.#take(part));
    output.once("close", () => this.#end());
  }

  read(name: string, maxBytes: number): Promise<GitObject | undefined> {
    return new Promise((done, fail) => {
      this.#questions.push({ maxBytes, done, fail });
      if (this.#hasEnded) this.#end();
      else this.#process.stdin?.write(`${name}\n`);
    });
  }

  close(): void {
    this.#process.stdin?.end();
    this.#process.kill("SIGKILL");
  }

  #end(): void {
    this.#hasEnded = true;
    const [first, ...others] = this.#questions.splice(0);
    first?.fail(new GitError("git cat-file ended"));
    for (const { fail } of others) fail(new NotAnswered("git cat-file ended"));
  }

  #take(part: Buffer): void {
    let rest = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]);
    while (rest.length > 0) {
      if (this.#object !== undefined) rest = this.#addTo(this.#object, rest);
      else {
        const end = rest.indexOf(NEWLINE);
        if (end < 0) break;
        this.#begin(rest.toString("utf8", 0, end));
        rest = rest.subarray(end + 1);
      }
    }
    this.#rest = rest;
  }

  #begin(header: string): void {
    const [, id, type, size] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(header) ?? [];
    if (id === undefined || type === undefined) this.#questions.shift()?.done(undefined);
    else this.#object = { id, type, size: Number(size), parts: [], left: Number(size) + 1 };
  }

  /** Reads an object that is too large without keeping it. @returns the bytes after the object */
  #addTo(object: Unfinished, bytes: Buffer): Buffer {
    const { id, type, size, parts } = object;
    const [question] = this.#questions;
    const isKept = question !== undefined && size <= question.maxBytes;
    const part = bytes.subarray(0, object.left);
    if (isKept) parts.push(part);
    object.left -= part.length;
    if (object.left === 0) {
      this.#object = undefined;
      this.#questions.shift();
      question?.done({ id, type, ...(isKept && { bytes: Buffer.concat(parts).subarray(0, size) }) });
    }
    return bytes.subarray(part.length);
  }
}

const NEWLINE = 10;
