import {
  ENDED_BY_USER,
  ENDED_IDLE,
  ENDED_WITH_PROCESS,
  type RunKind,
  type Segment,
  type SessionContext,
  type Subagent,
  type Turn,
} from "../model/session.ts";

/** `startOrigin` of a segment without a start: it has what became known of the segment before it after that was exported. */
const CONTINUATION = "continuation";

/** A segment for what became known of an exported one, with the same end. */
export const continuationOf = (s: Segment, ms: number): Segment => ({
  ...s,
  ordinal: s.ordinal + 1,
  startMs: ms,
  endMs: Math.max(s.endMs ?? ms, ms),
  lastActivityMs: ms,
  startOrigin: CONTINUATION,
  uses: [],
});

export const isContinuation = ({ startOrigin }: Pick<Segment, "startOrigin">): boolean => startOrigin === CONTINUATION;

/** The segment of something settled; `undefined` if its root span was exported, because nothing can be added to it then. */
export const openSegmentOf = (
  settled: { readonly segment: number } | undefined,
  { segment: last }: Pick<SessionContext, "segment">,
): number | undefined =>
  last === undefined || (last.endMs === undefined && last.ordinal === settled?.segment) ? settled?.segment : undefined;

/** Whether we ended the segment: the agent may still be running. */
export const isEndedByUs = ({ nativeReason }: Segment): boolean =>
  [ENDED_IDLE, ENDED_BY_USER, ENDED_WITH_PROCESS].some((end) => end.nativeReason === nativeReason);

/** A key of a run that is unique among the turns and subagents of a session. */
export const runKey = (kind: RunKind, key: string): string => `${kind}:${key}`;

export const runKeyOf = (run: Turn | Subagent): string => runKey("origin" in run ? "turn" : "subagent", run.key);
