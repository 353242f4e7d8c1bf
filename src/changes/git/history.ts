import type { Git } from "./git.ts";

/** A commit that another one's message names. */
interface Named {
  readonly by: string;
  /** What `by` did with the commit: cherry-picked it, squashed it with others, or reverted it. */
  readonly how: "picked" | "squashed" | "reverted";
}

/** The commits of the default branch since a time. There may be very many: each has a number, and the rest is in lists by number. */
export class History {
  readonly tip: string;
  readonly #numbers = new Map<string, number>();
  readonly #ids: string[] = [];
  /** When it was read, from 1, newest first. 0: not read, but a parent of one that was. */
  readonly #places: number[] = [];
  #size = 0;
  readonly #times: number[] = [];
  readonly #authored: number[] = [];
  /** -1: none. */
  readonly #firstParents: number[] = [];
  /** Of merges. */
  readonly #otherParents = new Map<number, readonly number[]>();
  readonly #named = new Map<string, Named[]>();
  #byAuthorTime: Map<number, number[]> | undefined;
  /** Along first parents: the states that the branch had, newest first. */
  readonly #states: number[] = [];
  /** For each state the earliest time of it and of those that are newer: clocks differ, and times need not be in order. */
  readonly #earliest: number[] = [];
  /** For each commit the state with which it reached the branch; -1: none. */
  readonly #landings: number[] = [];

  private constructor(tip: string) {
    this.tip = tip;
  }

  /** Reads the history in one pass. @throws GitError */
  static async read(git: Git, tip: string, sinceMs: number): Promise<History> {
    const history = new History(tip);
    const since = `--since=@${Math.floor(sinceMs / 1000)}`;
    const args = [
      "log",
      "-z",
      "--no-show-signature",
      "--no-notes",
      "--format=%H %ct %at %P%n%B",
      since,
      "--end-of-options",
      tip,
    ];
    for await (const records of git.batches(args, "\0")) for (const record of records) history.#add(record);
    history.#follow();
    return history;
  }

  has(commit: string): boolean {
    return this.#isRead(this.#numberOf(commit));
  }

  /** Commits that were made at a time or later. */
  since(timeMs: number): readonly string[] {
    return this.#ids.filter((_, number) => this.#isRead(number) && (this.#times[number] ?? 0) >= timeMs);
  }

  /** Commits whose author wrote them at a time, in seconds since the epoch: rebasing and picking a commit keep it. */
  authoredAt(seconds: string): readonly string[] {
    this.#byAuthorTime ??= this.#groupByAuthorTime();
    return (this.#byAuthorTime.get(Number(seconds)) ?? []).flatMap((number) => this.#ids[number] ?? []);
  }

  /** When a commit was made, in milliseconds since the epoch. */
  timeOf(commit: string): number | undefined {
    const number = this.#numberOf(commit);
    return this.#isRead(number) ? this.#times[number] : undefined;
  }

  /** A number that is higher the newer a commit is, in the order in which git lists them. */
  orderOf(commit: string): number | undefined {
    const number = this.#numberOf(commit);
    return this.#isRead(number) ? this.#size - (this.#places[number] ?? 0) : undefined;
  }

  /** The commit with which another one reached the default branch: itself, or a merge. */
  landingOf(commit: string): string | undefined {
    return this.#ids[this.#landings[this.#numberOf(commit)] ?? -1];
  }

  firstParentOf(commit: string): string | undefined {
    return this.#ids[this.#firstParents[this.#numberOf(commit)] ?? -1];
  }

  namedBy(commit: string): readonly Named[] {
    return this.#named.get(commit) ?? [];
  }

  /** The newest commit of the branch at a time. @returns `undefined` if all that were read are later */
  stateAt(timeMs: number): string | undefined {
    let [low, high] = [0, this.#states.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#earliest[middle] ?? 0) <= timeMs) high = middle;
      else low = middle + 1;
    }
    return this.#ids[this.#states[low] ?? -1];
  }

  // --- internal ---

  #numberOf(commit: string): number {
    return this.#numbers.get(commit) ?? -1;
  }

  #isRead(number: number): boolean {
    return (this.#places[number] ?? 0) > 0;
  }

  /** The number of a commit, a new one if it has none. */
  #numbered(commit: string): number {
    const known = this.#numbers.get(commit);
    if (known !== undefined) return known;
    // A copy, because a part of a string keeps all of it in memory
    const id = Buffer.from(commit, "latin1").toString("latin1");
    const number = this.#ids.push(id) - 1;
    this.#numbers.set(id, number);
    this.#places.push(0);
    this.#times.push(0);
    this.#authored.push(0);
    this.#firstParents.push(-1);
    this.#landings.push(-1);
    return number;
  }

  #add(record: Buffer): void {
    const end = record.indexOf(10);
    const line = record.toString("latin1", 0, end < 0 ? undefined : end);
    const [id = "", time = "", authored = "", ...parents] = line.split(" ");
    if (id === "") return;
    const number = this.#numbered(id);
    this.#places[number] = ++this.#size;
    this.#times[number] = Number(time) * 1000;
    this.#authored[number] = Number(authored);
    const [first = -1, ...others] = parents.flatMap((parent) => (parent === "" ? [] : this.#numbered(parent)));
    this.#firstParents[number] = first;
    if (others.length > 0) this.#otherParents.set(number, others);
    if (end >= 0) this.#addNames(id, record.subarray(end + 1, end + 1 + MAX_MESSAGE_BYTES));
  }

  #groupByAuthorTime(): Map<number, number[]> {
    const groups = new Map<number, number[]>();
    for (const [number, time] of this.#authored.entries()) {
      if (!this.#isRead(number)) continue;
      if (groups.get(time)?.push(number) === undefined) groups.set(time, [number]);
    }
    return groups;
  }

  #addNames(id: string, message: Buffer): void {
    if (!MAY_NAME.some((word) => message.includes(word))) return;
    const text = message.toString("utf8");
    const squash = text.indexOf("Squashed commit of the following:");
    const add = (commit: string, how: Named["how"]): void => {
      this.#named.set(commit, [...(this.#named.get(commit) ?? []), { by: id, how }]);
    };
    for (const [, commit = ""] of text.matchAll(/\bThis reverts commit ([0-9a-f]{40,64})\b/g)) add(commit, "reverted");
    for (const [, commit = ""] of text.matchAll(/\(cherry picked from commit ([0-9a-f]{40,64})\)/g))
      add(commit, "picked");
    if (squash < 0) return;
    for (const [, commit = ""] of text.slice(squash).matchAll(/^commit ([0-9a-f]{40,64})$/gm)) add(commit, "squashed");
  }

  /** Walks along first parents, and from the oldest state on notes which commits each one brought. */
  #follow(): void {
    for (let number = this.#numberOf(this.tip); this.#isRead(number); number = this.#firstParents[number] ?? -1) {
      this.#states.push(number);
      this.#earliest.push(Math.min(this.#times[number] ?? 0, this.#earliest.at(-1) ?? Number.POSITIVE_INFINITY));
    }
    for (const state of this.#states.toReversed()) {
      const todo = [state];
      for (let number = todo.pop(); number !== undefined; number = todo.pop()) {
        if (!this.#isRead(number) || this.#landings[number] !== -1) continue;
        this.#landings[number] = state;
        todo.push(this.#firstParents[number] ?? -1, ...(this.#otherParents.get(number) ?? []));
      }
    }
  }
}

const MAX_MESSAGE_BYTES = 64 * 1024;
/** Texts of which a message must have one, before it is decoded and searched. */
const MAY_NAME = ["This reverts commit ", "cherry picked from commit ", "Squashed commit of the following"];
