import { UNKNOWN_TIER } from "#core/model/model-call.ts";
import { asCode, asString } from "../shared/payload/json.ts";
import type { Line, LineState } from "./line-context.ts";

/**
 * Sets the service tier that settings name: `priority` (fast mode) costs 2 to 2.5 times the list price, `flex` half of it. It
 * applies until settings name another one. Settings without the member change nothing: the standard tier is never assumed after
 * another one.
 */
export function enterTier(state: LineState, settings: Line | undefined): void {
  if (settings === undefined || !("service_tier" in settings)) return;
  const tier = settings["service_tier"];
  state.tier = LISTED.has(tier) ? undefined : (asCode(asString(tier)) ?? UNKNOWN_TIER);
}

// --- internal ---

/** Tiers to which the public price list applies. */
const LISTED: ReadonlySet<unknown> = new Set([null, "", "default", "standard", "auto"]);
