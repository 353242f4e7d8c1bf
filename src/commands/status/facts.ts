import { existsSync } from "node:fs";
import { join } from "node:path";
import { allAgents } from "../../agents/registry.ts";
import { loadConfig } from "../../config/load.ts";
import type { Agent } from "../../model/agent.ts";
import type { Context } from "../context.ts";
import { isoTime } from "../figures.ts";
import { agentsOf, brokenHook, brokenRegistrations, hookOf } from "./installed.ts";
import { type SelfStatus, type Sizes, selfRemarks, sizesOf } from "./self.ts";
import { deliveryOf, storeOf } from "./stored.ts";
import { inboxOf, logOf, lostRemark, staleRemark, unwritable } from "./waiting.ts";

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

/**
 * Looks everywhere and changes nothing: no directory, no store, no file is made.
 *
 * @param cards the agents there are @default those of the registry
 */
export async function collectStatus(context: Context, cards?: readonly Agent[]): Promise<Status> {
  const { places } = context;
  const loaded = await loadConfig(context);
  const agents = await agentsOf(context, cards ?? (await allAgents()));
  const hook = await hookOf(context);
  const store = storeOf(context);
  const inboxes = await inboxOf(context, store);
  const log = await logOf(join(places.stateDir, "drain.log"));
  const isEnabled = agents.some(({ registrations }) => registrations.some((one) => one.state === "enabled"));
  const hasRecords = agents.some(({ registrations }) => registrations.some((one) => one.recorded));
  return {
    agents,
    hook,
    state_dir: places.stateDir,
    state_dir_exists: existsSync(places.stateDir),
    inbox: inboxes.inbox,
    store: { path: places.storePath, state: store.state, sessions: store.sessions, open: store.open },
    self: store.self,
    sizes: await sizesOf(context),
    outbox: {
      waiting_spans: store.outbox.spans,
      refused_spans: store.outbox.refused,
      bytes: store.outbox.bytes,
      oldest: isoTime(store.outbox.oldestMs),
    },
    overflow: store.overflow.map(({ metric, series }) => ({ metric, series })),
    last_drain: store.lastDrain,
    delivery: {
      traces: deliveryOf("traces", loaded, store.meta, context),
      metrics: deliveryOf("metrics", loaded, store.meta, context),
    },
    log,
    config: { path: places.configPath, errors: loaded.errors, warnings: loaded.warnings },
    broken: [
      ...(await unwritable(context)),
      ...inboxes.broken,
      ...store.broken,
      ...(isEnabled || hasRecords ? brokenHook(hook, isEnabled, context) : []),
      ...agents.flatMap(brokenRegistrations),
      ...loaded.errors.map((error) => `configuration: ${error}`),
    ],
    remarks: [
      ...store.remarks,
      ...selfRemarks(store.self),
      ...[lostRemark(inboxes.inbox, places.stateDir, context.now())].filter((line) => line !== undefined),
      ...staleRemark(inboxes.inbox, context.now()),
      // Drains that could not even open the store have only the log to tell it
      ...(store.state === "ok" ? [] : log.last_lines.map((line) => `log: ${line}`)),
      ...loaded.warnings.map((warning) => `configuration: ${warning}`),
    ],
  };
}
