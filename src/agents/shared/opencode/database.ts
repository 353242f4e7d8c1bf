import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseQuery } from "../transcript/sqlite.ts";
import type { Variant } from "./variant.ts";

/** For `openDatabase`: the tables with sessions. */
export const sessionsIn = (path: string, roots: readonly string[] | undefined): DatabaseQuery => ({
  path,
  roots,
  tables: ["session", "session_v2", "message", "part"],
});

/**
 * Databases that can contain a session: the reported one, those beside it, and those at the default location. Builds of other
 * channels use other names.
 *
 * @returns existing paths, the most likely first
 */
export function databasesFor({ source }: Variant, home: string, reportedPath?: string): readonly string[] {
  const usual = join(home, ".local", "share", source);
  const folders = reportedPath === undefined ? [usual] : [dirname(reportedPath), usual];
  const found = folders.flatMap((folder) => namesIn(source, folder).map((name) => join(folder, name)));
  const all = reportedPath !== undefined && existsSync(reportedPath) ? [reportedPath, ...found] : found;
  return [...new Set(all)];
}

/** Names of databases, the stable build's first. */
export const databasesAmong = (source: string, names: readonly string[]): readonly string[] => {
  const [isOne, stable] = [new RegExp(`^${source}(?:-[\\w.-]+)?\\.db$`), `${source}.db`];
  return names
    .filter((name) => isOne.test(name))
    .sort((a, b) => Number(b === stable) - Number(a === stable) || (a < b ? -1 : 1));
};

// --- internal ---

function namesIn(source: string, folder: string): readonly string[] {
  try {
    return databasesAmong(source, readdirSync(folder));
  } catch {
    return [];
  }
}
