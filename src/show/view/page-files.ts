import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ownName } from "#kit/suggest.ts";
import type { PageFile } from "./deps.ts";

/**
 * The built page, held in memory, so that no requested path reaches the file system.
 *
 * @throws the system's error if the build is incomplete
 */
export const readPageFiles = (folder: string): ReadonlyMap<string, PageFile> =>
  new Map(
    Object.entries(TYPES).map(([name, type]) => [
      name,
      { type, body: withProgramName(readFileSync(join(folder, name), "utf8")) },
    ]),
  );

// --- internal ---

/** Puts the command name that the user types into index.html, the only file with the placeholder. */
const withProgramName = (text: string): string =>
  text.includes(PLACEHOLDER)
    ? text
        .replaceAll("openhook-otel ", `${escaped(ownName())} `)
        .replace(PLACEHOLDER, `data-program="${escaped(ownName())}"`)
    : text;

const PLACEHOLDER = 'data-program="openhook-otel"';

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);

const TYPES = {
  "index.html": "text/html; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;
