import type { Agent, KnownNames } from "#core/model/agent.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { defined } from "#kit/objects.ts";
import { words } from "../names/own-names.ts";
import { type EventRow, emitsOf, type MadeExtras, type Members } from "./adapter-of.ts";
import { type Hook, type HookRow, hooksOf } from "./hooks.ts";
import { ownOf } from "./json.ts";
import { eventOf, type PayloadEvent } from "./payload-event.ts";

// The shape of an adapter whose payloads have another form than `adapterOf` reads: what it calls a frame is read first, in the
// agent's way; the table of events is the same

/** What all events of one payload have in common. */
export interface Frame extends Pick<PayloadEvent, "native" | "session" | "cwd" | "timeMs" | "key"> {
  /** @default the adapter's */
  readonly source?: string;
  readonly extras?: MadeExtras;
  /** Set if one payload can be several events: the type is added to the key. */
  readonly isKeyedByType?: true;
}

/** What one payload reports. Whatever it does not say, or leaves `undefined`, comes from the table and the frame. */
export type FramedMembers = Members & { readonly [K in "cwd" | "timeMs"]?: PayloadEvent[K] | undefined };

/** What a native event becomes, and how its hook is registered. */
export interface FramedRow<F> extends HookRow, Pick<EventRow, "or"> {
  /** Pure; never throws. `undefined`: nothing. @default an event without members of its own */
  readonly read?: (frame: F, intake: IntakeFacts) => FramedMembers | readonly FramedMembers[] | undefined;
}

/** By native name, as the frame has it. */
export type FramedTable<F, E extends string = string> = Readonly<Record<E, FramedRow<F>>>;

/** An agent whose payloads have a form of their own. */
interface FramedAdapter<F extends Frame> {
  readonly source: string;
  readonly recognises: Agent["recognises"];
  readonly events: FramedTable<F>;
  /** Other names that the agent, or an editor around it, has for events of the table. The frame has the table's. @default none */
  readonly otherSpellings?: Readonly<Record<string, string>>;
  /** Names of events that give nothing, because nothing in them is needed. @default none */
  readonly notNeeded?: string;
  /** Names of members of payloads, recorded or documented. */
  readonly fields: string;
  /** The event's name in a payload, as in the lists above. @default as the names of all agents, see `KnownNames` */
  readonly nameOf?: NonNullable<KnownNames["eventOf"]>;
  /** False: the process that starts its hooks says nothing of a session, so no event names it. @default true */
  readonly namesProcess?: false;
  /** `undefined`: the payload is no event. */
  readonly frameOf: (payload: unknown, intake: IntakeFacts) => F | undefined;
}

export function framedAdapter<F extends Frame>(agent: FramedAdapter<F>) {
  const {
    source,
    recognises,
    events,
    otherSpellings = {},
    notNeeded = "",
    fields,
    nameOf,
    namesProcess = true,
    frameOf,
  } = agent;
  const rows = Object.entries(events);
  const spellings = [...rows.map(([name]) => [name, name] as const), ...Object.entries(otherSpellings)];
  const mayGiveNothing = spellings.filter(([, name]) => ownOf(events, name)?.or?.includes("nothing") === true);
  return {
    source,
    recognises,
    toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
      const frame = frameOf(payload, intake);
      const row = frame === undefined ? undefined : ownOf(events, frame.native);
      if (frame === undefined || row === undefined) return [];
      const made = row.read === undefined ? {} : (row.read(frame, intake) ?? []);
      const { parentPid: _, ...others } = intake;
      const facts = namesProcess ? intake : others;
      return [made].flat().map(({ extras, ...members }: FramedMembers) => {
        const { native, session, cwd, timeMs } = frame;
        const type = members.type ?? row.type;
        const key = frame.isKeyedByType === true ? `${type}:${frame.key}` : frame.key;
        const basics: PayloadEvent = { source: frame.source ?? source, type, native, session, cwd, timeMs, key };
        const all = defined<Extras>({ ...frame.extras, ...extras });
        return eventOf({ ...basics, ...defined<Partial<PayloadEvent>>(members), extras: all }, facts);
      });
    },
    /** Without `file.write`, which is derived from tool calls. */
    emits: emitsOf(events),
    hooks: hooksOf(events),
    known: {
      events: [...spellings.map(([name]) => name), ...words(notNeeded)],
      fields: words(fields),
      notNeeded: [...mayGiveNothing.map(([name]) => name), ...words(notNeeded)],
      ...(nameOf !== undefined && { eventOf: nameOf }),
    },
  } satisfies Partial<Agent> & { readonly hooks: readonly Hook[] };
}
