import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PageFile } from "./deps.ts";

/**
 * The built page, held in memory: no path that is asked for ever reaches the file system.
 *
 * @throws the system's error when the build is not whole
 */
export const readPageFiles = (folder: string): ReadonlyMap<string, PageFile> =>
  new Map(
    Object.entries(TYPES).map(([name, type]) => [name, { type, body: readFileSync(join(folder, name), "utf8") }]),
  );

// --- internal ---

const TYPES = {
  "index.html": "text/html; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;
