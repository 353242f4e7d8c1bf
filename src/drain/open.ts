import { statSync } from "node:fs";
import { step } from "../model/fault-points.ts";
import { suggest } from "../model/suggest.ts";
import { type Database, filesOf, moveStore, openDatabase, StoreError } from "../store/database.ts";
import { readMeta, writeMeta } from "../store/meta.ts";
import { findDamage, type Salvaged, salvage } from "../store/salvage.lazy.ts";
import type { DrainDeps } from "./context.ts";

type Deps = Pick<DrainDeps, "places" | "now" | "log"> & {
  readonly report?: { readonly problems: string[] };
  /** The work is an import: it reads again what a damaged store has lost. @default false */
  readonly isImport?: boolean;
};

/**
 * Opens the store, works on it, and closes it. Damage that only shows while it is worked on is treated like that which
 * shows at once: the store is set aside, what can be read of it becomes a new one, and the work is done again from the
 * start. All of it can be interrupted and is taken up where it was left.
 *
 * @throws StoreError when the store cannot be used for another reason than damage; what `work` throws
 */
export async function withStore(deps: Deps, work: (db: Database) => Promise<void>): Promise<void> {
  // Kept until the end: SQLite really closes one when it is collected, and then removes the log under its old name,
  // which by then would be that of the new store
  const damaged: Database[] = [];
  for (;;) {
    const db = openStore(deps);
    let damage: StoreError | undefined;
    try {
      await work(db);
    } catch (error) {
      damage = damaged.length < MAX_DAMAGED ? damageBehind(deps, db, error) : undefined;
      if (damage === undefined) throw error;
    } finally {
      closeQuietly(db, damage !== undefined);
    }
    if (damage === undefined) return;
    damaged.push(db);
    setAside(deps, damage.message);
  }
}

/**
 * Opens the store. One that is damaged is set aside, never emptied: a new one begins with what can be read of it, and the
 * transcripts and the inbox tell the rest again.
 *
 * @throws StoreError when it cannot be opened for another reason
 */
export function openStore(deps: Deps): Database {
  const { storePath } = deps.places;
  // A drain died between setting one aside and beginning the new one
  if (sizeOf(waitingPath(deps)) !== undefined && sizeOf(storePath) === undefined)
    moveStore(storePath, waitingPath(deps));
  const wrong = problemWith(storePath);
  if (wrong !== undefined) setAside(deps, `${JSON.stringify(storePath)} is damaged: ${wrong}`);
  else if (sizeOf(storePath) === 0) {
    reportProblem(
      deps,
      `${JSON.stringify(storePath)} was empty: a new store was begun; what the old one held, if anything, is gone`,
    );
  }
  for (let set = 0; ; set++) {
    try {
      return salvageSetAside(deps, openDatabase(storePath));
    } catch (error) {
      if (set >= MAX_DAMAGED || !(error instanceof StoreError) || error.code !== "E_STORE_DAMAGED") throw error;
      setAside(deps, error.message);
    }
  }
}

// --- internal ---

/** The second new store that is damaged at once: it is the disk. */
const MAX_DAMAGED = 2;
/** When a damaged store was taken over. */
const ASIDE = "store.set_aside";

/** Where a damaged store lies until what can be read of it was taken over. */
const waitingPath = ({ places }: Deps): string => `${places.storePath}.damaged`;

function setAside(deps: Deps, reason: string): void {
  const waiting = waitingPath(deps);
  // What an earlier drain set aside and did not come to take over is not covered by this one
  if (sizeOf(waiting) !== undefined) nameAside(deps);
  step("store.set-aside", () => moveStore(deps.places.storePath, waiting));
  reportProblem(deps, `${reason}; it was set aside`);
}

/** Takes over what can be read of a store that was set aside; does nothing where there is none. */
function salvageSetAside(deps: Deps, db: Database): Database {
  if (sizeOf(waitingPath(deps)) === undefined) return db;
  try {
    if (readMeta(db, ASIDE) === undefined && isEmpty(db)) {
      const taken = db.transaction(() => {
        const found = salvage(waitingPath(deps), db);
        writeMeta(db, ASIDE, String(deps.now()));
        return found;
      }, "commit.salvage");
      reportProblem(deps, describe(taken, deps.isImport === true));
    }
    const aside = nameAside(deps);
    reportProblem(deps, `the damaged store lies in ${JSON.stringify(aside)}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Gives it its last name. @returns that name */
function nameAside(deps: Deps): string {
  const aside = `${waitingPath(deps)}-${new Date(deps.now()).toISOString().replaceAll(":", "")}`;
  step("store.name-aside", () => moveStore(waitingPath(deps), aside));
  return aside;
}

const isEmpty = (db: Database): boolean =>
  ["sessions", "spans", "counters"].every((table) => db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() === undefined);

/** What SQLite would wait for, or silently begin anew. */
function problemWith(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (found.isDirectory()) return "it is a directory";
  if (!found.isFile()) return "it is not a regular file";
  // An empty main file makes SQLite delete the log, which may hold everything
  const logBytes = sizeOf(filesOf(path)[1]) ?? 0;
  return found.size === 0 && logBytes > 0 ? "it is empty, but its log is not" : undefined;
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;

/** An error that nobody expected can be the store's fault as well: a text in it is no JSON, an id leads nowhere. */
function damageBehind({ places }: Deps, db: Database, error: unknown): StoreError | undefined {
  if (error instanceof StoreError) return error.code === "E_STORE_DAMAGED" ? error : undefined;
  try {
    const found = findDamage(db);
    if (found === undefined) return undefined;
    const text = `${JSON.stringify(places.storePath)} is damaged: ${found}`;
    return new StoreError("E_STORE_DAMAGED", text, { cause: error });
  } catch (checkError) {
    return checkError instanceof StoreError && checkError.code === "E_STORE_DAMAGED" ? checkError : undefined;
  }
}

/** SQLite brings its log into the main file when it closes, which damage can make fail. */
function closeQuietly(db: Database, isDamaged: boolean): void {
  try {
    db.close();
  } catch (error) {
    if (!isDamaged) throw error;
  }
}

function describe({ rows, incomplete, countsAnew }: Salvaged, isImport: boolean): string {
  const missing = incomplete.length === 0 ? "all of it" : `not all of ${incomplete.join(", ")}`;
  const reader = isImport ? "this import" : suggest("import");
  const counters =
    (countsAnew ? "; metrics begin anew as a new service.instance.id" : "") +
    (incomplete.some((table) => table.startsWith("packed")) ? `; ${reader} reads again what was imported` : "");
  return rows === 0
    ? `a new store was begun: nothing could be read of the damaged one${counters}`
    : `a new store was begun with what could be read of the damaged one: ${rows} rows, ${missing}${counters}`;
}

function reportProblem({ log, report }: Deps, line: string): void {
  report?.problems.push(line);
  log(line);
}
