// Places of chat sessions: microsoft/vscode, chatSessionStore.ts, and public readers named in README.md beside this file, read 2026-11-26
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { LocateQuery, TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { readSmall } from "#kit/open.ts";
import { asString, parsedObject } from "../shared/payload/json.ts";
import { distinctParts, existingFiles } from "../shared/transcript/copies.ts";
import { entriesIn, foldersBelow, inOrder, namesIn, type SessionFiles, statFile } from "../shared/transcript/past.ts";
import { withUnreadUsage } from "../shared/transcript/unread-usage.ts";
import { readText } from "../shared/transcript/whole.ts";
import { chatsIn, entriesOf } from "./chat.ts";
import { replay } from "./journal.ts";
import { USER_FOLDERS } from "./user-folders.ts";

export default {
  roots,
  /** Which sessions a file has is only known from its content. */
  async *locate(query) {
    const sessions = new Map<string, SessionFiles>();
    for (const folder of await chatFolders(query)) {
      for (const { name, path, isFolder } of await entriesIn(folder, query)) {
        const file = isFolder || !isChatFile(name) ? undefined : statFile(path, query);
        if (file === undefined || file.sizeBytes === 0) continue;
        const ids = await sessionsIn({ path, roots: query.roots }).catch((error: unknown) => {
          query.onProblem(path, error instanceof Error ? error : new Error(String(error)));
          return [];
        });
        for (const sessionId of ids) {
          const known = sessions.get(sessionId);
          const mains = [...(known?.mains ?? []), path];
          const startMs = known?.startMs ?? file.startMs;
          // The journal, if there is one: an older file beside it ends where the journal begins
          const main = path.endsWith(".jsonl") ? path : (known?.path ?? path);
          sessions.set(sessionId, { sessionId, path: main, startMs, mains });
        }
      }
    }
    yield* inOrder(sessions.values(), query);
  },
  /** The session's files: beside the transcript that hooks name, or by their name. An older file stays beside its journal. */
  async files(query) {
    const { sessionId, path, home, mains, roots: within } = query;
    const paths = mains ?? [
      ...(path === undefined ? [] : await chatFilesIn(join(dirname(dirname(dirname(path))), CHATS))),
      ...(await namedFiles(sessionId, within ?? roots(home))),
    ];
    const found: TranscriptFile[] = [];
    for (const file of existingFiles(paths, within)) {
      const part = { path: file, ...(within !== undefined && { roots: within }) };
      const ids = await sessionsIn(part).catch(() => [sessionId]);
      if (ids.includes(sessionId)) found.push({ path: file, key: `${file}#${sessionId}` });
    }
    return distinctParts(found);
  },
  /** Older files are rewritten as a whole, and a line of a journal can change any earlier one: each file is read as a whole. */
  async *read(file, _from) {
    const { object, unreadable } = await load(file);
    const sessionId = file.key?.slice(file.path.length + 1);
    const chats = object === undefined ? [] : chatsIn(object, idOf(file.path));
    const chat = chats.find((one) => one.sessionId === sessionId) ?? (sessionId === undefined ? chats[0] : undefined);
    const entries = chat === undefined ? [] : entriesOf(chat, await folderOf(file));
    const all = withUnreadUsage({ ...object, requests: chat?.requests }, WITH_KNOWN_USAGE, entries);
    yield { ...all, next: INITIAL_OFFSET, unreadable, records: chat?.requests.length ?? 0 };
  },
} satisfies TranscriptReader;

/** Where VS Code keeps chats of windows with and without a folder, on Linux, macOS and Windows. */
function roots(home: string): readonly string[] {
  return USER_FOLDERS.flatMap((folder) => [join(home, folder, WORKSPACES), join(home, folder, EMPTY_WINDOWS)]);
}

// --- internal ---

const WORKSPACES = "workspaceStorage";
const EMPTY_WINDOWS = join("globalStorage", "emptyWindowChatSessions");
const CHATS = "chatSessions";
const MAX_WORKSPACE_BYTES = 65_536;

/** Those of a request can be the tools' or another extension's; its `usage` repeats that of its result. */
const WITH_KNOWN_USAGE =
  /^requests\.(?:message|response|result|usage|variableData|agent|contentReferences|usedContext)$/;

const isChatFile = (name: string): boolean => /^[A-Za-z0-9][\w-]*\.jsonl?$/.test(name);
const idOf = (path: string): string => basename(path).replace(/\.jsonl?$/, "");

async function load(file: TranscriptFile) {
  const text = await readText(file);
  if (file.path.endsWith(".jsonl")) return replay(text);
  const object = parsedObject(text);
  return { object, unreadable: object === undefined && text !== "" ? 1 : 0 };
}

async function sessionsIn(file: TranscriptFile): Promise<readonly string[]> {
  const { object } = await load(file);
  return object === undefined ? [] : chatsIn(object, idOf(file.path)).map(({ sessionId }) => sessionId);
}

/** The folder of the window, from the file that VS Code keeps beside its chats. */
async function folderOf({ path, roots: within }: TranscriptFile): Promise<string | undefined> {
  const file = await readSmall(join(dirname(dirname(path)), "workspace.json"), MAX_WORKSPACE_BYTES, within);
  const uri = file === undefined ? undefined : asString(parsedObject(file.bytes)?.["folder"]);
  if (uri?.startsWith("file:///") !== true) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

async function chatFolders(query: LocateQuery): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of await foldersBelow(query, [WORKSPACES, EMPTY_WINDOWS, CHATS])) {
    if (basename(folder) !== WORKSPACES) found.push(folder);
    else {
      for (const { path, isFolder } of await entriesIn(folder, query)) if (isFolder) found.push(join(path, CHATS));
    }
  }
  return found;
}

const chatFilesIn = async (folder: string): Promise<readonly string[]> =>
  (await namesIn(folder, {})).filter(isChatFile).map((name) => join(folder, name));

async function namedFiles(sessionId: string, within: readonly string[]): Promise<readonly string[]> {
  if (!isChatFile(`${sessionId}.json`)) return [];
  const folders: string[] = [];
  for (const root of within) {
    folders.push(root);
    if (basename(root) === WORKSPACES) {
      folders.push(...(await namesIn(root, {})).map((name) => join(root, name, CHATS)));
    }
  }
  return folders.flatMap((folder) => [join(folder, `${sessionId}.jsonl`), join(folder, `${sessionId}.json`)]);
}
