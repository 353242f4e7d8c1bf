// OpenHook v0.1, both texts, read 2026-11-26. No table of events: payloads are envelopes already, which are checked, not converted

import type { Recognition } from "#core/model/agent.ts";
import { asObject } from "../shared/payload/json.ts";
import { versionOf } from "./version.ts";

export { remarks, toEntries, toEvents, unknownWithin } from "./envelope.lazy.ts";

/** The version marks a conforming envelope, according to the specification. */
export const recognises = (payload: unknown): Recognition =>
  versionOf(asObject(payload) ?? {}) === undefined ? "no" : "certain";
