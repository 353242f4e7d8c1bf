// `amp plugins show-docs` of 0.0.1790142911, read 2026-11-26
import { asObject, asString } from "../shared/payload/json.ts";
import { knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  "session.start tool.call tool.result agent.start agent.end changes.prompt",
  "event context extension",
  {
    eventOf: (payload, intake) => asString(asObject(asObject(payload)?.["event"])?.["type"]) ?? intake.event,
    notNeeded: "session.start tool.call changes.prompt",
  },
);
