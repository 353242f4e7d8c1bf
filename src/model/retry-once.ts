/**
 * Does something again, once, where it failed: what a file system says for a moment must not decide how a session is told.
 *
 * @throws the error of the second try; at once, where nothing is there
 */
export async function retryOnce<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isMissing(error)) throw error;
  }
  await new Promise((done) => setTimeout(done, PAUSE_MS));
  return await work();
}

// --- internal ---

const PAUSE_MS = 20;

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";
