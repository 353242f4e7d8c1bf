import { countOpenEntries } from "#store/facts.ts";
import type { LockStep } from "#store/lock-holder.ts";
import { DRAIN_DEATH, readMeta, removeMeta, writeMeta } from "#store/meta.ts";
import { positionOf } from "#store/positions.ts";
import { sessionById } from "#store/sessions.ts";
import type { Drain } from "./context.ts";
import { reasonSetAside, setAside } from "./set-aside.ts";

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

/** Below this no drain comes near its memory limit: it takes a few dozen megabytes. */
const LARGE_ENTRIES = 5_000;
/** By step: what two drains did when they died. */
const DEADLY: Readonly<Partial<Record<LockStep, string>>> = { read: "read it", inbox: "read it", build: "built it" };
const CAUSES = "memory ran out, it took too long, or they were killed";
const RETRIED = "it is tried again after an update, and once a day";
const HUNG = "a query of it did not return";
const DAY_MS = 86_400_000;

const placeOf = ({ db }: Drain, file: string): string => JSON.stringify(positionOf(db, file)?.offset ?? null);

function deathBefore({ db, version, now }: Drain): Death | undefined {
  const text = readMeta(db, DRAIN_DEATH);
  if (text === undefined) return undefined;
  const death = JSON.parse(text) as Death;
  return death.version === version && Math.abs(now() - death.atMs) < DAY_MS ? death : undefined;
}
