// Files as recorded from the CLI 3.0.65, read 2026-11-21; token rule in README.md beside this file
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ContentUpdate } from "#core/model/content.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import type {
  ReadOptions,
  TranscriptBatch,
  TranscriptFile,
  TranscriptQuery,
  TranscriptReader,
} from "#core/model/transcript-reader.ts";
import { EntrySink } from "#core/rules/entry-sink.ts";
import { defined } from "#kit/objects.ts";
import { firstBytes, readSmall } from "#kit/open.ts";
import { asObject, asString, asTimeMs, parsedObject } from "../shared/payload/json.ts";
import { distinctParts } from "../shared/transcript/copies.ts";
import { elementsOf } from "../shared/transcript/elements.ts";
import { Kinds } from "../shared/transcript/kinds.ts";
import { type Entry, entriesIn, foldersBelow, isFile, located, namesIn, statFile } from "../shared/transcript/past.ts";
import { countKind } from "../shared/transcript/unread-usage.ts";
import { messageContent } from "./content.ts";
import { isTaskId, isUiFile, TASK_LAYOUTS, taskRoots, uiFileIn, uiFilesOf } from "./extension.ts";
import { initialState, type Message, readMessage } from "./messages.ts";
import { isFileName, MESSAGES_ENDING, messagesPath, sessionsFolder } from "./places.ts";
import { takenOver, taskSum } from "./resumed.ts";
import { parentCallOf } from "./spawned.ts";
import { readTask, taskPart } from "./task.ts";

export default {
  roots,
  /**
   * Sessions in the order of their ids, which begin with a time. A session without main messages is found by its subagents'. A task
   * that a later version continued is one session with files of both kinds.
   */
  async *locate(query) {
    const sessions = new Map<string, string[]>();
    const add = (id: string, main: string) => sessions.set(id, [...(sessions.get(id) ?? []), main]);
    for (const folder of await foldersBelow(query, LAYOUTS)) {
      for (const { name, path, isFolder } of await entriesIn(folder, query)) {
        if (!isFolder || !isFileName(name)) continue;
        const task = isTaskId(name) ? uiFileIn(path) : undefined;
        if (task !== undefined) {
          add(name, task);
          continue;
        }
        const parts = (await entriesIn(path, query)).filter((entry) => isMessages(entry));
        const sizes = parts.map((part) => statFile(part.path, query));
        const main = messagesPath(folder, name);
        if (main !== undefined && sizes.some((size) => size !== undefined && size.sizeBytes > 0)) add(name, main);
      }
    }
    const ids = [...sessions.keys()].sort((a, b) => timeIn(a) - timeIn(b) || (a < b ? -1 : 1));
    for (const sessionId of ids) {
      const mains = sessions.get(sessionId) ?? [];
      yield located({ sessionId, path: mains[0] ?? "", mains }, query);
    }
  },
  /** The session's files in all folders: tasks, the main agent's messages, those of each subagent. */
  async files(query) {
    const { path, mains } = query;
    const paths = [...(path === undefined ? [] : [path]), ...(mains ?? mainsOf(query))];
    const tasks = paths.filter(isUiFile).map(taskPart);
    const messages = [...new Set(paths)].filter((main) => main.endsWith(MESSAGES_ENDING));
    const sessions = await Promise.all(messages.map((main) => sessionParts(main, query)));
    const parts = [...tasks, ...sessions.flat()];
    return distinctParts([
      ...parts.filter(({ agentId }) => agentId === undefined),
      ...parts.filter(({ agentId }) => agentId !== undefined),
    ]);
  },
  /** Cline rewrites the whole file for each message, so all entries are read again, with the same keys. */
  async *read(file, _from, options = {}) {
    yield* isUiFile(file.path) ? readTask(file, options) : readMessages(file, options);
  },
} satisfies TranscriptReader;

async function* readMessages(
  { path, agentId, roots }: TranscriptFile,
  options: ReadOptions,
): AsyncGenerator<TranscriptBatch> {
  const manifest = agentId === undefined ? await readManifest(manifestOf(path), roots) : undefined;
  let state = initialState(asTimeMs(manifest?.["started_at"]) ?? (await stat(path)).mtimeMs);
  let entries: TranscriptEntry[] = manifest === undefined ? [] : manifestEntries(manifest, state.timeMs);
  if (agentId === undefined) entries.push(...lastCompaction(path, roots));
  let content: ContentUpdate[] = [];
  let unreadable = 0;
  let records = 0;
  let isFirst = agentId !== undefined;
  let place = -1;
  const kinds = new Kinds(ROLES);
  const unknown = new EntrySink();
  const task = await takenOver(path, roots);
  for await (const element of elementsOf(path, "messages", { roots })) {
    place++;
    const message = element === undefined ? undefined : parsedObject(element);
    // The conversation of a task that this session continues; its calls are in the task's files
    if (task !== undefined && place < task.length && message !== undefined) {
      entries.push(...taskSum(message, path, task.endMs));
      records++;
      continue;
    }
    const record = { fields: message, identity: asString(message?.["id"]) ?? `${path} ${place}`, state, agentId };
    countKind(kinds, message?.["role"], () => ({ ...record, modifiedMs: state.timeMs }), unknown);
    entries.push(...unknown.take());
    const result = message === undefined ? undefined : readMessage(message, state, agentId);
    if (result === undefined) {
      unreadable++;
      continue;
    }
    state = result.state;
    records++;
    if (isFirst && agentId !== undefined) {
      entries.push(subagentEntry(agentId, state.timeMs, await parentCallOf(path, roots)));
      isFirst = false;
    }
    entries.push(...result.entries);
    if (options.content === true && message !== undefined) content.push(...messageContent(message, result.entries));
    if (entries.length < BATCH_ENTRIES) continue;
    yield { entries, content, next: INITIAL_OFFSET, unreadable, records, ...kinds.take() };
    entries = [];
    content = [];
    unreadable = 0;
    records = 0;
  }
  // The end of the run closes the turn even if its last answer has no usage; messages after it belong to another run
  const endedMs = manifest?.["status"] === "completed" ? asTimeMs(manifest["ended_at"]) : undefined;
  if (endedMs !== undefined && state.promptKey !== undefined && state.timeMs <= endedMs) {
    entries.push(turnEnd(state.promptKey, state.timeMs));
  }
  const [refused] = state.openCalls;
  if (manifest?.["status"] === "cancelled" && state.hasNoResult && refused !== undefined) {
    entries.push(refusal(refused, state.timeMs, state.promptKey, state.messageOfCall.get(refused)));
  }
  yield { entries, content, next: INITIAL_OFFSET, unreadable, records, ...kinds.take() };
}

// --- internal ---

/** The folder of all sessions, which environment variables can move, and the folders with tasks of the editor extension. */
function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return [sessionsFolder(env, home), ...taskRoots(env, home)];
}

/** Paths of the folders with sessions and tasks, relative to a root that contains them. */
const LAYOUTS = ["sessions", join("data", "sessions"), join(".cline", "data", "sessions"), ...TASK_LAYOUTS];

/** The session's files in the folders that may be read. */
function mainsOf({ sessionId, home, roots: allowed = [] }: TranscriptQuery): readonly string[] {
  if (!isFileName(sessionId)) return [];
  const folders = [...new Set([...roots(home, {}), ...allowed])].flatMap((root) =>
    ["", ...LAYOUTS].map((tail) => join(root, tail)).filter((folder) => existsSync(join(folder, sessionId))),
  );
  return [...uiFilesOf(folders, sessionId), ...folders.flatMap((folder) => messagesPath(folder, sessionId) ?? [])];
}

/** The main agent's messages, then those of each subagent in the same folder. */
async function sessionParts(main: string, query: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  const folder = dirname(main);
  // The manifest, written shortly after the messages, shows whether the run was cancelled
  const found: TranscriptFile[] = (await isFile(main)) ? [{ path: main, watch: [main, manifestOf(main)] }] : [];
  for (const name of await namesIn(folder, query)) {
    const part = join(folder, name);
    if (name.endsWith(MESSAGES_ENDING) && part !== main && isFileName(name))
      found.push({ path: part, agentId: agentIdOf(name) });
  }
  return found;
}

const isMessages = ({ name, isFolder }: Entry): boolean =>
  !isFolder && name.endsWith(MESSAGES_ENDING) && isFileName(name);

/** Milliseconds; 0 for ids of another form. */
const timeIn = (sessionId: string): number => Number(/^\d{13}(?=_|$)/.exec(sessionId)?.[0] ?? 0);

const ROLES = ["user", "assistant"];

// Large enough for few commits, small enough for memory
const BATCH_ENTRIES = 500;
const MAX_MANIFEST_BYTES = 1 << 20;

const manifestOf = (main: string): string => `${main.slice(0, -MESSAGES_ENDING.length)}.json`;

/** `<agent>`, or `<agent>__<task>` for a team's member. */
const agentIdOf = (name: string): string => name.slice(0, -MESSAGES_ENDING.length).split("__")[0] ?? name;

/** A session's manifest, which has everything except the messages. `undefined` if the file is missing or incomplete. */
async function readManifest(path: string, roots: TranscriptFile["roots"]): Promise<Message | undefined> {
  const found = await readSmall(path, MAX_MANIFEST_BYTES, roots);
  return found === undefined ? undefined : parsedObject(found.bytes);
}

function manifestEntries(manifest: Message, timeMs: number): TranscriptEntry[] {
  const metadata = asObject(manifest["metadata"]);
  const facts = defined<{ agentVersion: string; cwd: string; gitBranch: string }>({
    agentVersion: asString(asObject(metadata?.["sessionHistoryOrigin"])?.["version"]),
    cwd: asString(manifest["cwd"]),
    gitBranch: asString(asObject(metadata?.["git"])?.["branch"]),
  });
  return [{ kind: "session", key: `session:${JSON.stringify(facts)}`, timeMs, ...facts, branches: "once" }];
}

/**
 * The last compaction. Its file contains the shortened history that the model receives, and is replaced by the next compaction;
 * the messages themselves stay complete.
 */
function lastCompaction(main: string, roots: TranscriptFile["roots"]): readonly TranscriptEntry[] {
  const path = `${main.slice(0, -MESSAGES_ENDING.length)}.compaction.json`;
  const start = firstBytes(path, HEAD_BYTES, roots).toString("utf8");
  const timeMs = asTimeMs(/"updated_at":\s*"([^"\\]{1,40})"/.exec(start)?.[1]);
  const lastMessageKey = /"source_last_message_key":\s*"([^"\\]{1,200})"/.exec(start)?.[1];
  if (timeMs === undefined || lastMessageKey === undefined) return [];
  return [
    { kind: "compaction", key: `compaction:${lastMessageKey}`, globalKey: `compaction:${lastMessageKey}`, timeMs },
  ];
}

/** Enough for all members before the messages. */
const HEAD_BYTES = 1024;

const subagentEntry = (agentId: string, timeMs: number, parentCallId: string | undefined): EntryOf<"subagent"> => ({
  kind: "subagent",
  key: `subagent:${agentId}`,
  timeMs,
  agentId,
  ...(parentCallId !== undefined && { parentCallId }),
});

/**
 * The hooks of all calls of an answer run before its first call, and every call that ran has a result, even an interrupted one.
 * A cancelled run without results was therefore stopped by a hook, at its first call unless hooks report more.
 */
const refusal = (
  callId: string,
  timeMs: number,
  promptKey: string | undefined,
  messageOfCall: string | undefined,
): EntryOf<"tool_result"> => ({
  kind: "tool_result",
  key: `result:${callId}`,
  globalKey: `result:${messageOfCall ?? ""}:${callId}`,
  timeMs,
  ...(promptKey !== undefined && { promptKey }),
  callId,
  status: "denied",
});

const turnEnd = (promptKey: string, timeMs: number): EntryOf<"turn_end"> => ({
  kind: "turn_end",
  key: `turn_end:${promptKey}`,
  globalKey: `turn_end:${promptKey}`,
  timeMs,
  promptKey,
});
