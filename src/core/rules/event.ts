import type { Envelope } from "../model/envelope.ts";
import type { Event } from "../model/event-schema.ts";
import { extrasOf } from "./extras.lazy.ts";

/** True for the five OpenHook types. */
export const isEnvelope = (event: Event): event is Envelope => "openhook" in event;

/** Whether we assigned the event's session id because its payload has none. */
export const hasAssignedSessionId = (event: Event): boolean => extrasOf(event).session_id_origin === "minted";

/** The time of an event, in milliseconds since the epoch. */
export const timeMsOf = (event: Event): number => Date.parse(event.time);
