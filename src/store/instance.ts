import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { v4 as uuidv4 } from "uuid";
import type { MetricShape } from "#core/model/telemetry.ts";
import { digestOf as quickDigestOf } from "#kit/digest.ts";
import { systemProgram } from "#kit/system-program.ts";
import type { Database } from "./database.ts";
import { type FileSystem, fileSystemOf, volumeOf } from "./file-system.ts";
import { mergeStreams } from "./merge-streams.ts";
import { readMeta, writeMeta } from "./meta.ts";

/** Location of a store. */
export interface StorePlace {
  readonly home: string;
  readonly stateDir: string;
  /** @default read from the system */
  readonly machineId?: () => string | undefined;
  /** @default asks the system, see `volumeOf` */
  readonly volume?: () => string | undefined;
}

/**
 * `service.instance.id` of this store, a random id created once. A store that was copied, to another machine or beside the
 * original, gets a new id and counts from zero, because two writers of one series would corrupt both.
 */
export function instanceId(db: Database, place: StorePlace): string {
  return db.transaction(() => {
    const here = partsOf(place);
    const known = readMeta(db, ID);
    if (known !== undefined && !isElsewhere(db, here) && !isClone(db, place)) {
      noteFingerprint(db, here);
      noteVolume(db, place);
      return known;
    }
    // A copy's sums belong to the original store
    if (known !== undefined) clearCounters(db);
    return makeInstance(db, place);
  });
}

/**
 * Continues under another id. Sent amounts stay with the old id; the streams of the new one begin with what was not sent. Call it
 * inside a transaction.
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

/** Continues under another id, with all counters at zero. Call it inside a transaction. */
export function restartCounters(db: Database, place: StorePlace): void {
  clearCounters(db);
  makeInstance(db, place);
}

export const hasInstanceId = (db: Database): boolean => readMeta(db, ID) !== undefined;

/** Whether this is the copy of a store with an id. Checked before anything is counted, see `drain/instance.ts`. */
export function isCopy(db: Database, place: StorePlace): boolean {
  if (!hasInstanceId(db)) return false;
  return isElsewhere(db, partsOf(place)) || isClone(db, place);
}

/** Marks facts as counted, because the original store counts them. */
export function markCounted(db: Database, keys: readonly string[]): void {
  const note = db.prepare("INSERT INTO increments (key) VALUES (?) ON CONFLICT DO NOTHING");
  for (const key of keys) note.run(key);
}

/** Properties of the machine; a parameter for tests. */
export interface MachineProperties {
  readonly fileSystem: FileSystem;
  readonly machineId: string;
  readonly hostname: string;
  /** Inode number of the state directory. */
  readonly folderInode: string;
  /** The state directory is the root of a file system, which has the same number on every one. */
  readonly isMountRoot?: boolean;
}

/**
 * Distinguishes a store from its copies by what is not copied: the machine, and the folder's inode number. The home folder counts
 * only where there is no such number: it can be written in several ways, and another user's drain may have another one. A folder on
 * a file system that machines share belongs to no machine. Images contain their machine id, so in a container's own layer the
 * container's name is included.
 *
 * @param home the home folder's real path
 * @returns what is stored. Changing it makes every store with it look like a copy, which resets its counters.
 */
export const fingerprint = (home: string, around: MachineProperties): string =>
  digestOf(fingerprintParts(home, around));

/**
 * The id of this machine.
 *
 * @returns empty if the machine has none, as in most containers; `undefined` if it could not be determined, as on a busy machine or
 *          in an agent's sandbox
 */
export function machineIdOn(
  platform: NodeJS.Platform,
  run: (program: string, args: readonly string[]) => string = outputOf,
): string | undefined {
  try {
    if (platform === "darwin") {
      const text = run("/usr/sbin/ioreg", ["-rd1", "-c", "IOPlatformExpertDevice"]);
      return /"IOPlatformUUID" = "([^"]+)"/.exec(text)?.[1];
    }
    if (platform === "win32") {
      const key = "HKLM\\SOFTWARE\\Microsoft\\Cryptography";
      const args = ["query", key, "/v", "MachineGuid", "/reg:64"];
      return /MachineGuid\s+REG_SZ\s+(\S+)/.exec(run(systemProgram("reg.exe", process.env), args))?.[1];
    }
  } catch {
    return undefined;
  }
  for (const path of ["/etc/machine-id", "/var/lib/dbus/machine-id"]) {
    try {
      return readFileSync(path, "utf8").trim();
    } catch {
      // Try the next path; without any, only the folder identifies the store
    }
  }
  return "";
}

// --- internal ---

const ID = "instance.id";
const FINGERPRINT = "instance.fingerprint";
/** As the fingerprint, but quick: for that, most drains would load Node's cryptography for nothing else. */
const PLACE = "instance.place";
/** The volume that the store is on, on file systems with clones. */
const VOLUME = "instance.volume";

function makeInstance(db: Database, place: StorePlace): string {
  const made = uuidv4();
  const here = partsOf(place);
  writeMeta(db, ID, made);
  noteFingerprint(db, here);
  noteVolume(db, place);
  return made;
}

function noteFingerprint(db: Database, here: Parts): void {
  if (here === undefined || readMeta(db, PLACE) === placeOf(here)) return;
  writeMeta(db, FINGERPRINT, digestOf(here));
  writeMeta(db, PLACE, placeOf(here));
}

/** What the fingerprint is made of; `undefined` if the machine's id could not be determined. */
type Parts = readonly string[] | undefined;

const placeOf = (parts: readonly string[]): string => String(quickDigestOf("", JSON.stringify(parts)));

const volumeAt = ({ stateDir, volume }: StorePlace): string | undefined =>
  volume === undefined ? volumeOf(stateDir) : volume();

/** Separate from the fingerprint: a volume that cannot be determined now must not make the store a copy. */
function isClone(db: Database, place: StorePlace): boolean {
  const [found, here] = [readMeta(db, VOLUME), volumeAt(place)];
  return found !== undefined && here !== undefined && found !== here;
}

function noteVolume(db: Database, place: StorePlace): void {
  const here = volumeAt(place);
  if (here !== undefined && readMeta(db, VOLUME) !== here) writeMeta(db, VOLUME, here);
}

/** Known to be elsewhere; false if the machine's id could not be determined. */
function isElsewhere(db: Database, here: Parts): boolean {
  if (here === undefined || readMeta(db, PLACE) === placeOf(here)) return false;
  const found = readMeta(db, FINGERPRINT);
  return found !== undefined && found !== digestOf(here);
}

/** Only its equality matters; it is never sent. */
const digestOf = (parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);

function fingerprintParts(home: string, around: MachineProperties): readonly string[] {
  const { machineId, hostname: name, fileSystem } = around;
  const { isShared, hasStableInodes, isContainerLayer } = fileSystem;
  const number = hasStableInodes ? around.folderInode : "";
  const container = isContainerLayer ? name : "";
  const isNumbered = number !== "" && around.isMountRoot !== true;
  return isShared
    ? ["shared", isNumbered ? number : home]
    : [machineId, container, number, ...(isNumbered ? [] : [home])];
}

function partsOf(place: StorePlace): Parts {
  const machineId = place.machineId === undefined ? machineIdOn(process.platform) : place.machineId();
  if (machineId === undefined) return undefined;
  const folder = statSync(place.stateDir, { bigint: true });
  return fingerprintParts(realPathOf(place.home), {
    fileSystem: fileSystemOf(place.stateDir),
    machineId,
    hostname: hostname(),
    folderInode: String(folder.ino),
    isMountRoot: folder.dev !== statSync(dirname(realPathOf(place.stateDir)), { bigint: true }).dev,
  });
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const ASK_MS = 2_000;

const outputOf = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { encoding: "utf8", timeout: ASK_MS, windowsHide: true });

function clearCounters(db: Database): void {
  db.prepare("DELETE FROM counters").run();
}
