// docs/session-format.md of 0.73.1 and 1.6.0, and recordings, read 2026-11-28; token rule in README.md beside this file
import { basename, dirname, isAbsolute, join } from "node:path";
import type { TranscriptQuery, TranscriptReader } from "#core/model/transcript-reader.ts";
import { putEntry } from "#core/rules/put-facts.ts";
import { asString, asTimeMs } from "../shared/payload/json.ts";
import { existingFiles, SessionCopies } from "../shared/transcript/copies.ts";
import { type Dated, entriesIn, foldersBelow, inOrder, isFile, namesIn, statFile } from "../shared/transcript/past.ts";
import { type LineRules, readLines, replaceState, UNREADABLE } from "../shared/transcript/read-lines.ts";
import { lineContent } from "./content.ts";
import { type LineState, readLine } from "./lines.ts";

export default {
  roots,
  /** Files are in a folder for each project; a folder that a variable names contains them directly. */
  async *locate(query) {
    const sessions = new Map<string, Dated>();
    for (const folder of await foldersBelow(query, LAYOUTS)) {
      const entries = await entriesIn(folder, query);
      const below: (typeof entries)[number][] = [];
      for (const entry of entries) {
        if (entry.isFolder && entry.name.startsWith("--")) below.push(...(await entriesIn(entry.path, query)));
      }
      for (const { name, path, isFolder } of [...entries, ...below]) {
        const sessionId = isFolder ? undefined : COPIES.idOf(path, query.roots);
        const file = sessionId === undefined ? undefined : statFile(path, query);
        if (sessionId === undefined || file === undefined || file.sizeBytes === 0) continue;
        const named = namedIn(name);
        // The file itself, if it is there, and not a copy
        if (sessions.has(sessionId) && named?.sessionId !== sessionId) continue;
        sessions.set(sessionId, { sessionId, path, startMs: named?.startMs ?? file.startMs });
      }
    }
    yield* inOrder(sessions.values(), query);
  },
  /** One file per session, whose name ends with the session's id, and its copies. */
  async files(query) {
    const mains = await mainsOf(query);
    const beside = new Set([...mains, ...(query.path === undefined ? [] : [query.path])].map((main) => dirname(main)));
    const copies = [...beside].flatMap((folder) => COPIES.of(query.sessionId, folder, query.roots));
    return existingFiles([...mains, ...copies], query.roots).map((path) => ({ path }));
  },
  read: (file, from, options = {}) => readLines(file, from, options, RULES),
} satisfies TranscriptReader;

/** `~/.pi/agent/sessions`. `PI_CODING_AGENT_DIR` replaces `~/.pi/agent`; `PI_CODING_AGENT_SESSION_DIR` adds a folder. */
function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const agent = folderIn(home, env["PI_CODING_AGENT_DIR"]) ?? join(home, ".pi", "agent");
  const sessions = folderIn(home, env["PI_CODING_AGENT_SESSION_DIR"]);
  return [join(agent, "sessions"), ...(sessions === undefined ? [] : [sessions])];
}

async function mainsOf({ sessionId, path, home, roots: within }: TranscriptQuery): Promise<readonly string[]> {
  if (!/^[\w-]+$/.test(sessionId)) return [];
  const isIts = (file: string): boolean => namedIn(basename(file))?.sessionId === sessionId;
  if (path !== undefined && isIts(path) && (await isFile(path))) return [path];
  const folders = [...(path === undefined ? [] : [dirname(path)]), ...(within ?? roots(home, {}))];
  for (const folder of new Set(folders)) {
    for (const name of await namesIn(folder, {})) {
      const found = isIts(name)
        ? [join(folder, name)]
        : name.startsWith("--")
          ? (await namesIn(join(folder, name), {})).filter(isIts).map((file) => join(folder, name, file))
          : [];
      for (const file of found) if (await isFile(file)) return [file];
    }
  }
  return [];
}

// --- internal ---

/** Paths of the sessions folder, relative to a root that contains it. */
const LAYOUTS = ["sessions", join("agent", "sessions"), join(".pi", "agent", "sessions")];

/** Kinds of lines in `session-format.md` of 0.73.1 and 1.6.0, used or not. */
const KINDS = [
  ...["session", "message", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom"],
  ...["custom_message", "label", "session_info", "usage", "context_edit"],
];

const COPIES = new SessionCopies({
  ending: ".jsonl",
  idIn: (name) => namedIn(name)?.sessionId,
  ownId: /^\{"type":"session",[^\n]*?"id":"([\w-]+)"/,
});

const RULES: LineRules<LineState> = {
  kinds: KINDS,
  state: (timeMs, stored) => ({ timeMs, ...stored }),
  read({ bytes }, state, sink) {
    const result = readLine(bytes, state);
    if (result === undefined) return UNREADABLE;
    replaceState(state, result.state);
    for (const entry of result.entries) putEntry(sink, entry);
    return result.kind;
  },
  content: lineContent,
};

/** `2026-11-25T03-28-36-561Z_<session id>.jsonl` */
function namedIn(name: string): { readonly sessionId: string; readonly startMs?: number } | undefined {
  const [, day, hour, minute, second, ms, sessionId] =
    /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z_([\w-]+)\.jsonl$/.exec(name) ?? [];
  if (sessionId === undefined) return undefined;
  const startMs = asTimeMs(`${day}T${hour}:${minute}:${second}.${ms}Z`);
  return { sessionId, ...(startMs !== undefined && { startMs }) };
}

/** pi replaces a leading `~` in these variables. */
function folderIn(home: string, value: string | undefined): string | undefined {
  const named = asString(value);
  if (named === undefined) return undefined;
  if (named === "~" || named.startsWith("~/")) return join(home, named.slice(1));
  return isAbsolute(named) ? named : undefined;
}
