// The program's files, from github.com/cline/cline, sdk/packages/shared/src/storage/paths.ts, read 2026-11-21
import { join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A session's files are in a folder with its id as name; messages of subagents are in the same folder. */
export const MESSAGES_ENDING = ".messages.json";

/** `CLINE_DIR`, or else `~/.cline`. */
export const clineFolder = (env: Environment, home: string): string =>
  nonEmpty(env["CLINE_DIR"]) ?? join(home, ".cline");

/** `CLINE_DATA_DIR`, or else `data` in Cline's folder. */
export const dataFolder = (env: Environment, home: string): string =>
  nonEmpty(env["CLINE_DATA_DIR"]) ?? join(clineFolder(env, home), "data");

/** The folder with one folder per session. */
export const sessionsFolder = (env: Environment, home: string): string =>
  nonEmpty(env["CLINE_SESSION_DATA_DIR"]) ?? join(dataFolder(env, home), "sessions");

/** The main agent's messages; `undefined` for an id that is no plain file name. */
export const messagesPath = (folder: string, sessionId: string): string | undefined =>
  isFileName(sessionId) ? join(folder, sessionId, `${sessionId}${MESSAGES_ENDING}`) : undefined;

/** True for a plain file name that is valid and not hidden on every system. */
export const isFileName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/.test(name);

// --- internal ---

const nonEmpty = (value: string | undefined): string | undefined => (value?.trim() ? value.trim() : undefined);
