import { createHash } from "node:crypto";
import { v5 as uuidv5 } from "uuid";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { asTimeMs } from "./json.ts";

/** Namespace of all event ids that we derive. It must never change: repeated events would be counted again. */
const NAMESPACE = "6f2b6e0e-3c1d-5d0a-9a53-3f6c2f9b7c11";

/**
 * Id of a native event, derived from its identifying parts, so a repeated event has the same id.
 *
 * @param parts source, session, native event name, and the agent's id of the reported thing or a digest of the payload
 * @returns a UUID v5
 */
export const eventId = (...parts: readonly string[]): string => uuidv5(JSON.stringify(parts), NAMESPACE);

/** Short digest of a payload without an id. Never throws, however deep the payload is nested. */
export function payloadDigest(payload: unknown): string {
  const hash = createHash("sha256");
  for (const [name, value] of Object.entries(Object(payload) as object))
    hash.update(`${JSON.stringify(name)}:${textOf(value)}\n`);
  return hash.digest("hex").slice(0, 32);
}

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

// --- internal ---

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    // Nested deeper than the stack allows: use its type
    return typeof value;
  }
}
