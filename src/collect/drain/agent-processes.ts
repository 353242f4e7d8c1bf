import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { cardOf } from "#core/rules/cards.ts";
import { fileSystemOf } from "#store/file-system.ts";
import { openSessionsByProcess, type ProcessKey, sessionsAfterTurn } from "#store/session-processes.ts";
import { isComplete } from "../intake/inbox.ts";
import { isOurs, listEntries } from "../intake/inbox-dirs.ts";
import { processStart } from "../intake/inbox-file.ts";
import type { Drain } from "./context.ts";

// A session whose agent reports no end is over when the agent's process is gone. A session that is ended too late is better than one
// that is ended while it goes on: whatever is not known for certain leaves it open. See docs/decisions/0038

/** The agent's process that ran a hook. */
export type AgentProcess = ProcessKey & { readonly isCertain: boolean };

/** @returns `undefined` if the card does not say that the agent runs its hooks, or the process is unknown */
export function agentProcessOf(drain: Drain, source: string, facts: IntakeFacts): AgentProcess | undefined {
  const runIn = cardOf(drain, source)?.hooksRunIn;
  if (runIn === undefined) return undefined;
  const { host, parentPid, parentStart } = facts;
  const known = processOf(facts);
  if (known !== undefined) return { ...known, isCertain: runIn === "agent" };
  // On Windows it is nearly always a shell that ends with the hook, and pids are used again within minutes
  if (drain.platform === "win32") return undefined;
  // Without /proc the parent may also be such a shell
  return parentPid === undefined || parentStart !== undefined || host !== undefined
    ? undefined
    : { process: `${parentPid}:`, host: "", isCertain: false };
}

/** The first process above the hook that is no shell. Whether it is the agent's, or a helper's, is not known. */
export const processOf = ({ agentProcess, host }: IntakeFacts): ProcessKey | undefined =>
  agentProcess === undefined || host === undefined
    ? undefined
    : { process: `${agentProcess.pid}:${agentProcess.start}`, host };

/** Numbers of the open sessions whose processes are all gone. */
export function sessionsWithoutProcess(drain: Drain): readonly number[] {
  const gone = new Map<string, boolean>();
  const isGoneOnce = (key: ProcessKey): boolean => {
    const name = `${key.process} ${key.host}`;
    const known = gone.get(name) ?? isGone(drain, key);
    gone.set(name, known);
    return known;
  };
  return [...openSessionsByProcess(drain.db)].filter(([, keys]) => keys.every(isGoneOnce)).map(([session]) => session);
}

/** Whether a turn ended in the last five seconds in a process that is still running here: it may be about to exit. */
export function mayExitSoon(drain: Drain): boolean {
  const ended = new Set(sessionsAfterTurn(drain.db, drain.now() - JUST_NOW_MS));
  if (ended.size === 0) return false;
  const open = openSessionsByProcess(drain.db);
  return [...open].some(([session, keys]) => ended.has(session) && keys.some(({ host }) => host === hostHere()));
}

/**
 * Whether a hook is writing an event, or wrote one since the inbox was read. A hook that was killed leaves a file without an end; some
 * agents kill those that still run when a turn ends.
 */
export async function hasNewEvents({ places, platform }: Pick<Drain, "places" | "platform">): Promise<boolean> {
  for (const entry of await listEntries(places.inboxDir)) {
    if (!isOurs(entry)) continue;
    if (mayStillWrite(entry.name, platform)) return true;
    if (await isComplete(join(places.inboxDir, entry.name)).catch(() => true)) return true;
  }
  return false;
}

// --- internal ---

const JUST_NOW_MS = 5_000;

/** Certainly gone: false if it cannot be known from here. */
function isGone({ places, platform }: Drain, { process: name, host }: ProcessKey): boolean {
  const [pid = "", start = ""] = name.split(":");
  if (platform === "linux") return host !== "" && host === hostHere() && !isRunning(pid, start);
  // Another machine's process, if the folder is shared
  return host === "" && !fileSystemOf(places.stateDir, platform).isShared && !exists(Number(pid));
}

/** The same process: pids are reused. A zombie is gone: in a container without init it stays. */
function isRunning(pid: string, start?: string): boolean {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch (error) {
    // Anything but a missing process is no proof
    return !(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH"));
  }
  const isThis = start === undefined || processStart(stat) === start;
  return isThis && !/\) [ZX] /.test(stat.slice(stat.lastIndexOf(") ")));
}

/** Whether the hook that writes a file may still run. Only hooks of this machine matter: the agent whose end is in question ran here. */
function mayStillWrite(name: string, platform: NodeJS.Platform): boolean {
  const pid = /^\d+-(\d+)-\d+\.evt$/.exec(name)?.[1];
  if (pid === undefined) return true;
  return platform === "linux" ? isRunning(pid) : exists(Number(pid));
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** As hooks record it; `undefined` if it is unknown here. */
function hostHere(): string | undefined {
  try {
    const namespace = /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0];
    return `${namespace}.${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}`;
  } catch {
    return undefined;
  }
}
