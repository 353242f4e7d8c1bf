import type { Agent } from "#core/model/agent.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { defined } from "#kit/defined.ts";
import { arrivalKey } from "./derived-ids.ts";
import { asObject, asString } from "./json.ts";
import { type Marks, recogniseByMarks } from "./marks.ts";
import { eventOf, type PayloadEvent, sessionOf } from "./payload-event.ts";

export type Payload = Readonly<Record<string, unknown>>;

/** What one native event becomes. Source, session, name and folder are added. */
export type Native = Omit<PayloadEvent, "source" | "native" | "session" | "key"> & {
  /** Identifies the event in its session. @default the adapter's `once` */
  readonly once?: string;
};

/** An agent whose hook payloads have a name, a session and a folder. */
export interface HookAdapter {
  readonly source: string;
  readonly marks: Marks;
  /** Native name → what it becomes; `undefined`: nothing that a trace needs. Other names give nothing. */
  readonly events: Readonly<Record<string, (p: Payload, intake: IntakeFacts) => Native | undefined>>;
  /** Member with the event's name. @default hook_event_name */
  readonly nameIn?: string;
  /** Member with the folder. @default cwd */
  readonly cwdIn?: string;
  /** Variable with the session's id, for payloads without one. */
  readonly sessionVariable?: string;
  /** Identifies a payload without an id of its own. @default its arrival */
  readonly once?: (p: Payload, intake: IntakeFacts) => string;
  /** Members that every event of a payload has. */
  readonly shared?: (p: Payload, sessionId: string) => { readonly [K in keyof Extras]?: Extras[K] | undefined };
}

/** The functions of a card. */
export function adapterOf(of: HookAdapter): Pick<Agent, "recognises" | "toEvents"> {
  const {
    source,
    marks,
    events,
    nameIn = "hook_event_name",
    cwdIn = "cwd",
    sessionVariable,
    once = (_, intake) => arrivalKey(intake),
  } = of;
  return {
    recognises: (payload, intake) => recogniseByMarks(marks, payload, intake),
    toEvents(payload, intake): readonly Event[] {
      const p = asObject(payload);
      const native = asString(p?.[nameIn]) ?? asString(intake.event);
      if (p === undefined || native === undefined) return [];
      const made = Object.hasOwn(events, native) ? events[native]?.(p, intake) : undefined;
      if (made === undefined) return [];
      const cwd = asString(p[cwdIn]);
      const environment = sessionVariable === undefined ? undefined : intake.env[sessionVariable];
      const session = sessionOf(source, intake, { payload: p["session_id"], environment, cwd });
      const extras = defined<Extras>({ ...made.extras, ...of.shared?.(p, session.id) } as Extras);
      return [eventOf({ ...made, source, native, session, cwd, key: made.once ?? once(p, intake), extras }, intake)];
    },
  };
}
