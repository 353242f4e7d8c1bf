import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the hooks of one session have in common. */
interface SessionStart {
  /** Pid of the parent of the hook that reported the start. */
  readonly ppid: number;
  readonly startMs: number;
}

/** One hook on Windows. */
interface WindowsHook {
  readonly stateDir: string;
  readonly source: string;
  readonly cwd: string;
  readonly ppid: number;
  readonly isStart: boolean;
  readonly nowMs: number;
}

/**
 * The last session start of an agent in a folder, for payloads without a session id. Windows names only the parent of a hook, usually a
 * shell that ends with it, and finding the agent above it takes longer than the hook. So these hooks count as children of the process
 * that ran the hook of the session's start. Two sessions in one folder at the same time are not distinguished.
 *
 * @returns this hook itself if it reports the start, or no start was seen
 * @throws what the file system throws
 */
export function sessionStartOf({ stateDir, source, cwd, ppid, isStart, nowMs }: WindowsHook): SessionStart {
  const folder = join(stateDir, "session-starts");
  const path = join(folder, `${source}-${cwd}`.replaceAll(/[^A-Za-z0-9]+/g, "-").slice(-MAX_NAME));
  const known = readStart(path, cwd);
  if (known !== undefined && (!isStart || nowMs - known.startMs < SAME_START_MS)) return known;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) {
    const old = join(folder, name);
    if (nowMs - statSync(old).mtimeMs > KEPT_MS) rmSync(old, { force: true });
  }
  writeFileSync(path, `${ppid} ${nowMs}\n${cwd}`, { mode: 0o600 });
  return { ppid, startMs: nowMs };
}

/** Whether the first bytes of a payload contain a session's id. */
export const hasSessionId = (text: string): boolean =>
  /"(?:session|conversation|thread|chat|task)_?id"\s*:\s*"[^"]/i.test(text);

// --- internal ---

const MAX_NAME = 150;
/** If the user's and a project's settings register the hook, the same start is reported twice. */
const SAME_START_MS = 2_000;
const KEPT_MS = 30 * 24 * 3_600_000;

/** `undefined` if there is none, or it is of another folder with a similar name. */
function readStart(path: string, cwd: string): SessionStart | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
  const [, ppid, startMs, folder] = /^(\d+) (\d+)\n([\s\S]*)$/.exec(text) ?? [];
  return folder === cwd ? { ppid: Number(ppid), startMs: Number(startMs) } : undefined;
}
