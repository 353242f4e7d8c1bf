import { isoTime } from "#kit/text/figures.ts";
import type { BridgeFile } from "./report.ts";

/** A registration file as `bridge status --json` and `status --json` print it. Times are ISO 8601; unknown or never is `null`. */
export interface BridgeFileJson {
  readonly path: string;
  readonly state: BridgeFile["state"];
  /** Why it is refused. */
  readonly problem: string | null;
  readonly allowed: string | null;
  readonly commands: readonly {
    readonly command: string;
    readonly events: readonly string[];
    readonly async: boolean;
    readonly delivered: number;
    readonly queued: number;
    readonly oldest: string | null;
    readonly dropped: number;
    /** In a row. */
    readonly failures: number;
    readonly last_ok: string | null;
    readonly last_problem: string | null;
    readonly not_before: string | null;
  }[];
}

export const fileJson = ({ path, state, problem, allowedMs, commands }: BridgeFile): BridgeFileJson => ({
  path,
  state,
  problem: problem ?? null,
  allowed: isoTime(allowedMs),
  commands: commands.map(({ command, events, isAsync, stored }) => ({
    command,
    events,
    async: isAsync,
    delivered: stored?.delivered ?? 0,
    queued: stored?.queued ?? 0,
    oldest: isoTime(stored?.oldestMs),
    dropped: stored?.dropped ?? 0,
    failures: stored?.failures ?? 0,
    last_ok: isoTime(stored?.lastOkMs),
    last_problem: stored?.lastReason ?? null,
    not_before: stored === undefined || stored.notBeforeMs === 0 ? null : isoTime(stored.notBeforeMs),
  })),
});
