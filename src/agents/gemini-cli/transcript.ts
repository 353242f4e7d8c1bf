// Layout as recorded from 0.61.0 and read in its source and that of 0.21.3, 2026-11-21; token rule in README.md beside this file
import { open, readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { TranscriptBatch, TranscriptFile, TranscriptQuery, TranscriptReader } from "../../model/agent.ts";
import { defined } from "../../model/defined.ts";
import type { EntryOf, Offset, TranscriptEntry } from "../../model/transcript.ts";
import { asArray, asObject, asString, asTimeMs } from "../shared/json.ts";
import { openJsonl } from "../shared/jsonl.ts";
import { readCheckpoint, readMessage } from "./records.ts";
import type { ChatState, Fields } from "./state.ts";

export default { locate, files, read } satisfies TranscriptReader;

/** Sessions of all projects below `~/.gemini/tmp`, each once. */
async function* locate(home: string): AsyncGenerator<TranscriptQuery & { readonly path: string }> {
  for (const chats of await chatFolders(home)) {
    const seen = new Set<string>();
    // Reversed, so that of a session that was resumed by a newer program the newer file comes first
    for (const name of (await namesIn(chats)).reverse()) {
      const path = join(chats, name);
      const sessionId = SESSION_FILE.test(name) ? await sessionIdOf(path) : undefined;
      if (sessionId === undefined || seen.has(sessionId)) continue;
      seen.add(sessionId);
      yield { sessionId, path, home };
    }
  }
}

/**
 * The session's own files, then those of its subagents. Mostly one; a session that was resumed by a newer program has the
 * old `.json` beside the `.jsonl`, and before subagents had a folder each could leave one more file under the session's id.
 */
async function files({ sessionId, path, home }: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  const told = path === undefined ? [] : await partsIn(dirname(path), sessionId);
  if (told.length > 0) return told;
  for (const chats of await chatFolders(home)) {
    const found = await partsIn(chats, sessionId);
    if (found.length > 0) return found;
  }
  return [];
}

async function* read(file: TranscriptFile, from: Offset): AsyncGenerator<TranscriptBatch> {
  if (file.path.endsWith(".json")) yield await readWhole(file);
  else yield* readLines(file, from);
}

// --- internal ---

interface Memo {
  readonly state: ChatState;
  readonly fingerprint: string;
}

async function* readLines(file: TranscriptFile, from: Offset): AsyncGenerator<TranscriptBatch> {
  const memo = from.memo as Partial<Memo>;
  const jsonl = await openJsonl(file.path, {
    fromBytes: from.bytes,
    ...(memo.fingerprint !== undefined && { fingerprint: memo.fingerprint }),
  });
  try {
    const fresh = jsonl.fromBytes === 0;
    let state: ChatState = fresh || memo.state === undefined ? { timeMs: jsonl.modifiedMs } : memo.state;
    let first = fresh;
    for await (const batch of jsonl.batches) {
      const entries: TranscriptEntry[] = [];
      let unreadable = batch.tooLong;
      for (const line of batch.lines) {
        if (!isWorthParsing(line)) continue;
        const o = parse(line.toString("utf8"));
        if (o === undefined) {
          unreadable++;
          continue;
        }
        if (first) entries.push(...(await beginning(file, o, state.timeMs)));
        first = false;
        const result = readRecord(o, state, file.agentId);
        state = result.state;
        entries.push(...result.entries);
      }
      const memoNow: Memo = { state, fingerprint: await jsonl.fingerprint(batch.endBytes) };
      yield { entries, next: { bytes: batch.endBytes, memo: { ...memoNow } }, unreadable };
    }
  } finally {
    await jsonl.close();
  }
}

function readRecord(o: Fields, state: ChatState, agentId: string | undefined) {
  if (asString(o["id"]) !== undefined) return readMessage(o, state, agentId);
  const set = asObject(o["$set"]);
  if (set?.["messages"] !== undefined) return readCheckpoint(set["messages"], state, agentId);
  return { entries: [], state };
}

/** Every second line says that something changed, and checkpoints hold the whole history again. */
function isWorthParsing(line: Buffer): boolean {
  if (!line.subarray(0, SET.length).equals(SET)) return true;
  return line.includes('"messages"');
}
const SET = Buffer.from('{"$set":');

/** Up to some 0.3x: one object, written anew with every change. */
async function readWhole(file: TranscriptFile): Promise<TranscriptBatch> {
  const { size, mtimeMs } = await stat(file.path);
  const next: Offset = { bytes: size, memo: {} };
  const o = size > MAX_WHOLE_BYTES ? undefined : parse(await readFile(file.path, "utf8"));
  // Caught in the middle of being written, it is read again when it has changed
  if (o === undefined) return { entries: [], next, unreadable: 1 };
  let state: ChatState = { timeMs: asTimeMs(o["startTime"]) ?? mtimeMs };
  const entries = [...(await beginning(file, o, state.timeMs))];
  for (const message of asArray(o["messages"])) {
    const result = readMessage(asObject(message) ?? {}, state, file.agentId);
    // Nothing is ever written twice here
    const { repeating: _, ...kept } = result.state;
    state = kept;
    entries.push(...result.entries);
  }
  return { entries, next, unreadable: 0 };
}

/** Whole files are held in memory; they end where a context window ends, far below this. */
const MAX_WHOLE_BYTES = 64 << 20;

/** What a file's beginning tells: of a session where it ran, of a subagent that there is one. */
async function beginning(file: TranscriptFile, o: Fields, timeMs: number): Promise<readonly TranscriptEntry[]> {
  const startMs = asTimeMs(o["startTime"]) ?? timeMs;
  if (file.agentId !== undefined)
    return [{ kind: "subagent", key: `subagent:${file.agentId}`, timeMs: startMs, agentId: file.agentId }];
  const text = await readFile(join(dirname(dirname(file.path)), ".project_root"), "utf8").catch(() => "");
  const cwd = asString(text.trim());
  if (cwd === undefined) return [];
  return [defined<EntryOf<"session">>({ kind: "session", key: "session", timeMs: startMs, cwd } as EntryOf<"session">)];
}

function parse(text: string): Fields | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

// --- where files lie ---

const SESSION_FILE = /^session-.*\.jsonl?$/;

async function partsIn(chats: string, sessionId: string): Promise<readonly TranscriptFile[]> {
  const short = sessionId.slice(0, 8);
  const names = (await namesIn(chats)).filter(
    (name) =>
      SESSION_FILE.test(name) &&
      basename(name)
        .replace(/\.jsonl?$/, "")
        .endsWith(`-${short}`),
  );
  const main: TranscriptFile[] = [];
  for (const name of names) {
    const path = join(chats, name);
    if ((await sessionIdOf(path)) === sessionId) main.push({ path });
  }
  if (main.length === 0) return [];
  // The program replaces what a file's name cannot hold; ids of its own have nothing of that
  const folder = join(chats, sessionId.replace(/[^a-zA-Z0-9_-]/g, "_"));
  const below = (await namesIn(folder)).filter((name) => name.endsWith(".jsonl"));
  return [...main, ...below.map((name) => ({ path: join(folder, name), agentId: basename(name, ".jsonl") }))];
}

/** What the head of a file says, of either form; nothing for what cannot be read or is no session. */
async function sessionIdOf(path: string): Promise<string | undefined> {
  // No directory, and no pipe that would hold us
  if (!(await stat(path).catch(() => undefined))?.isFile()) return undefined;
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
    const text = head.subarray(0, bytesRead).toString("utf8");
    return /"sessionId":\s*"([^"\\]{1,200})"/.exec(text)?.[1];
  } finally {
    await file.close();
  }
}
const HEAD_BYTES = 512;

async function chatFolders(home: string): Promise<readonly string[]> {
  const tmp = join(home, ".gemini", "tmp");
  return (await namesIn(tmp)).map((project) => join(tmp, project, "chats"));
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).then(
    (names) => names.sort(),
    () => [],
  );
