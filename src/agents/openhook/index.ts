import type { Agent } from "../../model/agent.ts";
import { ENVELOPE_TYPES } from "../../model/envelope.ts";
import { recognises, toEvents } from "./adapter.ts";

/** Anything that speaks OpenHook by itself; its envelopes name their own source. */
export default {
  source: "openhook",
  title: "Any OpenHook v0.1 sender",
  docs: "OpenHook v0.1 specification",
  emits: ENVELOPE_TYPES,
  tokens: "none",
  recognises,
  toEvents,
} satisfies Agent;
