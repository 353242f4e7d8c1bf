import { execFileSync } from "node:child_process";
import { closeSync, existsSync, openSync, realpathSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { v4 as uuidv4 } from "uuid";
import { isNoRoom } from "./spare-files.ts";

/** What the file system of the state directory supports. */
export interface FileSystem {
  /** `nfs`, `ext4`; the number in hex if the name is unknown. */
  readonly name: string;
  /** Other machines may have the folder mounted: no shared memory, and locks are not reliable. */
  readonly isShared: boolean;
  /** Locks of the operating system work. Tried only if in doubt. */
  readonly hasLocks: boolean;
  /** A folder keeps its inode number for as long as it exists, and a copy has another one. */
  readonly hasStableInodes: boolean;
  /** The writable layer of a container. */
  readonly isContainerLayer: boolean;
}

/**
 * Examines the file system of an existing folder. Linux reports its type; elsewhere a network share is recognised by its path
 * (Windows, also that of a mapped drive) or by locks that do not work (macOS).
 *
 * @throws never; an unknown one counts as local
 */
export function fileSystemOf(dir: string, platform: NodeJS.Platform = process.platform): FileSystem {
  if (platform === "linux") {
    const type = typeOf(dir);
    const kind = KINDS.get(type);
    const isDoubtful = kind === undefined || kind.shared === true;
    const works = !isDoubtful || hasLocks(dir);
    return {
      name: kind?.name ?? `0x${type.toString(16)}`,
      isShared: kind?.shared === true || !works,
      hasLocks: works,
      hasStableInodes: kind?.numbers === true,
      isContainerLayer: kind?.name === "overlayfs",
    };
  }
  if (platform === "win32") {
    const isShared = isShare(dir) || isShare(realPathOf(dir));
    return { ...OTHER, name: isShared ? "share" : "local", isShared };
  }
  const works = hasLocks(dir);
  return { ...OTHER, name: "local", isShared: !works, hasLocks: works, hasStableInodes: platform === "darwin" };
}

/**
 * Identifies the volume that a folder is on. A snapshot or clone of a volume keeps inode numbers, and has another id. Linux reports
 * it for Btrfs (by subvolume) and ZFS (by dataset); mounting it elsewhere or restarting does not change it.
 *
 * @returns `undefined` for other file systems, and if it cannot be determined
 */
export function volumeOf(dir: string, platform: NodeJS.Platform = process.platform): string | undefined {
  if (platform !== "linux" || KINDS.get(typeOf(dir))?.clones !== true) return undefined;
  // Node does not return this field of statfs(2). Not by PATH, which an agent may have set
  const program = ["/usr/bin/stat", "/bin/stat", "/run/current-system/sw/bin/stat"].find((path) => existsSync(path));
  if (program === undefined) return undefined;
  try {
    const text = execFileSync(program, ["-f", "-c", "%i", dir], { encoding: "utf8", timeout: 2_000, stdio: "pipe" });
    return /^[0-9a-f]{1,32}$/.exec(text.trim())?.[0];
  } catch {
    return undefined;
  }
}

// --- internal ---

/** A path of a server, also in the form without limits. The real path of a mapped drive is one. */
const isShare = (path: string): boolean => /^[\\/]{2}(?:[^?.]|\?[\\/]UNC[\\/])/i.test(path);

function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

const OTHER: FileSystem = {
  name: "",
  isShared: false,
  hasLocks: true,
  hasStableInodes: false,
  isContainerLayer: false,
};

interface Kind {
  readonly name: string;
  readonly shared?: true;
  readonly numbers?: true;
  /** Whole volumes can be cloned, with all inode numbers; each has an id. */
  readonly clones?: true;
}

/** f_type of statfs(2); numbers from linux/magic.h and the file systems' own sources. */
const KINDS: ReadonlyMap<number, Kind> = new Map<number, Kind>([
  [0x6969, { name: "nfs", shared: true, numbers: true }],
  [0x517b, { name: "smb", shared: true }],
  [0xff534d42, { name: "cifs", shared: true }],
  [0xfe534d42, { name: "smb2", shared: true }],
  [0x01021997, { name: "9p", shared: true }],
  [0x65735546, { name: "fuse", shared: true }], // sshfs, virtiofs, gvfs; treating a local one as shared costs only speed
  [0x5346414f, { name: "afs", shared: true }],
  [0x6b414653, { name: "kafs", shared: true }],
  [0x73757245, { name: "coda", shared: true }],
  [0x564c, { name: "ncp", shared: true }],
  [0x00c36400, { name: "ceph", shared: true, numbers: true }],
  [0x0bd00bd0, { name: "lustre", shared: true, numbers: true }],
  [0x47504653, { name: "gpfs", shared: true, numbers: true }],
  [0x01161970, { name: "gfs2", shared: true, numbers: true }],
  [0x7461636f, { name: "ocfs2", shared: true, numbers: true }],
  [0x786f4256, { name: "vboxsf", shared: true }],
  [0xbacbacbc, { name: "vmhgfs", shared: true }],
  [0x7c7c6673, { name: "prl_fs", shared: true }],
  [0x794c7630, { name: "overlayfs" }],
  [0x01021994, { name: "tmpfs" }],
  [0xef53, { name: "ext4", numbers: true }],
  [0x58465342, { name: "xfs", numbers: true }],
  [0x9123683e, { name: "btrfs", numbers: true, clones: true }],
  [0x2fc12fc1, { name: "zfs", numbers: true, clones: true }],
  [0xf2f52010, { name: "f2fs", numbers: true }],
  [0xca451a4e, { name: "bcachefs", numbers: true }],
  [0x3153464a, { name: "jfs", numbers: true }],
]);

function typeOf(dir: string): number {
  try {
    // Some kernels return a negative number
    return Number(BigInt.asUintN(32, statfsSync(dir, { bigint: true }).type));
  } catch {
    return 0;
  }
}

/** Tries to lock a new file. Without a lock service, SQLite reports "locked" permanently. */
function hasLocks(dir: string): boolean {
  const path = join(dir, `.lock-${uuidv4()}`);
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    // Locks have nothing to do with it: on a full disk a local folder must not look like a shared one
    if (isNoRoom(error)) return true;
  }
  let raw: Libsql.Database | undefined;
  try {
    raw = new Libsql(path, {});
    raw.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE; ROLLBACK");
    return true;
  } catch {
    return false;
  } finally {
    raw?.close();
    for (const suffix of ["", "-journal"]) rmSync(`${path}${suffix}`, { force: true });
  }
}
