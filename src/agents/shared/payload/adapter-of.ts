import type { Agent, KnownNames } from "#core/model/agent.ts";
import type { Event, Extras, NativeEventType } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { defined } from "#kit/objects.ts";
import { words } from "../names/own-names.ts";
import { type Hook, type HookRow, hooksOf } from "./hooks.ts";
import { arrivalKey } from "./identity.ts";
import { asObject, asString, first } from "./json.ts";
import { eventIn } from "./known.ts";
import { type Marks, recogniseByMarks } from "./marks.ts";
import { eventOf, type PayloadEvent, sessionOf } from "./payload-event.ts";

// The shape of an adapter: a table of the agent's events, and where its payloads have what all of them report. `toEvents`, what the
// card emits, the names that it knows and the hooks that an installer registers follow from it.

export type Payload = Readonly<Record<string, unknown>>;

/** Members without a value are left out. */
export type MadeExtras = { readonly [K in keyof Extras]?: Extras[K] | undefined };

/**
 * What one payload reports. Whatever it does not say, or leaves `undefined`, comes from the table and the adapter: the type, the name
 * as sent, the session, the key. Members of other event types are ignored.
 */
export type Members = {
  readonly [K in "type" | "native" | "session" | "key" | "model" | "promptLength" | "reason" | "tool"]?:
    | PayloadEvent[K]
    | undefined;
} & { readonly extras?: MadeExtras | undefined };

/** What a native event becomes, and how its hook is registered. */
export interface EventRow extends HookRow {
  /** What else it can become, as `read` says. `nothing`: some of its payloads have nothing that a trace needs. @default none */
  readonly or?: readonly (NativeEventType | "nothing")[];
  /**
   * Pure; never throws. `undefined`: nothing.
   *
   * @param sessionId by the adapter
   * @default an event without members of its own
   */
  readonly read?: (p: Payload, intake: IntakeFacts, sessionId: string) => Members | readonly Members[] | undefined;
}

/** By native name. */
export type EventTable<E extends string = string> = Readonly<Record<E, EventRow>>;

/** An agent whose hook payloads are objects with one event each. */
export interface HookAdapter<E extends string = string> {
  readonly source: string;
  readonly recognises: Marks | Agent["recognises"];
  readonly events: EventTable<E>;
  /** Names of events that give nothing, because nothing in them is needed. @default none */
  readonly notNeeded?: string;
  /** Names of members of payloads, recorded or documented. */
  readonly fields: string;
  /** Members that can have the event's name; without one of them the hook's command line has it. @default hook_event_name */
  readonly nameIn?: readonly string[];
  /** For payloads whose name is found in another way. @default by `nameIn` */
  readonly nameOf?: (p: Payload, intake: IntakeFacts) => string | undefined;
  /** True: names are found in upper and lower case. @default false: exactly */
  readonly inAnyCase?: boolean;
  /** True: events have their names as in the table, for an agent that sends several spellings. @default false: as sent */
  readonly namesAsInTable?: boolean;
  /** Members that can have the session's id. @default session_id */
  readonly sessionIn?: readonly string[];
  /** Variable with the session's id, for payloads without one. @default none */
  readonly sessionVariable?: string;
  /** The folder. @default the member cwd */
  readonly cwdOf?: (p: Payload) => string | undefined;
  /** When it happened, in milliseconds. @default the intake's time */
  readonly timeOf?: (p: Payload) => number | undefined;
  /** Identifies a payload without an id of its own in its session. @default its arrival */
  readonly keyOf?: (p: Payload, intake: IntakeFacts) => string;
  /** What every event of a payload has. */
  readonly extrasOf?: (p: Payload, intake: IntakeFacts, sessionId: string) => MadeExtras;
}

/** The part of a card that follows from its adapter. */
interface Adapter<E extends string = string> extends Pick<Agent, "source" | "recognises" | "toEvents"> {
  /** Without `file.write`, which is derived from tool calls. */
  readonly emits: readonly NativeEventType[];
  readonly known: KnownNames;
  readonly hooks: readonly Hook[];
  readonly events: EventTable<E>;
}

export function adapterOf<const E extends string>(agent: HookAdapter<E>): Adapter<E> {
  const { source, recognises, events, nameIn = ["hook_event_name"], cwdOf = (p) => asString(p["cwd"]) } = agent;
  const spelled = (name: string): string => (agent.inAnyCase === true ? name.toLowerCase() : name);
  const rows = new Map(Object.entries<EventRow>(events).map(([name, row]) => [spelled(name), { name, row }]));
  const nameOf = agent.nameOf ?? ((p, intake) => first(p, nameIn) ?? asString(intake.event));
  return {
    source,
    recognises:
      typeof recognises === "function"
        ? recognises
        : (payload, intake) => recogniseByMarks(recognises, payload, intake),
    toEvents(payload, intake): readonly Event[] {
      const p = asObject(payload);
      const sent = p === undefined ? undefined : nameOf(p, intake);
      const found = sent === undefined ? undefined : rows.get(spelled(sent));
      if (p === undefined || sent === undefined || found === undefined) return [];
      const native = agent.namesAsInTable === true ? found.name : sent;
      const cwd = cwdOf(p);
      const timeMs = agent.timeOf?.(p);
      const own = sessionOf(source, intake, {
        payload: first(p, agent.sessionIn ?? ["session_id"]),
        environment: agent.sessionVariable === undefined ? undefined : intake.env[agent.sessionVariable],
        cwd,
      });
      return membersIn(found.row, p, intake, own.id).map((members) => {
        const session = members.session ?? own;
        return eventOf(
          {
            ...members,
            source,
            type: members.type ?? found.row.type,
            native: members.native ?? native,
            session,
            cwd,
            timeMs,
            key: members.key ?? (agent.keyOf ?? byArrival)(p, intake),
            extras: defined<Extras>({ ...agent.extrasOf?.(p, intake, session.id), ...members.extras }),
          },
          intake,
        );
      });
    },
    emits: emitsOf(events),
    known: knownIn(agent, nameIn),
    hooks: hooksOf(events),
    events,
  };
}

/** The types of events in a table. */
export const emitsOf = (
  events: Readonly<Record<string, Pick<EventRow, "type" | "or">>>,
): readonly NativeEventType[] => [
  ...new Set(
    Object.values(events).flatMap(({ type, or = [] }) => [type, ...or.filter((other) => other !== "nothing")]),
  ),
];

// --- internal ---

const byArrival = (_: Payload, intake: IntakeFacts): string => arrivalKey(intake);

/** What a payload reports: usually one thing. */
const membersIn = (row: EventRow, p: Payload, intake: IntakeFacts, sessionId: string): readonly Members[] =>
  row.read === undefined ? [{}] : [row.read(p, intake, sessionId) ?? []].flat();

function knownIn({ events, notNeeded = "", fields }: HookAdapter, nameIn: readonly string[]): KnownNames {
  const converted = Object.entries<EventRow>(events);
  return {
    events: [...converted.map(([name]) => name), ...words(notNeeded)],
    fields: words(fields),
    notNeeded: [
      ...converted.flatMap(([name, { or }]) => (or?.includes("nothing") === true ? [name] : [])),
      ...words(notNeeded),
    ],
    eventOf: eventIn(...nameIn),
  };
}
