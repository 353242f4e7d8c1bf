import { ExcessError } from "./json-limits.ts";

/**
 * Retries a failed file operation once, so that a momentary error of the file system does not lose data.
 *
 * @throws the error of the second attempt; for a missing file, and one that exceeds a limit, immediately
 */
export async function retryOnce<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isMissing(error) || error instanceof ExcessError) throw error;
  }
  await new Promise((done) => setTimeout(done, PAUSE_MS));
  return await work();
}

// --- internal ---

const PAUSE_MS = 20;

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";
