import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatProcesses, MAX_ANCESTORS, PROCESS_FOLDER, processFile } from "./hook-process-file.ts";
import { type HookOrigin, type ProcessName, parentOfProcess, processStart } from "./inbox-file.ts";

/** Pid namespace, boot and the agent's process, as hook.sh finds them; empty without /proc. */
export function originOf(parent: number): HookOrigin {
  try {
    const namespace = /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0];
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    let pid = parent;
    let stat = statOf(pid);
    while (SHELLS.test(stat)) {
      pid = parentOfProcess(stat) ?? 0;
      if (pid <= 1) break;
      stat = statOf(pid);
    }
    const agent = pid <= 1 ? { pid: 0, start: "0" } : { pid, start: processStart(stat) ?? "0" };
    return { host: `${namespace}.${boot}`, ...(pid !== parent && { agent }) };
  } catch {
    return {};
  }
}

/**
 * Writes a file with the processes above the agent, from which a drain sees whose command started it. Does nothing without /proc, or if
 * there is such a file. hook.sh and inbox.js do the same.
 *
 * @param parent the process whose child the hook is: the agent, unless `agent` is another one
 * @throws what the file system throws
 */
export function noteProcesses(
  stateDir: string,
  parent: { readonly pid: number; readonly start: string | undefined },
  { host, agent = { pid: parent.pid, start: parent.start ?? "" } }: HookOrigin,
): void {
  if (host === undefined || agent.start === "" || agent.pid <= 1) return;
  const folder = join(stateDir, PROCESS_FOLDER);
  const path = join(folder, processFile(agent, host));
  if (existsSync(path)) return;
  const [uptime = ""] = readFileSync("/proc/uptime", "latin1").split(" ");
  const text = formatProcesses({ host, uptime, processes: [agent, ...ancestorsOf(agent.pid)] });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { flag: "wx", mode: 0o600 });
}

/** The start time as hook.sh reads it; `undefined` without /proc. */
export function startOfProcess(pid: number): string | undefined {
  try {
    return processStart(statOf(pid));
  } catch {
    return undefined;
  }
}

// --- internal ---

/** The line of a shell in /proc. The same names in hook.sh. */
const SHELLS = /^\d+ \((?:sh|dash|bash|ash|busybox|zsh|ksh[^)]*|mksh|fish)\) /;

const statOf = (pid: number): string => readFileSync(`/proc/${pid}/stat`, "latin1");

/** The first process of a system or container is left out: it adopts those whose parents end. */
function ancestorsOf(agent: number): readonly ProcessName[] {
  const found: ProcessName[] = [];
  try {
    let pid = parentOfProcess(statOf(agent));
    while (pid !== undefined && pid > 1 && found.length < MAX_ANCESTORS) {
      const stat = statOf(pid);
      found.push({ pid, start: processStart(stat) ?? "" });
      pid = parentOfProcess(stat);
    }
  } catch {
    // One of them ended in the meantime
  }
  return found;
}
