import type { HookCommand } from "#core/model/agent.ts";
import type { NativeEventType } from "#core/model/event-schema.ts";
import { defined } from "#kit/objects.ts";

/** Whether a hook also starts a drain, and when. */
export type Drain = Parameters<HookCommand>[0]["drain"];

/** What a row of an agent's table says about the hook of its event. */
export interface HookRow {
  readonly type: NativeEventType;
  /** `none`: installers do not register it. @default by the type, see `DRAINS` */
  readonly hook?: Drain | "none";
  /** The oldest version known to support the event. @default all versions do */
  readonly since?: string;
  /** Absent: the hook runs for every tool and every reason. */
  readonly matcher?: "*";
}

/** A hook to register. */
export interface Hook extends Omit<HookRow, "hook"> {
  /** The event's name in the table. */
  readonly event: string;
  readonly drain: Drain;
}

/** The hooks that an installer registers, in the table's order. */
export const hooksOf = (events: Readonly<Record<string, HookRow>>): readonly Hook[] =>
  Object.entries(events).flatMap(([event, { type, hook = DRAINS[type] ?? "no", since, matcher }]) =>
    hook === "none" ? [] : [{ event, type, drain: hook, ...defined({ since, matcher }) }],
  );

// --- internal ---

/** What has ended is sent; a start sends what a process that was killed has left. */
const DRAINS: Readonly<Partial<Record<NativeEventType, Drain>>> = {
  "session.start": "if-waiting",
  "turn.end": "yes",
  "turn.error": "yes",
  "session.end": "yes",
};
