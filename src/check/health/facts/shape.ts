import type { BridgeFileJson } from "#collect/bridge/text.ts";
import type { OtlpSignal } from "#core/model/settings.ts";
import type { NativeDestination } from "#setup/registration/native-exporters.ts";
import type { FailedStep } from "#store/failures.ts";
import type { NativeCounts } from "#store/native.ts";
import type { SelfStatus } from "./self-telemetry.ts";

/** Everything that `status` knows, as `--json` prints it. */
export interface Status extends Facts {
  /** What only the user can fix; each line has the remedy. */
  readonly broken: readonly string[];
  /** What is worth knowing, and harmless or temporary. */
  readonly remarks: readonly string[];
}

/** The facts that checks judge. Times are ISO 8601; unknown or never is `null`. */
export interface Facts {
  readonly agents: readonly AgentStatus[];
  /** Where enabled agents send OpenTelemetry of their own. */
  readonly native_exporters: readonly NativeDestination[];
  /** What was kept of it; `null`: the store could not be read. */
  readonly native_records: NativeCounts | null;
  readonly hook: {
    readonly path: string;
    readonly installed: boolean;
    readonly executable: boolean;
    /** The Node program and the program with which the hook starts drains, from its `hook.conf`. */
    readonly node: string | null;
    readonly program: string | null;
    /** Of that program. */
    readonly version: string | null;
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
    /** Quarantined payloads are retried once by each version of this program; `null`: no version has done so yet. */
    readonly quarantine_retry: {
      readonly version: string;
      /** False: later drains continue. */
      readonly done: boolean;
      /** Payloads that it could convert. */
      readonly converted: number;
    } | null;
    /** Events lost because the disk was full. */
    readonly lost: number;
    readonly lost_last: string | null;
  };
  readonly store: {
    readonly path: string;
    readonly state: "none" | "ok" | "damaged" | "newer" | "older" | "unreadable";
    readonly sessions: number;
    readonly open: number;
  };
  /** The program's own counters. */
  readonly self: SelfStatus;
  /** On disk, in bytes. */
  readonly sizes: Sizes;
  readonly outbox: {
    readonly waiting_spans: number;
    /** Of these: refused by the backend, or too large for it, each when it was sent alone. Retried once an hour. */
    readonly refused_spans: number;
    readonly bytes: number;
    readonly oldest: string | null;
  };
  /** The queue of log records; its totals are over all drains. */
  readonly log_outbox: {
    readonly waiting: number;
    readonly refused: number;
    readonly bytes: number;
    readonly oldest: string | null;
    /** Dropped because of the limits of age and size while an endpoint was set. */
    readonly dropped: number;
    /** Rejected permanently by a backend. */
    readonly rejected: number;
  };
  /** Metrics at their series limit: later series are summed in one. */
  readonly overflow: readonly { readonly metric: string; readonly series: number }[];
  /** Work on single sessions that failed. */
  readonly failed: readonly {
    readonly source: string;
    readonly session_id: string;
    readonly step: FailedStep;
    readonly reason: string;
    readonly path: string | null;
    readonly attempts: number;
    readonly since: string | null;
  }[];
  readonly last_drain: LastDrain | null;
  /** The process that holds the drain's lock now. */
  readonly running_drain: RunningDrain | null;
  readonly delivery: Readonly<Record<OtlpSignal, Delivery>>;
  /** Registration files that were allowed, and those that apply in the current folder. */
  readonly bridge: readonly BridgeFileJson[];
  readonly log: { readonly path: string; readonly exists: boolean; readonly last_lines: readonly string[] };
  readonly config: {
    readonly path: string;
    readonly errors: readonly string[];
    readonly warnings: readonly string[];
  };
}

export interface AgentStatus {
  readonly source: string;
  readonly title: string;
  readonly registrations: readonly Registration[];
  /** The administrator's file that registers us for all users; `null` if there is none. */
  readonly managed: string | null;
  /** What keeps the agent from being collected, everywhere or in a project; empty if the administrator's hooks run. */
  readonly blocked: readonly string[];
}

export interface Registration {
  readonly scope: "user" | "project";
  /** The files that make it up, never empty. */
  readonly paths: readonly string[];
  /** The project whose settings these are; `null` in user scope, or if unknown. */
  readonly project: string | null;
  /** `gone`: `enable` registered us there, but the files no longer contain it. */
  readonly state: "enabled" | "gone" | "unreadable" | "none";
  /** Native names. */
  readonly events: readonly string[];
  /** Whether `enable` on this machine did it. */
  readonly recorded: boolean;
  /** What keeps it from running, such as an administrator's policy; one line each. */
  readonly blocked: readonly string[];
}

export interface RunningDrain {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  readonly step: string;
  readonly step_since: string;
  readonly files: readonly string[];
  /** The last sign of life. */
  readonly beat: string;
  /** It was stopped by a signal. */
  readonly stopped: boolean;
  /** All of it in one line, with what to do if it hangs. */
  readonly text: string;
  /** It holds the lock for longer than usual, or was stopped. */
  readonly slow: boolean;
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
  /** Records of the last delivery that the backend accepted and then rejected (partial success). */
  readonly last_rejected: number;
  /** All records of the last delivery. */
  readonly last_records: number;
  /** Larger requests are refused, in bytes by estimate; drains found it out. `null`: unknown. */
  readonly size_limit: number | null;
  /** Until then drains of hooks send nothing, because recent requests failed or the backend asked to wait. `null`: no delay. */
  readonly not_before: string | null;
}

/** Sizes of the state on disk, in bytes. */
export interface Sizes {
  readonly store: number;
  readonly quarantine: number;
  readonly log: number;
  /** Damaged stores that were moved aside: they stay until the user removes them. */
  readonly damaged: readonly { readonly path: string; readonly bytes: number }[];
}
