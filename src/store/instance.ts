import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { v4 as uuidv4 } from "uuid";
import type { MetricShape } from "../model/telemetry.ts";
import type { Database } from "./database.ts";
import { type FileSystem, fileSystemOf } from "./file-system.ts";
import { mergeStreams } from "./merge-streams.ts";
import { readMeta, writeMeta } from "./meta.ts";

/** Where a store lies. */
export interface StorePlace {
  readonly home: string;
  readonly stateDir: string;
  /** @default asked from the system */
  readonly machineId?: () => string | undefined;
}

/**
 * `service.instance.id` of this store: made at random once. A store that was copied, to another machine or beside the
 * original, gets a new one and counts from zero, since two writers of one series would corrupt both.
 */
export function instanceId(db: Database, place: StorePlace): string {
  return db.transaction(() => {
    const here = fingerprintsOf(place);
    const known = readMeta(db, ID);
    const found = readMeta(db, FINGERPRINT);
    if (known !== undefined && !isElsewhere(found, here)) {
      if (here !== undefined && found !== here[0]) writeMeta(db, FINGERPRINT, here[0]);
      return known;
    }
    if (known !== undefined) clearCounters(db);
    return makeInstance(db, place);
  });
}

/**
 * Goes on under another id. What a backend was told stays told under the old one, the streams of the new one begin with what it
 * was not. Call it inside a transaction.
 */
export function changeInstance(
  db: Database,
  place: StorePlace,
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): void {
  mergeStreams(db, shapes, nowMs, ({ attributes }) => ({ ...attributes }));
  makeInstance(db, place);
}

export const hasInstanceId = (db: Database): boolean => readMeta(db, ID) !== undefined;

/** Whether this is the copy of a store that has an id: before anything is counted in it, see `drain/instance.ts`. */
export function isCopy(db: Database, place: StorePlace): boolean {
  return hasInstanceId(db) && isElsewhere(readMeta(db, FINGERPRINT), fingerprintsOf(place));
}

/** Notes facts as counted that the original counts. */
export function markCounted(db: Database, keys: readonly string[]): void {
  const note = db.prepare("INSERT INTO increments (key) VALUES (?) ON CONFLICT DO NOTHING");
  for (const key of keys) note.run(key);
}

/** What is asked of the machine, for tests. */
export interface Surroundings {
  readonly fileSystem: FileSystem;
  readonly machineId: string;
  readonly hostname: string;
  /** Of the state directory. */
  readonly folderNumber: string;
}

/**
 * Tells a store from its copies, by what a copy does not take along: the machine, and the folder's number on its file
 * system. A folder that several machines share is no machine's; images bake their machine id in, so that in a container's
 * own layer the container's name counts as well.
 *
 * @returns what is noted of a store, and behind it what earlier versions noted of one in the same place: whoever changes
 *          one of them makes each store there is the copy of one, which throws its sums away
 */
export function fingerprints({ home }: Pick<StorePlace, "home">, around: Surroundings): readonly [string, string] {
  const { isShared, hasStableNumbers, isContainerLayer } = around.fileSystem;
  const folder = hasStableNumbers ? around.folderNumber : "";
  const parts = isShared
    ? ["shared", folder === "" ? home : folder]
    : [around.machineId, isContainerLayer ? around.hostname : "", folder, home];
  return [digestOf(parts), digestOf([around.machineId, home])];
}

// --- internal ---

const ID = "instance.id";
const FINGERPRINT = "instance.fingerprint";

function makeInstance(db: Database, place: StorePlace): string {
  const made = uuidv4();
  const here = fingerprintsOf(place);
  writeMeta(db, ID, made);
  if (here !== undefined) writeMeta(db, FINGERPRINT, here[0]);
  return made;
}

/** Known to be, that is: a machine that could not be asked who it is now is not another one. */
const isElsewhere = (found: string | undefined, here: readonly string[] | undefined): boolean =>
  found !== undefined && here !== undefined && !here.includes(found);

/** Only its equality matters; it never leaves. */
const digestOf = (parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);

/** `undefined` where the machine could not be asked. */
function fingerprintsOf(place: StorePlace): ReturnType<typeof fingerprints> | undefined {
  const asked = place.machineId === undefined ? machineIdOn(process.platform) : place.machineId();
  if (asked === undefined) return undefined;
  return fingerprints(place, {
    fileSystem: fileSystemOf(place.stateDir),
    machineId: asked,
    hostname: hostname(),
    folderNumber: String(statSync(place.stateDir, { bigint: true }).ino),
  });
}

const ASK_MS = 2_000;

/**
 * @returns empty where the machine has none: containers of most images; `undefined` where it has one and did not say it, as a
 *          busy one in time, or in an agent's sandbox
 */
export function machineIdOn(
  platform: NodeJS.Platform,
  ask: (program: string, args: readonly string[]) => string = outputOf,
): string | undefined {
  try {
    if (platform === "darwin") {
      const text = ask("/usr/sbin/ioreg", ["-rd1", "-c", "IOPlatformExpertDevice"]);
      return /"IOPlatformUUID" = "([^"]+)"/.exec(text)?.[1];
    }
    if (platform === "win32") {
      const key = "HKLM\\SOFTWARE\\Microsoft\\Cryptography";
      return /MachineGuid\s+REG_SZ\s+(\S+)/.exec(ask("reg.exe", ["query", key, "/v", "MachineGuid", "/reg:64"]))?.[1];
    }
  } catch {
    return undefined;
  }
  for (const path of ["/etc/machine-id", "/var/lib/dbus/machine-id"]) {
    try {
      return readFileSync(path, "utf8").trim();
    } catch {
      // The next place, else the folder tells
    }
  }
  return "";
}

const outputOf = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { encoding: "utf8", timeout: ASK_MS, windowsHide: true });

/** The copy's sums belong to the machine it came from: counting here starts at zero. */
function clearCounters(db: Database): void {
  db.prepare("DELETE FROM counters").run();
}
