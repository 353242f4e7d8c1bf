import { ExcessError } from "./json-limits.ts";

/** The message of anything that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** An error that the user can fix. Shown as one line; `exitCode` is 2 for wrong input, 1 for a failure. */
export class UserError extends Error {
  readonly code: string;
  readonly exitCode: number;
  constructor(code: string, message: string, exitCode = 2, options?: ErrorOptions) {
    super(message, options);
    this.name = "UserError";
    this.code = code;
    this.exitCode = exitCode;
  }
}

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
