// openhands_cli/locations.py and openhands/tools/task/manager.py of 1.16.0, read 2026-11-26
import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { LocatedSession, LocateQuery, TranscriptFile, TranscriptQuery } from "#core/model/transcript-reader.ts";
import { asString } from "../shared/payload/json.ts";
import { distinctParts } from "../shared/transcript/copies.ts";
import {
  addFile,
  entriesIn,
  foldersBelow,
  inOrder,
  namesIn,
  type SessionFiles,
  statFile,
} from "../shared/transcript/past.ts";

// conversations/<session id without dashes>/: base_state.json, events/event-<number>-<id>.json, and subagents/<id>/, each a
// conversation of the same form.

export const STATE_FILE = "base_state.json";
export const EVENTS_FOLDER = "events";
export const SUBAGENTS_FOLDER = "subagents";

/** `OPENHANDS_CONVERSATIONS_DIR`, or else `conversations` in `OPENHANDS_PERSISTENCE_DIR` or `~/.openhands`. */
export function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const conversations = asString(env["OPENHANDS_CONVERSATIONS_DIR"]);
  if (conversations !== undefined && isAbsolute(conversations)) return [conversations];
  const moved = asString(env["OPENHANDS_PERSISTENCE_DIR"]);
  return [join(moved !== undefined && isAbsolute(moved) ? moved : join(home, FOLDER), CONVERSATIONS)];
}

/** All conversations that are no subagents. */
export async function* locate(query: LocateQuery): AsyncGenerator<LocatedSession> {
  const sessions = new Map<string, SessionFiles>();
  for (const root of await foldersBelow(query, LAYOUTS)) {
    for (const { name, path, isFolder } of await entriesIn(root, query)) {
      const sessionId = isFolder ? sessionIdOf(name) : undefined;
      if (sessionId === undefined) continue;
      const main = join(path, STATE_FILE);
      if (statFile(main, query) === undefined) continue;
      const [first] = (await entriesIn(join(path, EVENTS_FOLDER), query)).filter((entry) =>
        EVENT_FILE.test(entry.name),
      );
      // The state is rewritten, an event never
      const startMs = first === undefined ? undefined : statFile(first.path, query)?.startMs;
      if (startMs !== undefined) addFile(sessions, { sessionId, path: main, startMs });
    }
  }
  yield* inOrder(sessions.values(), query);
}

/** The conversation, then its subagents at any depth. Hooks report no path: the folder's name follows from the session's id. */
export async function files(query: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  const name = folderOf(query.sessionId);
  if (name === undefined) return [];
  const reported = query.path === undefined ? [] : [query.path];
  const usual = [...roots(query.home, {}), ...(query.roots ?? [])].map((root) => join(root, name, STATE_FILE));
  const mains = [...new Set(query.mains ?? [...reported, ...usual])].filter((main) => existsSync(main));
  const found: TranscriptFile[] = mains.map((path) => partOf(path, undefined));
  for (const main of mains) found.push(...(await subagentsBelow(dirname(main), query, 0)));
  return distinctParts(found);
}

/** The number of an event's file; `undefined` for any other file. */
export const eventNumber = (name: string): number | undefined => {
  const digits = EVENT_FILE.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
};

/** The id of a conversation, with the dashes that its hooks send; `undefined` for a folder with another name. */
export const sessionIdOf = (folder: string): string | undefined =>
  /^[0-9a-f]{32}$/.test(folder) ? folder.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5") : undefined;

// --- internal ---

const FOLDER = ".openhands";
const CONVERSATIONS = "conversations";
const LAYOUTS = [CONVERSATIONS, join(FOLDER, CONVERSATIONS)];
const EVENT_FILE = /^event-(\d{1,12})-[0-9A-Za-z-]{1,100}\.json$/;
/** Deeper than subagents are nested; a loop of links ends here. */
const MAX_DEPTH = 16;

const folderOf = (sessionId: string): string | undefined => {
  const name = sessionId.replaceAll("-", "").toLowerCase();
  return sessionIdOf(name) === undefined ? undefined : name;
};

const partOf = (path: string, agentId: string | undefined): TranscriptFile => {
  const folder = dirname(path);
  return {
    path,
    // A new file changes the time of its folder
    watch: [path, join(folder, EVENTS_FOLDER), join(folder, SUBAGENTS_FOLDER)],
    ...(agentId !== undefined && { agentId }),
  };
};

async function subagentsBelow(
  folder: string,
  query: TranscriptQuery,
  depth: number,
): Promise<readonly TranscriptFile[]> {
  if (depth === MAX_DEPTH) return [];
  const found: TranscriptFile[] = [];
  for (const name of await namesIn(join(folder, SUBAGENTS_FOLDER), query)) {
    const agentId = sessionIdOf(basename(name));
    const path = join(folder, SUBAGENTS_FOLDER, name, STATE_FILE);
    if (agentId === undefined || !existsSync(path)) continue;
    found.push(partOf(path, agentId), ...(await subagentsBelow(dirname(path), query, depth + 1)));
  }
  return found;
}
