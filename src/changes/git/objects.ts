import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { Git } from "./git.ts";

/** An object, as `git cat-file` prints it. `bytes` is absent if it is larger than was allowed. */
export interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly bytes?: Buffer;
}

/** Reads objects through one `git cat-file --batch`, one after the other. */
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
    if (/[\n\0]/.test(name) || this.#restarts > MAX_RESTARTS) return undefined;
    try {
      this.#reader ??= new Reader(this.#git);
      return await this.#reader.read(name, maxBytes);
    } catch {
      // Git before 2.45 ends at the first object that a partial clone lacks
      this.close();
      this.#restarts++;
      return undefined;
    }
  }

  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
  }
}

// --- internal ---

/** After this many failures the rest counts as missing. */
const MAX_RESTARTS = 20;

class Reader {
  readonly #process: ChildProcess;
  readonly #parts: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(git: Git) {
    const { process, output } = git.start(["cat-file", "--batch"]);
    this.#process = process;
    this.#parts = (output as Readable & AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  async read(name: string, maxBytes: number): Promise<GitObject | undefined> {
    this.#process.stdin?.write(`${name}\n`);
    let end = this.#rest.indexOf(NEWLINE);
    while (end < 0) {
      await this.#more();
      end = this.#rest.indexOf(NEWLINE);
    }
    const header = this.#rest.subarray(0, end).toString("utf8");
    this.#rest = this.#rest.subarray(end + 1);
    const [, id, type, size] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(header) ?? [];
    if (id === undefined || type === undefined) return undefined;
    const bytes = await this.#take(Number(size), maxBytes);
    return { id, type, ...(bytes !== undefined && { bytes }) };
  }

  close(): void {
    this.#process.stdin?.end();
    this.#process.kill("SIGKILL");
  }

  /** The next bytes and the newline after them. @returns `undefined` if they are more than allowed; they are read nevertheless */
  async #take(size: number, maxBytes: number): Promise<Buffer | undefined> {
    const isKept = size <= maxBytes;
    const parts: Buffer[] = [];
    let left = size + 1;
    for (;;) {
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      if (isKept) parts.push(part);
      if (left === 0) break;
      await this.#more();
    }
    return isKept ? Buffer.concat(parts).subarray(0, size) : undefined;
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#parts.next();
    if (done === true) throw new Error("git cat-file ended");
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
  }
}

const NEWLINE = 10;
