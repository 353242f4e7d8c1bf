import type { HookCommand } from "#core/model/agent.ts";
import type { Registration } from "./settings.ts";

/** An event to register; its name is one of the adapter's table. */
export interface HookEvent<E extends string = string> {
  readonly event: E;
  /** Whether its hook also starts a drain. */
  readonly drain: Parameters<HookCommand>[0]["drain"];
  /** Absent: the hook runs for every tool and every reason. */
  readonly matcher?: "*";
}

/**
 * One registration per event, in the given order.
 *
 * @param entryOf the entry with the event's command line, in the agent's form
 */
export const registrationsOf = <E extends HookEvent>(
  source: string,
  events: readonly E[],
  command: HookCommand,
  entryOf: (line: string, event: E) => Registration["entry"],
): readonly Registration[] =>
  events.map((one) => ({
    event: one.event,
    ...(one.matcher !== undefined && { matcher: one.matcher }),
    entry: entryOf(command({ source, drain: one.drain }), one),
  }));
