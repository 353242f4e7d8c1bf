// Line shapes as recorded from 0.110.0, 0.150.0 and 0.169.0, read 2026-11-21; token rules in README.md beside this file
import { dirname, join } from "node:path";
import type { TranscriptBatch, TranscriptFile, TranscriptQuery, TranscriptReader } from "../../model/agent.ts";
import type { Offset, TranscriptEntry } from "../../model/transcript.ts";
import { openJsonl } from "../shared/jsonl.ts";
import { readLine } from "./lines.ts";
import { findRollout, isFile, readHead, rolloutsIn, sessionsRoot, subagentsOf } from "./rollouts.ts";
import type { LineState } from "./state.ts";

export default { locate, files, read } satisfies TranscriptReader;

/** Main threads below `~/.codex`, in order of time, those that were archived last. */
async function* locate(home: string): AsyncGenerator<TranscriptQuery & { readonly path: string }> {
  for (const folder of ["sessions", "archived_sessions"]) {
    for await (const { path, threadId } of rolloutsIn(join(home, ".codex", folder))) {
      const head = await readHead(path);
      if (head !== undefined && head.rootId === head.threadId) yield { sessionId: threadId, path, home };
    }
  }
}

/** The main thread's file, then one for each subagent. A subagent that is asked for gives the file that names its parent. */
async function files({ sessionId, path, home }: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  const main = await findMain(sessionId, path, home);
  if (main === undefined) return [];
  const head = await readHead(main);
  if (head === undefined) return [];
  if (head.rootId !== head.threadId) return [{ path: main, key: `${PARENT_OF}${main}` }];
  const children = await subagentsOf(sessionsRoot(main), head.threadId, main);
  return [{ path: main }, ...children.map((child) => ({ path: child.path, agentId: child.threadId }))];
}

async function* read(file: TranscriptFile, from: Offset): AsyncGenerator<TranscriptBatch> {
  const memo = from.memo as Partial<Memo>;
  const jsonl = await openJsonl(file.path, {
    fromBytes: from.bytes,
    ...(memo.fingerprint !== undefined && { fingerprint: memo.fingerprint }),
  });
  try {
    const isFresh = jsonl.fromBytes === 0 || memo.state === undefined;
    let state: LineState = isFresh || memo.state === undefined ? { timeMs: jsonl.modifiedMs } : memo.state;
    let parentTold = !isFresh;
    for await (const batch of jsonl.batches) {
      const entries: TranscriptEntry[] = [];
      let unreadable = batch.tooLong;
      for (const line of batch.lines) {
        const result = readLine(line, state);
        if (result === undefined) unreadable++;
        else {
          state = result.state;
          entries.push(...result.entries);
        }
      }
      const fingerprint = await jsonl.fingerprint(batch.endBytes);
      const next = { bytes: batch.endBytes, memo: { state, fingerprint } satisfies Memo };
      if (file.key?.startsWith(PARENT_OF) !== true) yield { entries, next, unreadable };
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
