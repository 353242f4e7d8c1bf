import { findGit } from "#config/repository/git-files.ts";
import { readRepository } from "#config/repository/read.ts";
import type { Repository } from "#core/model/session.ts";
import { protectRepository } from "#store/capture/protect.ts";
import { hasSetRepository, setRepository } from "#store/changes.ts";
import type { Drain } from "../drain/context.ts";

/** The repositories of sessions' folders, each read once. */
export class Repositories {
  readonly #drain: Drain;
  readonly #known = new Map<string, Repository | undefined>();
  readonly #gitDirs = new Map<string, string | undefined>();
  /** Folders whose repository this import has written. */
  readonly #written = new Set<string>();

  constructor(drain: Drain) {
    this.#drain = drain;
  }

  /** @param withGitDir whether `store` may be called for the folder */
  async read(folder: string | undefined, withGitDir: boolean): Promise<void> {
    if (folder === undefined) return;
    if (!this.#known.has(folder)) {
      const found = await readRepository(folder, this.#drain.places.home);
      this.#known.set(folder, found === undefined ? undefined : protectRepository(this.#drain, found));
    }
    if (withGitDir && !this.#gitDirs.has(folder)) this.#gitDirs.set(folder, (await findGit(folder))?.commonDir);
  }

  of(folder: string | undefined): Repository | undefined {
    return this.#known.get(folder ?? "");
  }

  /** Stores in which repository a session with commits or changes works. */
  store(session: number, folder: string | undefined): void {
    const repository = this.of(folder);
    if (folder === undefined || repository === undefined) return;
    const gitDir = this.#gitDirs.get(folder);
    if (this.#written.has(folder) && hasSetRepository(this.#drain.db, session, repository, gitDir)) return;
    setRepository(this.#drain.db, session, repository, gitDir);
    this.#written.add(folder);
  }
}
