import { inputDigest } from "../shared/payload/digest.ts";
import { asObject } from "../shared/payload/json.ts";

/** Digest of a tool's input. Hooks send its unused members as null, event files leave them out. */
export const actionDigest = (input: unknown): string | undefined => inputDigest(withoutNulls(input, 0));

/** What OpenHands itself writes in the user's name when an answer has neither text nor a tool call. */
export const isCorrection = (text: string | undefined): boolean =>
  text?.startsWith("Your last response did not include a function call or a message. ") === true;

// --- internal ---

const MAX_DEPTH = 64;

function withoutNulls(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((one: unknown) => withoutNulls(one, depth + 1));
  const members = asObject(value);
  if (members === undefined) return value;
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, member]) =>
      member === null ? [] : [[name, withoutNulls(member, depth + 1)]],
    ),
  );
}
