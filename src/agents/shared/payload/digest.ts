import { createHash } from "node:crypto";
import { asObject } from "./json.ts";

/**
 * Digest of a tool's input. It pairs start and end of a call without an id, and matches the call with the transcript. The order of
 * members makes no difference.
 *
 * @returns 16 hex digits; `undefined` for missing, empty or too deeply nested input
 */
export function inputDigest(input: unknown): string | undefined {
  if (input === undefined || input === null || input === "") return undefined;
  const members = asObject(input);
  if (members !== undefined && Object.keys(members).length === 0) return undefined;
  try {
    return createHash("sha256")
      .update(JSON.stringify(sorted(input)))
      .digest("hex")
      .slice(0, 16);
  } catch {
    return undefined;
  }
}

// --- internal ---

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  const members = asObject(value);
  if (members === undefined) return value;
  return Object.fromEntries(
    Object.entries(members)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}
