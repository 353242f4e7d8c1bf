import type { IntakeFacts } from "../../../model/agent.ts";
import { eventId } from "./identity.ts";

/** What an agent's payload does not tell, made from what the intake saw. */

/**
 * Session id of an agent that gives none: one per process and working directory. A pid alone would come back, so its start
 * time counts too, where the system tells it.
 *
 * @returns a UUID v5, the same for every hook of that process
 */
export const mintedSessionId = (
  source: string,
  { parentPid, parentStart, cwd }: IntakeFacts,
  cwdTold?: string,
): string => eventId("session", source, String(parentPid ?? ""), parentStart ?? "", cwdTold ?? cwd ?? "");

/** Tells two equal payloads apart that have neither an id nor a time: when they came, and through which process. */
export const arrivalKey = ({ timeMs, hookPid }: IntakeFacts): string => `${timeMs}:${hookPid ?? ""}`;
