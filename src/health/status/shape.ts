import type { SelfStatus, Sizes } from "./self.ts";

/** Everything `status` knows, as `--json` gives it. Times are ISO 8601; unknown or never is `null`. */
export interface Status {
  readonly agents: readonly AgentStatus[];
  readonly hook: {
    readonly path: string;
    readonly installed: boolean;
    readonly executable: boolean;
    /** What the hook starts drains with, from its `hook.conf`. */
    readonly node: string | null;
    readonly program: string | null;
  };
  readonly state_dir: string;
  readonly state_dir_exists: boolean;
  readonly inbox: {
    readonly waiting: number;
    readonly claimed: number;
    readonly oldest: string | null;
    readonly quarantined: number;
    readonly quarantine_dir: string;
    /** The newest three; reasons, never content. */
    readonly quarantine_newest: readonly {
      readonly source: string | null;
      readonly reason: string | null;
      readonly at: string | null;
    }[];
    /** Events that found no room on the disk when they came. */
    readonly lost: number;
    readonly lost_last: string | null;
  };
  readonly store: {
    readonly path: string;
    readonly state: "none" | "ok" | "damaged" | "newer" | "unreadable";
    readonly sessions: number;
    readonly open: number;
  };
  /** What the program has counted of itself. */
  readonly self: SelfStatus;
  /** On disk, in bytes. */
  readonly sizes: Sizes;
  readonly outbox: {
    readonly waiting_spans: number;
    /** Of them: refused by the backend, or too large for it, each alone. Tried again once an hour. */
    readonly refused_spans: number;
    readonly bytes: number;
    readonly oldest: string | null;
  };
  /** Metrics that have more series than are kept apart: what came later is summed in one series. */
  readonly overflow: readonly { readonly metric: string; readonly series: number }[];
  readonly last_drain: LastDrain | null;
  readonly delivery: { readonly traces: Delivery; readonly metrics: Delivery };
  readonly log: { readonly path: string; readonly exists: boolean; readonly last_lines: readonly string[] };
  readonly config: {
    readonly path: string;
    readonly errors: readonly string[];
    readonly warnings: readonly string[];
  };
  /** What only the user can mend; each says how. */
  readonly broken: readonly string[];
  /** What is worth knowing and mends itself, or costs little. */
  readonly remarks: readonly string[];
}

export interface AgentStatus {
  readonly source: string;
  readonly title: string;
  readonly registrations: readonly Registration[];
}

export interface Registration {
  readonly scope: "user" | "project";
  /** The files that make it up, never empty. */
  readonly paths: readonly string[];
  /** The project whose settings these are; `null` in user scope, or where it was not kept. */
  readonly project: string | null;
  /** `gone`: `enable` registered us there, and the files do not hold it any more. */
  readonly state: "enabled" | "gone" | "unreadable" | "none";
  /** Native names. */
  readonly events: readonly string[];
  /** Whether `enable` on this machine did it. */
  readonly recorded: boolean;
}

export interface LastDrain {
  readonly at: string;
  readonly files: number;
  readonly events: number;
  readonly ignored: number;
  readonly quarantined: number;
  readonly left: number;
  readonly transcript_lines_unreadable: number;
  readonly spans: number;
  readonly sent: number;
  readonly rejected: number;
  readonly problems: readonly string[];
}

export interface Delivery {
  /** Without secrets; `null`: not sent. */
  readonly endpoint: string | null;
  readonly why_not_sent: string | null;
  readonly last_ok: string | null;
  readonly last_problem: string | null;
  /** In the future: the backend asked for it. */
  readonly not_before: string | null;
}
