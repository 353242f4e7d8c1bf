import { basename, dirname, join } from "node:path";
import type { LocatedSession, LocateQuery, TranscriptFile, TranscriptQuery } from "#core/model/transcript-reader.ts";
import { firstBytes, readSmallSync } from "#kit/open.ts";
import { asString, asTimeMs, parsedObject } from "../shared/payload/json.ts";
import { distinctParts, existingFiles, SessionCopies } from "../shared/transcript/copies.ts";
import {
  addFile,
  type Dated,
  entriesIn,
  inOrder,
  namesIn,
  projectsBelow,
  type SessionFiles,
  statFile,
} from "../shared/transcript/past.ts";
import { subagentIdOf } from "./names.ts";

/** `~/.qwen/projects`. `QWEN_HOME` replaces `~/.qwen`, and `QWEN_RUNTIME_DIR` too, but only for session files. */
export function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const folder = asString(env["QWEN_RUNTIME_DIR"]) ?? asString(env["QWEN_HOME"]) ?? join(home, ".qwen");
  return [join(folder, PROJECTS)];
}

/** Sessions of all projects. If a session is in several of them, all its files count. */
export async function* locate(query: LocateQuery): AsyncGenerator<LocatedSession> {
  const sessions = new Map<string, SessionFiles>();
  for (const project of await projectsBelow(query, LAYOUTS)) {
    for (const { name, path, isFolder } of await entriesIn(join(project.path, CHATS), query)) {
      const file = isFolder || !name.endsWith(".jsonl") ? undefined : statFile(path, query);
      if (file === undefined || file.sizeBytes === 0) continue;
      const sessionId = COPIES.idOf(path, query.roots) ?? basename(name, ".jsonl");
      addFile(sessions, { sessionId, path, startMs: startIn(path, query.roots) ?? file.startMs });
    }
  }
  yield* inOrder(forksAfterOriginals([...sessions.values()], query.roots), query);
}

/** The session's files in all projects, then those of its subagents. */
export async function files(query: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  const name = `${query.sessionId}.jsonl`;
  const named = query.mains ?? (await projectsOf(query)).map((project) => join(project, CHATS, name));
  const paths = query.path === undefined || basename(query.path) !== name ? named : [query.path, ...named];
  const beside = query.mains === undefined ? new Set(paths.map((path) => dirname(path))) : [];
  const copies = [...beside].flatMap((folder) => COPIES.of(query.sessionId, folder, query.roots));
  const mains = existingFiles([...paths, ...copies], query.roots);
  const found: TranscriptFile[] = mains.map((path) => ({ path }));
  for (const project of new Set(paths.map((path) => dirname(dirname(path))))) {
    const folder = join(project, "subagents", query.sessionId);
    for (const file of await namesIn(folder, query)) {
      const native = SUBAGENT_FILE.exec(file)?.[1];
      const agentId = subagentIdOf(native) ?? native;
      if (agentId !== undefined) found.push({ path: join(folder, file), agentId });
    }
  }
  return distinctParts(found);
}

// --- internal ---

const PROJECTS = "projects";
const LAYOUTS = [PROJECTS, join(".qwen", PROJECTS)];
const CHATS = "chats";
const COPIES = new SessionCopies({
  ending: ".jsonl",
  idIn: (name) => (name.endsWith(".jsonl") ? basename(name, ".jsonl") : undefined),
  ownId: /"sessionId":"([\w-]+)"/,
});
const SUBAGENT_FILE = /^agent-(.+)\.jsonl$/;
const HEAD_BYTES = 4096;
/** Larger files are not compared; then the session id decides the order. */
const MAX_COMPARED_BYTES = 64 << 20;

/** The folders of all projects, in the home folder and below the roots. */
async function projectsOf(query: TranscriptQuery): Promise<readonly string[]> {
  const usual = join(query.home, ".qwen", PROJECTS);
  const found: string[] = [];
  for (const folder of new Set([usual, ...(query.roots ?? [])])) {
    for (const name of await namesIn(folder, folder === usual ? query : {})) found.push(join(folder, name));
  }
  return found;
}

/** Time of the first line. A fork starts with copied lines, whose times are those of the original session. */
function startIn(path: string, allowed: readonly string[]): number | undefined {
  const head = firstBytes(path, HEAD_BYTES, allowed).toString("utf8").split("\n", 1)[0] ?? "";
  return head.includes('"forkedFrom"') ? undefined : asTimeMs(/"timestamp":"([^"\\]{1,40})"/.exec(head)?.[1]);
}

/**
 * A fork begins with copies of all lines of its original, with their ids and times, so both begin at one time. The fork is the one whose
 * first line that the other lacks is earlier: the original has no such line, or a later one. The fork's start is then the time of that line.
 */
function forksAfterOriginals<T extends Dated>(sessions: readonly T[], allowed: readonly string[]): readonly T[] {
  const starts = new Map<number, T[]>();
  for (const session of sessions) starts.set(session.startMs, [...(starts.get(session.startMs) ?? []), session]);
  return [...starts.values()].flatMap((same) => {
    if (same.length === 1) return same;
    const lines = same.map((session) => ({ session, times: timesOfLines(session.path, allowed) }));
    return lines.map(({ session, times }) => {
      const forkedMs = lines.flatMap(({ session: other, times: others }) => {
        const hasCopies = other !== session && times.keys().next().value === others.keys().next().value;
        if (!hasCopies) return [];
        const own = firstWithout(times, others);
        const theirs = firstWithout(others, times);
        return own !== undefined && (theirs === undefined || own < theirs) ? [own] : [];
      });
      return forkedMs.length === 0 ? session : { ...session, startMs: Math.max(session.startMs, ...forkedMs) };
    });
  });
}

const firstWithout = (times: ReadonlyMap<string, number>, others: ReadonlyMap<string, number>): number | undefined =>
  [...times].find(([uuid]) => !others.has(uuid))?.[1];

/** Id of each line → its time. */
function timesOfLines(path: string, allowed: readonly string[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const line of (readSmallSync(path, MAX_COMPARED_BYTES, allowed) ?? Buffer.alloc(0))
    .toString("utf8")
    .split("\n")) {
    const o = parsedObject(line);
    const [uuid, timeMs] = [asString(o?.["uuid"]), asTimeMs(o?.["timestamp"])];
    if (uuid !== undefined && timeMs !== undefined) times.set(uuid, timeMs);
  }
  return times;
}
