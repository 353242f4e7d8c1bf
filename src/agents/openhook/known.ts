// OpenHook v0.1, both texts, read 2026-11-26
import type { KnownNames } from "#core/model/agent.ts";
import { eventIn, knownNames } from "../shared/payload/known.ts";
import { unknownWithin } from "./adapter.ts";

export const KNOWN: KnownNames = {
  ...knownNames(
    "session.start prompt.submit tool.start tool.end file.write session.end",
    "openhook id source type time session_id data cwd context extensions",
    { eventOf: eventIn("type") },
  ),
  unknownWithin,
};
