import type { LoadedConfig } from "../config/load.ts";
import type { Places } from "../config/places.ts";
import type { Agent } from "../model/agent.ts";
import type { Protection } from "../privacy/protection.ts";
import type { Database } from "../store/database.ts";
import type { Pruned } from "./pruned.ts";

/** What a drain needs of the world. */
export interface DrainDeps {
  readonly places: Places;
  readonly loaded: LoadedConfig;
  readonly agents: readonly Agent[];
  /** This program's version. */
  readonly version: string;
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** One line for the log; no content of any payload. */
  readonly log: (line: string) => void;
}

/** What every station of the drain works on. */
export interface Drain extends DrainDeps, Protection {
  readonly db: Database;
  readonly report: DrainReport;
  /** Sessions with a transcript that is not read to its end yet, and up to when it is. See `read.ts`. */
  readonly partly: Map<number, number>;
  /** Sessions that it has read something of. */
  readonly begun: Set<number>;
}

/** What a drain did. Counts of this run alone. */
export interface DrainReport {
  files: number;
  events: number;
  /** Payloads that were understood and tell nothing a trace needs. */
  ignored: number;
  quarantined: number;
  /** Files that could not be read and stay where they are. */
  left: number;
  transcriptLinesUnreadable: number;
  spans: number;
  sent: number;
  rejected: number;
  /** Taken out of the outbox unsent: beyond its limits. */
  dropped: number;
  /** Still in the outbox. */
  waiting: number;
  metricsSent: boolean;
  /** False: no endpoint is set, the store alone is the destination. */
  hasDestination: boolean;
  /** Where pruning was asked for. */
  pruned?: Pruned;
  /** One line each: what went wrong, and where. */
  problems: string[];
}

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
