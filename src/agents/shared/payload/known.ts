import type { KnownNames } from "#core/model/agent.ts";
import { words } from "../names/own-names.ts";

/**
 * The names of a card, from texts with words. `more.with`: fields shared with other agents; `more.notNeeded`: which of the events
 * are not needed, or not always.
 */
export const knownNames = (
  events: string,
  fields: string,
  more: Partial<Pick<KnownNames, "eventOf">> & { readonly with?: string; readonly notNeeded?: string } = {},
): KnownNames => ({
  events: words(events),
  fields: words(`${fields} ${more.with ?? ""}`),
  notNeeded: words(more.notNeeded ?? ""),
  ...(more.eventOf !== undefined && { eventOf: more.eventOf }),
});

/** Finds the event's name: the first of these members with a text, otherwise the name on the hook's command line. */
export const eventIn =
  (...names: readonly string[]): NonNullable<KnownNames["eventOf"]> =>
  (payload, intake) => {
    for (const name of names) {
      const value: unknown = Object.hasOwn(payload, name) ? Reflect.get(payload, name) : undefined;
      if (typeof value === "string" && value !== "") return value;
    }
    return intake.event;
  };
