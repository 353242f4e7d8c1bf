import { readMeta, removeMeta, writeMeta } from "../store/meta.ts";
import { DRAIN_DEATH } from "../store/meta-keys.ts";
import { positionOf } from "../store/positions.ts";
import type { Drain } from "./context.ts";
import { setAside } from "./set-aside.ts";

// Foreign files are read within limits. If a drain dies all the same while it reads one (memory runs out, a step takes too long), the next
// one reads files one at a time. If that one dies too, at the same place of a file, the file is set aside.

/** What the last drain was reading when it died. */
interface Death {
  readonly version: string;
  readonly atMs: number;
  /** Files, and how far each had been read. */
  readonly places: readonly (readonly [file: string, place: string])[];
}

/** Stores how the last drain ended, if it died. The file at which two drains in a row died is set aside. */
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
  if (left.step !== "read" && left.step !== "inbox") return;
  const places = left.files.map((file) => [file, placeOf(drain, file)] as const);
  const before = deathBefore(drain)?.places.map((place) => JSON.stringify(place));
  const [place, ...others] = places;
  if (place !== undefined && others.length === 0 && before?.includes(JSON.stringify(place)) === true) {
    setAside(drain, place[0], DEADLY);
    removeMeta(db, DRAIN_DEATH);
  } else writeMeta(db, DRAIN_DEATH, JSON.stringify({ version, atMs: now(), places } satisfies Death));
}

/** Whether the last drain died while it read: files are then read one at a time. */
export const isCautious = (drain: Drain): boolean => deathBefore(drain) !== undefined;

/** After everything was read. */
export function forgetDeath({ db }: Drain): void {
  if (readMeta(db, DRAIN_DEATH) !== undefined) removeMeta(db, DRAIN_DEATH);
}

// --- internal ---

const DEADLY = "two drains died while they read it: memory ran out, it took too long, or they were killed";
const HUNG = "a query of it did not return";
const DAY_MS = 86_400_000;

const placeOf = ({ db }: Drain, file: string): string => JSON.stringify(positionOf(db, file)?.offset ?? null);

function deathBefore({ db, version, now }: Drain): Death | undefined {
  const text = readMeta(db, DRAIN_DEATH);
  if (text === undefined) return undefined;
  const death = JSON.parse(text) as Death;
  return death.version === version && Math.abs(now() - death.atMs) < DAY_MS ? death : undefined;
}
