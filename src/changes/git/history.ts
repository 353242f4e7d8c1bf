import type { Git } from "./git.ts";

/** A commit that another one's message names. */
export interface Named {
  readonly by: string;
  /** `picked`: cherry-picked from it; `squashed`: contained in it; `reverted`: taken back by it. */
  readonly how: "picked" | "squashed" | "reverted";
}

/** The commits of the default branch since a time. */
export class History {
  readonly tip: string;
  readonly #parents = new Map<string, readonly string[]>();
  readonly #times = new Map<string, number>();
  readonly #byAuthorTime = new Map<string, string[]>();
  readonly #named = new Map<string, Named[]>();
  /** Along first parents: the states that the branch had, newest first. */
  readonly #states: string[] = [];
  /** For each state the earliest time of it and of those that are newer: clocks differ, and times need not be in order. */
  readonly #earliest: number[] = [];
  /** For each commit the state with which it reached the branch. */
  readonly #landings = new Map<string, string>();

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
    for await (const record of git.records(args, "\0")) history.#add(record);
    history.#follow();
    return history;
  }

  has(commit: string): boolean {
    return this.#parents.has(commit);
  }

  get commits(): Iterable<string> {
    return this.#parents.keys();
  }

  /** Commits that were made at a time or later. */
  since(timeMs: number): readonly string[] {
    return [...this.#times].flatMap(([commit, madeMs]) => (madeMs >= timeMs ? [commit] : []));
  }

  get size(): number {
    return this.#parents.size;
  }

  /** Commits whose author wrote them at a time, in seconds since the epoch: rebasing and picking a commit keep it. */
  authoredAt(seconds: string): readonly string[] {
    return this.#byAuthorTime.get(seconds) ?? [];
  }

  /** When a commit was made, in milliseconds since the epoch. */
  timeOf(commit: string): number | undefined {
    return this.#times.get(commit);
  }

  /** The commit with which another one reached the default branch: itself, or a merge. */
  landingOf(commit: string): string | undefined {
    return this.#landings.get(commit);
  }

  firstParentOf(commit: string): string | undefined {
    return this.#parents.get(commit)?.[0];
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
    return this.#states[low];
  }

  // --- internal ---

  #add(record: Buffer): void {
    const end = record.indexOf(10);
    const [id = "", time = "", authored = "", ...parents] = record
      .toString("latin1", 0, end < 0 ? undefined : end)
      .split(" ");
    if (id === "") return;
    this.#parents.set(
      id,
      parents.filter((parent) => parent !== ""),
    );
    this.#times.set(id, Number(time) * 1000);
    this.#byAuthorTime.set(authored, [...(this.#byAuthorTime.get(authored) ?? []), id]);
    if (end >= 0) this.#addNames(id, record.subarray(end + 1, end + 1 + MAX_MESSAGE_BYTES));
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
    for (let at: string | undefined = this.tip; at !== undefined && this.has(at); at = this.firstParentOf(at)) {
      this.#states.push(at);
      this.#earliest.push(Math.min(this.timeOf(at) ?? 0, this.#earliest.at(-1) ?? Number.POSITIVE_INFINITY));
    }
    for (const state of this.#states.toReversed()) {
      const todo = [state];
      for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
        if (this.#landings.has(at) || !this.has(at)) continue;
        this.#landings.set(at, state);
        todo.push(...(this.#parents.get(at) ?? []));
      }
    }
  }
}

const MAX_MESSAGE_BYTES = 64 * 1024;
/** Texts of which a message must have one, before it is decoded and searched. */
const MAY_NAME = ["This reverts commit ", "cherry picked from commit ", "Squashed commit of the following"];
