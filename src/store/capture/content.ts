import type { CaptureLevel } from "#core/model/capture.ts";
import type { ContentUpdate } from "#core/model/content.ts";
import { keepsContent, keepsContentUnredacted } from "#core/rules/capture.ts";
import { PENDING } from "#core/rules/keys.ts";
import { claimContent, putContent } from "../content.ts";
import type { StoredSession } from "../sessions.ts";
import type { CaptureContext } from "./context.ts";

/** How content is changed before it is stored. */
interface Limits {
  /** Limit for the text in UTF-8. */
  readonly maxBytes: number;
  /** Redacts secrets in a text. Pure. */
  readonly redact?: (text: string) => string;
}

/**
 * A piece of content → the text that is stored: redacted, and truncated if too long. A truncated text ends with a note of its
 * original length. JSON stays JSON: its long texts are truncated, and if that is not enough it becomes one text.
 *
 * @returns `undefined` for empty content, and for values without JSON
 */
export function truncateContent(
  value: unknown,
  limits: Limits,
): { readonly text: string; readonly isJson: boolean } | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return { text: cut(redacted(value, limits), limits.maxBytes), isJson: false };
  try {
    const json = JSON.stringify(value);
    if (json === undefined || json === "{}" || json === "[]") return undefined;
    return { text: cutJson(redactedJson(json, limits), limits.maxBytes), isJson: true };
  } catch {
    // Nested too deeply for the stack
    return undefined;
  }
}

/**
 * A piece of content without secrets, for a person to see.
 *
 * @returns text, or the JSON value; `undefined` for values without JSON
 */
export function redactedContent(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  try {
    return JSON.parse(redactedJson(JSON.stringify(value), { redact }));
  } catch {
    // No JSON, or nested too deeply for the stack
    return undefined;
  }
}

/** Content → store, if the level keeps content. Call it after its facts are stored, in the same transaction. */
export function storeContent(
  drain: CaptureContext,
  session: StoredSession,
  updates: readonly ContentUpdate[],
  level: CaptureLevel,
): void {
  if (!keepsContent(level)) return;
  const { db, redact } = drain;
  const limits = {
    maxBytes: drain.loaded.config.captureMaxBytes,
    ...(!keepsContentUnredacted(level) && { redact }),
  };
  for (const one of updates) {
    if ("claims" in one) {
      claimContent(db, session.id, one.claims, one.fact);
      continue;
    }
    const kept = truncateContent(one.value, limits);
    if (kept === undefined) continue;
    const { fact, part, piece = "" } = one;
    putContent(db, session.id, { fact, part, piece, ...kept }, fact.startsWith(PENDING));
  }
}

// --- internal ---

const redacted = (text: string, { redact }: Pick<Limits, "redact">): string => redact?.(text) ?? text;

/** Redacts every text by itself, then the JSON as a whole: some secrets are recognised only by the member's name. */
function redactedJson(json: string, limits: Pick<Limits, "redact">): string {
  if (limits.redact === undefined) return json;
  const parts = JSON.stringify(mapTexts(JSON.parse(json), (text) => redacted(text, limits)));
  const whole = redacted(parts, limits);
  return whole === parts || isJson(whole) ? whole : JSON.stringify(whole);
}

/** Shorter texts are not truncated. */
const MIN_TEXT_BYTES = 32;

function cutJson(json: string, maxBytes: number): string {
  if (Buffer.byteLength(json) <= maxBytes) return json;
  const value: unknown = JSON.parse(json);
  for (let textBytes = maxBytes >> 1; textBytes >= MIN_TEXT_BYTES; textBytes >>= 1) {
    const shorter = JSON.stringify(mapTexts(value, (text) => cut(text, textBytes)));
    if (Buffer.byteLength(shorter) <= maxBytes) return shorter;
  }
  // As a JSON string: escaping at most doubles the size
  return JSON.stringify(cut(json, (maxBytes >> 1) - 1));
}

/** The beginning of a text, cut between characters, and the size of the whole text. */
function cut(text: string, maxBytes: number): string {
  // A UTF-16 unit takes at most three bytes in UTF-8
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  const mark = `… [cut: ${bytes} bytes]`;
  const room = Math.max(0, maxBytes - Buffer.byteLength(mark));
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(room));
  return text.slice(0, read) + mark;
}

/** Applies a change to all texts, including names of members: a secret can be one. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [change(name), mapTexts(item, change)]));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
