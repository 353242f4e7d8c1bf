import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { eventId, payloadDigest } from "./identity.ts";
import { asTimeMs } from "./json.ts";

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

/** Distinguishes two equal payloads without id and time by their moment. Equal ones at one moment come from two registrations. */
export const momentKey = (payload: unknown, { timeMs }: IntakeFacts): string => `${timeMs}:${payloadDigest(payload)}`;

/** Distinguishes two equal payloads by their time, which is part of the digest; if they have none, by the hook's process. */
export function timedKey(payload: Readonly<Record<string, unknown>>, { hookPid }: IntakeFacts): string {
  const digest = payloadDigest(payload);
  return asTimeMs(payload["timestamp"]) === undefined ? `${digest}:${hookPid ?? ""}` : digest;
}
