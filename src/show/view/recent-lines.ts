import type { Database } from "#store/database.ts";
import type { StoredSession } from "#store/sessions.ts";
import { stampOf } from "./data/document.ts";
import type { ReadLines, ViewDeps } from "./deps.ts";

/**
 * What was asked and done in the session that was read last. The page asks for it again with each call that somebody opens, and reading
 * the agent's files takes seconds for a long session. It is kept in memory only, until another session is read.
 */
export class RecentLines {
  readonly #read: NonNullable<ViewDeps["contentLines"]>;
  #last: { readonly key: string; readonly lines: Promise<ReadLines | undefined> } | undefined;

  /** @param deps without a reader there are no lines */
  constructor({ contentLines = async () => undefined }: Pick<ViewDeps, "contentLines">) {
    this.#read = contentLines;
  }

  /** Reads again once the session has changed, and after a failure or a file that had nothing. */
  of(db: Database, stored: StoredSession): Promise<ReadLines | undefined> {
    const key = `${stored.id} ${stored.capture} ${stampOf(db, stored)}`;
    if (this.#last?.key === key) return this.#last.lines;
    const last = { key, lines: this.#read(stored) };
    this.#last = last;
    const forget = (): void => {
      if (this.#last === last) this.#last = undefined;
    };
    void last.lines.then((read) => (read === undefined || read.lines.length === 0) && forget(), forget);
    return last.lines;
  }
}
