import type { Agent } from "#core/model/agent.ts";
import { ENVELOPE_TYPES } from "#core/model/envelope-types.ts";
import { eventIn, knownNames } from "../shared/payload/known.ts";
import { recognises, remarks, toEntries, toEvents, unknownWithin } from "./adapter.ts";

/** Programs that send OpenHook envelopes, which contain their source. */
export default {
  source: "openhook",
  title: "Any OpenHook v0.1 sender",
  docs: "OpenHook v0.1 specification",
  emits: [...ENVELOPE_TYPES, "notice"],
  tokens: "payload",
  isAnyProgram: true,
  capabilities: {
    basis: "documented",
    versions: "0.1",
    subagents: false,
    sessionIds: "native",
    callIds: "native",
    eventIds: "payload",
  },
  known: {
    ...knownNames(ENVELOPE_TYPES.join(" "), "openhook id source type time session_id data cwd context extensions", {
      eventOf: eventIn("type"),
    }),
    unknownWithin,
  },
  recognises,
  toEvents,
  toEntries,
  remarks,
  // Of sources that have no card; it searches nothing
  transcript: () => import("./transcript.ts"),
  hasSessions: () => false,
  installer: () => import("./installer.ts"),
} satisfies Agent;
