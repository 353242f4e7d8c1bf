import { ENDED_BY_USER, ENDED_IDLE, ENDED_WITH_PROCESS, type Segment, SUPERSEDED } from "#core/model/session.ts";
import type { SessionSummary } from "./session-summary.ts";

/** How a session or segment ended, for people. */
interface SessionEnd {
  /** `unreported`: there is no record of its end, and it has been idle for long enough. */
  readonly state: "open" | "ended" | "failed" | "unreported";
  /** One or two words, for tables. */
  readonly short: string;
  /** With the agent's own word for it, if it has one. */
  readonly text: string;
}

/** When a session without an end record counts as ended. */
export interface Idle {
  readonly nowMs: number;
  /** `session.idleTimeoutMs` of the settings. */
  readonly idleTimeoutMs: number;
}

/** The end of a session: that of its last segment. */
export const endOfSession = ({ segments }: Pick<SessionSummary, "segments">, idle: Idle): SessionEnd =>
  endOfSegment(segments.at(-1), idle);

/** @param segment `undefined`: the session has no activity yet */
export function endOfSegment(segment: Segment | undefined, { nowMs, idleTimeoutMs }: Idle): SessionEnd {
  if (segment?.endMs === undefined) return OPEN;
  const { reason, nativeReason, lastActivityMs } = segment;
  if (nativeReason === ENDED_BY_USER.nativeReason) return ended("ended", "ended by you");
  if (nativeReason === ENDED_WITH_PROCESS.nativeReason)
    return ended("agent gone", "ended (the agent's process is gone)");
  if (nativeReason === SUPERSEDED) return ended("ended", "ended (another process continued it)");
  if (nativeReason === ENDED_IDLE.nativeReason) {
    // An import ends every session, because its files do not say whether the agent still runs
    if (lastActivityMs + idleTimeoutMs > nowMs) return OPEN;
    if (reason === "timeout") return { state: "unreported", short: "no end", text: "ended (no end record)" };
    return named(reason, undefined);
  }
  return named(reason, nativeReason);
}

// --- internal ---

const OPEN: SessionEnd = { state: "open", short: "open", text: "open" };
const ended = (short: string, text: string): SessionEnd => ({ state: "ended", short, text });

/** Agents' words that say no more than ours. */
const REPEATS: Readonly<Record<string, RegExp>> = {
  user_exit: /exit|quit|close/,
  completed: /^complete|finished$|^end_turn$|^stop$/,
  timeout: /^time/,
  error: /^(error|failed)$/,
};

/** Whether an agent's word adds anything: "other" is Claude Code's word for every end of an unattended run. */
const tells = (native: string | undefined, reason: Segment["reason"]): native is string =>
  native !== undefined && !/^(other|unknown)$/.test(native) && REPEATS[reason ?? ""]?.test(native) !== true;

const WORDS = { user_exit: "exited", completed: "completed", timeout: "timed out", error: "failed" } as const;

function named(reason: Segment["reason"], nativeReason: string | undefined): SessionEnd {
  const short = reason === undefined ? "ended" : WORDS[reason];
  const native = tells(nativeReason, reason) ? ` (${nativeReason.replaceAll("_", " ")})` : "";
  return { state: reason === "error" ? "failed" : "ended", short, text: `${short}${native}` };
}
