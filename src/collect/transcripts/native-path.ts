import { win32 } from "node:path";

/**
 * An agent's path as the operating system writes it. On Windows agents report both `C:\work` and `C:/work`, which must not count as two
 * files.
 */
export const nativePath = (path: string, platform: NodeJS.Platform): string =>
  platform === "win32" && ON_WINDOWS.test(path) ? win32.normalize(path) : path;

// --- internal ---

/** An absolute path with a drive, or of a server. */
const ON_WINDOWS = /^(?:[A-Za-z]:[\\/]|[\\/]{2})/;
