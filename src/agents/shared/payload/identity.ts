import { createHash } from "node:crypto";
import { v5 as uuidv5 } from "uuid";

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

// --- internal ---

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    // Nested deeper than the stack allows: use its type
    return typeof value;
  }
}
