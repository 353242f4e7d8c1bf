import { isEmptyQueue } from "#store/bridge.ts";
import { type Bridge, type BridgeDeps, NO_BRIDGE } from "./bridge.ts";
import { readConsents } from "./consent.ts";

/** The bridge for one drain. Loads nothing if the user allowed nothing. */
export async function openBridge(deps: BridgeDeps): Promise<Bridge> {
  if (readConsents(deps.places)?.length === 0 && isEmptyQueue(deps.db)) return NO_BRIDGE;
  const { BridgeHost } = await import("./host.ts");
  return new BridgeHost(deps);
}
