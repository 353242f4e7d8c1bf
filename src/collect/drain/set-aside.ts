import type { PartSize } from "#core/model/transcript-reader.ts";
import type { Database } from "#store/database.ts";
import { FILES_SET_ASIDE, readMeta, writeMeta } from "#store/meta.ts";
import type { Drain } from "./context.ts";

/** A file that is not read although it changed or was not read to its end, or a session that is not built. */
interface SetAside extends PartSize {
  readonly version: string;
  readonly reason: string;
  readonly atMs: number;
  /** Drains died while they read it, so that a change is not enough to try again. */
  readonly isDeadly: boolean;
}

/**
 * Why a file was set aside: it exceeds a limit, or drains died while they read it. It is tried again after an update of this program;
 * also when it changes or, if drains died, after a day.
 *
 * @param key of the file's position, the name of an inbox file, or a session, see `noteBuild`
 * @param sizeOf its size now; inbox files do not change
 */
export function reasonSetAside(
  drain: Pick<Drain, "db" | "version" | "now">,
  key: string,
  sizeOf?: () => PartSize,
): string | undefined {
  const found = allSetAside(drain).get(key);
  if (found === undefined || found.version !== drain.version) return undefined;
  if (found.isDeadly) return Math.abs(drain.now() - found.atMs) > DAY_MS ? undefined : found.reason;
  const size = sizeOf?.();
  return found.sizeBytes === size?.sizeBytes && found.modifiedMs === size.modifiedMs ? found.reason : undefined;
}

/** Sets a file aside. @param size of the file; absent: drains died while they read it */
export function setAside(drain: Drain, key: string, reason: string, size?: PartSize): void {
  const { version, now } = drain;
  const entry = { version, reason, atMs: now(), isDeadly: size === undefined, sizeBytes: 0, modifiedMs: 0, ...size };
  store(drain, [...others(drain, key).slice(1 - MAX_FILES), [key, entry]]);
}

/** After the file was read. Writes nothing if it was not set aside. */
export function takeBack(drain: Drain, key: string): void {
  if (allSetAside(drain).has(key)) store(drain, others(drain, key));
}

// --- internal ---

const DAY_MS = 86_400_000;
/** The oldest are forgotten, and read again. */
const MAX_FILES = 200;

type Entry = readonly [key: string, SetAside];

/** Read once per connection: thousands of files are looked up in it. */
const known = new WeakMap<Database, ReadonlyMap<string, SetAside>>();

function allSetAside({ db }: Pick<Drain, "db">): ReadonlyMap<string, SetAside> {
  const all = known.get(db) ?? new Map(JSON.parse(readMeta(db, FILES_SET_ASIDE) ?? "[]") as Entry[]);
  known.set(db, all);
  return all;
}

const others = (drain: Drain, key: string): readonly Entry[] =>
  [...allSetAside(drain)].filter(([other]) => other !== key);

function store({ db }: Drain, entries: readonly Entry[]): void {
  writeMeta(db, FILES_SET_ASIDE, JSON.stringify(entries));
  known.delete(db);
}
