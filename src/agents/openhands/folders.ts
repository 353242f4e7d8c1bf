import { readdirSync } from "node:fs";

/** Names in a folder, sorted; empty if it cannot be read. */
export function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
