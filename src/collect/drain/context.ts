import type { Context } from "#config/context.ts";
import type { ContentUpdate } from "#core/model/content.ts";
import type { PartLimits, SessionInput, ToolCall } from "#core/model/session.ts";
import { keepsContent } from "#core/rules/capture.ts";
import type { Coverage } from "#core/telemetry/self.ts";
import type { CaptureContext } from "#store/capture/context.ts";
import type { LockStep, Progress } from "#store/lock-holder.ts";
import type { StoredSession } from "#store/sessions.ts";
import type { Bridge } from "../bridge/bridge.ts";

/** What the caller of a drain provides. */
export interface DrainDeps extends Pick<CaptureContext, "places" | "loaded" | "agents" | "version" | "now" | "log"> {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** This process's environment. @default empty */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly sleep: (ms: number) => Promise<void>;
  /** @default the limits of `buildSession` */
  readonly partLimits?: PartLimits;
  /** The command that starts the next drain, with its program. @default none */
  readonly restart?: readonly string[];
  /** User id of the user who started the program with `sudo`. */
  readonly sudoUid?: number;
  /** The coverage of each agent that is used here. @default unknown */
  readonly coverageOf?: (observed: Drain & Pick<Context, "cwd" | "env">) => Promise<ReadonlyMap<string, Coverage>>;
}

/** Calls of a session that are settled now, with the facts that they were built from. */
export interface SettledCalls extends Pick<SessionInput, "facts" | "events" | "entries" | "context"> {
  readonly session: StoredSession;
  readonly calls: readonly ToolCall[];
}

/** The audit trail. Both are called inside the transaction that stores or settles the same facts. */
export interface Audit {
  /** Keeps what it needs of the arguments of calls. @param updates in their order; other content is ignored */
  noteInputs(session: StoredSession, updates: readonly ContentUpdate[]): void;
  /** Adds a record of each call. */
  append(settled: SettledCalls): void;
}

/** What every station of the drain works with. */
export interface Drain extends CaptureContext, DrainDeps {
  readonly report: DrainReport;
  readonly bridge: Bridge;
  /** Absent: the audit trail is off. */
  readonly audit?: Audit | undefined;
  /**
   * Sessions with a transcript that is not completely read yet: session number → time up to which it is read, in milliseconds
   * since the epoch. See `read-transcripts.ts`.
   */
  readonly partlyReadUntilMs: Map<number, number>;
  /** Numbers of the sessions that this drain failed to read. They are not built: a turn must not settle without its missing facts. */
  readonly unreadSessions: Set<number>;
  /** Numbers of the sessions from which this drain has read something. */
  readonly startedSessions: Set<number>;
  /** Sources of the agents that export their own telemetry to us. */
  readonly exporting: ReadonlySet<string>;
  /** Where it notes what it does, for others and for the next drain. */
  readonly progress: Progress;
  /** The step at which the last drain died, if it did not end by itself. */
  readonly diedAt?: LockStep | undefined;
}

/** What became of the records of one queue. */
export interface QueueReport {
  sent: number;
  rejected: number;
  /** Removed from the queue unsent, because it was over its limits. */
  dropped: number;
  /** Still in the queue. */
  waiting: number;
}

/** What one drain did; counts of this run only. `openhook-otel drain --json` prints it. */
export interface DrainReport extends QueueReport {
  files: number;
  events: number;
  /** Payloads that were recognised but contain nothing for a trace. */
  ignored: number;
  quarantined: number;
  /** Files that could not be read and stay where they are. */
  left: number;
  transcriptLinesUnreadable: number;
  spans: number;
  metricsSent: boolean;
  /** The same of log records; absent if none are sent. */
  logs?: QueueReport;
  /** False: no endpoint is set, so records are only stored. */
  hasDestination: boolean;
  /** Present if the drain pruned on request. */
  pruned?: Pruned;
  /** What went wrong and where, one line each. */
  problems: string[];
}

export const emptyQueueReport = (): QueueReport => ({ sent: 0, rejected: 0, dropped: 0, waiting: 0 });

/** Whether arguments, and with them other content, are read from payloads and transcripts. */
export const wantsContent = ({ audit, loaded }: Pick<Drain, "audit" | "loaded">): boolean =>
  audit !== undefined || keepsContent(loaded.config.capture);

export const emptyReport = (): DrainReport => ({
  files: 0,
  events: 0,
  ignored: 0,
  quarantined: 0,
  left: 0,
  transcriptLinesUnreadable: 0,
  spans: 0,
  sent: 0,
  rejected: 0,
  dropped: 0,
  waiting: 0,
  metricsSent: false,
  hasDestination: false,
  problems: [],
});

/** What pruning removed. */
export interface Pruned {
  readonly sessions: number;
  readonly rows: number;
  /** Sessions that are old enough, but not sent or not settled. */
  readonly kept: number;
  /** Deleted quarantined payloads. */
  readonly quarantined: number;
  /** How much smaller the store's file is. */
  readonly freedBytes: number;
}
