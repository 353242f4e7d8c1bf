// OpenHook v0.1, read 2026-11-21
import { eventIn, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  "session.start prompt.submit tool.start tool.end session.end",
  "openhook id source type time session_id data cwd extensions",
  { eventOf: eventIn("type") },
);
