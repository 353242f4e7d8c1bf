import { ENVELOPE_TYPES, type EnvelopeType } from "./envelope-types.ts";

/** What agents tell beside the five OpenHook types. Signals are never shown as envelopes. */
export const SIGNAL_TYPES = [
  "turn.end",
  "turn.error",
  "subagent.start",
  "subagent.end",
  "model.start",
  "model.end",
  "tool.batch",
  "compaction",
  "permission",
  "notice",
] as const;
export type SignalType = (typeof SIGNAL_TYPES)[number];

export const EVENT_TYPES = [...ENVELOPE_TYPES, ...SIGNAL_TYPES] as const;
export type EventType = EnvelopeType | SignalType;
