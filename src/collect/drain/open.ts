import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { checkOwner, closeFiles, foreignFiles, ownUid, StateError } from "#config/file-owner.ts";
import { step } from "#kit/fault-points.ts";
import { suggest } from "#kit/suggest.ts";
import { reportProblem } from "#store/capture/context.ts";
import { type Database, filesOf, moveStore, openDatabase, StoreError } from "#store/database.ts";
import { readMeta, writeMeta } from "#store/meta.ts";
import { isInUse, whenReleased } from "#store/release.ts";
import { findDamage, type Salvaged, salvage } from "#store/salvage.lazy.ts";
import { makeSpareFiles } from "#store/spare-files.ts";
import { ensureStateDirs } from "../intake/inbox-dirs.ts";
import { LOST_COUNT } from "../intake/inbox-file.ts";
import type { DrainDeps } from "./context.ts";

type Deps = Pick<DrainDeps, "places" | "now" | "log"> & {
  readonly report: { readonly problems: string[] };
  /** The work is an import, which rereads what a damaged store lost. @default false */
  readonly isImport?: boolean;
};

/**
 * Opens the store, runs the work on it, and closes it. If the store is damaged, even if that shows only during the work, it is
 * set aside, a new store is filled with what can be read from it, and the work starts again. All of this can be interrupted and
 * is resumed.
 *
 * @throws StoreError if the store cannot be used for another reason than damage; what `work` throws
 */
export async function withStore(deps: Deps, work: (db: Database) => Promise<void>): Promise<void> {
  // Keep references until the end: SQLite closes a connection when it is garbage collected, and then removes the log under its
  // old name, which by then is the new store's log. On Windows it is closed before, or the store could not be renamed
  const damaged: Database[] = [];
  for (let set = 0; ; set++) {
    const { db, damage } = await workOn(deps, work, set < MAX_DAMAGED);
    if (damage === undefined) return;
    if (process.platform === "win32") db.release();
    else damaged.push(db);
    await setAside(deps, damage);
  }
}

/**
 * Opens the store. A damaged one is set aside, never emptied: a new store is filled with what can be read from it, and the rest is
 * read again from transcripts.
 *
 * @throws StoreError if it cannot be opened for another reason
 */
export async function openStore(deps: Deps): Promise<Database> {
  const { storePath } = deps.places;
  // A drain was killed between setting a store aside and creating the new one
  if (sizeOf(damagedPath(deps)) !== undefined && sizeOf(storePath) === undefined)
    await whenReleased(() => moveStore(storePath, damagedPath(deps)));
  const noted = notedDamage(deps);
  const wrong = problemWith(storePath);
  if (noted !== undefined) await setAside(deps, noted);
  else if (wrong !== undefined) await setAside(deps, `${JSON.stringify(storePath)} is damaged: ${wrong}`);
  else if (sizeOf(storePath) === 0) {
    reportProblem(deps, `${JSON.stringify(storePath)} was empty: started a new store; anything in the old one is lost`);
  }
  for (let set = 0; ; set++) {
    const opened = openUnlessDamaged(storePath, set < MAX_DAMAGED);
    if (typeof opened !== "string") return salvageSetAside(deps, opened);
    await setAside(deps, opened);
  }
}

/**
 * Creates the state directories if needed, and makes them accessible to this user only.
 *
 * @throws StateError if the state directory or a file in it is not ours, or if `sudo` made this root
 */
export async function ensurePrivateState({
  places,
  platform,
  log,
  sudoUid,
}: Pick<DrainDeps, "places" | "platform" | "log" | "sudoUid">): Promise<void> {
  const owner = { uid: ownUid(platform) };
  await refuseSudoOf(sudoUid, owner.uid, places.stateDir);
  for (const remark of await checkOwner(places.stateDir, owner)) log(remark);
  await ensureStateDirs(places);
  const [foreign] = foreignFiles(places.stateDir);
  if (foreign !== undefined) throw new StateError(foreign);
  makeSpareFiles(places.stateDir, LOST_COUNT);
  for (const path of await closeFiles(places.stateDir, owner)) log(`closed ${JSON.stringify(path)} to other users`);
}

/** Whether a store has no session and nothing to send. */
export const isEmpty = (db: Database): boolean =>
  ["sessions", "spans", "counters"].every((table) => db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() === undefined);

// --- internal ---

/** If two new stores are damaged immediately, the disk is defective. */
const MAX_DAMAGED = 2;
/** Set when a damaged store was salvaged; the time, in milliseconds since the epoch. */
const SALVAGED_KEY = "store.set_aside";

/** Path of a damaged store until it is salvaged. */
const damagedPath = ({ places }: Deps): string => `${places.storePath}.damaged`;

/** The reason why a store is set aside, while another program has it open; the next drain sets it aside. */
const notePath = ({ places }: Deps): string => `${places.storePath}.damage`;

/**
 * Opens the store and runs the work on it. A function, so that nothing refers to the connection when the store is renamed.
 *
 * @returns the closed store; `damage`: the store is damaged, and in which way
 */
async function workOn(
  deps: Deps,
  work: (db: Database) => Promise<void>,
  mayBeDamaged: boolean,
): Promise<{ readonly db: Database; readonly damage?: string }> {
  const db = await openStore(deps);
  let damage: StoreError | undefined;
  try {
    await work(db);
  } catch (error) {
    damage = mayBeDamaged ? damageBehind(deps, db, error) : undefined;
    if (damage === undefined) throw error;
  } finally {
    closeQuietly(db, damage !== undefined);
  }
  return damage === undefined ? { db } : { db, damage: textOf(damage) };
}

/** @returns the store, or in which way it is damaged */
function openUnlessDamaged(path: string, mayBeDamaged: boolean): Database | string {
  try {
    return openDatabase(path);
  } catch (error) {
    if (!mayBeDamaged || !(error instanceof StoreError) || error.code !== "E_STORE_DAMAGED") throw error;
    return textOf(error);
  }
}

/** An error refers to the functions on its stack, and so to the connection, until its stack was read. */
function textOf(error: StoreError): string {
  for (let one: unknown = error; one instanceof Error; one = one.cause) void one.stack;
  return error.message;
}

async function setAside(deps: Deps, reason: string): Promise<void> {
  const damaged = damagedPath(deps);
  // Do not overwrite a store that an earlier drain set aside but did not salvage
  if (sizeOf(damaged) !== undefined) await nameAside(deps);
  try {
    await whenReleased(() => step("store.set-aside", () => moveStore(deps.places.storePath, damaged)));
  } catch (error) {
    if (process.platform !== "win32" || !isInUse(error)) throw error;
    writeFileSync(notePath(deps), reason);
    const text = `${reason}; another program has it open, so it could not be set aside: the next drain does that`;
    throw new StoreError("E_STORE", text, { cause: error });
  }
  rmSync(notePath(deps), { force: true });
  reportProblem(deps, `${reason}; it was set aside`);
}

/** Why an earlier drain wanted to set the store aside; `undefined`: none did, or there is no store any more. */
function notedDamage(deps: Deps): string | undefined {
  if (!existsSync(notePath(deps))) return undefined;
  if (sizeOf(deps.places.storePath) !== undefined) return readFileSync(notePath(deps), "utf8");
  rmSync(notePath(deps), { force: true });
  return undefined;
}

/** Salvages a store that was set aside into the new one; does nothing if there is none. @returns the new store */
async function salvageSetAside(deps: Deps, db: Database): Promise<Database> {
  if (sizeOf(damagedPath(deps)) === undefined) return db;
  try {
    if (readMeta(db, SALVAGED_KEY) === undefined && isEmpty(db)) {
      const salvaged = db.transaction(() => {
        const found = salvage(damagedPath(deps), db);
        writeMeta(db, SALVAGED_KEY, String(deps.now()));
        return found;
      }, "commit.salvage");
      reportProblem(deps, describe(salvaged, deps.isImport === true));
    }
    const aside = await nameAside(deps);
    reportProblem(deps, `the damaged store is now ${JSON.stringify(aside)}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Renames the damaged store to its final name. @returns that name */
async function nameAside(deps: Deps): Promise<string> {
  const aside = `${damagedPath(deps)}-${new Date(deps.now()).toISOString().replaceAll(":", "")}`;
  await whenReleased(() => step("store.name-aside", () => moveStore(damagedPath(deps), aside)));
  return aside;
}

/** Problems that SQLite would wait for, or solve by starting an empty store. `undefined`: none. */
function problemWith(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (found.isDirectory()) return "it is a directory";
  if (!found.isFile()) return "it is not a regular file";
  // If the main file is empty, SQLite deletes the log, which may contain everything
  const logBytes = sizeOf(filesOf(path)[1]) ?? 0;
  return found.size === 0 && logBytes > 0 ? "it is empty, but its log is not" : undefined;
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;

/** Damage in the store that can explain an unexpected error: invalid JSON, an id without a row. `undefined`: it is intact. */
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

/** When SQLite closes a store, it writes the log into the main file, which fails if the store is damaged. */
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
    (countsAnew ? "; metrics restart under a new service.instance.id" : "") +
    (incomplete.some((table) => table.startsWith("packed")) ? `; ${reader} reads the imported sessions again` : "");
  return rows === 0
    ? `started a new store; nothing could be read from the damaged one${counters}`
    : `started a new store with what could be read from the damaged one: ${rows} rows, ${missing}${counters}`;
}

/** `sudo` may keep HOME. The user's drains could not use a store that root creates in the user's state directory. */
async function refuseSudoOf(sudoUid: number | undefined, uid: number | undefined, stateDir: string): Promise<void> {
  if (uid !== 0 || sudoUid === undefined || sudoUid === 0) return;
  for (let folder = stateDir; ; folder = dirname(folder)) {
    const owner = (await stat(folder).catch(() => undefined))?.uid;
    if (owner === undefined && dirname(folder) !== folder) continue;
    if (owner !== sudoUid) return;
    const text = `this runs as root through sudo, and ${JSON.stringify(stateDir)} belongs to user ${owner}, who could not use files that root creates there`;
    throw new StateError(`${text}; run it without sudo. Queued events stay, and that user's next drain reads them`);
  }
}
