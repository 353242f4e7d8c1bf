// Where the program keeps its files: github.com/cline/cline, sdk/packages/shared/src/storage/paths.ts, read 2026-11-21
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Everything a session wrote lies in a folder of its id; the messages of a subagent beside those of the main agent. */
export const MESSAGES = ".messages.json";

/** `~/.cline`, or where the environment moved it. */
export const clineFolder = (env: Environment, home: string): string => said(env["CLINE_DIR"]) ?? join(home, ".cline");

/** The folder that holds one folder per session. */
export function sessionsFolder(env: Environment, home: string): string {
  const data = said(env["CLINE_DATA_DIR"]) ?? join(clineFolder(env, home), "data");
  return said(env["CLINE_SESSION_DATA_DIR"]) ?? join(data, "sessions");
}

/** The main agent's messages; `undefined` for an id that could name anything but a file in that folder. */
export const messagesPath = (folder: string, sessionId: string): string | undefined =>
  isFileName(sessionId) ? join(folder, sessionId, `${sessionId}${MESSAGES}`) : undefined;

/** True for what is one file's name on every system, and not hidden. */
export const isFileName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/.test(name);

// --- internal ---

const said = (value: string | undefined): string | undefined => (value?.trim() ? value.trim() : undefined);
