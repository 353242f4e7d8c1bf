// The format of a file with the processes above an agent: one line, in the folder `processes` of the state directory. hook.sh and inbox.js
// write the same format; test/intake/processes.test.ts compares them.
//
//   host=<pid namespace>.<boot> up=<seconds since boot> <pid>.<start> <pid>.<start> …
//
// The first process is the agent's. `start` is in hundredths of a second since boot, as everywhere on Linux for programs. The time of the
// file is that of `up`.
import type { ProcessName } from "./inbox-file.ts";

/** The folder, in the state directory. hook.sh has the same name. */
export const PROCESS_FOLDER = "processes";

/** How far above the agent a hook looks. hook.sh has the same number. */
export const MAX_ANCESTORS = 12;

/** Limit for one file. */
export const MAX_PROCESS_FILE_BYTES = 4_096;

/** An agent's process and those above it, the nearest first. */
interface ProcessChain {
  readonly host: string;
  /** Seconds since boot, with a fraction. Empty: unknown. */
  readonly uptime: string;
  readonly processes: readonly ProcessName[];
}

/** An agent's process and those above it, as they are stored. */
interface KnownProcesses {
  readonly host: string;
  readonly process: string;
  /** `sinceMs`: when the process directly below this one was started; absent: unknown. */
  readonly ancestors: readonly { readonly process: string; readonly sinceMs?: number }[];
}

/** Name of the file of an agent's process. */
export const processFile = ({ pid, start }: ProcessName, host: string): string =>
  `${pid}.${start}.${host.slice(0, host.indexOf("."))}`;

export const formatProcesses = ({ host, uptime, processes }: ProcessChain): string =>
  `host=${host} up=${uptime} ${processes.map(nameOf).join(" ")}\n`;

/**
 * Parses such a file. Pure; never throws.
 *
 * @param mtimeMs the time of the file
 * @returns `undefined` if it is not whole, or no such file
 */
export function parseProcesses(text: string, mtimeMs: number): KnownProcesses | undefined {
  const [, host, uptime, names = ""] = LINE.exec(text) ?? [];
  if (host === undefined) return undefined;
  const all = names.trim().split(" ").map(toProcess);
  // A parent is older than its child: a pid that was used again in the meantime ends the chain
  const end = all.findIndex(({ start }, i) => i > 0 && start > (all[i - 1]?.start ?? 0));
  const [agent, ...above] = end < 0 ? all : all.slice(0, end);
  if (agent === undefined) return undefined;
  // Rounded, because 17.24 * 100 is less than 1724
  const now = Math.round(Number(uptime || Number.NaN) * PER_SECOND);
  return {
    host,
    process: agent.process,
    ancestors: above.map(({ process }, i) => {
      const child = i === 0 ? agent : above[i - 1];
      const age = now - (child?.start ?? Number.NaN);
      // In some containers the time since boot is that of the container
      return { process, ...(age >= 0 && { sinceMs: mtimeMs - (age * 1_000) / PER_SECOND }) };
    }),
  };
}

// --- internal ---

const LINE = /^host=(\d{1,20}\.[0-9a-f-]{36}) up=(\d{1,12}(?:\.\d{1,9})?)?((?: \d{1,10}\.\d{1,20})+)\n$/;

const PER_SECOND = 100;

const nameOf = ({ pid, start }: ProcessName): string => `${pid}.${start}`;

/** As the store names processes. */
function toProcess(name: string): { readonly process: string; readonly start: number } {
  const [pid = "", start = ""] = name.split(".");
  return { process: `${pid}:${start}`, start: Number(start) };
}
