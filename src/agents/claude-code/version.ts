import { asString } from "../shared/payload/json.ts";
import { compareVersions, parseVersion } from "../shared/payload/version.ts";
import type { Line } from "./line-context.ts";

/** Whether a line was written by an older version; false if it has no version. A fork's copies keep their version. */
export const writtenBefore = (o: Line, version: string): boolean => {
  const written = versionOf(o);
  return written !== undefined && compared(written, version) < 0;
};

/** Whether a line was written by this version or a later one; false if it has no version. */
export const writtenSince = (o: Line, version: string): boolean => {
  const written = versionOf(o);
  return written !== undefined && compared(written, version) >= 0;
};

// --- internal ---

/** The version of the previous line, parsed: it rarely changes from line to line. */
let last: { readonly text: unknown; readonly version: string | undefined } = { text: undefined, version: undefined };
let results = new Map<string, number>();

function versionOf(o: Line): string | undefined {
  const text = o["version"];
  if (text !== last.text) {
    last = { text, version: parseVersion(asString(text) ?? "") };
    results = new Map();
  }
  return last.version;
}

function compared(written: string, version: string): number {
  const known = results.get(version) ?? compareVersions(written, version);
  results.set(version, known);
  return known;
}
