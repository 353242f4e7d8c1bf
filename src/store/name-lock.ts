import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { v4 as uuidv4 } from "uuid";
import { createFile } from "./spare-files.ts";

/** A lock of another machine is stale if it was not renewed for this long, by the file server's clock. */
const STALE_AFTER_MS = 10 * 60_000;
const RENEW_EVERY_MS = 30_000;

export interface NameLockOptions {
  /** Called if another process took the lock, because this one was suspended for longer than `STALE_AFTER_MS`. */
  readonly onLost: (holder: string) => void;
  readonly renewEveryMs?: number;
  readonly staleAfterMs?: number;
  /** Identity of this process. @default read from the system */
  readonly self?: ProcessIdentity;
}

/** Identifies a process. Not by its pid alone, which is reused after a reboot and in other containers. */
export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  readonly start: string;
}

/**
 * A lock by file name, for file systems on which the operating system's locks are not reliable: the process that creates the name
 * has the lock. The file names its holder and is renewed while it is held. The lock of a process of this machine that has ended is taken
 * over immediately, that of another machine after `STALE_AFTER_MS` without renewal.
 *
 * @param path the name; created and removed here
 * @returns the function that releases the lock; `undefined` if another process has it
 * @throws what the file system throws if the folder is not writable
 */
export function tryNameLock(path: string, options: NameLockOptions): (() => void) | undefined {
  const { staleAfterMs = STALE_AFTER_MS, self = selfOf() } = options;
  const token = uuidv4();
  const own = `${path}.${token}`;
  createFile(own, dirname(path));
  const fd = openSync(own, "r+");
  const text = `${JSON.stringify({ token, ...self })}\n`;
  const write = (): void => {
    writeSync(fd, text, 0);
    fsyncSync(fd);
  };
  try {
    write();
    if (
      create(path, own, text) ||
      (takeOver(path, statSync(own).mtimeMs, staleAfterMs, self) && create(path, own, text))
    ) {
      return hold(path, { token, fd, renew: write }, options);
    }
    closeSync(fd);
    return undefined;
  } catch (error) {
    closeSync(fd);
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** This process. */
export function selfOf(): ProcessIdentity {
  return { host: hostOf(), pid: process.pid, start: startOf(process.pid) ?? "" };
}

/** Start time of a process; `undefined` if there is none. Without /proc: empty if there is one. */
export function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(") ") + 2).split(" ")[19];
  } catch {
    if (process.platform === "linux") return undefined;
  }
  try {
    process.kill(pid, 0);
    return "";
  } catch (error) {
    return codeOf(error) === "EPERM" ? "" : undefined;
  }
}

// --- internal ---

/** Creating a hard link is atomic on every version of NFS. Without hard links, creating the file is. */
function create(path: string, own: string, text: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    const code = codeOf(error);
    // The server's response can get lost, so check the link count, not the error
    if (code === "EEXIST") return statSync(own).nlink === 2;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "ENOSYS" && code !== "EINVAL")
      throw error;
  }
  try {
    const fd = openSync(path, "wx", 0o600);
    try {
      writeSync(fd, text, 0);
    } finally {
      closeSync(fd);
    }
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

interface HeldLock {
  readonly token: string;
  readonly fd: number;
  /** Writes to the file, so that the file server updates its time. */
  readonly renew: () => void;
}

function hold(
  path: string,
  { token, fd, renew }: HeldLock,
  { onLost, renewEveryMs = RENEW_EVERY_MS }: NameLockOptions,
): () => void {
  const isOurs = (): boolean => holderOf(path)?.token === token;
  // Without a hard link, the renewal must write to the file of that name
  const isLink = sameFile(path, fd);
  const timer = setInterval(() => {
    if (!isOurs()) {
      clearInterval(timer);
      return onLost(describe(holderOf(path)));
    }
    if (isLink) renew();
    else touch(path);
  }, renewEveryMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (isOurs()) rmSync(path, { force: true });
    closeSync(fd);
  };
}

function sameFile(path: string, fd: number): boolean {
  // Both are in one folder. Their volumes are not compared: on Windows some versions of Node report different ones
  return statSync(path, { bigint: true }).ino === fstatSync(fd, { bigint: true }).ino;
}

/** Writes the same content again: `utimes` would set this machine's time, not the server's. */
function touch(path: string): void {
  const text = readFileSync(path);
  const fd = openSync(path, "r+");
  try {
    writeSync(fd, text, 0, text.length, 0);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Removes the lock of a process that has ended. Only one process at a time does this; otherwise one that decided earlier could
 * remove a new holder's lock.
 *
 * @param nowMs by the file server's clock
 * @returns whether the name can be created
 */
function takeOver(path: string, nowMs: number, staleAfterMs: number, self: ProcessIdentity): boolean {
  const guard = `${path}.takeover`;
  try {
    mkdirSync(guard, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    const since = mtimeOf(guard);
    // Its creator was killed; the next process takes over
    if (since !== undefined && nowMs - since > staleAfterMs) rmdirSync(guard);
    return false;
  }
  try {
    const renewEveryMs = mtimeOf(path);
    if (renewEveryMs === undefined) return true;
    if (!isStale(holderOf(path), nowMs - renewEveryMs, staleAfterMs, self)) return false;
    const aside = `${path}.dead-${uuidv4()}`;
    renameSync(path, aside);
    rmSync(aside, { force: true });
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    throw error;
  } finally {
    rmdirSync(guard);
  }
}

interface Holder extends ProcessIdentity {
  readonly token: string;
}

function isStale(holder: Holder | undefined, ageMs: number, staleAfterMs: number, self: ProcessIdentity): boolean {
  if (holder !== undefined && holder.host === self.host) return startOf(holder.pid) !== holder.start;
  return ageMs > staleAfterMs;
}

function holderOf(path: string): Holder | undefined {
  try {
    const { token, host, pid, start } = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    return typeof token === "string" && typeof host === "string" && typeof pid === "number" && typeof start === "string"
      ? { token, host, pid, start }
      : undefined;
  } catch {
    return undefined;
  }
}

const describe = (holder: Holder | undefined): string =>
  holder === undefined ? "an unknown process" : `process ${holder.pid} on ${holder.host.split(" ")[0]}`;

function mtimeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** Machine, boot and, in containers, pid namespace. */
function hostOf(): string {
  const sources = [
    () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
    () => readlinkSync("/proc/self/ns/pid"),
  ];
  const values = sources.map((read) => {
    try {
      return read();
    } catch {
      return "";
    }
  });
  return [hostname(), ...values].join(" ").trim();
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
