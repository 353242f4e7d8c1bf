import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { writeFileAtomic } from "../config/files.ts";
import type { Headers } from "./parse.ts";

/** What a command printed, by the command's digest. */
export type KeptHeaders = Readonly<
  Record<string, { readonly headers: Headers; readonly sinceMs: number; readonly untilMs: number }>
>;

/** @throws Error with the reason, for anything but a regular file of at most 64 KiB; a pipe or device never blocks */
export async function readSmallFile(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    throw code === "ENOENT" ? new Error("there is no such file") : error;
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error("it is not a regular file");
    if (stats.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** @returns nothing if there is no such file, or it is damaged: the command runs again */
export async function readKept(path: string): Promise<KeptHeaders> {
  try {
    const entries = Object.entries(JSON.parse(await readSmallFile(path)) as KeptHeaders);
    return Object.fromEntries(entries.filter(([, { headers, untilMs }]) => typeof headers === "object" && untilMs > 0));
  } catch {
    return {};
  }
}

/** Only this user can read the file, whatever its mode was. */
export const writeKept = (path: string, entries: KeptHeaders): Promise<void> =>
  writeFileAtomic(path, `${JSON.stringify(entries)}\n`, { mode: 0o600, forceMode: true });

// --- internal ---

const MAX_BYTES = 64 * 1024;
