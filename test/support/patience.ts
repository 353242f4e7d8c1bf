/** How long a test waits for something that a loaded machine does late, in milliseconds: only a failure takes this long. */
export const PATIENCE_MS = 120_000;
