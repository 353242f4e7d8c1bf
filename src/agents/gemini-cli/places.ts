import { basename, dirname, join } from "node:path";
import type { LocatedSession, LocateQuery, TranscriptFile, TranscriptQuery } from "#core/model/transcript-reader.ts";
import { firstBytes, readSmall } from "#kit/open.ts";
import { asTimeMs } from "../shared/payload/json.ts";
import { distinctParts, existingFiles } from "../shared/transcript/copies.ts";
import { FolderMemory } from "../shared/transcript/folder-memory.ts";
import {
  addFile,
  type Dated,
  type Entry,
  entriesIn,
  inOrder,
  mapInBatches,
  namesIn,
  projectsBelow,
  reportUnreadable,
  type SessionFiles,
  statFile,
} from "../shared/transcript/past.ts";

/**
 * Sessions of all projects. A newer program copies a project's folder to one with a readable name and keeps the old one: if both
 * contain a session, all its files count, whatever their times are.
 */
export async function* locate(query: LocateQuery): AsyncGenerator<LocatedSession> {
  const sessions = new Map<string, SessionFiles>();
  const orphans: Dated[] = [];
  for (const project of await projectsBelow(query, LAYOUTS)) {
    const found = await sessionsIn(join(project.path, CHATS), query);
    orphans.push(...found.orphans);
    for (const main of found.mains) addFile(sessions, main);
  }
  for (const orphan of orphans) {
    const startMs = sessions.get(orphan.sessionId)?.startMs ?? orphan.startMs;
    addFile(sessions, { ...orphan, startMs });
  }
  yield* inOrder(sessions.values(), query);
}

/**
 * The session's own files in all projects' folders, then those of its subagents. Usually there is one; a session that a newer
 * program resumed also has the old `.json`, a project's old folder has a copy, and older versions could write a subagent's file
 * under the session's id. If the session's own files are gone, the subagents' files remain.
 */
export async function files(query: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  const { path, mains } = query;
  const reported = path === undefined ? [] : [dirname(path)];
  const folders = [...new Set([...reported, ...(mains?.map((main) => dirname(main)) ?? (await chatsFolders(query)))])];
  const own = new Map<string, readonly string[]>();
  for (const chats of folders) own.set(chats, await mainsIn(chats, query));
  const found: TranscriptFile[] = existingFiles([...own.values()].flat(), query.roots).map((main) => ({ path: main }));
  if (query.isOwnOnly === true && found.length > 0) return found;
  for (const chats of folders) {
    // A folder that cannot be read is reported only if it contains a part of the session
    const isNear = mains !== undefined || reported.includes(chats) || (own.get(chats) ?? []).length > 0;
    found.push(...(await subagentsIn(chats, isNear ? query : { sessionId: query.sessionId })));
  }
  return distinctParts(found);
}

/** The session id and start time are within these first bytes. */
export const HEAD_BYTES = 512;

// --- internal ---

/** The projects' folder below a given root. */
const LAYOUTS = ["tmp", join(".gemini", "tmp")];
const CHATS = "chats";
const SHORT_ID = /-([^-]{1,8})\.jsonl?$/;
const SESSION_FILE = /^session-.*\.jsonl?$/;

const tmpOf = (home: string): string => join(home, ".gemini", "tmp");

/** The `chats` folders of all projects, in the home folder and below the roots. */
async function chatsFolders(query: TranscriptQuery): Promise<readonly string[]> {
  const usual = tmpOf(query.home);
  const all = (query.roots ?? []).flatMap((root) => ["", ...LAYOUTS].map((tail) => join(root, tail)));
  const found: string[] = [];
  for (const tmp of new Set([usual, ...all])) {
    for (const project of await namesIn(tmp, tmp === usual ? query : {})) found.push(join(tmp, project, CHATS));
  }
  return found;
}

async function sessionsIn(chats: string, query: LocateQuery): Promise<{ mains: Dated[]; orphans: Dated[] }> {
  const entries = await entriesIn(chats, query);
  const isMain = ({ name, isFolder }: Entry): boolean => !isFolder && SESSION_FILE.test(name);
  const heads = await mapInBatches(entries.filter(isMain), async ({ name, path }): Promise<readonly Dated[]> => {
    const head = headOf(path, query.roots);
    const sessionId = sessionIdIn(head) ?? (await sessionIdFromLog(path, query.roots));
    const file = sessionId === undefined ? undefined : statFile(path, query);
    if (sessionId === undefined) await reportUnreadable(path, query, "its first bytes contain no session id");
    if (sessionId === undefined || file === undefined) return [];
    return [{ sessionId, path, startMs: startIn(head) ?? timeIn(name) ?? file.startMs }];
  });
  const mains = heads.flat();
  const known = new Set(mains.map(({ sessionId }) => folderName(sessionId)));
  const orphans: Dated[] = [];
  for (const { name, path, isFolder } of entries) {
    const [part] = isFolder && !known.has(name) ? await subagentsAt(path, query) : [];
    const file = part === undefined ? undefined : statFile(part.path, query);
    if (file !== undefined && file.sizeBytes > 0) {
      const main = join(chats, `session-${name.slice(0, 8)}.jsonl`);
      orphans.push({ sessionId: name, path: main, startMs: file.startMs });
    }
  }
  return { mains, orphans };
}

/** The session's start from its file name, to the minute, in UTC. */
function timeIn(name: string): number | undefined {
  const [, day, hour, minute] = /^session-(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})/.exec(name) ?? [];
  const ms = Date.parse(`${day}T${hour}:${minute}:00Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

async function mainsIn(
  chats: string,
  { sessionId, path: reported, roots }: TranscriptQuery,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of byShortId.of(chats).get(sessionId.slice(0, 8)) ?? []) {
    // If the file has lost its first line, hooks report its session
    const named =
      sessionIdIn(headOf(path, roots)) ?? (path === reported ? sessionId : await sessionIdFromLog(path, roots));
    if (named === sessionId) found.push(path);
  }
  return found;
}

/**
 * The session id of a file without a first line, from the log of typed prompts. When a second process starts in a folder, it
 * deletes the first one's session file if nothing was typed yet. The first process then creates the file again, without the line
 * that contains the id.
 *
 * @returns `undefined` for an empty file as well: it may have been truncated for another reason
 */
async function sessionIdFromLog(path: string, roots: readonly string[] | undefined): Promise<string | undefined> {
  const short = SHORT_ID.exec(basename(path))?.[1];
  if (short === undefined || firstBytes(path, 1, roots).length === 0) return undefined;
  const log = await readSmall(join(dirname(dirname(path)), "logs.json"), MAX_LOG_BYTES, roots);
  const ids = [...(log?.bytes.toString("utf8") ?? "").matchAll(/"sessionId":\s*"([^"\\]{8,200})"/g)].map(
    ([, id]) => id,
  );
  return ids.findLast((id) => id?.startsWith(short) === true);
}

/** Each prompt adds about a hundred bytes and its text. */
const MAX_LOG_BYTES = 1 << 24;

/** File names end with the first characters of the session id. */
const byShortId = new FolderMemory((chats, names) => {
  const paths = new Map<string, string[]>();
  for (const name of names) {
    const short = SHORT_ID.exec(name)?.[1];
    if (short === undefined || !SESSION_FILE.test(name)) continue;
    paths.set(short, [...(paths.get(short) ?? []), join(chats, name)]);
  }
  return paths;
});

const subagentsIn = (
  chats: string,
  query: Pick<TranscriptQuery, "sessionId" | "onProblem">,
): Promise<readonly TranscriptFile[]> => subagentsAt(join(chats, folderName(query.sessionId)), query);

const subagentsAt = async (
  folder: string,
  query: Pick<TranscriptQuery, "onProblem">,
): Promise<readonly TranscriptFile[]> =>
  (await namesIn(folder, query))
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => ({ path: join(folder, name), agentId: basename(name, ".jsonl") }));

/** The program replaces characters that a file name cannot contain; its own ids have none of them. */
const folderName = (sessionId: string): string => sessionId.replace(/[^a-zA-Z0-9_-]/g, "_");

/** The first bytes of a session file, in either form; empty if it cannot be read. */
const headOf = (path: string, roots: readonly string[] | undefined): string =>
  firstBytes(path, HEAD_BYTES, roots).toString("utf8");

const sessionIdIn = (head: string): string | undefined => /"sessionId":\s*"([^"\\]{1,200})"/.exec(head)?.[1];

/** In milliseconds. Of two sessions with the same history, the one that starts later is the copy. */
const startIn = (head: string): number | undefined => asTimeMs(/"startTime":\s*"([^"\\]{1,40})"/.exec(head)?.[1]);
