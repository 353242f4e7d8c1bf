import type { PartSize } from "#core/model/transcript-reader.ts";
import type { Database } from "#store/database.ts";
import { countOpenEntries } from "#store/facts.ts";
import type { LockStep } from "#store/lock-holder.ts";
import { DRAIN_DEATH, FILES_SET_ASIDE, readMeta, removeMeta, writeMeta } from "#store/meta.ts";
import { positionOf } from "#store/positions.ts";
import { sessionById } from "#store/sessions.ts";
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

// Foreign files are read within limits. If a drain dies all the same while it reads one (memory runs out, a step takes too long), the next
// one reads files one at a time. If that one dies too, at the same place of a file, the file is set aside. So is a large session: building
// takes memory in proportion to its open part, and a process that runs out of memory cannot catch that. Other sessions are drained as usual.

/** What the last drain was reading or building when it died. */
interface Death {
  readonly version: string;
  readonly atMs: number;
  /** Files, and how far each had been read; or a session. */
  readonly places: readonly (readonly [file: string, place: string])[];
}

/** Stores how the last drain ended, if it died. The file or session at which two drains in a row died is set aside. */
export function noteDeath(drain: Drain): void {
  const { db, version, progress, now, log } = drain;
  const { left } = progress;
  if (left === undefined || left.step === "import" || left.step === "export") return;
  log(
    `the last drain (process ${left.pid}) did not end by itself; its step was: ${[left.step, ...left.files].join(" ")}`,
  );
  if (left.isHung === true && left.database !== undefined) {
    setAside(drain, left.database, HUNG);
    return;
  }
  const what = DEADLY[left.step];
  if (what === undefined || (left.step === "build" && left.files.length === 0)) return;
  const places = left.files.map((file) => [file, placeOf(drain, file)] as const);
  const before = deathBefore(drain)?.places.map((place) => JSON.stringify(place));
  const [place, ...others] = places;
  if (place !== undefined && others.length === 0 && before?.includes(JSON.stringify(place)) === true) {
    setAside(drain, place[0], `two drains died while they ${what}: ${CAUSES}`);
    removeMeta(db, DRAIN_DEATH);
  } else writeMeta(db, DRAIN_DEATH, JSON.stringify({ version, atMs: now(), places } satisfies Death));
}

/**
 * Notes that a session will be built: a large one by its id, so that the next drain knows at which one this drain died.
 *
 * @throws Error if two drains died while they built it; it is tried again after a day, or by another version of this program
 */
export function noteBuild(drain: Drain, session: number): void {
  const openEntries = countOpenEntries(drain.db, session);
  if (openEntries < LARGE_ENTRIES) {
    drain.progress.note("build");
    return;
  }
  const { source, sessionId } = sessionById(drain.db, session);
  const key = `${sessionId} (${source})`;
  const reason = reasonSetAside(drain, key);
  if (reason !== undefined) throw new Error(`${reason} (${openEntries} records in its open turns); ${RETRIED}`);
  drain.progress.note("build", key);
}

/** Whether the last drain died while it read or built: files are then read one at a time. */
export const isCautious = (drain: Drain): boolean => deathBefore(drain) !== undefined;

/** After everything was read and built. */
export function forgetDeath({ db }: Drain): void {
  if (readMeta(db, DRAIN_DEATH) !== undefined) removeMeta(db, DRAIN_DEATH);
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

/** Below this no drain comes near its memory limit: it takes a few dozen megabytes. */
const LARGE_ENTRIES = 5_000;
/** By step: what two drains did when they died. */
const DEADLY: Readonly<Partial<Record<LockStep, string>>> = { read: "read it", inbox: "read it", build: "built it" };
const CAUSES = "memory ran out, it took too long, or they were killed";
const RETRIED = "it is tried again after an update, and once a day";
const HUNG = "a query of it did not return";

const placeOf = ({ db }: Drain, file: string): string => JSON.stringify(positionOf(db, file)?.offset ?? null);

function deathBefore({ db, version, now }: Drain): Death | undefined {
  const text = readMeta(db, DRAIN_DEATH);
  if (text === undefined) return undefined;
  const death = JSON.parse(text) as Death;
  return death.version === version && Math.abs(now() - death.atMs) < DAY_MS ? death : undefined;
}
