import type { Config } from "#config/schema.ts";
import type { Agent } from "#core/model/agent.ts";
import type { ConfiguredAt } from "#core/model/configured.ts";
import type { ContentLine, ShownContent, WantedContent } from "#core/model/content.ts";
import type { AgentLimit, Subscriptions } from "#core/model/rate-limit.ts";
import type { SpanSettings } from "#core/telemetry/spans.ts";
import type { StoreError } from "#store/database.ts";
import type { StoredSession } from "#store/sessions.ts";
import type { Budget } from "../report/month.ts";

/** What the page's server needs. */
export interface ViewDeps {
  readonly storePath: string;
  readonly agents: readonly Agent[];
  readonly settings: SpanSettings;
  /** A session without activity for this long counts as ended. */
  readonly idleTimeoutMs: number;
  /** Address of a trace in the user's backend, with `{trace_id}` and perhaps `{span_id}`. */
  readonly traceLink?: string;
  /** Names, besides loopback ones, under which the page may be requested, separated by commas. @default none */
  readonly hosts?: string | undefined;
  /** Agents that are known to run on a subscription. @default none */
  readonly subscriptions?: () => Subscriptions;
  /** The rate limits that agents last reported, also those that were reset since. @default none */
  readonly limits?: () => readonly AgentLimit[];
  /** MCP servers in the settings of agents. @default none */
  readonly servers?: readonly ConfiguredAt[];
  /** @default none */
  readonly budget?: Budget;
  /** First prompt lines by session number; no entry: not read yet. Absent: the page shows none. */
  readonly promptLines?: (sessions: readonly StoredSession[]) => Promise<ReadonlyMap<number, string | undefined>>;
  /** What was asked and done in a session; `undefined` if the settings or the project forbid it. Absent: the page shows none. */
  readonly contentLines?: (session: StoredSession) => Promise<ReadLines | undefined>;
  /** The content of one part of a session, from the agent's own files. Absent: the page shows none. */
  readonly contentOf?: (session: StoredSession, wanted: WantedContent) => Promise<ShownContent>;
  /**
   * Searches sessions in the agents' own files, in the given order, as far as a short time allows. By number, the line of each session
   * that contains the text, and how many were searched: at least one. Absent: the page searches only the store.
   *
   * @param isFirst the page shows nothing yet: the first session with the text is enough
   */
  readonly foundIn?: (
    sessions: readonly StoredSession[],
    text: string,
    isFirst: boolean,
  ) => Promise<{ readonly lines: ReadonlyMap<number, string>; readonly searched: number }>;
  /** The built page's files by name. */
  readonly files: ReadonlyMap<string, PageFile>;
  /** How to fill a store that does not exist yet. */
  readonly noStoreMessage: () => Promise<string>;
  /** The error and its remedy. */
  readonly describeStoreError: (error: StoreError) => string;
  /** One drain, while a page is open. Never rejects. */
  readonly drain: () => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Reports an unexpected error to the terminal. */
  readonly log: (line: string) => void;
}

/** What was asked and done, in one line each, from the agent's own files. `isWhole`: there was time to read all of them. */
export interface ReadLines {
  readonly lines: readonly ContentLine[];
  readonly isWhole: boolean;
}

export interface PageFile {
  readonly type: string;
  readonly body: string;
}

/** Address of a trace in the user's backend, with `{trace_id}`: the setting, otherwise the Jaeger that reconcile queries. */
export function traceLinkOf({ view, reconcile: { jaeger } }: Pick<Config, "view" | "reconcile">): {
  readonly traceLink?: string;
} {
  if (view.traceLink !== undefined) return { traceLink: view.traceLink };
  return jaeger === undefined ? {} : { traceLink: `${jaeger.replace(/\/$/, "")}/trace/{trace_id}` };
}
