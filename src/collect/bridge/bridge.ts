import type { LoadedConfig } from "#config/load.ts";
import type { Places } from "#config/places.ts";
import type { Agent } from "#core/model/agent.ts";
import type { CaptureLevel } from "#core/model/capture.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { Database } from "#store/database.ts";

/** Hands envelopes to the commands that the user allowed, during one drain. */
export interface Bridge {
  /** False if nothing is allowed and nothing is queued: then all methods do nothing. */
  readonly isActive: boolean;
  /** Commands are running. */
  readonly isBusy: boolean;
  /** Queues a new event, in the transaction that stores it. @param folder the session's, if known @param level the session's */
  queue(folder: string | undefined, event: Event, level: CaptureLevel): void;
  /** Starts commands for what is queued, without waiting for them. */
  kick(): void;
  /** Waits until all events that are due are delivered, or until the time is up. @throws StoreError */
  finish(budgetMs: number): Promise<void>;
  /** Starts no more commands and waits until the running ones end or reach their time limit. @throws StoreError */
  stop(): Promise<void>;
}

export interface BridgeDeps {
  readonly db: Database;
  readonly places: Places;
  readonly loaded: LoadedConfig;
  readonly agents: readonly Agent[];
  readonly platform: NodeJS.Platform;
  /** Of this process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly log: (line: string) => void;
  readonly sudoUid?: number;
  /** The user started the drain: commands that failed recently are tried immediately. */
  readonly isEager: boolean;
}

/** For drains in which no command may run. */
export const NO_BRIDGE: Bridge = {
  isActive: false,
  isBusy: false,
  queue: () => {},
  kick: () => {},
  finish: async () => {},
  stop: async () => {},
};
