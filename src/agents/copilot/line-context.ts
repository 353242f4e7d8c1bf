import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import type { Fields } from "../shared/payload/json.ts";

/** State between two lines of a file. Plain JSON, stored between two drains. */
export interface LineState {
  /** Time of the last line that had one; also used for lines without a time. */
  readonly timeMs: number;
  /** Key of the current turn's prompt. */
  readonly promptKey?: string;
  /** The main agent is idle: its last request was answered and no new one has started. */
  readonly isAtRest?: true;
  /** Digest of the last session facts, so that unchanged facts are not reported again. */
  readonly facts?: string;
  /** The file has a record per model call; older versions only wrote sums. */
  readonly hasRecords?: true;
  /** The database has a row per model call, so records in the file would count twice. */
  readonly isInDatabase?: true;
  /** When the session started, by its first line. */
  readonly startMs?: number;
  /** The last sums of earlier runs of the program, if sums replace the calls. */
  readonly sums?: RecordedSums;
  /** The current run, until it has a record per call. */
  readonly run?: RunSums;
  /** Trigger of the running compaction. */
  readonly compactionTrigger?: string;
  /** Tool calls of the user or the program, and interrupted ones: their lines are skipped. */
  readonly passedOver?: readonly string[];
  /** Tool calls of the main agent that have not ended. */
  readonly openCalls?: readonly string[];
  /** Open calls that need the user's permission. */
  readonly asked?: readonly string[];
  /** Ids of calls that may be reused: some providers count them from zero in every answer. */
  readonly usedIds?: readonly string[];
  /** Open calls with those ids, including those of subagents. */
  readonly openIds?: readonly (readonly [given: string, callId: string, agent: string, tool: string])[];
}

/** Token sums that a line reports. Some versions restart them with each run of a session. */
interface RecordedSums {
  readonly startMs: number;
  /** The sums in the line: over all runs, or over the last run only. */
  readonly told: Sums;
  /** Usage of earlier runs, if counting restarted with this one. */
  readonly before: Sums;
  readonly requests: number;
}

/** Usage of one run of the program. */
export interface RunSums {
  /** Id of the line that began it; absent for the session's first run. */
  readonly id?: string;
  /** Start of the session, as in the keys of this run's records. */
  readonly startMs?: number;
  readonly answers?: Answers;
  /** Output of the answers since the last sums, by the name of their record. */
  readonly outputs?: Readonly<Record<string, number>>;
  /** The last sums, and this run's part of them. */
  readonly told?: RecordedSums;
  readonly own?: Sums;
  /** The name of each model's record, if it had one before the sums. */
  readonly names?: Readonly<Record<string, string>>;
}

/** Number of answers, and keys of the last ones because an answer can have several lines. */
interface Answers {
  readonly count: number;
  readonly last: readonly string[];
}

export type Sums = EntryOf<"reported_usage">["byModel"];

export interface LineResult {
  readonly entries: readonly TranscriptEntry[];
  readonly state: LineState;
}

/** A line, and the state that its facts depend on. */
export interface LineContext {
  readonly data: Fields;
  readonly id: string;
  readonly timeMs: number;
  readonly state: LineState;
  /** Set on lines of a subagent. */
  readonly agentId: string | undefined;
}

/**
 * The members that every entry has. Event ids are unique over all sessions, so they also identify lines that a fork copied.
 */
export function entryBase(context: LineContext, key: string, globalKey: string | undefined = `event:${context.id}`) {
  return defined<{ key: string; timeMs: number; globalKey: string; promptKey: string; agentId: string }>({
    key,
    timeMs: context.timeMs,
    globalKey,
    promptKey: context.state.promptKey,
    agentId: context.agentId,
  });
}

/** No entries and the same state. */
export const noEntries = (context: LineContext): LineResult => ({ entries: [], state: context.state });
/** One entry and the same state. */
export const oneEntry = (context: LineContext, entry: TranscriptEntry): LineResult => ({
  entries: [entry],
  state: context.state,
});

/**
 * The type of a line, if `type` is its first member, as in every version so far. Most bytes of a file are prompts, hook records
 * and results, which need not be parsed if their type is known.
 *
 * @returns `undefined` if another member is the first one; then the line must be parsed
 */
export const lineType = (line: Buffer): string | undefined => TYPE.exec(line.toString("latin1", 0, TYPE_BYTES))?.[1];

// --- internal ---

const TYPE_BYTES = 120;
const TYPE = /^\s*\{\s*"type"\s*:\s*"([\w.]{1,64})"/;
