// OpenHook v0.1, read 2026-11-21

import type { Recognition } from "../../model/agent.ts";
import { asObject } from "../shared/payload/json.ts";
import { versionOf } from "./version.ts";

export { remarks, toEntries, toEvents } from "./envelope.lazy.ts";

/** The version's presence is the specification's own mark of a conforming envelope: nothing is left to guess. */
export const recognises = (payload: unknown): Recognition =>
  versionOf(asObject(payload) ?? {}) === undefined ? "no" : "certain";
