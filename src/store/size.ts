import { statSync } from "node:fs";
import { filesOf } from "./database.ts";

/** The store's size on disk in bytes, including its log; 0 if it cannot be read. Never throws. */
export const storeBytes = (path: string): number => filesOf(path).reduce((sum, file) => sum + bytesOf(file), 0);

// --- internal ---

function bytesOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
