import { basename, dirname, join } from "node:path";
import type { LocatedSession, LocateQuery, TranscriptFile, TranscriptQuery } from "../../model/agent.ts";
import { asTimeMs } from "../shared/payload/json.ts";
import { FolderMemory } from "../shared/transcript/folder-memory.ts";
import { firstBytes, readSmall } from "../shared/transcript/open.ts";
import {
  type Dated,
  type Entry,
  entriesIn,
  type FileStat,
  foldersBelow,
  located,
  mapInBatches,
  namesIn,
  oldestFirst,
  reportUnreadable,
  statFile,
} from "../shared/transcript/past.ts";

/**
 * Sessions of all projects. A newer program copies a project's folder to one with a readable name and keeps the old one: if both
 * contain a session, the file that was written last counts.
 */
export async function* locate(query: LocateQuery): AsyncGenerator<LocatedSession> {
  const sessions = new Map<string, Candidate>();
  const orphans: Candidate[] = [];
  for (const tmp of await foldersBelow(query, LAYOUTS)) {
    for (const project of await entriesIn(tmp, query)) {
      if (!project.isFolder) continue;
      const found = await sessionsIn(join(project.path, CHATS), query);
      orphans.push(...found.orphans);
      for (const main of found.mains) sessions.set(main.sessionId, later(sessions.get(main.sessionId), main));
    }
  }
  for (const orphan of orphans) if (!sessions.has(orphan.sessionId)) sessions.set(orphan.sessionId, orphan);
  for (const session of oldestFirst(sessions.values())) yield located(session, query);
}

/**
 * The session's own files, then those of its subagents. Usually there is one; a session that a newer program resumed also has
 * the old `.json`, and older versions could write a subagent's file under the session's id. If the session's own files are gone,
 * the subagents' files remain.
 */
export async function files(query: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  const { path, home } = query;
  const reported = path === undefined ? [] : [dirname(path)];
  const usual = (await namesIn(tmpOf(home), query)).map((project) => join(tmpOf(home), project, CHATS));
  for (const chats of new Set([...reported, ...usual])) {
    const main = await mainIn(chats, query);
    if (main.length > 0) return [...main, ...(await subagentsIn(chats, query))];
  }
  for (const chats of reported) return subagentsIn(chats, query);
  return [];
}

/** The session id and start time are within these first bytes. */
export const HEAD_BYTES = 512;

// --- internal ---

/** The projects' folder below a given root. */
const LAYOUTS = ["tmp", join(".gemini", "tmp")];
const CHATS = "chats";
const SHORT_ID = /-([^-]{1,8})\.jsonl?$/;
const SESSION_FILE = /^session-.*\.jsonl?$/;

interface Candidate extends Dated, FileStat {}

const tmpOf = (home: string): string => join(home, ".gemini", "tmp");

const later = (known: Candidate | undefined, one: Candidate): Candidate =>
  known === undefined || known.writtenMs < one.writtenMs
    ? { ...one, beganMs: Math.min(one.beganMs, known?.beganMs ?? one.beganMs) }
    : { ...known, beganMs: Math.min(one.beganMs, known.beganMs) };

async function sessionsIn(chats: string, query: LocateQuery): Promise<{ mains: Candidate[]; orphans: Candidate[] }> {
  const entries = await entriesIn(chats, query);
  const isMain = ({ name, isFolder }: Entry): boolean => !isFolder && SESSION_FILE.test(name);
  const heads = await mapInBatches(entries.filter(isMain), async ({ name, path }): Promise<readonly Candidate[]> => {
    const head = headOf(path, query.roots);
    const sessionId = sessionIdIn(head) ?? (await typedIn(path, query.roots));
    const file = sessionId === undefined ? undefined : statFile(path, query);
    if (sessionId === undefined) await reportUnreadable(path, query, "its first bytes contain no session id");
    if (sessionId === undefined || file === undefined) return [];
    return [{ sessionId, path, ...file, beganMs: startIn(head) ?? timeIn(name) ?? file.beganMs }];
  });
  const mains = heads.flat();
  const known = new Set(mains.map(({ sessionId }) => folderName(sessionId)));
  const orphans: Candidate[] = [];
  for (const { name, path, isFolder } of entries) {
    const [part] = isFolder && !known.has(name) ? await subagentsAt(path, query) : [];
    const file = part === undefined ? undefined : statFile(part.path, query);
    if (file !== undefined && file.sizeBytes > 0) {
      orphans.push({ sessionId: name, path: join(chats, `session-${name.slice(0, 8)}.jsonl`), ...file });
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

async function mainIn(
  chats: string,
  { sessionId, path: reported, roots }: TranscriptQuery,
): Promise<readonly TranscriptFile[]> {
  const found: TranscriptFile[] = [];
  for (const path of byShortId.of(chats).get(sessionId.slice(0, 8)) ?? []) {
    // If the file has lost its first line, hooks report its session
    const named = sessionIdIn(headOf(path, roots)) ?? (path === reported ? sessionId : await typedIn(path, roots));
    if (named === sessionId) found.push({ path });
  }
  return found;
}

/**
 * The session id of a file without a first line, from the log of typed prompts. When a second program starts in a folder, it
 * deletes the first one's session file if nothing was typed yet. The first program then creates the file again, without the line
 * that contains the id.
 *
 * @returns `undefined` for an empty file as well: it may have been truncated for another reason
 */
async function typedIn(path: string, roots: readonly string[] | undefined): Promise<string | undefined> {
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

const subagentsIn = (chats: string, query: TranscriptQuery): Promise<readonly TranscriptFile[]> =>
  subagentsAt(join(chats, folderName(query.sessionId)), query);

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
