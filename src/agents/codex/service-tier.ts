import type { Line, LineState } from "./line-context.ts";

/**
 * Enters the service tier that settings name: `priority` (fast mode) costs 2 to 2.5 times the list price, `flex` half of it. It
 * lasts until other settings name another one. Settings without the member change nothing: standard is never assumed while the
 * last known tier was another one.
 */
export function enterTier(state: LineState, settings: Line | undefined): void {
  if (settings === undefined || !("service_tier" in settings)) return;
  state.hasOtherPrice = LISTED.has(settings["service_tier"]) ? undefined : true;
}

// --- internal ---

/** Tiers that the public price list is for. */
const LISTED: ReadonlySet<unknown> = new Set([null, "", "default", "standard", "auto"]);
