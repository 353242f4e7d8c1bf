import { basename, dirname, join } from "node:path";
import type { LocatedSession, LocateQuery, TranscriptFile, TranscriptQuery } from "#core/model/transcript-reader.ts";
import { firstBytes } from "#kit/open.ts";
import { asString } from "../shared/payload/json.ts";
import { distinctParts, existingFiles } from "../shared/transcript/copies.ts";
import {
  addFile,
  entriesIn,
  inOrder,
  namesIn,
  projectsBelow,
  type SessionFiles,
  statFile,
} from "../shared/transcript/past.ts";

/** `~/.kimi-code/sessions`; `KIMI_CODE_HOME` replaces `~/.kimi-code`. */
export function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return [join(asString(env["KIMI_CODE_HOME"]) ?? join(home, FOLDER), SESSIONS)];
}

/** Sessions of all working folders, oldest first, because a fork is created after the session that it copies. */
export async function* locate(query: LocateQuery): AsyncGenerator<LocatedSession> {
  const sessions = new Map<string, SessionFiles>();
  for (const workspace of await projectsBelow(query, LAYOUTS)) {
    for (const session of await entriesIn(workspace.path, query)) {
      const path = join(session.path, MAIN_FILE);
      const file = session.isFolder ? statFile(path, query) : undefined;
      if (file === undefined || file.sizeBytes === 0) continue;
      const startMs = createdMs(session.path, query.roots) ?? file.startMs;
      addFile(sessions, { sessionId: session.name, path, startMs });
    }
  }
  yield* inOrder(sessions.values(), query);
}

/** The main agent's file, then those of the subagents. Hooks report no path, so the session is searched in all working folders. */
export async function files(query: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  const reported = query.path === undefined ? [] : [query.path];
  const mains = query.mains ?? [...reported, ...(await mainsOf(query))];
  const found: TranscriptFile[] = existingFiles(mains, query.roots).map((path) => ({ path }));
  for (const agents of new Set(mains.map((path) => dirname(dirname(path))))) {
    if (basename(dirname(agents)) !== query.sessionId) continue;
    for (const agentId of await namesIn(agents, query))
      if (agentId !== MAIN) found.push({ path: join(agents, agentId, WIRE), agentId });
  }
  return distinctParts(found);
}

/** The folder of a session, from the path of one of its agents' files. */
export const sessionFolder = (path: string): string => dirname(dirname(dirname(path)));

export const STATE_FILE = "state.json";

// --- internal ---

const FOLDER = ".kimi-code";
const SESSIONS = "sessions";
const LAYOUTS = [SESSIONS, join(FOLDER, SESSIONS)];
const MAIN = "main";
const WIRE = "wire.jsonl";
const MAIN_FILE = join("agents", MAIN, WIRE);
const HEAD_BYTES = 4096;

async function mainsOf(query: TranscriptQuery): Promise<readonly string[]> {
  const usual = join(query.home, FOLDER, SESSIONS);
  const found: string[] = [];
  for (const folder of new Set([usual, ...(query.roots ?? [])])) {
    for (const workspace of await namesIn(folder, folder === usual ? query : {}))
      found.push(join(folder, workspace, query.sessionId, MAIN_FILE));
  }
  return found;
}

/** When the session was created; a fork's file starts with lines of the original session. */
function createdMs(folder: string, allowed: readonly string[]): number | undefined {
  const head = firstBytes(join(folder, STATE_FILE), HEAD_BYTES, allowed).toString("utf8");
  const ms = /"createdAt":\s*(\d{13})\b/.exec(head)?.[1];
  return ms === undefined ? undefined : Number(ms);
}
