import type { Agent } from "../model/agent.ts";
import type { StoreError } from "../store/database.ts";
import type { SpanSettings } from "../telemetry/spans.ts";

/** What the page needs of the world. */
export interface ViewDeps {
  readonly storePath: string;
  readonly agents: readonly Agent[];
  readonly settings: SpanSettings;
  /** The page's files by name, as they were built. */
  readonly files: ReadonlyMap<string, PageFile>;
  /** Told while nothing was collected. */
  readonly nothingYet: () => Promise<string>;
  /** What is wrong with the store, and what to do. */
  readonly adviceOn: (error: StoreError) => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** One line on what must not happen. */
  readonly log: (line: string) => void;
}

export interface PageFile {
  readonly type: string;
  readonly body: string;
}
