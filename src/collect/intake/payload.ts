import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { excessOf } from "#kit/json-limits.ts";
import { withoutLargeValues } from "#kit/shrink.ts";

/** Payloads above this are shortened before they are parsed. */
export const MAX_PARSED_BYTES = 4 * 1024 * 1024;

export type Decoded =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** `shortened`: long values were left out; `cut`: it ended early; `repaired`: raw control characters were escaped. */
      readonly notes: readonly ("shortened" | "cut" | "repaired")[];
    }
  | { readonly ok: false; readonly reason: string };

/**
 * Parses the JSON that an agent wrote: byte order marks are removed, raw control characters in strings are escaped, a text above
 * 4 MiB or with very many values is shortened, and a text that ends early is closed after its last complete member.
 *
 * @returns `ok: false` with a reason if it cannot be parsed
 * @throws never
 */
export function decodePayload(payload: Buffer): Decoded {
  const json = withoutBom(payload);
  if (json.length === 0) return { ok: false, reason: "the payload is empty" };
  if (json.length > MAX_PARSED_BYTES || excessOf(json) !== undefined) return shortened(json);
  const whole = parse(json.toString("utf8"));
  if (whole.ok) return whole;
  const closed = shortened(json);
  return closed.ok ? closed : { ok: false, reason: `the payload is not JSON: ${closed.reason}` };
}

/**
 * `decodePayload` for one event: an empty payload is `{}` if the command line names source and event, because some agents send
 * nothing else.
 */
export function decodeEvent(payload: Buffer, { source, event }: Pick<IntakeFacts, "source" | "event">): Decoded {
  const isNamed = source !== undefined && event !== undefined;
  const isEmpty = withoutBom(payload.subarray(0, SCANNED_BYTES)).toString("latin1").trim() === "";
  return isNamed && isEmpty && payload.length <= SCANNED_BYTES
    ? { ok: true, value: {}, notes: [] }
    : decodePayload(payload);
}

// --- internal ---

/** An empty payload has at most this length, including white space. */
const SCANNED_BYTES = 64;

function withoutBom(bytes: Buffer): Buffer {
  let from = 0;
  while (bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf) from += 3;
  return bytes.subarray(from);
}

function shortened(json: Buffer): Decoded {
  const shrunk = withoutLargeValues(json, MAX_PARSED_BYTES);
  if (!shrunk.ok) return shrunk;
  const { excess } = shrunk;
  if (excess !== undefined) return { ok: false, reason: `${excess}, even without long strings and nested values` };
  const decoded = parse(shrunk.text());
  if (!decoded.ok) return decoded;
  const notes = [...(shrunk.leftOut > 0 ? (["shortened"] as const) : []), ...(shrunk.closed ? (["cut"] as const) : [])];
  return { ...decoded, notes: [...notes, ...decoded.notes] };
}

function parse(text: string): Decoded {
  try {
    return { ok: true, value: JSON.parse(text), notes: [] };
  } catch (error) {
    const repaired = escapeControls(text);
    if (repaired !== text) {
      try {
        return { ok: true, value: JSON.parse(repaired), notes: ["repaired"] };
      } catch {
        // The first error is more helpful
      }
    }
    return { ok: false, reason: error instanceof SyntaxError ? placeOf(error) : "it cannot be parsed" };
  }
}

/** V8 quotes the text in its message, and a reason must contain no content. */
const placeOf = (error: SyntaxError): string => {
  const place = /at position \d+/.exec(error.message)?.[0];
  return place === undefined ? "JSON.parse refuses it" : `JSON.parse refuses it ${place}`;
};

/** Escapes raw control characters inside strings, as in JSON made by shell scripts. One pass, no backtracking. */
function escapeControls(text: string): string {
  const pieces: string[] = [];
  let copyFrom = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) inString = !inString;
    else if (code === BACKSLASH && inString) at += 1;
    else if (code < SPACE && inString) {
      pieces.push(text.slice(copyFrom, at), `\\u${code.toString(16).padStart(4, "0")}`);
      copyFrom = at + 1;
    }
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(copyFrom);
}
const [SPACE, QUOTE, BACKSLASH] = [0x20, 0x22, 0x5c] as const;
