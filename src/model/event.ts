import type { Envelope } from "./envelope.ts";
import type { Event } from "./event-schema.ts";

export type { Event, EventType, Extras, SignalEvent } from "./event-schema.ts";
export { extrasOf } from "./extras.lazy.ts";

/** True for the five OpenHook types. */
export const isEnvelope = (event: Event): event is Envelope => "openhook" in event;

/** Milliseconds since the epoch of an event. */
export const timeMsOf = (event: Event): number => Date.parse(event.time);
