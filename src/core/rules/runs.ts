import type { RunKind, Subagent, Turn } from "../model/session.ts";

/** A key of a run that is unique among the turns and subagents of a session. */
export const runKey = (kind: RunKind, key: string): string => `${kind}:${key}`;

export const runKeyOf = (run: Turn | Subagent): string => runKey("origin" in run ? "turn" : "subagent", run.key);
