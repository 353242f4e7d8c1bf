import type { ModelCall } from "../model/model-call.ts";

/** The last call, or sum of calls. Usage of an unknown meaning does not say how a run went on or ended. */
export const lastCallOf = <T extends Pick<ModelCall, "covers">>(calls: readonly T[]): T | undefined =>
  calls.findLast(({ covers }) => covers !== "unknown");
