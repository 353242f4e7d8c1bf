import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { eventId } from "./identity.ts";

// Values that a payload does not contain, derived from what the intake recorded

/**
 * Session id for an agent that sends none: one per process and working directory. Pids are reused, so the process's start time is
 * part of it, if the system has one.
 *
 * @returns a UUID v5, the same for every hook of that process
 */
export const derivedSessionId = (
  source: string,
  { parentPid, parentStart, cwd }: IntakeFacts,
  payloadCwd?: string,
): string => eventId("session", source, String(parentPid ?? ""), parentStart ?? "", payloadCwd ?? cwd ?? "");

/** Distinguishes two equal payloads without id and time: by arrival time and hook process. */
export const arrivalKey = ({ timeMs, hookPid }: IntakeFacts): string => `${timeMs}:${hookPid ?? ""}`;
