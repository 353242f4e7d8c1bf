// Line shapes as recorded from 0.110.0, 0.150.0 and 0.169.0, read 2026-11-21; token rules in README.md beside this file
import { dirname, join } from "node:path";
import type {
  ReadOptions,
  TranscriptBatch,
  TranscriptFile,
  TranscriptQuery,
  TranscriptReader,
} from "../../model/agent.ts";
import type { ToldContent } from "../../model/content.ts";
import type { Offset, TranscriptEntry } from "../../model/transcript.ts";
import { asString } from "../shared/json.ts";
import { openJsonl } from "../shared/jsonl.ts";
import { Kinds } from "../shared/kinds.ts";
import { lineContent } from "./content.ts";
import { readLine } from "./lines.ts";
import { findRollout, isFile, readHead, rolloutsIn, sessionsRoot, subagentsOf } from "./rollouts.ts";
import type { LineState } from "./state.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

/** `~/.codex`, or where `CODEX_HOME` moved it. */
function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const codexHome = asString(env["CODEX_HOME"]) ?? join(home, ".codex");
  return FOLDERS.map((folder) => join(codexHome, folder));
}

/** Main threads below `~/.codex`, in order of time, those that were archived last. */
async function* locate(home: string): AsyncGenerator<TranscriptQuery & { readonly path: string }> {
  for (const folder of FOLDERS) {
    for await (const { path, threadId } of rolloutsIn(join(home, ".codex", folder))) {
      const head = await readHead(path, undefined);
      if (head !== undefined && head.rootId === head.threadId) yield { sessionId: threadId, path, home };
    }
  }
}

/** The main thread's file, then one for each subagent. A subagent that is asked for gives the file that names its parent. */
async function files({ sessionId, path, home, roots }: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  const main = await findMain(sessionId, path, home);
  if (main === undefined) return [];
  const head = await readHead(main, roots);
  if (head === undefined) return [];
  if (head.rootId !== head.threadId) return [{ path: main, key: `${PARENT_OF}${main}` }];
  const children = await subagentsOf(sessionsRoot(main), head.threadId, main, roots);
  return [{ path: main }, ...children.map((child) => ({ path: child.path, agentId: child.threadId }))];
}

async function* read(file: TranscriptFile, from: Offset, wanted: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  const memo = from.memo as Partial<Memo>;
  const jsonl = await openJsonl(file.path, {
    fromBytes: from.bytes,
    roots: file.roots,
    ...(memo.fingerprint !== undefined && { fingerprint: memo.fingerprint }),
  });
  try {
    const isFresh = jsonl.fromBytes === 0 || memo.state === undefined;
    let state: LineState = isFresh || memo.state === undefined ? { timeMs: jsonl.modifiedMs } : memo.state;
    let parentTold = !isFresh;
    const kinds = new Kinds(KINDS);
    for await (const batch of jsonl.batches) {
      const entries: TranscriptEntry[] = [];
      const content: ToldContent[] = [];
      let unreadable = batch.tooLong;
      for (const line of batch.lines) {
        const result = readLine(line, state);
        if (result === undefined) unreadable++;
        else {
          state = result.state;
          entries.push(...result.entries);
          if (wanted.content === true) content.push(...lineContent(line, result.entries, state));
          if (result.entries.length === 0) kinds.look(line);
        }
      }
      const fingerprint = await jsonl.fingerprint(batch.endBytes);
      const next = { bytes: batch.endBytes, memo: { state, fingerprint } satisfies Memo };
      const counts = { unreadable, records: batch.lines.length, unknownKinds: kinds.take() };
      if (file.key?.startsWith(PARENT_OF) !== true) yield { entries, content, next, ...counts };
      else {
        yield { entries: parentTold ? [] : parentOf(state), next, unreadable };
        parentTold = true;
      }
    }
  } finally {
    await jsonl.close();
  }
}

// --- internal ---

/** Kinds of lines that were seen, or that the program's schema has, told or not. */
const KINDS = `session_meta turn_context token_usage_record response_item event_msg compacted world_state
  inter_agent_communication_metadata ghost_snapshot`;

const FOLDERS = ["sessions", "archived_sessions"];

interface Memo {
  readonly state: LineState;
  readonly fingerprint: string;
}

/** The same file is a part of two sessions, its own in name and its root's in fact; each has an offset of its own. */
const PARENT_OF = "parent of ";

function parentOf({ rootId, threadId, beganMs, timeMs }: LineState): readonly TranscriptEntry[] {
  if (rootId === undefined || rootId === threadId) return [];
  return [{ kind: "session", key: `session:${threadId}`, timeMs: beganMs ?? timeMs, parentSessionId: rootId }];
}

/** Where it was told; else by its name: notifications tell no path, and archived files have moved. */
async function findMain(sessionId: string, path: string | undefined, home: string): Promise<string | undefined> {
  if (path !== undefined && (await isFile(path))) return path;
  const codexHome = path === undefined ? join(home, ".codex") : dirname(sessionsRoot(path));
  const told = path === undefined ? join(home, ".codex", "sessions") : sessionsRoot(path);
  for (const root of new Set([told, join(codexHome, "sessions"), join(codexHome, "archived_sessions")])) {
    const found = await findRollout(root, sessionId);
    if (found !== undefined) return found;
  }
  return undefined;
}
